package evaluate_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
)

// armsByLot asks for the values of actions, one policy each, of which the lot is known, and for the difference of the last two.
func armsByLot(t testing.TB, persons int64, adjacency dp.Adjacency, actions ...int) evaluate.Public {
	p := banditPublic(t, persons, adjacency, nil)
	p.Targets = &evaluate.Targets{Best: true}
	var targets []policy.Policy
	for i, a := range actions {
		name := fmt.Sprint("arm ", i)
		targets = append(targets, must(policy.NewConstant(a)))
		p.Targets.Policies = append(p.Targets.Policies, evaluate.NamedPolicy{Name: name, Policy: targets[i]})
		p.Targets.Levels = append(p.Targets.Levels, name)
	}
	p.Targets.Contrasts = [][2]string{{p.Targets.Levels[len(actions)-1], p.Targets.Levels[len(actions)-2]}}
	p.Design, p.Complete = evaluate.NewDesign(must(policy.NewUniform(slices.Max(actions)+1)), true, targets...), true
	return p
}

// TestValuesTogetherHold: the values of four arms and a difference hold together in at least 95% of logs, at rates in the middle and
// at an end of the range, with noise that takes values out of it, and each end of the difference misses with
// half of a percent at most: of 200 logs fewer than 175 hold, or more than 8 miss on one side, with probability below
// 1e-4 each. Gaussian noise in a value is that of a single one; Laplace noise, which is taken where nothing is asked, is less.
func TestValuesTogetherHold(t *testing.T) {
	const logs = 200
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		for _, c := range []struct {
			persons int
			paid    []float64
			family  evaluate.NoiseFamily
		}{{300, []float64{0.02, 0.03, 0, 0.05}, evaluate.GaussianNoise}, {300, []float64{0.02, 0.03, 0, 0.05}, ""}, {3000, []float64{0.4, 0.6, 0.5, 0.7}, evaluate.GaussianNoise}, {2000, []float64{0.4, 0.6, 0.5, 0.7}, ""}} {
			p := armsByLot(t, int64(c.persons), adjacency, 0, 1, 2, 3)
			p.Privacy.NoiseFamily = c.family
			plan := must(evaluate.DPWIS{}.Plan(p))
			rng, src := rand.New(rand.NewPCG(8, 9)), noise.NewSeeded(uint64(c.persons))
			held, missed := 0, [2]int{}
			for range logs {
				answers, all := runOf(t, plan, paidArms(rng, c.persons, c.paid), src).Answers, true
				for i, want := range append(slices.Clone(c.paid), c.paid[3]-c.paid[2]) {
					e := answers[i].Estimate
					all = all && e.Interval[0] <= want && want <= e.Interval[1]
					if i == 4 && want < e.Interval[0] {
						missed[0]++
					} else if i == 4 && want > e.Interval[1] {
						missed[1]++
					}
				}
				if all {
					held++
				}
			}
			if held < 175 || max(missed[0], missed[1]) > 8 {
				t.Errorf("%v, %d persons: all hold in %d of %d logs; the difference is missed %v times", adjacency, c.persons, held, logs, missed)
			}
			alone := p
			alone.Targets, alone.Target, alone.Design = nil, must(policy.NewConstant(3)), evaluate.NewDesign(must(policy.NewUniform(4)), true, must(policy.NewConstant(3)))
			alone.Privacy = &evaluate.Privacy{Adjacency: adjacency, Budget: p.Privacy.Budget, NoiseFamily: evaluate.GaussianNoise}
			one := must(evaluate.DPWIS{}.Plan(alone)).Expected.StdPrivacy
			for _, a := range plan.Facts["answers"].([]evaluate.ExpectedAnswer)[:4] {
				if c.family == evaluate.GaussianNoise && math.Abs(a.StdPrivacy/one-1) > 1e-6 || a.StdPrivacy > one*(1+1e-6) || c.family == "" && a.StdPrivacy > 0.7*one {
					t.Errorf("%v, %d persons: the noise in %s has standard deviation %v; alone %v", adjacency, c.persons, a.Name, a.StdPrivacy, one)
				}
			}
		}
	}
}

