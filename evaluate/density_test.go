package evaluate_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// doses are n persons of two decisions, each a dose from 0 to 1/2: drawn alike, so that its
// density is 2. The target's is 8 (1/2 - a), and a decision is worth 2 a. Densities of the
// draw are told times a factor.
func doses(r *rand.Rand, n int, told float64) *trajectory.Dataset {
	d := &trajectory.Dataset{PersonStart: []int{0}, EpisodeStart: []int{0}, Terminated: make([]bool, n)}
	for i := range n {
		d.Terminated[i] = true
		for range 2 {
			a := r.Float64() / 2
			d.Reward, d.BehaviorProb, d.TargetProb = append(d.Reward, 2*a), append(d.BehaviorProb, 2*told), append(d.TargetProb, 8*(0.5-a))
		}
		d.EpisodeStart, d.PersonStart = append(d.EpisodeStart, 2*i+2), append(d.PersonStart, i+1)
	}
	return d
}

// dosesWorth is the value of the target: twice the integral of 2 a 8 (1/2 - a).
const dosesWorth = 2. / 3

func dosesPublic(persons int64) evaluate.Public {
	return evaluate.Public{Persons: persons, Gamma: 1, Reward: evaluate.Range{Max: 1}, Horizon: 2, Episodes: 1, Target: policy.ProbColumn{Density: true},
		Privacy: &evaluate.Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 3, Delta: 1e-5}}}
}

// TestDensitiesHaveTheRightIntervals: they hold the value that the integral gives, as often as
// they say, and the reference is near it; where the density of the draw is told half as large
// the weights refute it.
func TestDensitiesHaveTheRightIntervals(t *testing.T) {
	const persons, logs = 600, 25
	src, r := noise.NewSeeded(3), rand.New(rand.NewPCG(1, 2))
	missed := 0
	for _, m := range []evaluate.Estimator{evaluate.DPIS{}, evaluate.DPPDIS{}, evaluate.DPWIS{}} {
		plan := must(m.Plan(dosesPublic(persons)))
		for range logs {
			e := answerOf(t, plan, doses(r, persons, 1), src).Answers[0].Estimate
			if !(e.Interval[0] <= dosesWorth && dosesWorth <= e.Interval[1]) {
				missed++
			}
			if e.Interval[1]-e.Interval[0] > 1.5 {
				t.Errorf("%T: the interval %v tells nothing", m, e.Interval)
			}
		}
		wrong := answerOf(t, plan, doses(r, persons, 0.5), src).Answers[0]
		if _, told := wrong.Diagnostics["weights_refuted"]; !told || wrong.Estimate.Interval != [2]float64{0, 2} {
			t.Errorf("%T: densities that are half as large as they were are not refuted: %v", m, wrong.Estimate.Interval)
		}
	}
	if missed > 7 { // of 75; 5% are 4
		t.Errorf("%d of %d intervals miss the value", missed, 3*logs)
	}
	p := dosesPublic(100_000)
	p.Privacy = nil
	if v := run(t, evaluate.WIS{}, p, doses(r, 100_000, 1), nil).Answers[0].Estimate.Value; math.Abs(v-dosesWorth) > 0.01 {
		t.Errorf("the reference is %v, want %v", v, dosesWorth)
	}
}

// TestDensitiesAreRefusedByName wherever more is needed than their ratio.
func TestDensitiesAreRefusedByName(t *testing.T) {
	p := dosesPublic(600)
	for name, m := range map[string]evaluate.Estimator{"dp-dr": evaluate.DPDR{}, "confounding": evaluate.DPIS{Confounding: 1.5}} {
		if _, err := m.Plan(p); !errors.Is(err, evaluate.ErrMethod) || !strings.Contains(err.Error(), "densit") || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
