package evaluate_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
)

// arms asks about the two arms of a bandit and the policy that drew them.
func arms(t testing.TB, persons int64, adjacency dp.Adjacency) evaluate.Public {
	t.Helper()
	p := banditPublic(t, persons, adjacency, nil)
	p.Targets = &evaluate.Targets{}
	for k, name := range []string{"zero", "one"} {
		arm, err := policy.NewConstant(k)
		if err != nil {
			t.Fatal(err)
		}
		p.Targets.Policies = append(p.Targets.Policies, evaluate.NamedPolicy{Name: name, Policy: arm})
	}
	p.Targets.Policies = append(p.Targets.Policies, evaluate.NamedPolicy{Name: "logged", Policy: policy.Logged{}})
	p.Targets.Levels = []string{"zero", "one", "logged"}
	p.Targets.Contrasts = [][2]string{{"one", "zero"}, {"zero", "logged"}}
	p.Targets.Best = true
	return p
}

// TestAnswersHoldTogether: action 0 is worth .4, action 1 .7, what was done .49. With
// 8,000 persons the right one is best without doubt. All intervals hold in at least
// 95% of releases; of 200 fewer than 180 do with probability below 2e-3 at that rate.
func TestAnswersHoldTogether(t *testing.T) {
	const persons, releases = 8000, 200
	truth := map[string]float64{"zero": 0.4, "one": 0.7, "logged": 0.49, "one - zero": 0.3, "zero - logged": -0.09}
	src, rng := noise.NewSeeded(5), rand.New(rand.NewPCG(5, 6))
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		p, held, sure := arms(t, persons, adjacency), 0, 0
		plan := must(evaluate.DPPDIS{MaxWeight: 4, Clip: "public"}.Plan(p))
		for range releases / 2 {
			r := runOf(t, plan, bandit(rng, persons), src)
			all, seen := true, 0
			for _, a := range r.Answers {
				if e := a.Estimate; e != nil {
					want, ok := truth[a.Name]
					all = all && e.Interval[0] <= want && want <= e.Interval[1]
					if ok {
						seen++
					}
				}
			}
			if seen != len(truth) || r.JointConfidence != 0.95 {
				t.Fatalf("%d of %d answers, joint confidence %v", seen, len(truth), r.JointConfidence)
			}
			if all {
				held++
			}
			if s := r.Answers[len(r.Answers)-1].Selection; s.BestByValue == "one" && slices.Equal(s.MayBeBest, []string{"one"}) && *s.Regret == 0 {
				sure++
			}
		}
		if held < releases*9/20 {
			t.Errorf("%v: all intervals hold in %d of %d releases", adjacency, held, releases/2)
		}
		if sure < releases*2/5 {
			t.Errorf("%v: the best arm is told in %d of %d releases", adjacency, sure, releases/2)
		}
	}
}

// TestAnswersShareTheBudget: every answer has an equal part of mu^2, the two arms, whose values are one release, both parts,
// and together they spend what was asked for.
func TestAnswersShareTheBudget(t *testing.T) {
	for _, clip := range []string{"public", "auto"} {
		plan, err := evaluate.DPPDIS{Clip: clip}.Plan(arms(t, 8000, dp.ReplaceOne))
		if err != nil {
			t.Fatal(err)
		}
		whole, err := evaluate.DPPDIS{Clip: "public"}.Plan(banditPublic(t, 8000, dp.ReplaceOne, policy.ProbColumn{}))
		if err != nil {
			t.Fatal(err)
		}
		total := func(e dp.Event) float64 {
			sum := 0.0
			for _, g := range e.(dp.Composed).Events {
				sum += math.Pow(g.(dp.Gaussian).NoiseMultiplier, -2)
			}
			return sum
		}
		if n := len(plan.Event.(dp.Composed).Events); n != map[string]int{"public": 4, "auto": 8}[clip] {
			t.Errorf("%s: %d noisy sums", clip, n)
		}
		want := math.Pow(whole.Event.(dp.Gaussian).NoiseMultiplier, -2)
		if got := total(plan.Event); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%s: 1/multiplier^2 adds up to %v; of one answer it is %v", clip, got, want)
		}
		if plan.Epsilon.Upper > 1 || plan.Epsilon.Upper < 0.999 {
			t.Errorf("%s: epsilon %v of a budget of 1", clip, plan.Epsilon)
		}
	}
}

