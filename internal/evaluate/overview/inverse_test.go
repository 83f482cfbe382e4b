package overview_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/internal/evaluate/overview"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// logged has n persons of steps decisions between two actions; the probability of action 1
// is drawn anew at each decision, and written as log says from it and the action.
func logged(rng *rand.Rand, n, steps int, one func() float64, log func(p float64) float64) *trajectory.Dataset {
	d := &trajectory.Dataset{PersonStart: []int{0}, EpisodeStart: []int{0}, Terminated: make([]bool, n)}
	for range n {
		for range steps {
			p, action := 1-one(), int32(0)
			if rng.Float64() >= p {
				p, action = 1-p, 1
			}
			d.Action = append(d.Action, action)
			d.Reward = append(d.Reward, float64(action))
			d.BehaviorProb = append(d.BehaviorProb, log(p))
		}
		d.EpisodeStart = append(d.EpisodeStart, len(d.Action))
		d.PersonStart = append(d.PersonStart, len(d.EpisodeStart)-1)
	}
	return d
}

const countsTooMuch = "each counted as 1 over its behaviour probability"

func tellsOfInverse(t *testing.T, d *trajectory.Dataset) bool {
	t.Helper()
	uniform, err := policy.NewUniform(2)
	if err != nil {
		t.Fatal(err)
	}
	told, err := warnings(d, overview.Facts{Gamma: 1, Target: uniform})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(strings.Join(told, "\n"), countsTooMuch)
}

func right(p float64) float64 { return p }

// Right probabilities: each of three numbers is taken for a fault with probability 3e-5, so
// that of 1,500 logs .14 have a warning in the mean; the seed is fixed.
func TestRightProbabilitiesDoNotCountTooMuch(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		name string
		one  func() float64
	}{
		{"even", func() float64 { return .5 }},
		{"rare", func() float64 { return .02 }},
		{"by lot", rng.Float64},
		{"skewed", func() float64 { return math.Pow(rng.Float64(), 3) }},
		{"certain", func() float64 { return .999 }},
	} {
		for i := range 300 {
			if d := logged(rng, 30+i, 3, c.one, right); tellsOfInverse(t, d) {
				t.Errorf("%s, log %d: a warning", c.name, i)
			}
		}
	}
}

// Probabilities of the other action are seen where the mean weight of an episode, 1.083 by
// the arithmetic of .4 and .6, is within chance of 1.
func TestProbabilitiesOfTheOtherActionCountTooMuch(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	one := func() float64 { return .4 + .2*float64(rng.IntN(2)) }
	other := func(p float64) float64 { return 1 - p }
	for i := range 50 {
		if d := logged(rng, 1000, 1, one, other); !tellsOfInverse(t, d) {
			t.Errorf("log %d: no warning", i)
		}
	}
	// Rounding to two decimals is no fault that shows.
	if d := logged(rng, 2000, 3, func() float64 { return .1 + .8*rng.Float64() }, func(p float64) float64 { return math.Round(100*p) / 100 }); tellsOfInverse(t, d) {
		t.Error("rounded: a warning")
	}
}

// What parts of the data are found to be adds up to what the whole is, in any order.
func TestInverseProbabilitiesOfParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	d := logged(rng, 400, 20, rng.Float64, func(p float64) float64 { return p * p })
	uniform, err := policy.NewUniform(2)
	if err != nil {
		t.Fatal(err)
	}
	facts := overview.Facts{Gamma: 1, Target: uniform}
	whole, err := warnings(d, facts)
	if err != nil {
		t.Fatal(err)
	}
	sum := overview.NewWatch(facts)
	for _, of := range [][]int{{7, 8, 9}, slices.Collect(func(yield func(int) bool) {
		for p := range 400 {
			if (p < 7 || p > 9) && !yield(p) {
				return
			}
		}
	})} {
		w, part := overview.NewWatch(facts), d.Take(of)
		rho := make([]float64, part.Rows())
		if err := policy.Ratios(rho, uniform, part); err != nil {
			t.Fatal(err)
		}
		w.Add(part, rho)
		sum.Merge(w)
	}
	pick := func(told []string) (of []string) {
		for _, line := range told {
			if strings.Contains(line, countsTooMuch) {
				of = append(of, line)
			}
		}
		return of
	}
	told, err := sum.Warnings()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := pick(told), pick(whole); !slices.Equal(got, want) || len(want) == 0 {
		t.Errorf("%q in parts; want %q", got, want)
	}
}

// warnings are those of a whole dataset.
func warnings(d *trajectory.Dataset, f overview.Facts) ([]string, error) {
	w, err := overview.Watched(d, f)
	if err != nil {
		return nil, err
	}
	return w.Warnings()
}
