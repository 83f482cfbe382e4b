package evaluate_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// drawnArms asks which arm is best and nothing else.
func drawnArms(t testing.TB, persons int64, adjacency dp.Adjacency, by string) evaluate.Public {
	p := arms(t, persons, adjacency)
	p.Targets.Contrasts, p.Targets.Choose = nil, &evaluate.Choice{By: by}
	return p
}

// TestChoiceNamesAPolicyAndNothingElse: the release has no value and no interval, says so
// first, spends pure epsilon, follows from its plan, and with 8,000 persons names the best
// arm; a policy that was not in question, or a value beside it, is found out.
func TestChoiceNamesAPolicyAndNothingElse(t *testing.T) {
	rng, src := rand.New(rand.NewPCG(1, 1)), noise.NewSeeded(4)
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		for _, e := range []evaluate.Estimator{evaluate.DPIS{}, evaluate.DPWIS{MaxWeight: 4}, evaluate.DPPDIS{}, evaluate.Auto{}} {
			p := drawnArms(t, 8000, adjacency, "permute-and-flip")
			plan, err := e.Plan(p)
			if err != nil {
				t.Fatal(err)
			}
			if plan.Event != (dp.PermuteAndFlip{Epsilon: p.Privacy.Budget.Epsilon}) {
				t.Errorf("event %v", plan.Event)
			}
			r := runOf(t, plan, bandit(rng, 8000), src)
			if len(r.Answers) != 1 || r.Answers[0].Kind != evaluate.OfPick || *r.Answers[0].Pick != (evaluate.Pick{Policy: "one"}) {
				t.Fatalf("answers %+v; want the policy one", r.Answers)
			}
			text, err := json.Marshal(r.Answers[0])
			if err != nil || string(text) != `{"name":"best","kind":"pick","pick":{"policy":"one"}}` {
				t.Errorf("%s, %v", text, err)
			}
			if r.Answers[0].Estimate != nil || r.JointConfidence != 0 || len(r.Diagnostics) != 0 || r.Expected != (evaluate.Expected{}) {
				t.Errorf("the release holds more: %+v", r)
			}
			if e != (evaluate.Auto{}) && !strings.HasPrefix(r.Notes[0], "This release names a policy and nothing else") {
				t.Errorf("first note: %s", r.Notes[0])
			}
			if err := plan.Verify(r); err != nil {
				t.Error(err)
			}
			r.Answers[0].Pick.Policy = "two"
			if err := plan.Verify(r); !errors.Is(err, evaluate.ErrRelease) {
				t.Errorf("a policy that was not in question: %v", err)
			}
			r.Answers[0].Pick.Policy, r.Answers[0].Estimate = "zero", &evaluate.Estimate{Value: 1}
			if err := plan.Verify(r); !errors.Is(err, evaluate.ErrRelease) {
				t.Errorf("a value beside the policy: %v", err)
			}
			if err := plan.InParts(); !errors.Is(err, evaluate.ErrInParts) {
				t.Errorf("in parts: %v", err)
			}
		}
	}
}

