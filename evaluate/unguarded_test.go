package evaluate_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// unguardedValue is a question about a policy whose value is known, where no guard is needed.
type unguardedValue struct {
	public evaluate.Public
	truth  float64
	log    func(rng *rand.Rand) *trajectory.Dataset
}

// unguardedValues are arms of a trial in the middle of the range and near its ends, and policies whose weights vary.
func unguardedValues(t *testing.T, persons int, adjacency dp.Adjacency) map[string]unguardedValue {
	arms := must(policy.NewTable([]float64{0.5, 0.5}, 2, "state"))
	wards := map[string]ward{}
	for name, worth := range map[string]float64{"an arm worth .7": 0.7, "an arm worth .01": 0.01, "an arm worth .995": 0.995} {
		wards[name] = ward{often: []float64{1}, worth: [][]float64{{0.5, worth}}, drawn: arms, new: must(policy.NewConstant(1))}
	}
	for seed, name := range []string{"a policy", "another policy", "a third policy"} {
		wards[name] = drawWard(rand.New(rand.NewPCG(uint64(seed), 41)))
	}
	all := map[string]unguardedValue{}
	for name, w := range wards {
		p := banditPublic(t, int64(persons), adjacency, w.new)
		p.Design, p.Complete = evaluate.NewDesign(w.drawn, true, w.new), true
		all[name] = unguardedValue{p, w.worthOf(w.new, nil), func(rng *rand.Rand) *trajectory.Dataset { return w.log(t, persons, rng) }}
	}
	return all
}

// TestAValueByLaplaceHolds: intervals hold the value in at least 46 of 60 logs, whatever the weights, the adjacency and the
// share of noise in the error (at 95% fewer do with probability 2e-7 a cell). Releases are verified
// from their JSON alone, and cost epsilon at delta 0.
func TestAValueByLaplaceHolds(t *testing.T) {
	const persons, logs, least = 300, 60, 46
	methods := []evaluate.Estimator{evaluate.DPWIS{}, evaluate.DPIS{}}
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		for _, epsilon := range []float64{1, 0.2} {
			for name, v := range unguardedValues(t, persons, adjacency) {
				p := v.public
				p.Privacy.Budget = dp.Budget{Epsilon: epsilon}
				src, rng, held := noise.NewSeeded(7), rand.New(rand.NewPCG(6, 8)), make([]int, len(methods))
				for k, m := range methods {
					plan := must(m.Plan(p))
					if _, pure := plan.Event.(dp.DiscreteLaplace); !pure || plan.Epsilon.Upper > epsilon || plan.Facts["tier"] != 0 {
						t.Fatalf("%s: %T of epsilon %v, tier %v", name, plan.Event, plan.Epsilon, plan.Facts["tier"])
					}
					for log := range logs {
						r := runOf(t, plan, v.log(rng), src)
						if ends := r.Answers[0].Estimate.Interval; ends[0] <= v.truth && v.truth <= ends[1] {
							held[k]++
						}
						if log == 0 {
							verified(t, r)
						}
					}
				}
				if t.Logf("%s, %v, epsilon %v: %v of %d", name, adjacency, epsilon, held, logs); min(held[0], held[1]) < least {
					t.Errorf("%s, %v, epsilon %v: %v of %d intervals hold %v", name, adjacency, epsilon, held, logs, v.truth)
				}
			}
		}
	}
}

// verified makes the plan of a release again from its JSON, and verifies it.
func verified(t *testing.T, r *evaluate.Release) *evaluate.Plan {
	t.Helper()
	again := new(evaluate.Release)
	if err := json.Unmarshal(must(json.Marshal(r)), again); err != nil {
		t.Fatal(err)
	}
	plan := must(evaluate.Replan(again, nil, nil))
	if err := plan.Verify(again); err != nil {
		t.Fatal(err)
	}
	return plan
}

