package scalar

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// logOf makes persons of up to three decisions in cells of given probabilities.
func logOf(rng *rand.Rand, persons int, p [][]float64) (*value.Sample, Visits) {
	d := &trajectory.Dataset{PersonStart: []int{0}, EpisodeStart: []int{0}}
	var v Visits
	for range persons {
		for range 1 + rng.IntN(3) {
			cell := rng.IntN(len(p))
			u, a := rng.Float64(), 0
			for ; a < len(p[cell])-1 && u >= p[cell][a]; a++ {
				u -= p[cell][a]
			}
			d.Reward, d.TargetProb, d.BehaviorProb = append(d.Reward, 0), append(d.TargetProb, 1), append(d.BehaviorProb, 1)
			v = append(v, cell*len(p[cell])+a)
		}
		d.EpisodeStart, d.PersonStart = append(d.EpisodeStart, len(d.Reward)), append(d.PersonStart, len(d.EpisodeStart))
	}
	s, err := value.NewSample(d, value.Options{Gamma: 1, Policy: policy.ProbColumn{}})
	if err != nil {
		panic(err)
	}
	return s, v
}

// TestLimitsHoldTogether: all upper limits hold at once but in 1% of 200 logs, common
// actions and rare, many persons and few, much noise and little. Of 1% more than 11
// are a chance of less than 2e-6.
func TestLimitsHoldTogether(t *testing.T) {
	const logs = 200
	p := [][]float64{{0.5, 0.5, 0}, {0.02, 0.28, 0.7}, {0.001, 0.009, 0.99}}
	for _, c := range []struct {
		persons int
		noise   float64
	}{{60, 1}, {60, 20}, {1000, 0.1}, {1000, 10}} {
		rng, src := rand.New(rand.NewPCG(1, 7)), noise.NewSeeded(1)
		b := Behavior{Cells: 3, Actions: 3, Most: 3, Noise: c.noise, Adjacency: dp.AddRemoveOne}
		missed, width := 0, 0.0
		for range logs {
			s, v := logOf(rng, c.persons, p)
			counts, err := b.Release(s, saw(v), src)
			if err != nil {
				t.Fatal(err)
			}
			upper, err := b.Upper(counts)
			if err != nil {
				t.Fatal(err)
			}
			for i, u := range upper {
				if u < p[i/3][i%3] {
					missed++
					break
				}
			}
			width += upper[0] / logs
		}
		t.Logf("%d persons, noise %v: %d of %d missed; .5 is limited by %.3f", c.persons, c.noise, missed, logs, width)
		if missed > 11 {
			t.Errorf("%d persons, noise %v: limits miss in %d of %d logs", c.persons, c.noise, missed, logs)
		}
		if c.persons == 1000 && c.noise < 1 && width > 0.6 {
			t.Errorf("a probability of .5 is limited by %.3f", width)
		}
	}
}

// TestLimitsOfGroupsHoldTogether: without noise a limit is the upper end of Wilson's interval, at
// the normal point at which (cells) x (actions + 1) statements of every group fail together
// with probability 1%; and the region of a regression is that of its chi-squared at 1% over
// the number of groups, which makes limits higher.
func TestLimitsOfGroupsHoldTogether(t *testing.T) {
	const k, n = 300.0, 1000.0
	for _, groups := range []int{0, 1, 4, 30} {
		b := Behavior{Cells: 2, Actions: 3, Most: 2, Noise: 1e-9, Together: groups, Adjacency: dp.AddRemoveOne}
		upper, err := b.Upper([]float64{k, 500, 200, 0, 0, 0})
		if err != nil {
			t.Fatal(err)
		}
		z := distuv.UnitNormal.Quantile(1 - 0.01/(8*math.Max(float64(groups), 1)))
		want := (k + z*z/2 + z*math.Sqrt(k*(n-k)/n+z*z/4)) / (n + z*z)
		if math.Abs(upper[0]-want) > 1e-6 {
			t.Errorf("%d groups: the limit is %v; Wilson's is %v", groups, upper[0], want)
		}
	}
	sum := []float64{0, 0, 2.8 * 100, 0, 2.8 * 100} // two coefficients at 0, of information 100 each
	l := Logistic{Dim: 2, Actions: 2, Decisions: 1, Noise: [LogisticRounds]float64{1e-3, 1e-3, 1e-3, 1e-3, 1e-3}}
	for _, groups := range []int{0, 1, 4, 30} {
		l.Together = groups
		q := -2 * math.Log(0.01/math.Max(float64(groups), 1)) // chi-squared of two degrees of freedom
		r := math.Sqrt(q / 100)
		if got, want := l.Fit([][]float64{sum, sum, sum, sum, sum}).Upper([]float64{1, 0}, 1), 1/(1+math.Exp(-r*(1+r/2))); math.Abs(got-want) > 1e-4 {
			t.Errorf("%d groups: the limit of a regression is %v; want %v", groups, got, want)
		}
	}
}

// TestFirstDecisionsInACellCount, once a person; a decision without a bin counts
// nowhere and has no weight.
func TestFirstDecisionsInACellCount(t *testing.T) {
	d := &trajectory.Dataset{PersonStart: []int{0, 2, 2, 3}, EpisodeStart: []int{0, 2, 4, 5}, Reward: make([]float64, 5),
		BehaviorProb: []float64{1, 1, 1, 1, 1}, TargetProb: []float64{0.3, 0.3, 0.3, 0.3, 0.3}}
	s, err := value.NewSample(d, value.Options{Gamma: 1, Policy: policy.ProbColumn{}})
	if err != nil {
		t.Fatal(err)
	}
	b := Behavior{Cells: 2, Actions: 2, Most: 2, Noise: 1e-6, Floor: 0.02, Adjacency: dp.AddRemoveOne}
	counts, err := b.Release(s, saw(Visits{0, 1, 2, -1, 3}), noise.NewSeeded(1))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{1, 0, 1, 1} {
		if math.Abs(counts[i]-want) > 1e-4 {
			t.Errorf("counts %v; want 1, 0, 1, 1", counts)
		}
	}
	upper := []float64{0.5, 0.6, 1, 0.3}
	divide(s, Visits{0, 1, 2, -1, 3}, func(_, bin int) float64 { return upper[bin] })
	for i, want := range []float64{0.6, 0.5, 0.3, 0, 1} {
		if math.Abs(s.Rho[i]-want) > 1e-12 {
			t.Errorf("ratios %v; want .6, .5, .3, 0, 1", s.Rho)
		}
	}
	if upper, err := b.Upper([]float64{1e9, 0, 5, -40}); err != nil || upper[1] != 0.02 || upper[0] != 1 || upper[3] > 1 {
		t.Errorf("limits %v, %v", upper, err)
	}
}

// saw are the visits of the one sample that there is, and chose its choices.
func saw(v Visits) func(*value.Sample) (Visits, error) {
	return func(*value.Sample) (Visits, error) { return v, nil }
}

func chose(c Choices) func(*value.Sample) (Choices, error) {
	return func(*value.Sample) (Choices, error) { return c, nil }
}