// TestCapsOfContrasts: the weight of a contrast is the mean of both, that of the
// logged policy is 1, and two arms are never both taken.
func TestCapsOfContrasts(t *testing.T) {
	p := arms(t, 8000, dp.ReplaceOne)
	p.Targets.Levels, p.Targets.Best = []string{"zero", "logged"}, false
	p.Targets.Contrasts = [][2]string{{"one", "zero"}, {"one", "logged"}}
	plan, err := evaluate.DPPDIS{MaxWeight: 10, Clip: "public"}.Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{10, 1, 5, 5.5} {
		if a := plan.Facts["answers"].([]evaluate.ExpectedAnswer)[i]; a.MaxWeight != want {
			t.Errorf("%s: largest cap %v; want %v", a.Name, a.MaxWeight, want)
		}
	}
}

// unlisted is a policy that tells the probability of the logged action alone.
type unlisted struct{ policy.Policy }

// Actions implements [policy.Policy].
func (unlisted) Actions() int { return 0 }

// TestContrastsOfValuesWhereNoiseIsLarge: a contrast of two values that are answers is
// made of them while noise is the larger error, is a release of its own with many
// persons, and always where one of the values is not an answer. Made of values it has the
// ends that they have.
func TestContrastsOfValuesWhereNoiseIsLarge(t *testing.T) {
	even, err := policy.NewUniform(2)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		persons  int64
		levels   []string
		ofValues bool
	}{{200, []string{"zero", "one"}, true}, {90_000, []string{"zero", "one"}, false}, {500, []string{"one"}, false}} {
		p := arms(t, c.persons, dp.ReplaceOne)
		p.Targets.Policies[0].Policy = unlisted{even}
		p.Targets.Levels, p.Targets.Contrasts, p.Targets.Best = c.levels, [][2]string{{"one", "zero"}}, false
		plan, err := evaluate.DPWIS{MaxWeight: 4, Clip: "public"}.Plan(p)
		if err != nil {
			t.Fatal(err)
		}
		told := plan.Facts["answers"].([]evaluate.ExpectedAnswer)
		if got := told[len(told)-1].OfValues; got != c.ofValues {
			t.Errorf("%d persons, levels %v: of values %v", c.persons, c.levels, got)
		}
		if !c.ofValues {
			continue
		}
		a := run(t, evaluate.DPWIS{MaxWeight: 4, Clip: "public"}, p, bandit(rand.New(rand.NewPCG(1, 1)), int(c.persons)), noise.NewSeeded(2)).Answers
		zero, one, e := a[0].Estimate, a[1].Estimate, a[2].Estimate
		if e.Interval != [2]float64{one.Interval[0] - zero.Interval[1], one.Interval[1] - zero.Interval[0]} || e.Value != one.Value-zero.Value {
			t.Errorf("the difference %+v of %+v and %+v", e, one, zero)
		}
		if math.Abs(zero.Confidence-0.975) > 1e-12 || math.Abs(e.Confidence-0.95) > 1e-12 {
			t.Errorf("confidence %v of a value, %v of the difference; want .975 and .95", zero.Confidence, e.Confidence)
		}
	}
}

// TestQuestionsAboutSeveralPolicies that make no sense are refused by name.
func TestQuestionsAboutSeveralPolicies(t *testing.T) {
	for _, c := range []struct {
		change func(q *evaluate.Targets)
		want   string
	}{
		{func(q *evaluate.Targets) { q.Policies[0].Name = "one" }, `two policies are named "one"`},
		{func(q *evaluate.Targets) { q.Policies[0].Name = " zero" }, "printable characters"},
		{func(q *evaluate.Targets) { q.Policies[0].Name = "\u202eorez" }, "printable characters"},
		{func(q *evaluate.Targets) { q.Policies[0].Name = "zero\xff" }, "printable characters"},
		{func(q *evaluate.Targets) { q.Policies[0].Name = "one - logged" }, "the sign of a difference"},
		{func(q *evaluate.Targets) { q.Policies[0].Name = "- one" }, "the sign of a difference"},
		{func(q *evaluate.Targets) { q.Policies[0].Name = "one -" }, "the sign of a difference"},
		{func(q *evaluate.Targets) { q.Policies[0].Policy = nil }, "is no policy"},
		{func(q *evaluate.Targets) { q.Levels = []string{"two"} }, `no policy is named "two"`},
		{func(q *evaluate.Targets) { q.Levels = []string{"one", "one"} }, "asked for twice"},
		{func(q *evaluate.Targets) { q.Contrasts = [][2]string{{"one", "one"}} }, "of a policy with itself"},
		{func(q *evaluate.Targets) { q.Levels, q.Contrasts, q.Best = nil, nil, false }, "neither levels nor contrasts"},
		{func(q *evaluate.Targets) { q.Levels = q.Levels[:1] }, "ask for the levels of two or more"},
		{func(q *evaluate.Targets) { q.Policies[0].Name, q.Levels[0], q.Contrasts = "best", "best", nil }, `"best" is asked for twice`},
		{func(q *evaluate.Targets) {
			q.Policies, q.Levels, q.Contrasts, q.Best = q.Policies[2:], q.Levels[2:], nil, false
		}, "every policy is the logged one"},
	} {
		p := arms(t, 8000, dp.ReplaceOne)
		c.change(p.Targets)
		if _, err := (evaluate.DPWIS{}).Plan(p); !errors.Is(err, evaluate.ErrPublic) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v; want %q", err, c.want)
		}
	}
	if _, err := (evaluate.DPIS{Diagnostics: 0.1}).Plan(arms(t, 8000, dp.ReplaceOne)); !errors.Is(err, evaluate.ErrMethod) {
		t.Errorf("diagnostics: %v; want ErrMethod", err)
	}
	p := arms(t, 8000, dp.ReplaceOne)
	p.Behavior = &evaluate.EstimatedBehavior{Actions: 2}
	p.Targets.Contrasts, p.Targets.Choose = nil, &evaluate.Choice{By: "auto"}
	if _, err := (evaluate.DPIS{}).Plan(p); !errors.Is(err, evaluate.ErrMethod) || !strings.Contains(err.Error(), "set select to best") {
		t.Errorf("a draw beside estimated probabilities: %v; want ErrMethod with the remedy", err)
	}
}