// TestAValueByLaplaceIsChosenByWidth: without a family Laplace noise where it is expected to be narrower, and intervals then are; Gaussian
// noise where that is asked for, fast, or beside diagnostics, and where delta is so large that it is narrower. Releases with Gaussian noise,
// which name no family, are planned again with it.
func TestAValueByLaplaceIsChosenByWidth(t *testing.T) {
	const persons, logs = 600, 20
	for name, v := range unguardedValues(t, persons, dp.ReplaceOne) {
		var widths [2]float64
		var half [2]float64
		var pure bool
		for k, family := range []evaluate.NoiseFamily{"", evaluate.GaussianNoise} {
			v.public.Privacy.NoiseFamily = family
			plan, rng, src := must(evaluate.DPWIS{}.Plan(v.public)), rand.New(rand.NewPCG(5, 8)), noise.NewSeeded(3)
			half[k] = plan.Expected.HalfWidth
			if k == 0 {
				_, pure = plan.Event.(dp.DiscreteLaplace)
			} else if _, also := plan.Event.(dp.DiscreteLaplace); also {
				t.Errorf("%s: Laplace noise where Gaussian is asked for", name)
			}
			for log := range logs {
				r := runOf(t, plan, v.log(rng), src)
				widths[k] += (r.Answers[0].Estimate.Interval[1] - r.Answers[0].Estimate.Interval[0]) / logs
				if _, again := verified(t, r).Event.(dp.DiscreteLaplace); log == 0 && again != (pure && k == 0) {
					t.Errorf("%s, %q: the plan is made again with other noise", name, family)
				}
			}
		}
		t.Logf("%s: Laplace %v, widths %.4g by choice, %.4g by Gaussian noise", name, pure, widths[0], widths[1])
		if half[0] > half[1] || widths[0] > 1.02*widths[1] || pure == (widths[0] == widths[1]) || strings.Contains(name, "arm") && !(pure && widths[0] < 0.95*widths[1]) {
			t.Errorf("%s: half widths %v are expected, and widths are %v by choice and with Gaussian noise", name, half, widths)
		}
	}
	for name, c := range map[string]struct {
		method evaluate.Estimator
		change func(p *evaluate.Public)
	}{
		"gaussian":    {evaluate.DPWIS{}, func(p *evaluate.Public) { p.Privacy.NoiseFamily = evaluate.GaussianNoise }},
		"fast":        {evaluate.DPWIS{}, func(p *evaluate.Public) { p.Privacy.Fast = true }},
		"diagnostics": {evaluate.DPWIS{Diagnostics: 0.1}, func(*evaluate.Public) {}},
		"large delta": {evaluate.DPWIS{}, func(p *evaluate.Public) {
			p.Privacy.Budget, p.Privacy.LargeDelta = dp.Budget{Epsilon: 0.2, Delta: 0.2}, true
		}},
		"a baseline": {evaluate.DPDR{}, func(*evaluate.Public) {}},
		"groups": {evaluate.DPWIS{}, func(p *evaluate.Public) {
			p.By = &evaluate.Groups{Column: "obs_x", Of: []evaluate.Group{{Name: "a", Number: 0}, {Name: "b", Number: 1}}}
		}},
		"lost records": {evaluate.DPWIS{}, func(p *evaluate.Public) { p.Complete = false }},
		"recorded":     {evaluate.DPWIS{}, func(p *evaluate.Public) { p.Design = nil }},
	} {
		p := coinPublic(t, 300, dp.ReplaceOne)
		c.change(&p)
		plan, err := c.method.Plan(p)
		if _, pure := plan.Event.(dp.DiscreteLaplace); err != nil || pure {
			t.Errorf("%s: %v, %T", name, err, plan.Event)
		}
		if name == "gaussian" || name == "large delta" {
			continue
		}
		for _, family := range []evaluate.NoiseFamily{evaluate.LaplaceNoise, ""} {
			if p.Privacy.NoiseFamily = family; family == "" {
				p.Privacy.Budget.Delta = 0
			}
			if _, err := c.method.Plan(p); !errors.Is(err, evaluate.ErrMethod) && !errors.Is(err, evaluate.ErrPublic) && !errors.Is(err, dp.ErrBudget) {
				t.Errorf("%s: Laplace noise where a guard or a second sum is needed: %v", name, err)
			}
		}
	}
}

// TestMissingMassBringsTheGuardBackByLaplace: arm 1 is drawn with probability 1/3, against a design of 1/2. The share of the mean weight
// that lacks is within the interval again; and an arm drawn more often than declared refutes the design.
func TestMissingMassBringsTheGuardBackByLaplace(t *testing.T) {
	const persons = 3000
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		p := coinPublic(t, persons, adjacency)
		p.Privacy.Budget.Delta = 0
		plan := must(evaluate.DPWIS{}.Plan(p))
		r := runOf(t, plan, drawn(persons, 1.0/3, 1), noise.NewSeeded(3))
		if ends := r.Answers[0].Estimate.Interval; ends[0] > 0.7*2/3 || ends[1] < 0.7*2/3+1.0/3 || !strings.Contains(strings.Join(r.Notes, "\n"), "guarded after all") {
			t.Errorf("%v: %v, %q; want an interval that holds [%.3f, %.3f]", adjacency, ends, r.Notes, 0.7*2/3, 0.7*2/3+1.0/3)
		}
		verified(t, r)
		r = runOf(t, plan, drawn(persons, 0.65, 1), noise.NewSeeded(3))
		if ends := r.Answers[0].Estimate.Interval; ends != [2]float64{0, 1} || r.Answers[0].Diagnostics["weights_refuted"] == nil {
			t.Errorf("%v: a mean weight of 1.3 is taken for 1: %v", adjacency, ends)
		}
	}
}

