package audit

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// OneRun is what one run of a mechanism shows of many canaries: records of which each was put in by a fair
// coin of its own, or, of two that replace each other, one was chosen by it. Nothing else may
// depend on the coins but through the mechanism.
type OneRun struct {
	// Member is how each coin fell.
	Member []bool
	// Score is a number that is larger where the canary looks like it is in. It is computed of what the
	// mechanism released, without the coins.
	Score []float64
}

// Once is what one run shows. With probability 1 - FalseAlarm at least the mechanism is not
// (e, Delta)-private for any e below Epsilon.
type Once struct {
	Epsilon    float64 `json:"epsilon"`
	Delta      float64 `json:"delta"`
	FalseAlarm float64 `json:"false_alarm"`
	// Canaries there were; of Guessed it was said whether they are in, and of Right rightly.
	Canaries int `json:"canaries"`
	Guessed  int `json:"guessed"`
	Right    int `json:"right"`
}

const (
	// shares is how many numbers of guesses are tried: all canaries, half, a quarter, ..., each at an equal
	// part of the false-alarm rate. Who guesses less guesses where scores are extreme.
	shares = 6
	// mostCanaries bounds the work, and the rounding of logarithms of factorials.
	mostCanaries = 1_000_000
	// unlikely is the probability below which coins are not taken for fair.
	unlikely = 1e-9
)

// Bound finds what a run shows, by theorem 5.2 of Steinke, Nasr and Jagielski (2023): see atLeastRight. Its bound on a chance
// is never far below 4 delta, so that with a false-alarm rate below some 25 delta nothing is ever shown.
func (o OneRun) Bound(options Options) (Once, error) {
	options, err := options.complete()
	if err != nil {
		return Once{}, err
	}
	if err := o.validate(); err != nil {
		return Once{}, err
	}
	best := Once{Delta: options.Delta, FalseAlarm: options.FalseAlarm, Canaries: len(o.Score)}
	sorted := slices.Clone(o.Score)
	slices.Sort(sorted)
	for i := range shares {
		guessed, right := o.guesses(sorted, len(sorted)>>(i+1))
		epsilon := leastOnce(len(sorted), guessed, right, options.Delta, options.FalseAlarm/shares)
		if epsilon > best.Epsilon || i == 0 {
			best.Epsilon, best.Guessed, best.Right = epsilon, guessed, right
		}
	}
	return best, nil
}

// guesses says "in" of the k largest scores and "out" of the k smallest, and of those that tie with them, unless
// both are one number: of canaries with that number it says nothing. The coins have no part in the choice.
func (o OneRun) guesses(sorted []float64, k int) (guessed, right int) {
	if k < 1 {
		return 0, 0
	}
	low, high := sorted[k-1], sorted[len(sorted)-k]
	for i, x := range o.Score {
		if low == high && x == low || low < x && x < high {
			continue
		}
		guessed++
		if (x >= high) == o.Member[i] {
			right++
		}
	}
	return guessed, right
}

func (o OneRun) validate() error {
	n := len(o.Score)
	if n != len(o.Member) || n < fewest || n > mostCanaries {
		return fmt.Errorf("%w: %d canaries with %d scores; want %d to %d, and a score each", ErrSamples, len(o.Member), n, fewest, mostCanaries)
	}
	in := 0
	for i, x := range o.Score {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%w: the score of canary %d is %v; want a finite number", ErrSamples, i+1, x)
		}
		if o.Member[i] {
			in++
		}
	}
	if logTail(max(in, n-in), n, 0.5) < math.Log(unlikely/2) {
		return fmt.Errorf("%w: %d of %d canaries are in, which fair coins hardly do; toss one for each", ErrSamples, in, n)
	}
	return nil
}

