package value_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/policy"
)

// A tiny problem whose every trajectory can be listed: three states, two
// actions, at most three decisions, stochastic transitions and rewards of two
// values.
const (
	tinyStates  = 3
	tinyActions = 2
	tinyHorizon = 3
	tinyGamma   = 0.8
)

type tiny struct {
	p      [tinyStates][tinyActions][tinyStates + 1]float64 // the last: end
	reward [tinyStates][tinyActions][2]float64
	lucky  [tinyStates][tinyActions]float64 // probability of the second reward
	start  [tinyStates]float64
}

func drawDistribution(t *rapid.T, n int, name string) []float64 {
	p, sum := make([]float64, n), 0.0
	for i := range p {
		p[i] = float64(rapid.IntRange(1, 9).Draw(t, name))
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

func drawTiny(t *rapid.T) (m tiny) {
	copy(m.start[:], drawDistribution(t, tinyStates, "start"))
	for s := range tinyStates {
		for a := range tinyActions {
			copy(m.p[s][a][:], drawDistribution(t, tinyStates+1, "transition"))
			m.lucky[s][a] = rapid.Float64Range(0, 1).Draw(t, "lucky")
			for i := range 2 {
				m.reward[s][a][i] = rapid.Float64Range(-2, 2).Draw(t, "reward")
			}
		}
	}
	return m
}

func drawPolicy(t *rapid.T, name string) []float64 {
	var table []float64
	for range tinyStates {
		table = append(table, drawDistribution(t, tinyActions, name)...)
	}
	return table
}

// enumerate lists every trajectory, with its probability under the behaviour
// policy and under the target policy.
func (m *tiny) enumerate(behavior, target []float64) (all []history, pb, pt []float64) {
	var walk func(s int, steps []step, b, q float64)
	end := func(steps []step, terminated bool, final, b, q float64) {
		all = append(all, history{person: len(all), steps: slices.Clone(steps), terminated: terminated, final: final})
		pb, pt = append(pb, b), append(pt, q)
	}
	walk = func(s int, steps []step, b, q float64) {
		for a := range tinyActions {
			i := s*tinyActions + a
			for k, r := range m.reward[s][a] {
				chance := m.lucky[s][a]
				if k == 0 {
					chance = 1 - chance
				}
				path := append(slices.Clone(steps), step{state: float64(s), action: int32(a), prob: behavior[i], reward: r})
				b, q := b*behavior[i]*chance, q*target[i]*chance
				for next, p := range m.p[s][a] {
					switch {
					case next == tinyStates:
						end(path, true, -1, b*p, q*p)
					case len(path) == tinyHorizon:
						end(path, false, float64(next), b*p, q*p)
					default:
						walk(next, path, b*p, q*p)
					}
				}
			}
		}
	}
	for s, p := range m.start {
		walk(s, nil, p, p)
	}
	return all, pb, pt
}

// value is J of a policy over the horizon, by backward induction.
func (m *tiny) value(pi []float64) float64 {
	var v [tinyStates + 1]float64
	for range tinyHorizon {
		var before [tinyStates + 1]float64
		for s := range tinyStates {
			for a := range tinyActions {
				q := m.lucky[s][a]*m.reward[s][a][1] + (1-m.lucky[s][a])*m.reward[s][a][0]
				for next, p := range m.p[s][a] {
					q += tinyGamma * p * v[next]
				}
				before[s] += pi[s*tinyActions+a] * q
			}
		}
		v = before
	}
	j := 0.0
	for s, p := range m.start {
		j += p * v[s]
	}
	return j
}

func dot(p, x []float64) float64 {
	sum := 0.0
	for i := range p {
		sum += p[i] * x[i]
	}
	return sum
}

// The expectation under the behaviour policy is a finite sum, taken here term by
// term; the value under the target policy comes from backward induction.
func TestImportanceSamplingAndDoublyRobustAreUnbiased(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawTiny(t)
		behavior, target := drawPolicy(t, "behavior"), drawPolicy(t, "target")
		all, pb, _ := m.enumerate(behavior, target)
		pi := must(policy.NewTable(target, tinyActions, "obs_state"))
		s := must(value.NewSample(build(all), value.Options{Gamma: tinyGamma, Features: tabular(tinyStates), Policy: pi}))
		n := len(all)
		num, den, pdis, dr := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		value.ISContributions(num, den, s)
		value.PDISContributions(pdis, s)
		q := value.StateActionValues{K: tinyActions, Values: make([]float64, tinyStates*tinyActions)}
		for i := range q.Values {
			q.Values[i] = rapid.Float64Range(-50, 50).Draw(t, "q")
		}
		if err := value.DRContributions(dr, s, q); err != nil {
			t.Fatal(err)
		}
		want := m.value(target)
		for name, got := range map[string]float64{"IS": dot(pb, num), "PDIS": dot(pb, pdis), "DR": dot(pb, dr)} {
			// Weights reach 9^6 and Q is as large as 50.
			if !(math.Abs(got-want) <= 1e-9) {
				t.Fatalf("expectation of %s is %v, want %v", name, got, want)
			}
		}
		if got := dot(pb, den); !(math.Abs(got-1) <= 1e-9) {
			t.Fatalf("expectation of the weights is %v, want 1", got)
		}
	})
}

