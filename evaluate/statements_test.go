package evaluate_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
)

// TestTrueStatementsDoNotWiden makes the same releases with and without a true statement about
// random problems, and wants the mean width with it to be at most 2% larger.
func TestTrueStatementsDoNotWiden(t *testing.T) {
	const persons, problems, releases = 2000, 12, 6
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
		{"design of records that may be lost", nil, func(p *evaluate.Public, w ward) { designed(p, w); p.Complete = false }},
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
	asks["unrecorded"] = func(p *evaluate.Public, w ward) {
		p.Target, p.Behavior = w.new, &evaluate.EstimatedBehavior{States: len(w.often), Column: "state", Actions: w.drawn.Actions()}
	}
	unrecorded := []string{"range twice as wide, 0 below", "range twice as wide, above", "complete records"}
	for ask, change := range asks {
		for _, s := range statements {
			if ask == "unrecorded" && !slices.Contains(unrecorded, s.name) {
				continue
			}
			loose, tight := 0.0, 0.0
			for problem := range problems {
				rng := rand.New(rand.NewPCG(uint64(problem), 17))
				w := drawWard(rng)
				d := w.log(t, persons, rng)
				if ask == "unrecorded" {
					d = bare(d)
				}
				var widths [2]float64
				for k, state := range []func(*evaluate.Public, ward){s.loose, s.tight} {
					p := banditPublic(t, persons, dp.ReplaceOne, nil)
					change(&p, w)
					if state != nil {
						state(&p, w)
					}
					plan := must(evaluate.DPWIS{}.Plan(p))
					for seed := range releases {
						r := runOf(t, plan, d, noise.NewSeeded(uint64(releases*problem+seed)))
						e := r.Answers[0].Estimate
						widths[k] += (e.Interval[1] - e.Interval[0]) / releases
					}
				}
				loose, tight = loose+widths[0], tight+widths[1]
			}
			t.Logf("%s: %s: %.4g without, %.4g with", ask, s.name, loose/problems, tight/problems)
			if tight > 1.02*loose {
				t.Errorf("%s: a true statement, %s, makes the mean width %.4g of %.4g", ask, s.name, tight/problems, loose/problems)
			}
		}
	}
}

// TestALongDesignDoesNotWiden: over eight decisions a design allows weights that hardly anybody has. With the same noise, intervals with it
// are at most 2% wider in the mean of problems, and plans tell half widths that are within 1.7 times those of the releases.
func TestALongDesignDoesNotWiden(t *testing.T) {
	const persons, decisions, problems = 2000, 8, 8
	for ask, change := range map[string]func(p *evaluate.Public, w ward){
		"value": func(p *evaluate.Public, w ward) { p.Target = w.new },
		"difference": func(p *evaluate.Public, w ward) {
			p.Target, p.Targets = nil, &evaluate.Targets{Policies: []evaluate.NamedPolicy{{Name: "new", Policy: w.new}, {Name: "old", Policy: w.old}}, Contrasts: [][2]string{{"new", "old"}}}
		},
	} {
		for _, method := range []evaluate.Estimator{evaluate.DPWIS{}, evaluate.DPPDIS{}} {
			ratio, forecast := 0.0, 0.0
			for problem := range problems {
				rng := rand.New(rand.NewPCG(uint64(problem), 23))
				w := drawWard(rng)
				d := w.log(t, persons*decisions, rng)
				d.EpisodeStart, d.PersonStart, d.Terminated = d.EpisodeStart[:1], d.PersonStart[:1], d.Terminated[:persons]
				for i := range persons {
					d.EpisodeStart, d.PersonStart = append(d.EpisodeStart, (i+1)*decisions), append(d.PersonStart, i+1)
				}
				var widths [2]float64
				for k := range widths {
					p := banditPublic(t, persons, dp.ReplaceOne, nil)
					p.Horizon, p.EpisodeHorizon, p.Complete = decisions, decisions, true
					change(&p, w)
					if k == 1 {
						p.Design = evaluate.NewDesign(w.drawn, true, w.new, w.old)
						if p.Targets != nil {
							p.Targets.Drawn = w.drawn
						}
					}
					r := run(t, method, p, d, noise.NewSeeded(uint64(problem)))
					e := r.Answers[0].Estimate
					if widths[k] = e.Interval[1] - e.Interval[0]; k == 1 {
						half := r.Expected.HalfWidth
						if told, ok := r.Public["answers"].([]evaluate.ExpectedAnswer); ok {
							half = told[0].HalfWidth
						}
						t.Logf("%s: %T: problem %d: width %.3g with the design, %.3g without; forecast %.3g", ask, method, problem, widths[1], widths[0], 2*half)
						forecast += math.Abs(math.Log(2*half/widths[1])) / problems
					}
				}
				ratio += math.Log(widths[1]/widths[0]) / problems
			}
			if ratio > math.Log(1.02) || forecast > math.Log(1.7) {
				t.Errorf("%s: %T: widths with a design are %.2f times those without, and forecasts off by a factor of %.2f", ask, method, math.Exp(ratio), math.Exp(forecast))
			}
		}
	}
}