// TestEachValueHasItsOwnCap: of arms drawn with .8, .1 and .1 weights are 1.25, 10 and 10, and so are caps and the
// noise of values, which are one release; of 300 logs fewer than 269 hold with probability below 1e-4 at 95%.
func TestEachValueHasItsOwnCap(t *testing.T) {
	const persons, logs = 1000, 300
	lot, paid := []float64{0.8, 0.1, 0.1}, []float64{0.3, 0.2, 0.5}
	p := armsByLot(t, persons, dp.ReplaceOne, 0, 1, 2)
	var targets []policy.Policy
	for _, a := range p.Targets.Policies {
		targets = append(targets, a.Policy)
	}
	p.Design = evaluate.NewDesign(must(policy.NewTable(lot, 3, "obs_all")), true, targets...)
	plan := must(evaluate.DPWIS{}.Plan(p))
	told := plan.Facts["answers"].([]evaluate.ExpectedAnswer)
	for i, want := range lot {
		if a := told[i]; math.Abs(a.MaxWeight*want-1) > 1e-9 || math.Abs(a.StdPrivacy*want/told[1].StdPrivacy/0.1-1) > 1e-9 {
			t.Errorf("%s: cap %v and noise of %v; want a cap of %v, and noise in proportion", a.Name, a.MaxWeight, a.StdPrivacy, 1/want)
		}
	}
	others := p
	others.Design = &evaluate.Design{}
	*others.Design = *p.Design
	others.Design.Each = p.Design.Each[1:] // of other targets than these: what is said of all together holds
	for _, a := range must(evaluate.DPWIS{}.Plan(others)).Facts["answers"].([]evaluate.ExpectedAnswer)[:3] {
		if a.MaxWeight < 10 {
			t.Errorf("%s has cap %v by the weights of another policy", a.Name, a.MaxWeight)
		}
	}
	rng, src, held := rand.New(rand.NewPCG(3, 4)), noise.NewSeeded(9), 0
	for range logs {
		d := paidArms(rng, persons, []float64{0, 0, 0})
		for i := range d.Action {
			u := rng.Float64()
			switch d.Action[i] = 0; {
			case u > 0.9:
				d.Action[i] = 2
			case u > 0.8:
				d.Action[i] = 1
			}
			if d.BehaviorProb[i] = lot[d.Action[i]]; rng.Float64() < paid[d.Action[i]] {
				d.Reward[i] = 1
			}
		}
		answers, all := runOf(t, plan, d, src).Answers, true
		for i, want := range append(slices.Clone(paid), paid[2]-paid[1]) {
			e := answers[i].Estimate
			all = all && e.Interval[0] <= want && want <= e.Interval[1]
		}
		if all {
			held++
		}
	}
	if held < 269 {
		t.Errorf("all hold in %d of %d logs", held, logs)
	}
}

// TestWhichValuesAreTogether: those of policies that always take one action, and another one each; two of them at least.
// Their difference is made of them where nobody has two episodes; another one is a release with two for its anchor.
func TestWhichValuesAreTogether(t *testing.T) {
	for name, c := range map[string]struct {
		actions  []int
		change   func(*evaluate.Public)
		together any
		events   int
	}{
		"three arms":         {[]int{0, 1, 2}, nil, 3, 1},
		"one of them twice":  {[]int{2, 0, 2}, nil, 2, 5},
		"the same":           {[]int{1, 1}, nil, nil, 5},
		"several episodes":   {[]int{0, 1}, func(p *evaluate.Public) { p.Horizon, p.OneDecision = 5, true }, 2, 4},
		"the first episodes": {[]int{0, 1}, func(p *evaluate.Public) { p.Horizon, p.OneDecision, p.Episodes = 5, true, 1 }, 2, 1},
		"with what was done": {[]int{0, 1}, func(p *evaluate.Public) {
			p.Targets.Policies = append(p.Targets.Policies, evaluate.NamedPolicy{Name: "logged", Policy: policy.Logged{}})
			p.Targets.Levels = append(p.Targets.Levels, "logged")
		}, 2, 2},
	} {
		p := armsByLot(t, 4000, dp.ReplaceOne, c.actions...)
		if c.change != nil {
			c.change(&p)
		}
		plan := must(evaluate.DPWIS{}.Plan(p))
		for _, a := range runOf(t, plan, paidArms(rand.New(rand.NewPCG(1, 1)), 4000, []float64{0.5, 0.5, 0.5}[:slices.Max(c.actions)+1]), noise.NewSeeded(1)).Answers {
			// Ends that fail by themselves share 5%, and a difference of two intervals fails with either.
			if e := a.Estimate; e != nil && math.Abs((1-e.Confidence)*float64(len(plan.Facts["answers"].([]evaluate.ExpectedAnswer)))-0.05) > 1e-9 {
				t.Errorf("%s: %s has confidence %v", name, a.Name, e.Confidence)
			}
		}
		events := 1
		if all, ok := plan.Event.(dp.Composed); ok {
			events = len(all.Events)
		}
		if got := plan.Facts["values_together"]; got != c.together || events != c.events {
			t.Errorf("%s: %v values together in %d releases; want %v in %d", name, got, events, c.together, c.events)
		}
	}
}

// TestValuesWereApart: a release that does not say that values were together is made again with a release for each.
func TestValuesWereApart(t *testing.T) {
	p := armsByLot(t, 500, dp.ReplaceOne, 0, 1)
	p.Privacy.NoiseFamily = evaluate.GaussianNoise
	plan := must(evaluate.DPWIS{}.Plan(p))
	r := runOf(t, plan, paidArms(rand.New(rand.NewPCG(1, 2)), 500, []float64{0.5, 0.6}), noise.NewSeeded(4))
	text := must(json.Marshal(r))
	for _, together := range []bool{true, false} {
		var back evaluate.Release
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if !together {
			delete(back.Public, "values_together")
		}
		again := must(evaluate.Replan(&back, nil, nil))
		if err := again.Verify(&back); (err == nil) != together {
			t.Errorf("together %v: %v", together, err)
		}
		if _, one := again.Event.(dp.Gaussian); one != together {
			t.Errorf("together %v: the event is %v", together, again.Event)
		}
	}
}

