package audit

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
)

// TestChancesOfRightGuessesAgreeWithThePublishedProgram of Steinke, Nasr and Jagielski (2023, appendix D), run with scipy: never
// below it, and above by no more than what is left out.
func TestChancesOfRightGuessesAgreeWithThePublishedProgram(t *testing.T) {
	for _, c := range []struct {
		canaries, guesses, right int
		epsilon, delta, want     float64
	}{
		{100, 100, 80, 0.5, 0, 0.0001031352103},
		{1000, 1000, 700, 0.5, 1e-05, 0.0001867555868},
		{1000, 100, 95, 1, 1e-05, 0.0006639144684},
		{5000, 5000, 4000, 1.2, 1e-06, 4.631767349e-05},
		{200, 50, 50, 2, 0.0001, 0.006079844744},
		{100, 20, 10, 0.1, 0.001, 0.7015660984},
		{20000, 20000, 15200, 1.1, 1e-08, 0.0007210838967},
	} {
		got := atLeastRight(c.canaries, c.guesses, c.right, c.epsilon, c.delta)
		if got < c.want*(1-1e-8) || got > c.want*(1+1e-5+4*float64(c.canaries)*c.delta) {
			t.Errorf("%+v: %v", c, got)
		}
	}
	if got := atLeastRight(100, 100, 0, 1, 0); got != 1 {
		t.Errorf("no guess right: %v", got)
	}
}

// answers is a run of a mechanism that answers for each canary by randomised response.
func answers(canaries int, epsilon float64, src *noise.Source) OneRun {
	var o OneRun
	for range canaries {
		in := src.Bernoulli(0.5)
		score := 0.0
		if in == src.Bernoulli(1/(1+math.Exp(-epsilon))) {
			score = 1
		}
		o.Member, o.Score = append(o.Member, in), append(o.Score, score)
	}
	return o
}

// TestOneRunShowsWhatRandomisedResponseTells, and at its stated rate it does not alarm: by randomised response the theorem's
// bound is met, so that alarms come nearly as often as they may at one number of guesses, a sixth of the rate, and not oftener.
func TestOneRunShowsWhatRandomisedResponseTells(t *testing.T) {
	src := noise.NewSeeded(1)
	claim, err := NewClaim(dp.PureDP{Epsilon: 1}, dp.ReplaceOne, 0)
	if err != nil {
		t.Fatal(err)
	}
	found, err := answers(20000, 1, src).Bound(Options{})
	if err != nil || found.Epsilon < 0.85 || claim.HoldOnce(found) != nil {
		t.Errorf("an honest run: %+v, %v", found, err)
	}
	if p := claim.PowerOnce(20000, DefaultFalseAlarm); math.Abs(p.Expected-found.Epsilon) > 0.06 || p.Most < 6 {
		t.Errorf("power %+v, found %v", p, found.Epsilon)
	}
	found, err = answers(20000, 2, src).Bound(Options{})
	if err != nil || !errors.Is(claim.HoldOnce(found), ErrBroken) {
		t.Errorf("a budget that is spent twice: %+v, %v", found, err)
	}
	const runs, alarm = 1500, 0.3
	alarms := 0
	for range runs {
		found, err := answers(200, 1, src).Bound(Options{FalseAlarm: alarm})
		if err != nil {
			t.Fatal(err)
		}
		if claim.HoldOnce(found) != nil {
			alarms++
		}
	}
	if logTail(max(alarms, 1), runs, alarm) < math.Log(1e-6) || alarms == 0 {
		t.Errorf("%d alarms out of %d at a rate of %v", alarms, runs, alarm)
	}
	t.Logf("%d alarms out of %d at a rate of %v", alarms, runs, alarm)
}

// TestOneRunOfAVectorSum: a canary in every coordinate of one noisy sum. The honest sum keeps its claim; one with an
// eighth of the noise does not; half the noise stays below what so few canaries can show.
func TestOneRunOfAVectorSum(t *testing.T) {
	const canaries = 2000
	claim, err := NewClaim(dp.Gaussian{NoiseMultiplier: 4}, dp.AddRemoveOne, 1e-9)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		multiplier float64
		broken     bool
	}{{4, false}, {2, false}, {0.5, true}} {
		src := noise.NewSeeded(7)
		sum, err := mechanism.NewVectorSum(canaries, 1, c.multiplier, mechanism.Exact)
		if err != nil {
			t.Fatal(err)
		}
		o := OneRun{Member: make([]bool, canaries)}
		x := make([]float64, canaries)
		for i := range canaries {
			if o.Member[i] = src.Bernoulli(0.5); o.Member[i] {
				x[i] = 1
				if err := sum.Add(x); err != nil {
					t.Fatal(err)
				}
				x[i] = 0
			}
		}
		if o.Score, _, err = sum.Release(src); err != nil {
			t.Fatal(err)
		}
		found, err := o.Bound(Options{Delta: 1e-9})
		if err != nil {
			t.Fatal(err)
		}
		if err := claim.HoldOnce(found); errors.Is(err, ErrBroken) != c.broken {
			t.Errorf("noise %v for a claim of 4: %+v, %v", c.multiplier, found, err)
		}
		t.Logf("noise %v: %+v of %v", c.multiplier, found, claim.Epsilon)
	}
}