// Over five and six decisions a design does not widen what tells a policy from the logged one where noise lets weights be cut.
func TestADesignDoesNotWidenANoisyDifference(t *testing.T) {
	const persons, logs = 2000, 6
	for _, c := range []struct {
		seed    uint64
		horizon int
	}{{2, 6}, {4, 5}, {5, 6}} {
		w := random("of five states", 5, 2, c.horizon, c.seed+20).unrecorded(c.seed)
		var logged, probs []float64
		for s, drawn := range w.logs {
			first := drawn[0] + 0.3*drawn[1]
			if (int(c.seed)+s)%2 == 0 {
				first = 0.7 * drawn[0]
			}
			logged, probs = append(logged, drawn...), append(probs, first, 1-first)
		}
		drawn, table := must(policy.NewTable(logged, 2, "obs_state")), must(policy.NewTable(probs, 2, "obs_state"))
		var widths [2]float64
		for k := range widths {
			p := w.public(persons, 1)
			p.Target, p.Design = nil, nil
			p.Targets = &evaluate.Targets{Policies: []evaluate.NamedPolicy{{Name: "new", Policy: table}, {Name: "logged", Policy: policy.Logged{}}}, Contrasts: [][2]string{{"new", "logged"}}}
			if k == 1 {
				p.Design, p.Targets.Drawn = evaluate.NewDesign(drawn, true, table), drawn
			}
			for log := range uint64(logs) {
				_, r := released(t, evaluate.DPPDIS{}, p, w.draw(persons, log+9), log)
				widths[k] += (r.Answers[0].Estimate.Interval[1] - r.Answers[0].Estimate.Interval[0]) / logs
			}
		}
		if t.Logf("%d decisions: %.3g with the design, %.3g without", c.horizon, widths[1], widths[0]); widths[1] > widths[0] {
			t.Errorf("%d decisions: a design makes the mean width %.3g of %.3g", c.horizon, widths[1], widths[0])
		}
	}
}

// TestADesignOfARareStateDoesNotWiden: the design allows weights near 4, which one person in 140 can have; nearly all others have weights near 1.
// The plan tells a half width of a difference, and down to which it may then be: that of releases lies between them, and below twice the latter.
func TestADesignOfARareStateDoesNotWiden(t *testing.T) {
	const persons, logs = 600, 20
	w := drawWard(rand.New(rand.NewPCG(1, 6998)))
	for ask, policies := range map[string][]policy.Policy{"value": {w.new}, "difference": {w.new, w.old}} {
		for _, epsilon := range []float64{1, 5} {
			var widths [2]float64
			var plan *evaluate.Plan
			for k := range widths {
				p := banditPublic(t, persons, dp.ReplaceOne, w.new)
				p.Complete, p.Privacy.Budget.Epsilon = true, epsilon
				if len(policies) > 1 {
					p.Target, p.Targets = nil, &evaluate.Targets{Policies: []evaluate.NamedPolicy{{Name: "new", Policy: w.new}, {Name: "old", Policy: w.old}}, Contrasts: [][2]string{{"new", "old"}}}
				}
				if k == 1 {
					if p.Design = evaluate.NewDesign(w.drawn, true, policies...); p.Targets != nil {
						p.Targets.Drawn = w.drawn
					}
				}
				plan = must(evaluate.DPWIS{}.Plan(p))
				for seed := range uint64(logs) {
					e := runOf(t, plan, w.log(t, persons, rand.New(rand.NewPCG(seed, 31))), noise.NewSeeded(seed)).Answers[0].Estimate
					widths[k] += (e.Interval[1] - e.Interval[0]) / logs
				}
			}
			if t.Logf("%s, epsilon %v: %.4g with the design, %.4g without", ask, epsilon, widths[1], widths[0]); widths[1] > 1.05*widths[0] {
				t.Errorf("%s, epsilon %v: a design makes the mean width %.4g of %.4g", ask, epsilon, widths[1], widths[0])
			}
			outlook := strings.Join(plan.Outlook, "\n")
			saying := map[string]string{"value": "alone it is down to ", "difference": "new - old down to "}[ask]
			if _, told, ok := strings.Cut(outlook, saying); ok {
				least := 0.0
				if _, err := fmt.Sscanf(told, "%g", &least); err != nil || 2*least > widths[1] || 2*least < widths[1]/2 || 2*halfOf(plan) < widths[1] {
					t.Errorf("epsilon %v: a mean width of %.4g, and half widths %q: %v", epsilon, widths[1], told, err)
				}
			} else if ask == "difference" || halfOf(plan) > widths[1] {
				t.Errorf("%s, epsilon %v: half width %.4g, mean width %.4g; %q does not tell what rare states make", ask, epsilon, halfOf(plan), widths[1], outlook)
			}
		}
	}
}