// atLeastRight bounds the probability that of guesses about canaries so many are right, of a mechanism that is
// (epsilon, delta)-private. With f(v) the probability of v or more successes in as many tosses as guesses, each of
// probability e^epsilon/(1+e^epsilon), it is f(v) + 2 canaries delta max over i of f(v-i)/i, of which Steinke, Nasr and
// Jagielski (2023, theorem 5.2) prove a little less, with f(v-i) - f(v). So it does not fall with epsilon. It is rounded up.
func atLeastRight(canaries, guesses, right int, epsilon, delta float64) float64 {
	if right < 1 || guesses < 1 {
		return 1
	}
	p := min(math.Nextafter(1/(1+math.Exp(-epsilon)), 2)*(1+0x1p-50), 1)
	f := math.Exp(logTail(right, guesses, p))
	chance := f
	if delta > 0 {
		most, sum := 0.0, f
		for i := 1; i <= right && 1/float64(i) > most; i++ {
			k := right - i
			sum += math.Exp(logChoose(guesses, k) + float64(k)*math.Log(p) + float64(guesses-k)*math.Log1p(-p))
			most = max(most, min(sum, 1)/float64(i))
		}
		chance += 2 * float64(canaries) * delta * most
	}
	return min(chance*(1+margin), 1)
}

// leastOnce is the largest epsilon that is refuted at alpha, rounded down.
func leastOnce(canaries, guesses, right int, delta, alpha float64) float64 {
	refuted := func(epsilon float64) bool { return atLeastRight(canaries, guesses, right, epsilon, delta) <= alpha }
	if !refuted(0) {
		return 0
	}
	low, high := 0.0, 64.0
	for range 50 {
		if mid := low + (high-low)/2; refuted(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// HoldOnce is [Claim.Hold] of what one run shows.
func (c Claim) HoldOnce(f Once) error {
	if f.Delta != c.Delta {
		return fmt.Errorf("%w: the run was bounded at delta %v, and the claim is at %v", ErrOptions, f.Delta, c.Delta)
	}
	if f.Epsilon > c.Epsilon {
		return fmt.Errorf("%w: epsilon at delta %g is at least %.4g, and the event allows %.4g", ErrBroken, f.Delta, f.Epsilon, c.Epsilon)
	}
	return nil
}

// OncePower is what one run with so many canaries can find.
type OncePower struct {
	// expected is shown of a mechanism that answers for each canary by randomised response of the claimed epsilon:
	// none that keeps the claim shows more on average.
	Expected float64 `json:"expected_epsilon"`
	// Most is shown of a mechanism that tells all: no claim above it can be refuted by so few canaries.
	Most float64 `json:"most_epsilon"`
}

// PowerOnce is the power of one run.
func (c Claim) PowerOnce(canaries int, falseAlarm float64) OncePower {
	alpha := falseAlarm / shares
	right := int(float64(canaries) / (1 + math.Exp(-c.Epsilon)))
	return OncePower{Expected: leastOnce(canaries, canaries, right, c.Delta, alpha), Most: leastOnce(canaries, canaries, canaries, c.Delta, alpha)}
}

// ReadOneRun reads canaries from CSV with a header: the columns member, 0 or 1, and score, a number; a row
// is a canary. Errors name row and column.
func ReadOneRun(r io.Reader) (OneRun, error) {
	var o OneRun
	c := csv.NewReader(r)
	c.ReuseRecord = true
	header, err := c.Read()
	if errors.Is(err, io.EOF) {
		return o, fmt.Errorf("%w: the file is empty; want a header and rows", ErrSamples)
	}
	if err != nil {
		return o, fmt.Errorf("%w: %w", ErrSamples, err)
	}
	header = slices.Clone(header)
	header[0] = strings.TrimPrefix(header[0], "\ufeff")
	member, score := slices.Index(header, "member"), slices.Index(header, "score")
	if len(header) != 2 || member < 0 || score < 0 {
		return o, fmt.Errorf("%w: row 1: the columns are %q; want member, 0 or 1, and score", ErrSamples, header)
	}
	for row := 2; ; row++ {
		fields, err := c.Read()
		if errors.Is(err, io.EOF) {
			return o, o.validate()
		}
		if err != nil {
			return o, fmt.Errorf("%w: %w", ErrSamples, err)
		}
		in := slices.Index([]string{"0", "1"}, fields[member])
		if in < 0 {
			return o, fmt.Errorf("%w: row %d: member: %q; want 0 or 1", ErrSamples, row, fields[member])
		}
		x, err := strconv.ParseFloat(fields[score], 64)
		if err != nil {
			return o, fmt.Errorf("%w: row %d: score: %q is no number", ErrSamples, row, fields[score])
		}
		o.Member, o.Score = append(o.Member, in == 1), append(o.Score, x)
		if row > mostCanaries+1 {
			return o, fmt.Errorf("%w: more than %d rows", ErrSamples, mostCanaries)
		}
	}
}
