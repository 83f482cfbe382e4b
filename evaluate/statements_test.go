package evaluate_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
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

// TestTrueStatementsDoNotWiden makes the same releases with and without a true statement about
// random problems, and wants the mean width with it to be at most 2% larger. Where a design tells of a
// difference that no weight is lost, the histogram that decides whether to believe it costs up to 5%.
func TestTrueStatementsDoNotWiden(t *testing.T) {
	const persons, problems, releases = 2000, 12, 3
	designed := func(p *evaluate.Public, w ward) {
		p.Design, p.Complete = evaluate.NewDesign(w.drawn, true, w.new, w.old), true
		if p.Targets != nil {
			p.Targets.Drawn = w.drawn
		}
	}
	statements := []struct {
		name         string
		loose, tight func(p *evaluate.Public, w ward)
	}{
		{"range twice as wide, 0 below", func(p *evaluate.Public, _ ward) { p.Reward.Min = -1 }, nil},
		{"range twice as wide, above", func(p *evaluate.Public, _ ward) { p.Reward.Max = 2 }, nil},
		{"range of a design, below", func(p *evaluate.Public, w ward) { designed(p, w); p.Reward.Min = -1 }, designed},
		{"range of a design, above", func(p *evaluate.Public, w ward) { designed(p, w); p.Reward.Max = 2 }, designed},
		{"complete records", nil, func(p *evaluate.Public, _ ward) { p.Complete = true }},
		{"design", func(p *evaluate.Public, _ ward) { p.Complete = true }, designed},
		{"records of a design", func(p *evaluate.Public, w ward) { designed(p, w); p.Complete = false }, designed},
		{"support", func(p *evaluate.Public, w ward) { designed(p, w); p.Design.Supported = false }, designed},
		{"precision", func(p *evaluate.Public, _ ward) { p.BehaviorPrecision = 0.005 }, nil},
		{"finer precision", func(p *evaluate.Public, _ ward) { p.BehaviorPrecision = 0.01 }, func(p *evaluate.Public, _ ward) { p.BehaviorPrecision = 0.005 }},
		{"horizon", func(p *evaluate.Public, _ ward) { p.Horizon, p.OneDecision = 4, true }, nil},
		{"episodes", func(p *evaluate.Public, _ ward) { p.Horizon, p.OneDecision = 4, true }, func(p *evaluate.Public, _ ward) { p.Horizon, p.OneDecision, p.Episodes = 4, true, 1 }},
	}
	asks := map[string]func(p *evaluate.Public, w ward){
		"value": func(p *evaluate.Public, w ward) { p.Target = w.new },
		"difference": func(p *evaluate.Public, w ward) {
			p.Target, p.Targets = nil, &evaluate.Targets{Policies: []evaluate.NamedPolicy{{Name: "new", Policy: w.new}, {Name: "old", Policy: w.old}}, Contrasts: [][2]string{{"new", "old"}}}
		},
		"logged": func(p *evaluate.Public, w ward) {
			p.Target, p.Targets = nil, &evaluate.Targets{Policies: []evaluate.NamedPolicy{{Name: "new", Policy: w.new}, {Name: "old", Policy: policy.Logged{}}}, Contrasts: [][2]string{{"new", "old"}}}
		},
	}
	for ask, change := range asks {
		for _, s := range statements {
			loose, tight := 0.0, 0.0
			for problem := range problems {
				rng := rand.New(rand.NewPCG(uint64(problem), 17))
				w := drawWard(rng)
				d := w.log(t, persons, rng)
				var widths [2]float64
				for k, state := range []func(*evaluate.Public, ward){s.loose, s.tight} {
					p := banditPublic(t, persons, dp.ReplaceOne, nil)
					change(&p, w)
					if state != nil {
						state(&p, w)
					}
					for seed := range releases {
						r := run(t, evaluate.DPWIS{}, p, d, noise.NewSeeded(uint64(seed)))
						e := r.Answers[0].Estimate
						widths[k] += (e.Interval[1] - e.Interval[0]) / releases
					}
				}
				loose, tight = loose+widths[0], tight+widths[1]
			}
			most := 1.02
			if ask == "difference" && s.name == "design" {
				most = 1.05
			}
			t.Logf("%s: %s: %.4g without, %.4g with", ask, s.name, loose/problems, tight/problems)
			if tight > most*loose {
				t.Errorf("%s: a true statement, %s, makes the mean width %.4g of %.4g", ask, s.name, tight/problems, loose/problems)
			}
		}
	}
}
