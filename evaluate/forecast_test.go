package evaluate_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
)

// TestPlansForecastOnlyWhatPublicFactsTell: a plan names a half width where policies, a guess or equal weights tell it, and says why
// not elsewhere; where even equal weights give no answer it says so. Without the public fact, as in a release that has none, the plan is another.
func TestPlansForecastOnlyWhatPublicFactsTell(t *testing.T) {
	const persons = 2000
	w := drawWard(rand.New(rand.NewPCG(3, 17)))
	contrast := func(p *evaluate.Public) {
		p.Target, p.Targets = nil, &evaluate.Targets{Policies: []evaluate.NamedPolicy{{Name: "new", Policy: w.new}, {Name: "old", Policy: w.old}}, Levels: []string{"new"}, Contrasts: [][2]string{{"new", "old"}}}
	}
	design := func(p *evaluate.Public) {
		if p.Design, p.Complete = evaluate.NewDesign(w.drawn, true, w.new, w.old), true; p.Targets != nil {
			p.Targets.Drawn = w.drawn
		}
	}
	groups := func(p *evaluate.Public) {
		p.By = &evaluate.Groups{Column: "state", Of: []evaluate.Group{{Name: "a", Number: 0}, {Name: "b", Number: 1}}}
	}
	long := func(p *evaluate.Public) { p.Horizon, p.EpisodeHorizon = 3, 3 }
	cells := func(p *evaluate.Public) {
		p.Behavior = &evaluate.EstimatedBehavior{States: len(w.often), Column: "state", Actions: w.drawn.Actions()}
	}
	for _, c := range []struct {
		name   string
		method evaluate.Estimator
		change []func(p *evaluate.Public)
		told   bool
		says   string
	}{
		{"recorded", evaluate.DPWIS{}, nil, false, "only the data tell how weights vary. Give guess"},
		{"guessed", evaluate.DPWIS{Guess: &evaluate.WeightGuess{Effective: 0.5}}, nil, true, ""},
		{"confounded", evaluate.DPPDIS{Confounding: 1.5}, nil, false, "only the data tell how weights vary"},
		{"direct", evaluate.DPFQE{Form: "state"}, nil, false, "only the data tell how weights vary"},
		{"design", evaluate.DPWIS{}, []func(*evaluate.Public){design}, true, "1% of the range"},
		{"logged", evaluate.DPWIS{}, []func(*evaluate.Public){func(p *evaluate.Public) { p.Target = policy.Logged{} }}, true, "1% of the range"},
		{"a contrast", evaluate.DPWIS{}, []func(*evaluate.Public){contrast}, false, "only the data tell how weights vary. Give the policy by which actions were drawn, if it is public and no softmax"},
		{"a contrast by design", evaluate.DPWIS{}, []func(*evaluate.Public){contrast, design}, true, "1% of the range"},
		{"a contrast by a long design", evaluate.DPWIS{}, []func(*evaluate.Public){contrast, design, long}, true, "go together"},
		{"groups", evaluate.DPWIS{}, []func(*evaluate.Public){groups}, false, "|Half width: not forecast"},
		{"groups by design", evaluate.DPWIS{}, []func(*evaluate.Public){groups, design}, true, "1% of the range"},
		{"groups by a long design", evaluate.DPPDIS{}, []func(*evaluate.Public){groups, design, long}, true, "go together"},
		{"logged groups", evaluate.DPWIS{}, []func(*evaluate.Public){groups, func(p *evaluate.Public) { p.Target = policy.Logged{} }}, true, "1% of the range"},
		{"few in a cell", evaluate.DPWIS{}, []func(*evaluate.Public){cells, func(p *evaluate.Public) { p.Persons = 600 }}, false, "how often actions were taken"},
		{"many in a cell", evaluate.DPWIS{}, []func(*evaluate.Public){cells, func(p *evaluate.Public) { p.Persons = 50_000 }}, true, ""},
		{"several decisions, estimated", evaluate.DPPDIS{}, []func(*evaluate.Public){cells, func(p *evaluate.Public) { p.Horizon, p.EpisodeHorizon = 6, 6 }}, false, "expect most of the range"},
		{"no answer", evaluate.DPWIS{}, []func(*evaluate.Public){func(p *evaluate.Public) { p.Privacy.Budget.Epsilon = 0.001 }}, true, ""},
		{"no answer of a contrast", evaluate.DPWIS{}, []func(*evaluate.Public){contrast, func(p *evaluate.Public) { p.Privacy.Budget.Epsilon = 0.001 }}, true, ""},
	} {
		p := banditPublic(t, persons, dp.ReplaceOne, w.new)
		p.Features = must(feature.NewTabular(len(w.often), "state"))
		for _, change := range c.change {
			change(&p)
		}
		plan := must(c.method.Plan(p))
		halves := []float64{plan.Expected.HalfWidth}
		if answers, ok := plan.Facts["answers"].([]evaluate.ExpectedAnswer); ok {
			halves = nil
			for _, a := range answers {
				halves = append(halves, a.HalfWidth)
			}
		}
		for _, half := range halves {
			if (half > 0) != c.told {
				t.Errorf("%s: half widths %v", c.name, halves)
			}
		}
		if !strings.Contains("|"+strings.Join(plan.Outlook, "|"), c.says) || c.says == "" && plan.Outlook != nil {
			t.Errorf("%s: %q; want %q", c.name, plan.Outlook, c.says)
		}
	}

	p := banditPublic(t, persons, dp.ReplaceOne, w.new)
	groups(&p)
	p.By.Of[0].Persons, p.By.Of[1].Persons = 1, persons-1 // of a single person even equal weights give no answer
	if told := must(evaluate.DPWIS{}.Plan(p)).Outlook; !strings.Contains(strings.Join(told, "|"), "b: Half width: not forecast") {
		t.Errorf("a single group without a forecast: %q", told)
	}

	p = banditPublic(t, persons, dp.ReplaceOne, w.new)
	r := run(t, evaluate.DPWIS{}, p, w.log(t, persons, rand.New(rand.NewPCG(1, 1))), noise.NewSeeded(1))
	again := new(evaluate.Release)
	if err := json.Unmarshal(must(json.Marshal(r)), again); err != nil {
		t.Fatal(err)
	}
	delete(again.Public, "forecast")
	plan := must(evaluate.Replan(again, nil, nil))
	if err := plan.Verify(again); err == nil || plan.Expected.HalfWidth == 0 || plan.Facts["forecast"] != nil {
		t.Errorf("a release without the fact: half width %v, %v", plan.Expected.HalfWidth, err)
	}
	again.Expected = plan.Expected
	if err := plan.Verify(again); err != nil {
		t.Errorf("a release of the other rule: %v", err)
	}
}