// TestChoiceHasTheLawOfItsScores computes the scores of a small log by hand and the law of
// permute-and-flip among three by adding up the six orders, and holds frequencies against it.
func TestChoiceHasTheLawOfItsScores(t *testing.T) {
	const persons, runs, cap, epsilon = 40, 3000, 2.0, 1.0
	d := bandit(rand.New(rand.NewPCG(9, 9)), persons)
	scores := map[string]float64{}
	for i := range persons {
		w := 1 / d.BehaviorProb[i]
		arm := []string{"zero", "one"}[d.Action[i]]
		scores[arm] += min(w, cap) * d.Reward[i]
		scores["logged"] += d.Reward[i]
	}
	p := drawnArms(t, persons, dp.ReplaceOne, "permute-and-flip")
	p.Privacy.Budget.Epsilon = epsilon
	best := max(scores["zero"], scores["one"], scores["logged"])
	falls := map[string]float64{}
	for name, s := range scores {
		falls[name] = math.Exp(-epsilon * (best - s) / (2 * cap)) // one person moves a difference by 2 cap
	}
	law := map[string]float64{}
	for _, order := range [][]string{{"zero", "one", "logged"}, {"zero", "logged", "one"}, {"one", "zero", "logged"}, {"one", "logged", "zero"}, {"logged", "zero", "one"}, {"logged", "one", "zero"}} {
		reached := 1.0
		for _, name := range order {
			law[name] += reached * falls[name] / 6
			reached *= 1 - falls[name]
		}
	}
	plan, err := evaluate.DPIS{MaxWeight: cap}.Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	seen, src := map[string]float64{}, noise.NewSeeded(8)
	for range runs {
		ready, err := plan.Check(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		r, err := ready.Run(context.Background(), receipt.None(), src)
		if err != nil {
			t.Fatal(err)
		}
		seen[r.Answers[0].Pick.Policy]++
	}
	chi := 0.0
	for name, share := range law {
		chi += (seen[name] - runs*share) * (seen[name] - runs*share) / (runs * share)
	}
	// The 1 - 1e-6 quantile of chi-square with 2 degrees of freedom.
	if chi > 27.63 {
		t.Errorf("seen %v of %d; the law is %v (chi-square %.1f)", seen, runs, law, chi)
	}
}

// TestForecastTakesTheLikelierWay: at delta 1e-6 exponential noise is smaller, and at an epsilon
// so small that delta carries the guarantee Gaussian noise is. Either way the plan tells
// both probabilities, and the release follows from its public facts.
func TestForecastTakesTheLikelierWay(t *testing.T) {
	rng, src := rand.New(rand.NewPCG(1, 3)), noise.NewSeeded(6)
	for _, c := range []struct {
		budget dp.Budget
		want   string
	}{{dp.Budget{Epsilon: 0.1, Delta: 1e-6}, "permute-and-flip"}, {dp.Budget{Epsilon: 0.01, Delta: 0.05}, "limits"}} {
		p := drawnArms(t, 200, dp.AddRemoveOne, "auto")
		p.Privacy.Budget, p.Privacy.LargeDelta = c.budget, true
		p.Targets.Choose.Gap = 0.3
		r := run(t, evaluate.DPIS{}, p, bandit(rng, 200), src)
		told := r.Public["choice"].(*evaluate.ChoiceForecast)
		if told.By != c.want || (told.Flip > told.Limits) != (c.want == "permute-and-flip") || told.Gap != 0.3 {
			t.Errorf("%v: forecast %+v; want %s", c.budget, told, c.want)
		}
		if picked := r.Answers[0].Pick != nil; picked != (c.want == "permute-and-flip") {
			t.Errorf("%v: answers %+v", c.budget, r.Answers)
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var back evaluate.Release
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		plan, err := evaluate.Replan(&back, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := plan.Verify(&back); err != nil {
			t.Errorf("%v: %v", c.budget, err)
		}
	}
}

// TestForecastGrowsWithGapAndPersons, and falls with the number of policies, by both ways.
func TestForecastGrowsWithGapAndPersons(t *testing.T) {
	told := func(persons int64, gap float64, levels int) *evaluate.ChoiceForecast {
		p := drawnArms(t, persons, dp.ReplaceOne, "permute-and-flip")
		p.Targets.Choose.Gap, p.Targets.Levels = gap, p.Targets.Levels[:levels]
		plan, err := evaluate.DPIS{}.Plan(p)
		if err != nil {
			t.Fatal(err)
		}
		return plan.Facts["choice"].(*evaluate.ChoiceForecast)
	}
	a := told(500, 0.1, 3)
	for name, b := range map[string]*evaluate.ChoiceForecast{"gap": told(500, 0.2, 3), "persons": told(4000, 0.1, 3), "policies": told(500, 0.1, 2)} {
		if !(b.Flip > a.Flip && b.Limits > a.Limits && b.Flip <= 1 && b.Limits <= 1) {
			t.Errorf("%s: %+v, before %+v", name, b, a)
		}
	}
}

// TestPureBudgetAllowsAChoice: delta 0 pays for no Gaussian noise, and for a choice.
func TestPureBudgetAllowsAChoice(t *testing.T) {
	for _, by := range []string{"permute-and-flip", "auto"} {
		p := drawnArms(t, 500, dp.ReplaceOne, by)
		p.Privacy.Budget.Delta = 0
		plan, err := evaluate.DPIS{}.Plan(p)
		if err != nil {
			t.Fatal(err)
		}
		if told := plan.Facts["choice"].(*evaluate.ChoiceForecast); told.Limits != 0 || told.By != "permute-and-flip" {
			t.Errorf("%+v", told)
		}
		if plan.Epsilon.Upper != p.Privacy.Budget.Epsilon {
			t.Errorf("epsilon %v of %v", plan.Epsilon, p.Privacy.Budget.Epsilon)
		}
	}
}

// TestSupposedValueMovesNoDifference: where the design says that nothing is missing, scores
// are measured from the value that is supposed; the same policy is best by each.
func TestSupposedValueMovesNoDifference(t *testing.T) {
	d := bandit(rand.New(rand.NewPCG(2, 2)), 8000)
	for i := range d.Action {
		d.BehaviorProb[i] = 0.7
		if d.Action[i] == 1 {
			d.BehaviorProb[i] = 0.3
		}
	}
	for _, value := range []float64{0, 0.5, 1} {
		p := drawnArms(t, 8000, dp.ReplaceOne, "permute-and-flip")
		p.Design = &evaluate.Design{Ratios: []float64{1 / 0.3}, Squares: []float64{1 / 0.3}, Supported: true}
		p.Complete = true
		p.Targets.Choose.Value = &value
		r := run(t, evaluate.DPIS{}, p, d, noise.NewSeeded(3))
		told := r.Public["choice"].(*evaluate.ChoiceForecast)
		if told.Center != value || r.Answers[0].Pick.Policy != "one" {
			t.Errorf("value %v: %+v, %+v", value, told, r.Answers[0].Pick)
		}
	}
}

func TestChoicesThatCannotBeMadeAreRefused(t *testing.T) {
	two := 2.0
	for _, c := range []struct {
		change func(p *evaluate.Public)
		method evaluate.Estimator
		says   string
	}{
		{func(p *evaluate.Public) { p.Targets.Contrasts = [][2]string{{"one", "zero"}} }, evaluate.DPIS{}, "leave contrasts out"},
		{func(p *evaluate.Public) { p.Targets.Choose.By = "chance" }, evaluate.DPIS{}, "want limits, permute-and-flip or auto"},
		{func(p *evaluate.Public) { p.Targets.Choose.Gap = -1 }, evaluate.DPIS{}, "select.gap is -1"},
		{func(p *evaluate.Public) { p.Targets.Choose.Value = &two }, evaluate.DPIS{}, "select.value is 2, outside the public range"},
		{func(p *evaluate.Public) { p.Targets.Best = false }, evaluate.DPIS{}, "the best is not asked for"},
		{func(p *evaluate.Public) {
			p.Targets.Choose = &evaluate.Choice{By: "limits", Gap: 1}
		}, evaluate.DPIS{}, "leave them out"},
		{func(p *evaluate.Public) { p.Privacy.Fast = true }, evaluate.DPIS{}, "set privacy.noise to exact"},
		{func(*evaluate.Public) {}, evaluate.DPIS{Clip: "auto"}, "leave clip and clip_share out"},
	} {
		p := drawnArms(t, 500, dp.ReplaceOne, "permute-and-flip")
		c.change(&p)
		if _, err := c.method.Plan(p); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v; want %q", err, c.says)
		}
	}
}

// TestOrderOfPersonsDrawsTheSame: sums of integers do not depend on it.
func TestOrderOfPersonsDrawsTheSame(t *testing.T) {
	d := bandit(rand.New(rand.NewPCG(4, 4)), 30)
	back := &trajectory.Dataset{PersonStart: d.PersonStart, EpisodeStart: d.EpisodeStart, Terminated: d.Terminated,
		Reward: slices.Clone(d.Reward), Action: slices.Clone(d.Action), BehaviorProb: slices.Clone(d.BehaviorProb), TargetProb: slices.Clone(d.TargetProb)}
	slices.Reverse(back.Reward)
	slices.Reverse(back.Action)
	slices.Reverse(back.BehaviorProb)
	slices.Reverse(back.TargetProb)
	p := drawnArms(t, 30, dp.ReplaceOne, "permute-and-flip")
	for seed := range uint64(40) {
		a, b := run(t, evaluate.DPIS{}, p, d, noise.NewSeeded(seed)), run(t, evaluate.DPIS{}, p, back, noise.NewSeeded(seed))
		if *a.Answers[0].Pick != *b.Answers[0].Pick {
			t.Fatalf("seed %d: %v, and of the reversed log %v", seed, a.Answers[0].Pick, b.Answers[0].Pick)
		}
	}
}