func TestDoublyRobustWithoutGuessIsPerDecision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawTiny(t)
		all, _, _ := m.enumerate(drawPolicy(t, "behavior"), drawPolicy(t, "target"))
		pi := must(policy.NewTable(drawPolicy(t, "target"), tinyActions, "obs_state"))
		s := must(value.NewSample(build(all), value.Options{Gamma: tinyGamma, Features: tabular(tinyStates), Policy: pi}))
		pdis, dr := make([]float64, len(all)), make([]float64, len(all))
		value.PDISContributions(pdis, s)
		if err := value.DRContributions(dr, s, value.ActionValues{}); err != nil {
			t.Fatal(err)
		}
		for i := range dr {
			if !(math.Abs(dr[i]-pdis[i]) <= 1e-11*(1+math.Abs(pdis[i]))) {
				t.Fatalf("trajectory %d: DR %v, PDIS %v", i, dr[i], pdis[i])
			}
		}
	})
}

// Where next state and reward follow from state and action, the true Q leaves
// no variance at all: every contribution is the exact value of the start.
func TestDoublyRobustWithTheTruthHasNoVariance(t *testing.T) {
	const gamma = 0.9
	m := value.FiniteMDP{
		States: 3, Actions: 2, Gamma: gamma, Start: []float64{1, 0, 0},
		// Action 0 goes on, action 1 skips a state; beyond the last is the end.
		P: []float64{
			0, 1, 0, 0, 0, 1,
			0, 0, 1, 0, 0, 0,
			0, 0, 0, 0, 0, 0,
		},
		R: []float64{1, -2, 3, 0.5, 0.25, 4},
	}
	target := []float64{0.3, 0.7, 0.9, 0.1, 0.5, 0.5}
	q := value.StateActionValues{K: 2, Values: must(m.ActionValues(target))}
	r := func(s, a int) step { return step{float64(s), int32(a), 0.5, m.R[s*2+a]} }
	all := []history{
		{0, []step{r(0, 0), r(1, 0), r(2, 1)}, true, -1},
		{1, []step{r(0, 0), r(1, 1)}, true, -1},
		{2, []step{r(0, 1), r(2, 0)}, true, -1},
	}
	s := sample(t, build(all), value.Options{
		Gamma: gamma, Features: tabular(3), Policy: must(policy.NewTable(target, 2, "obs_state")),
	})
	dr := make([]float64, 3)
	if err := value.DRContributions(dr, s, q); err != nil {
		t.Fatal(err)
	}
	want := must(m.Value(target))
	for i, got := range dr {
		if !(math.Abs(got-want) <= 1e-14) {
			t.Errorf("trajectory %d: %v, want J = %v", i, got, want)
		}
	}
}