// TestForecastsOfRareDifferences: where outcomes are rare, the half width that a plan tells of them for a difference of two arms, and of an arm and
// the logged policy, is within 1.5 times that of releases, and that of values in the middle is not.
func TestForecastsOfRareDifferences(t *testing.T) {
	const persons, logs = 2000, 6
	uniform, arm := must(policy.NewUniform(2)), must(policy.NewConstant(1))
	for name, other := range map[string]policy.Policy{"arm": must(policy.NewConstant(0)), "logged": policy.Logged{}} {
		for _, epsilon := range []float64{1, 5} {
			p := banditPublic(t, persons, dp.ReplaceOne, nil)
			p.Privacy.Budget.Epsilon = epsilon
			p.Target, p.Targets = nil, &evaluate.Targets{Drawn: uniform, Policies: []evaluate.NamedPolicy{{Name: "one", Policy: arm}, {Name: name, Policy: other}}, Contrasts: [][2]string{{"one", name}}}
			p.Design, p.Complete = evaluate.NewDesign(uniform, true, arm, other), true
			plan := must(evaluate.DPWIS{}.Plan(p))
			_, told, _ := strings.Cut(strings.Join(plan.Outlook, "\n"), "one - "+name+" about ")
			near := 0.0
			if _, err := fmt.Sscanf(told, "%g", &near); err != nil {
				t.Fatalf("%s: %q: %v", name, plan.Outlook, err)
			}
			middle, half := plan.Facts["answers"].([]evaluate.ExpectedAnswer)[0].HalfWidth, 0.0
			for seed := range uint64(logs) {
				rng := rand.New(rand.NewPCG(seed, 29))
				d := coins(persons, 0, seed)
				for i := range d.Reward {
					if d.Reward[i] = 0; rng.Float64() < 0.01 {
						d.Reward[i] = 1
					}
				}
				e := runOf(t, plan, d, noise.NewSeeded(seed)).Answers[0].Estimate
				half += (e.Interval[1] - e.Interval[0]) / 2 / logs
			}
			if t.Logf("%s, epsilon %v: %.4g released, %.4g told, %.4g in the middle", name, epsilon, half, near, middle); near > 1.5*half || near < half/1.5 || middle < 1.5*half {
				t.Errorf("%s, epsilon %v: a half width of %.4g; %.4g is told of rare outcomes and %.4g in the middle", name, epsilon, half, near, middle)
			}
		}
	}
}
