package examine

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/internal/evaluate/replay"
)

// noiseLaw holds the noise of many runs, in standard deviations, against its law:
// every coordinate of every noisy sum is a slot, and in all runs together slots are
// independent standard normal numbers. Rounding to a lattice changes their
// variance by less than 1e-15, since a deviation has millions of steps.
type noiseLaw struct {
	runs  float64
	slots []slot
	// together is the sum of a run's slots over the root of their number.
	together slot
	// every holds all slots of all runs: of few runs it alone tells a small difference.
	every slot
	drawn float64 // numbers in every
	// uneven counts runs with another number of slots, whose noise is taken together.
	uneven int
}

// slot is the sum and the sum of squares of one coordinate.
type slot struct{ sum, squares float64 }

func (s *slot) add(x float64) { s.sum += x; s.squares += x * x }

func (l *noiseLaw) add(run [][]float64) {
	var flat []float64
	for _, sum := range run {
		flat = append(flat, sum...)
	}
	if len(flat) == 0 {
		return
	}
	if l.slots == nil {
		l.slots = make([]slot, len(flat))
	}
	l.runs++
	l.drawn += float64(len(flat))
	total := 0.0
	for i, x := range flat {
		total += x
		l.every.add(x)
		if len(flat) == len(l.slots) {
			l.slots[i].add(x)
		}
	}
	if len(flat) != len(l.slots) {
		l.uneven++
	}
	l.together.add(total / math.Sqrt(float64(len(flat))))
}

// judge refutes the law, wrongly with probability alpha at most: each of a slot's mean,
// too large and too small a variance has its share of alpha. A sum of n squares stays
// below n + 2 (n x)^(1/2) + 2x and above n - 2 (n x)^(1/2) but for e^-x each (Laurent
// and Massart 2000).
func (l *noiseLaw) judge(alpha float64) error {
	x := math.Log(4 * float64(len(l.slots)+2) / alpha)
	for i, s := range l.slots {
		if why := s.refuted(l.runs-float64(l.uneven), x); why != "" {
			return fmt.Errorf("%w: the noise of coordinate %d %s", replay.ErrBroken, i+1, why)
		}
	}
	if why := l.together.refuted(l.runs, x); why != "" {
		return fmt.Errorf("%w: the noise of all coordinates together %s", replay.ErrBroken, why)
	}
	if why := l.every.refuted(l.drawn, x); why != "" {
		return fmt.Errorf("%w: the noise of every coordinate %s", replay.ErrBroken, why)
	}
	return nil
}

func (s slot) refuted(n, x float64) string {
	away := 2 * math.Sqrt(n*x)
	switch {
	case n == 0:
		return ""
	case s.squares < n-away || s.squares > n+away+2*x:
		return fmt.Sprintf("has %.3g times the stated standard deviation", math.Sqrt(s.squares/n))
	case math.Abs(s.sum) > math.Sqrt(2*x*n):
		return fmt.Sprintf("has a mean of %.3g standard deviations", s.sum/n)
	}
	return ""
}