// TestAnswersHoldWithoutLoggedProbabilities: the log of TestAnswersHoldTogether without its
// probabilities, which are estimated once for all answers. All intervals hold in at least
// 95% of releases; of 40 fewer than 31 do with probability below 1e-4 at that rate. The
// upper limits are at or above .7 and .3 in 99%: of 40 fewer than 36 with probability below
// 1e-4. The right arm is best, and every one of five intervals alone fails with .01 and a
// fifth of .04. The plan verifies what it made; other counts, or none, it refuses. The counts have a fifth of
// mu^2, and the answers the rest in equal parts, of
// which both arms are one release.
func TestAnswersHoldWithoutLoggedProbabilities(t *testing.T) {
	const persons, releases = 8000, 40
	truth := map[string]float64{"zero": 0.4, "one": 0.7, "logged": 0.49, "one - zero": 0.3, "zero - logged": -0.09}
	src, rng := noise.NewSeeded(7), rand.New(rand.NewPCG(7, 8))
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		p := arms(t, persons, adjacency)
		p.Behavior = &evaluate.EstimatedBehavior{Actions: 2}
		method := evaluate.DPPDIS{MaxWeight: 4, Clip: "public"}
		plan, err := method.Plan(p)
		if err != nil {
			t.Fatal(err)
		}
		events, total := plan.Event.(dp.Composed).Events, 0.0
		parts := make([]float64, len(events))
		for i, e := range events {
			parts[i] = math.Pow(e.(dp.Gaussian).NoiseMultiplier, -2)
			total += parts[i]
		}
		for i, part := range parts {
			if want := []float64{0.2, 0.16, 0.16, 0.16, 0.32}; len(parts) != len(want) || math.Abs(part/total-want[i]) > 1e-9 {
				t.Fatalf("release %d of %d has %v of mu^2; want %v", i, len(parts), part/total, want)
			}
		}
		if plan.Epsilon.Upper > 1 || plan.Epsilon.Upper < 0.999 {
			t.Errorf("epsilon %v of a budget of 1", plan.Epsilon)
		}
		held, above, sure := 0, 0, 0
		for i := range releases {
			d := bandit(rng, persons)
			d.BehaviorProb = nil
			r := runOf(t, plan, d, src)
			all := len(r.Answers) == len(truth)+1
			for _, a := range r.Answers[:len(truth)] {
				e, want := a.Estimate, truth[a.Name]
				all = all && e.Interval[0] <= want && want <= e.Interval[1]
				if math.Abs(e.Confidence-(1-0.01-0.04/5)) > 1e-12 {
					t.Fatalf("%s alone has confidence %v", a.Name, e.Confidence)
				}
			}
			if all {
				held++
			}
			var told struct{ Upper [][]float64 }
			readDiagnostic(t, r, "behavior", &told)
			if told.Upper[0][0] >= 0.7 && told.Upper[0][1] >= 0.3 {
				above++
			}
			if s := r.Answers[len(truth)].Selection; s.BestByValue == "one" && slices.Equal(s.MayBeBest, []string{"one"}) {
				sure++
			}
			if i > 0 {
				continue
			}
			if err := plan.Verify(r); err != nil {
				t.Fatal(err)
			}
			for _, changed := range []any{nil, map[string]any{"counts": [][]float64{{1, 2, 3}}, "upper": told.Upper}, map[string]any{"counts": [][]float64{{5600, 2400}}, "upper": told.Upper}} {
				other := *r
				other.Diagnostics = map[string]any{}
				if changed != nil {
					other.Diagnostics["behavior"] = changed
				}
				if err := plan.Verify(&other); !errors.Is(err, evaluate.ErrRelease) {
					t.Fatalf("counts %v: %v; want ErrRelease", changed, err)
				}
			}
		}
		t.Logf("%v: of %d releases all intervals hold in %d, limits in %d, and %d tell the best", adjacency, releases, held, above, sure)
		if held < 31 || above < 36 || sure < releases*4/5 {
			t.Errorf("%v: of %d releases all intervals hold in %d, limits in %d, and %d tell the best", adjacency, releases, held, above, sure)
		}
	}
}