// TestValuesTogetherWithoutDelta: values that are one release need no delta, and their release is verified; beside what was logged they
// are Gaussian, and so are those whose weights are not 0 or the largest.
func TestValuesTogetherWithoutDelta(t *testing.T) {
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		p := armsByLot(t, 500, adjacency, 0, 1, 2)
		p.Privacy.Budget.Delta = 0
		plan := must(evaluate.DPWIS{}.Plan(p))
		if _, pure := plan.Event.(dp.DiscreteLaplace); !pure || plan.Epsilon.Upper > 1 || plan.Epsilon.Upper < 0.999 {
			t.Errorf("%v: the event is %v, and epsilon %v", adjacency, plan.Event, plan.Epsilon)
		}
		r := runOf(t, plan, paidArms(rand.New(rand.NewPCG(1, 2)), 500, []float64{0.5, 0.6, 0.4}), noise.NewSeeded(4))
		var back evaluate.Release
		if err := json.Unmarshal(must(json.Marshal(r)), &back); err != nil {
			t.Fatal(err)
		}
		if err := must(evaluate.Replan(&back, nil, nil)).Verify(&back); err != nil {
			t.Error(err)
		}
		p = armsByLot(t, 500, adjacency, 0, 1, 2)
		p.Targets.Policies = append(p.Targets.Policies, evaluate.NamedPolicy{Name: "logged", Policy: policy.Logged{}})
		p.Targets.Levels = append(p.Targets.Levels, "logged")
		several := armsByLot(t, 500, adjacency, 0, 1, 2)
		several.Targets.Contrasts, several.Horizon, several.OneDecision = nil, 4, true
		for name, q := range map[string]evaluate.Public{"with what was logged": p, "several episodes": several} {
			if plan := must(evaluate.DPWIS{}.Plan(q)); plan.Facts["noise_family"] != nil {
				t.Errorf("%v, %s: noise is %v", adjacency, name, plan.Facts["noise_family"])
			}
		}
	}
}

// TestForecastOfValuesWithoutDelta: of values that need no delta the choice between them and a draw is made too, and its release
// follows from its public facts whichever way is taken.
func TestForecastOfValuesWithoutDelta(t *testing.T) {
	for _, way := range []string{"auto", "permute-and-flip"} {
		for _, delta := range []float64{0, 1e-6} {
			p := armsByLot(t, 100, dp.ReplaceOne, 0, 1, 2)
			p.Privacy.Budget.Delta, p.Targets.Contrasts = delta, nil
			p.Targets.Choose = &evaluate.Choice{By: way, Gap: 0.1}
			plan := must(evaluate.DPWIS{}.Plan(p))
			told := plan.Facts["choice"].(*evaluate.ChoiceForecast)
			if way != "auto" && told.By != way || !(told.Limits > 1./3 && told.Limits < 1) {
				t.Errorf("%s, delta %v: %+v", way, delta, told)
			}
			r := runOf(t, plan, paidArms(rand.New(rand.NewPCG(1, 2)), 100, []float64{0.5, 0.6, 0.4}), noise.NewSeeded(4))
			var back evaluate.Release
			if err := json.Unmarshal(must(json.Marshal(r)), &back); err != nil {
				t.Fatal(err)
			}
			if err := must(evaluate.Replan(&back, nil, nil)).Verify(&back); err != nil {
				t.Errorf("%s, delta %v: %v", way, delta, err)
			}
		}
	}
}

// TestBestBeyondTheRange: nobody is paid, noise takes both values below 0 in a quarter of releases, where both are
// reported as 0, and the one that noise took less far is named.
func TestBestBeyondTheRange(t *testing.T) {
	p := armsByLot(t, 200, dp.ReplaceOne, 0, 1)
	p.Targets.Contrasts = nil
	plan := must(evaluate.DPWIS{}.Plan(p))
	d, src, seen := paidArms(rand.New(rand.NewPCG(1, 1)), 200, []float64{0, 0}), noise.NewSeeded(5), 0
	for range 40 {
		answers := runOf(t, plan, d, src).Answers
		sums := func(i int) float64 {
			text := must(json.Marshal(answers[i].Diagnostics["sums"]))
			var s struct{ X, Z float64 }
			if err := json.Unmarshal(text, &s); err != nil {
				t.Fatal(err)
			}
			return s.X / (s.X + s.Z)
		}
		if answers[0].Estimate.Value != 0 || answers[1].Estimate.Value != 0 {
			continue
		}
		seen++
		want := "arm 0"
		if sums(1) > sums(0) {
			want = "arm 1"
		}
		if got := answers[2].Selection.BestByValue; got != want {
			t.Errorf("%q is the best by value of ratios %v and %v", got, sums(0), sums(1))
		}
	}
	if seen < 3 {
		t.Errorf("both values are 0 in %d of 40 releases", seen)
	}
}