// TestCanariesAreRead, and those that cannot be used are refused by row.
func TestCanariesAreRead(t *testing.T) {
	rows := strings.Repeat("1,2.5\n0,-1\n", 20)
	o, err := ReadOneRun(strings.NewReader("\ufeffmember,score\n" + rows))
	if err != nil || len(o.Score) != 40 || !o.Member[0] || o.Member[1] || o.Score[1] != -1 {
		t.Errorf("%+v, %v", o, err)
	}
	for text, want := range map[string]string{
		"":                             "empty",
		"world,score\n" + rows:         "row 1",
		"member,score\n2,1\n":          "row 2: member",
		"member,score\n1,x\n":          `row 2: score: "x"`,
		"member,score\n1,NaN\n" + rows: "canary 1",
		"member,score\n1,1\n":          "1 canaries",
		"member,score\n1\n":            "wrong number of fields",
		"member,score\n" + strings.Repeat("1,1\n", 60): "fair coins",
	} {
		if _, err := ReadOneRun(strings.NewReader(text)); !errors.Is(err, ErrSamples) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: %v; want it to say %q", text, err, want)
		}
	}
	if err := (Claim{Delta: 1e-5}).HoldOnce(Once{Delta: 1e-6}); !errors.Is(err, ErrOptions) {
		t.Errorf("another delta: %v", err)
	}
}

// TestOrderTellsNothingInOneRun: canaries that all score alike are not guessed at, whatever their order.
func TestOrderTellsNothingInOneRun(t *testing.T) {
	o := OneRun{Member: make([]bool, 100), Score: make([]float64, 100)}
	for i := range 50 {
		o.Member[i] = true
	}
	if found, err := o.Bound(Options{}); err != nil || found.Epsilon != 0 || found.Guessed != 0 {
		t.Errorf("%+v, %v", found, err)
	}
}

// TestOneRunOfFewNumbers: by one run a mechanism that tells everything shows what a p-th power below the
// rate of false alarms allows, for each of six numbers of guesses: nothing of 22 canaries.
func TestOneRunOfFewNumbers(t *testing.T) {
	for n, most := range map[int]float64{22: 0, 40: 0.74, 100: 1.78} {
		run := OneRun{Member: make([]bool, n), Score: make([]float64, n)}
		for i := range n / 2 {
			run.Member[2*i], run.Score[2*i] = true, 1
		}
		found, err := run.Bound(Options{FalseAlarm: 1e-6})
		if err != nil {
			t.Fatal(err)
		}
		p := math.Pow(1e-6/6, 1/float64(n))
		if want := max(math.Log(p/(1-p)), 0); math.Abs(found.Epsilon-want) > 1e-6 || math.Abs(want-most) > 0.005 {
			t.Errorf("%d canaries, all guessed: epsilon %v; want %v, about %v", n, found.Epsilon, want, most)
		}
	}
}

// TestOneRunOfOneNumber: the bits that any audit needs, the canaries that give as many to one noisy number, and that a number
// without noise to which all canaries add alike shows nothing of them.
func TestOneRunOfOneNumber(t *testing.T) {
	const alarm = 1e-6
	bits := math.Log2(.5/alarm)/2 + math.Log2(.5/(1-alarm))/2
	if math.Abs(bits-8.97) > 0.005 {
		t.Errorf("an audit that succeeds every second time needs %v bits; want 8.97", bits)
	}
	held := func(d, m, epsilon float64) float64 {
		mu, err := account.GaussianMu(dp.Budget{Epsilon: epsilon, Delta: 1e-5})
		if err != nil {
			t.Fatal(err)
		}
		return d / 2 * math.Log2(1+m*mu.Upper*mu.Upper/(4*d))
	}
	for epsilon, canaries := range map[float64]float64{1: 14e6, 8: 360e3} {
		if less, more := held(1, .98*canaries, epsilon), held(1, 1.02*canaries, epsilon); less > bits || more < bits {
			t.Errorf("epsilon %v: %v canaries give one number %v to %v bits; want %v", epsilon, canaries, less, more, bits)
		}
	}
	if b := held(40, 2000, 1); math.Floor(b) != 18 {
		t.Errorf("40 states and 2,000 canaries: %v bits; want 18", b)
	}
	// By a choice of two guesses, which is wrong of the coins with probability 2e-6 a run and fixed by the seed. Half of the canaries add 1 and half -1, which the guesses know: "in" of those that the sum speaks for.
	rng := rand.New(rand.NewPCG(7, 15))
	for range 300 {
		run, sum := OneRun{}, 0.0
		for i := range 2000 {
			in := rng.IntN(2) == 1
			run.Member = append(run.Member, in)
			run.Score = append(run.Score, float64(1-2*(i%2)))
			if in {
				sum += run.Score[i]
			}
		}
		for i := range run.Score {
			run.Score[i] *= sum
		}
		found, err := run.Bound(Options{FalseAlarm: alarm})
		if err != nil || found.Epsilon != 0 {
			t.Fatalf("a sum of %v shows epsilon %v, %v; want 0", sum, found.Epsilon, err)
		}
	}
}