// readDiagnostic reads a diagnostic of a release as whoever gets it does.
func readDiagnostic(t testing.TB, r *evaluate.Release, name string, v any) {
	t.Helper()
	text, err := json.Marshal(r.Diagnostics[name])
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestOtherMethodsNameThemselves when they are asked about several policies, and say
// which methods there are.
func TestOtherMethodsNameThemselves(t *testing.T) {
	tabular, err := feature.NewTabular(2, "obs_state")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range evaluate.Methods() {
		if m.NeedOutcome { // dpsurvival_test.go
			continue
		}
		p := arms(t, 8000, dp.ReplaceOne)
		if !m.Private {
			p.Privacy = nil
		}
		if m.NeedFeatures {
			p.Features = tabular
		}
		e, err := evaluate.New(m.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Plan(p)
		if slices.Contains([]string{"auto", "dp-is", "dp-pdis", "dp-wis"}, m.Name) {
			if err != nil {
				t.Errorf("%s: %v", m.Name, err)
			}
		} else if !errors.Is(err, evaluate.ErrMethod) || !strings.Contains(err.Error(), m.Name+" estimates one policy") || !strings.Contains(err.Error(), "dp-pdis") {
			t.Errorf("%s: %v; want a refusal by name with the remedy", m.Name, err)
		}
	}
}

// TestAnswersFollowFromTheirSums: what is in the JSON form verifies, and no answer can
// be edited without its sums, nor the selection.
func TestAnswersFollowFromTheirSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		p := arms(t, 2000, adjacency)
		text, err := json.Marshal(run(t, evaluate.DPWIS{}, p, bandit(rng, 2000), noise.NewSeeded(9)))
		if err != nil {
			t.Fatal(err)
		}
		for name, edit := range map[string]func(r *evaluate.Release){
			"":                 func(*evaluate.Release) {},
			"value":            func(r *evaluate.Release) { r.Answers[0].Estimate.Value += 0.01 },
			"interval":         func(r *evaluate.Release) { r.Answers[3].Estimate.Interval[0] += 0.01 },
			"confidence":       func(r *evaluate.Release) { r.Answers[3].Estimate.Confidence = 0.95 },
			"joint confidence": func(r *evaluate.Release) { r.JointConfidence = 0.99 },
			"selection":        func(r *evaluate.Release) { r.Answers[5].Selection.BestByValue = "zero" },
			"regret":           func(r *evaluate.Release) { *r.Answers[5].Selection.Regret += 0.01 },
			"no policy": func(r *evaluate.Release) {
				r.Answers[5].Selection.BestByValue, r.Answers[5].Selection.Regret = "", nil
			},
			"name":        func(r *evaluate.Release) { r.Answers[0].Name = "none" },
			"order":       func(r *evaluate.Release) { r.Answers[0], r.Answers[1] = r.Answers[1], r.Answers[0] },
			"dropped":     func(r *evaluate.Release) { r.Answers = r.Answers[:5] },
			"cut":         func(r *evaluate.Release) { r.Answers = r.Answers[:2] },
			"no estimate": func(r *evaluate.Release) { r.Answers[0].Estimate = nil },
		} {
			r := new(evaluate.Release)
			if err := json.Unmarshal(text, r); err != nil {
				t.Fatal(err)
			}
			edit(r)
			plan, err := evaluate.Replan(r, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := plan.Verify(r); (err == nil) != (name == "") {
				t.Errorf("%v, %q: %v", adjacency, name, err)
			}
		}
	}
}
