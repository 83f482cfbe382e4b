package evaluate_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// ward is a one-decision problem: what is drawn by, and two policies, in states of different
// frequencies.
type ward struct {
	often           []float64 // of states
	worth           [][]float64
	drawn, new, old policy.Policy
}

// wards differ in how rare states with small probabilities are, and in how rare rewards are.
func drawWard(rng *rand.Rand) ward {
	states, actions := 2+rng.IntN(4), 2+rng.IntN(2)
	w := ward{often: simplex(rng, states, 2)}
	level := []float64{0.03, 0.5, 0.9}[rng.IntN(3)]
	var drawn, fresh, before []float64
	for range states {
		b, p := simplex(rng, actions, 1.5), simplex(rng, actions, 0.5)
		floor := []float64{0.02, 0.1}[rng.IntN(2)]
		near := rng.Float64()
		for a := range actions {
			b[a] = floor + (1-floor*float64(actions))*b[a]
		}
		for a := range actions {
			before = append(before, (b[a]+p[a])/2)
			fresh = append(fresh, p[a]*near+(1-near)*(b[a]+p[a])/2)
		}
		drawn = append(drawn, b...)
		worth := make([]float64, actions)
		for a := range worth {
			worth[a] = min(max(level*(0.5+rng.Float64()), 0), 1)
		}
		w.worth = append(w.worth, worth)
	}
	table := func(probs []float64) policy.Policy { return must(policy.NewTable(probs, actions, "state")) }
	w.drawn, w.new, w.old = table(drawn), table(fresh), table(before)
	return w
}

// simplex are probabilities, the more unequal the larger the power.
func simplex(rng *rand.Rand, k int, power float64) []float64 {
	out, sum := make([]float64, k), 0.0
	for i := range out {
		out[i] = math.Pow(-math.Log(1-rng.Float64()), power)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

func (w ward) log(t testing.TB, persons int, rng *rand.Rand) *trajectory.Dataset {
	d := &trajectory.Dataset{PersonStart: []int{0}, EpisodeStart: []int{0}, Columns: []string{"state"}}
	pick := func(p []float64) int {
		u := rng.Float64()
		for i, x := range p {
			if u -= x; u < 0 {
				return i
			}
		}
		return len(p) - 1
	}
	probs := make([]float64, w.drawn.Actions())
	for range persons {
		state := pick(w.often)
		d.Obs = append(d.Obs, float64(state))
		d.Action = append(d.Action, 0)
		d.Reward, d.Terminated = append(d.Reward, 0), append(d.Terminated, true)
		d.EpisodeStart, d.PersonStart = append(d.EpisodeStart, len(d.Reward)), append(d.PersonStart, len(d.Reward))
	}
	bound := must(w.drawn.Bind(d))
	for row := range d.Rows() {
		bound.Distribution(probs, row)
		a := pick(probs)
		d.Action[row] = int32(a)
		if rng.Float64() < w.worth[int(d.Obs[row])][a] {
			d.Reward[row] = 1
		}
	}
	return must(policy.WithBehavior(d, w.drawn))
}

// worthOf is the difference of two policies' values, or the value of the first where there is no second.
func (w ward) worthOf(a, b policy.Policy) float64 {
	d := &trajectory.Dataset{PersonStart: []int{0}, EpisodeStart: []int{0}, Columns: []string{"state"}}
	for s := range w.often {
		d.Obs, d.Action, d.Reward, d.Terminated = append(d.Obs, float64(s)), append(d.Action, 0), append(d.Reward, 0), append(d.Terminated, true)
		d.EpisodeStart, d.PersonStart = append(d.EpisodeStart, s+1), append(d.PersonStart, s+1)
	}
	first := must(a.Bind(d))
	p, q := make([]float64, a.Actions()), make([]float64, a.Actions())
	total := 0.0
	for s, often := range w.often {
		first.Distribution(p, s)
		if b != nil {
			must(b.Bind(d)).Distribution(q, s)
		}
		for action, worth := range w.worth[s] {
			total += often * (p[action] - q[action]) * worth
		}
	}
	return total
}

// paidArms is a log of one episode a person whose action is drawn by lot and pays 1 with the probability of its arm.
func paidArms(rng *rand.Rand, persons int, paid []float64) *trajectory.Dataset {
	d := &trajectory.Dataset{PersonStart: []int{0}, EpisodeStart: []int{0}}
	for i := range persons {
		a, r := rng.IntN(len(paid)), 0.0
		if rng.Float64() < paid[a] {
			r = 1
		}
		d.Action, d.Reward, d.Terminated = append(d.Action, int32(a)), append(d.Reward, r), append(d.Terminated, true)
		d.EpisodeStart, d.PersonStart, d.BehaviorProb = append(d.EpisodeStart, i+1), append(d.PersonStart, i+1), append(d.BehaviorProb, 1/float64(len(paid)))
	}
	return d
}

// halfOf is the half width that a plan forecasts of its first answer.
func halfOf(plan *evaluate.Plan) float64 {
	if told, ok := plan.Facts["answers"].([]evaluate.ExpectedAnswer); ok {
		return told[0].HalfWidth
	}
	return plan.Expected.HalfWidth
}