// TestWhatOneInAThousandMayWeighDoesNotWiden: weights as large as a design allows are those of one person in 1,000, which nobody knows
// beforehand. With it, records complete or not, intervals are at most 3% wider than without.
func TestWhatOneInAThousandMayWeighDoesNotWiden(t *testing.T) {
	const logs = 60
	for name, c := range map[string]struct {
		persons  int
		complete bool
		rare     [2]float64 // probabilities of the first action in the rare state, drawn and new
	}{
		"to 3, complete":  {600, true, [2]float64{0.11, 0.344}},
		"to 3":            {2000, false, [2]float64{0.3, 0.94}},
		"to 19, complete": {2000, true, [2]float64{0.0226, 0.431}},
	} {
		table := func(common, rare float64) policy.Policy {
			return must(policy.NewTable([]float64{common, 1 - common, rare, 1 - rare}, 2, "state"))
		}
		w := ward{often: []float64{0.999, 0.001}, worth: [][]float64{{0.03, 0.03}, {0.03, 0.03}}, drawn: table(0.6, c.rare[0]), new: table(0.5, c.rare[1])}
		var widths [2]float64
		for k := range widths {
			p := banditPublic(t, int64(c.persons), dp.ReplaceOne, w.new)
			if p.Complete = c.complete; k == 1 {
				p.Design = evaluate.NewDesign(w.drawn, true, w.new)
			}
			plan := must(evaluate.DPWIS{}.Plan(p))
			for seed := range uint64(logs) {
				e := runOf(t, plan, w.log(t, c.persons, rand.New(rand.NewPCG(seed, 37))), noise.NewSeeded(seed)).Answers[0].Estimate
				widths[k] += (e.Interval[1] - e.Interval[0]) / logs
			}
		}
		if t.Logf("%s: %.4g with the design, %.4g without: %.3f", name, widths[1], widths[0], widths[1]/widths[0]); widths[1] > 1.03*widths[0] {
			t.Errorf("weights %s: a design makes the mean width %.4g of %.4g", name, widths[1], widths[0])
		}
	}
}

// TestAForecastSaysWhereItsStatesAreRare: the policy differs from what was done in a state of one person in 1,000. Intervals
// are far narrower than a forecast that knows no frequencies of states, and the plan tells down to what.
func TestAForecastSaysWhereItsStatesAreRare(t *testing.T) {
	const persons, logs = 2000, 20
	table := func(probs ...float64) policy.Policy { return must(policy.NewTable(probs, 2, "state")) }
	w := ward{often: []float64{0.999, 0.001}, worth: [][]float64{{0.5, 0.5}, {0.5, 0.5}}, drawn: table(0.5, 0.5, 0.9, 0.1), new: table(0.5, 0.5, 0, 1)}
	for asked, c := range map[string]struct {
		ask    func(p *evaluate.Public)
		saying string
	}{
		"value": {func(*evaluate.Public) {}, "alone it is down to "},
		"values": {func(p *evaluate.Public) {
			p.Target, p.Targets = nil, &evaluate.Targets{Policies: []evaluate.NamedPolicy{{Name: "new", Policy: w.new}, {Name: "as drawn", Policy: w.drawn}}, Levels: []string{"new", "as drawn"}, Drawn: w.drawn}
		}, "new down to "},
		"groups": {func(p *evaluate.Public) {
			p.By = &evaluate.Groups{Column: "state", Of: []evaluate.Group{{Name: "many", Number: 0, Persons: persons - 2}, {Name: "few", Number: 1, Persons: 2}}}
		}, "many down to "},
	} {
		for _, complete := range []bool{true, false} {
			p := banditPublic(t, persons, dp.ReplaceOne, w.new)
			p.Complete, p.Privacy.Budget.Epsilon = complete, 5
			p.Design = evaluate.NewDesign(w.drawn, true, w.new, w.drawn)
			c.ask(&p)
			plan, width := must(evaluate.DPWIS{}.Plan(p)), 0.0
			for seed := range uint64(logs) {
				e := runOf(t, plan, w.log(t, persons, rand.New(rand.NewPCG(seed, 32))), noise.NewSeeded(seed)).Answers[0].Estimate
				width += (e.Interval[1] - e.Interval[0]) / logs
			}
			_, told, _ := strings.Cut(strings.Join(plan.Outlook, "\n"), c.saying)
			least := 0.0
			if _, err := fmt.Sscanf(told, "%g", &least); err != nil || 2*least > 1.02*width || width > 3*least || 2*halfOf(plan) < width {
				t.Errorf("%s, complete %v: half width %.4g, mean width %.4g, %q: %v", asked, complete, halfOf(plan), width, plan.Outlook, err)
			}
		}
	}
}