// TestAContrastByLaplaceHolds: at least 84 of 100 intervals hold a contrast that is asked for alone (at 95% fewer do with probability 1e-5 a cell), of arms of a trial in the middle of the range and near an end, where
// the anchor is taken, and of policies. Where the family is left to the plan no half width that it forecasts is above that with Gaussian noise.
func TestAContrastByLaplaceHolds(t *testing.T) {
	const persons, logs, least = 300, 100, 84
	arms := must(policy.NewTable([]float64{0.5, 0.5}, 2, "state"))
	trial := func(worth ...float64) ward {
		return ward{often: []float64{1}, worth: [][]float64{worth}, drawn: arms, new: must(policy.NewConstant(1)), old: must(policy.NewConstant(0))}
	}
	for name, w := range map[string]ward{"arms": trial(0.4, 0.6), "arms near an end": trial(0.01, 0.04), "arms near the other": trial(0.99, 0.97), "policies": drawWard(rand.New(rand.NewPCG(1, 41)))} {
		truth, anchored := w.worthOf(w.new, w.old), 0
		for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
			for _, epsilon := range []float64{1, 0.2} {
				p := banditPublic(t, persons, adjacency, nil)
				p.Targets = &evaluate.Targets{Policies: []evaluate.NamedPolicy{{Name: "new", Policy: w.new}, {Name: "old", Policy: w.old}}, Contrasts: [][2]string{{"new", "old"}}, Drawn: w.drawn}
				p.Design, p.Complete = evaluate.NewDesign(w.drawn, true, w.new, w.old), true
				p.Privacy.Budget.Epsilon = epsilon
				chosen := must(evaluate.DPWIS{}.Plan(p))
				p.Privacy.NoiseFamily = evaluate.GaussianNoise
				if most := halfOf(must(evaluate.DPWIS{}.Plan(p))); halfOf(chosen) > most {
					t.Errorf("%s, %v, epsilon %v: a half width of %v is chosen, and with Gaussian noise it is %v", name, adjacency, epsilon, halfOf(chosen), most)
				}
				p.Privacy.NoiseFamily, p.Privacy.Budget.Delta = "", 0
				plan, src, rng, held := must(evaluate.DPWIS{}.Plan(p)), noise.NewSeeded(7), rand.New(rand.NewPCG(6, 8)), 0
				if plan.Epsilon.Upper > epsilon || plan.Facts["tier"] != 0 {
					t.Fatalf("%s: epsilon %v, tier %v", name, plan.Epsilon, plan.Facts["tier"])
				}
				for log := range logs {
					r := runOf(t, plan, w.log(t, persons, rng), src)
					if ends := r.Answers[0].Estimate.Interval; ends[0] <= truth && truth <= ends[1] {
						held++
					}
					if r.Answers[0].Diagnostics["anchor"].(float64) != 0.5 {
						anchored++
					}
					if log == 0 {
						verified(t, r)
					}
				}
				if t.Logf("%s, %v, epsilon %v: %d of %d", name, adjacency, epsilon, held, logs); held < least {
					t.Errorf("%s, %v, epsilon %v: %d of %d intervals hold %v", name, adjacency, epsilon, held, logs, truth)
				}
			}
		}
		if (anchored > logs) != strings.Contains(name, "near") {
			t.Errorf("%s: %d of %d are measured from an anchor", name, anchored, 4*logs)
		}
	}
}

// TestAContrastOfUnequalLots: weights of two policies that tell no states apart are not 0 or the largest where actions are drawn
// with .98 and .02, so that squares are not what they would be then: at rare outcomes the contrast with Laplace noise is less than .7 times as
// wide as with Gaussian noise, and holds in most of 20 logs.
func TestAContrastOfUnequalLots(t *testing.T) {
	const persons, logs = 20_000, 20
	drawn, arm, even := must(policy.NewTable([]float64{0.98, 0.02}, 2, "obs_all")), must(policy.NewConstant(1)), must(policy.NewTable([]float64{0.49, 0.51}, 2, "obs_all"))
	rng, held := rand.New(rand.NewPCG(1, 2)), 0
	var widths [2]float64
	for range logs {
		d := paidArms(rng, persons, []float64{0, 0})
		d.Columns, d.Obs = []string{"obs_all"}, make([]float64, persons)
		for i := range d.Action {
			d.Action[i], d.BehaviorProb[i] = 0, 0.98
			if rng.Float64() < 0.02 {
				d.Action[i], d.BehaviorProb[i] = 1, 0.02
			}
			if rng.Float64() < 0.01*float64(1+d.Action[i]) {
				d.Reward[i] = 1
			}
		}
		for k, family := range []evaluate.NoiseFamily{evaluate.GaussianNoise, evaluate.LaplaceNoise} {
			p := banditPublic(t, persons, dp.ReplaceOne, nil)
			p.Privacy.NoiseFamily = family
			p.Targets = &evaluate.Targets{Policies: []evaluate.NamedPolicy{{Name: "arm", Policy: arm}, {Name: "even", Policy: even}}, Contrasts: [][2]string{{"arm", "even"}}, Drawn: drawn}
			p.Design, p.Complete = evaluate.NewDesign(drawn, true, arm, even), true
			e := run(t, evaluate.DPWIS{}, p, d, noise.NewSeeded(rng.Uint64())).Answers[0].Estimate
			widths[k] += e.Interval[1] - e.Interval[0]
			if k == 1 && e.Interval[0] <= 0.0049 && 0.0049 <= e.Interval[1] {
				held++
			}
		}
	}
	if widths[1] > 0.7*widths[0] || held < 14 {
		t.Errorf("widths %v with Gaussian and with Laplace noise; %d of %d hold", widths, held, logs)
	}
}
