package evaluate_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/schema"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// spreadFacts are those of two decisions with rewards from 0 to 1.
func spreadFacts(persons int64, epsilon float64, target policy.Policy) evaluate.Public {
	return evaluate.Public{
		Persons: persons, Gamma: 1, Horizon: 4, EpisodeHorizon: 2, Reward: evaluate.Range{Min: 0, Max: 1}, Target: target,
		Privacy: &evaluate.Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: epsilon, Delta: 1e-6}},
	}
}

// spreadData has, of every five persons, one with return 2, one with 0 who counts twice in a
// target that takes action 1, one with two episodes of which one is cut off, and two whose
// action the target never takes and whose episodes were left out.
func spreadData(persons int) *trajectory.Dataset {
	var b trajectory.Builder
	episode := func(person int, ended bool, prob float64, action int32, rewards ...float64) {
		e := &trajectory.Episode{Person: person, Reward: rewards, Terminated: ended}
		for range rewards {
			e.Action, e.BehaviorProb = append(e.Action, action), append(e.BehaviorProb, prob)
			action, prob = 1, 1
		}
		b.Add(e)
	}
	for i := range persons {
		switch i % 5 {
		case 0:
			episode(i, true, 1, 1, 1, 1)
		case 1:
			episode(i, true, 0.5, 1, 0, 0)
		case 2:
			episode(i, true, 1, 1, 0.5, 0.5)
			episode(i, false, 1, 1, 1)
		default:
			episode(i, true, 0.5, int32(i%5-3), 0.25, 0.25)
		}
	}
	d := b.Dataset()
	d.LeftOut = make([]int, persons)
	for i := range persons {
		if i%5 == 4 {
			d.LeftOut[i] = 1
		}
	}
	return d
}

// The masses are those that can be counted by hand: what is cut off, left out or not taken by
// the target is in no bin, and an episode of several counts by its part.
func TestMassesAreCountedByHand(t *testing.T) {
	const persons = 5000
	always, err := policy.NewConstant(1)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		target      policy.Policy
		method      evaluate.DPDistribution
		masses      []float64 // of five persons
		least, most []float64 // that hold the function, in shares
	}{
		"logged": {policy.Logged{}, evaluate.DPDistribution{Ends: []float64{0, 0.5, 1}}, []float64{1, 1.5, 0.5, 1},
			[]float64{0.2, 0.5, 0.6, 1}, []float64{0.4, 0.7, 0.8, 1}},
		"discrete": {policy.Logged{}, evaluate.DPDistribution{Ends: []float64{0, 1, 2}, Discrete: true}, []float64{1, 0.5, 1},
			[]float64{0.2, 0.3, 1}, []float64{0.7, 0.8, 1}},
		"always": {always, evaluate.DPDistribution{Ends: []float64{0, 0.5, 1}, MaxWeight: 2}, []float64{2, 1, 0.5, 1},
			[]float64{0.4, 0.6, 0.7, 1}, []float64{0.5, 0.7, 0.8, 1}},
		"cut": {always, evaluate.DPDistribution{Ends: []float64{0, 0.5, 1}, MaxWeight: 1}, []float64{1, 0.5, 0.5, 1},
			[]float64{0.2, 0.3, 0.4, 1}, []float64{0.6, 0.7, 0.8, 1}},
	} {
		_, r := released(t, c.method, spreadFacts(persons, 5000, c.target), spreadData(persons), 5)
		masses := r.Diagnostics["masses"].([]float64)
		for j, want := range c.masses {
			if math.Abs(masses[j]/persons*5-want) > 0.01 {
				t.Errorf("%s: bin %d has %v of five persons; want %v", name, j, masses[j]/persons*5, want)
			}
			if f := r.Distribution.Function; f.Lower[j] > c.least[j] || f.Upper[j] < c.most[j] || f.Lower[j] < c.least[j]-0.05 || f.Upper[j] > c.most[j]+0.05 {
				t.Errorf("%s: at %v the limits are %v and %v; want about %v and %v, and no less", name, r.Distribution.Ends[j], f.Lower[j], f.Upper[j], c.least[j], c.most[j])
			}
		}
	}
}

// A sum of rewards is at the end that it stands for, though 0.1 + 0.2 lies above 0.3.
func TestAReturnIsAtItsEndWhateverIsRounded(t *testing.T) {
	const persons = 1000
	var b trajectory.Builder
	for i := range persons {
		b.Add(&trajectory.Episode{Person: i, Reward: []float64{0.1, 0.2}, Terminated: true})
	}
	d := b.Dataset()
	d.Terminated = slices.Repeat([]bool{true}, persons)
	p := spreadFacts(persons, 1000, policy.Logged{})
	for _, discrete := range []bool{false, true} {
		_, r := released(t, evaluate.DPDistribution{Ends: []float64{0.2, 0.3, 2}, Discrete: discrete}, p, d, 5)
		if masses := r.Diagnostics["masses"].([]float64); math.Abs(masses[1]-persons) > 1 {
			t.Errorf("discrete %v: masses %v; want all of 1000 at 0.3", discrete, masses)
		}
	}
}

// editsAreRefused wants a release to be as its plan and the schema say, and that its plan notices each change of its JSON form.
func editsAreRefused(t *testing.T, plan *evaluate.Plan, r *evaluate.Release, changes map[string]func(*evaluate.Release)) {
	t.Helper()
	if err := plan.Verify(r); err != nil {
		t.Fatal(err)
	}
	text := must(json.Marshal(r))
	if err := schema.Check(schema.Release, text); err != nil {
		t.Error(err)
	}
	for name, change := range changes {
		var changed evaluate.Release
		if err := json.Unmarshal(text, &changed); err != nil {
			t.Fatal(err)
		}
		change(&changed)
		if err := plan.Verify(&changed); !errors.Is(err, evaluate.ErrRelease) {
			t.Errorf("%s was changed: %v", name, err)
		}
	}
}

// A distribution follows from its masses: whatever is changed is refused, and the JSON form is
// as its schema says, under both adjacencies.
func TestADistributionFollowsFromItsMasses(t *testing.T) {
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		p := spreadFacts(1000, 2, policy.Logged{})
		p.Privacy.Adjacency = adjacency
		plan, r := released(t, evaluate.DPDistribution{UpperTails: []float64{0.25}}, p, spreadData(1000), 3)
		editsAreRefused(t, plan, r, map[string]func(*evaluate.Release){
			"the function": func(r *evaluate.Release) { r.Distribution.Function.Lower[3] -= 0.01 },
			"an end":       func(r *evaluate.Release) { r.Distribution.Ends[3] += 0.01 },
			"a quantile":   func(r *evaluate.Release) { r.Answers[1].Estimate.Interval[0] += 0.01 },
			"a mass":       func(r *evaluate.Release) { r.Diagnostics["masses"].([]any)[2] = 1e6 },
			"no mass":      func(r *evaluate.Release) { delete(r.Diagnostics, "mass_kept_back") },
		})
	}
}

// Weights whose mean is above 1 are none: every limit is that of any distribution.
func TestADistributionOfWrongProbabilitiesKnowsNothing(t *testing.T) {
	always, err := policy.NewConstant(1)
	if err != nil {
		t.Fatal(err)
	}
	d := spreadData(2000)
	for row := range d.BehaviorProb {
		d.BehaviorProb[row] = 0.5
	}
	_, r := released(t, evaluate.DPDistribution{MaxWeight: 4}, spreadFacts(2000, 2, always), d, 3)
	if _, told := r.Diagnostics["weights_refuted"]; !told || !strings.Contains(r.Notes[0], "probabilities of the logged actions are wrong") {
		t.Errorf("notes %q, diagnostics %v", r.Notes, r.Diagnostics)
	}
	for j, low := range r.Distribution.Function.Lower[:19] {
		if low != 0 || r.Distribution.Function.Upper[j] != 1 {
			t.Errorf("at %v: %v to %v", r.Distribution.Ends[j], low, r.Distribution.Function.Upper[j])
		}
	}
	for _, a := range r.Answers {
		if a.Estimate.Interval != [2]float64{0, 2} {
			t.Errorf("%s: %v", a.Name, a.Estimate.Interval)
		}
	}
}

// To state that nothing is lost never widens a limit, where that is so.
func TestACompleteDistributionIsNoWider(t *testing.T) {
	var b trajectory.Builder
	for i := range 1000 {
		b.Add(&trajectory.Episode{Person: i, Reward: []float64{float64(i%10) / 10, 0.5}, Terminated: true})
	}
	d := b.Dataset()
	d.Terminated = slices.Repeat([]bool{true}, 1000)
	listed := evaluate.DPDistribution{Ends: []float64{0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.4}, Discrete: true}
	plain := listed
	plain.Discrete = false
	mean := func(complete bool, m evaluate.DPDistribution) (width float64) {
		p := spreadFacts(1000, 1, policy.Logged{})
		p.Complete = complete
		for seed := range uint64(20) {
			_, r := released(t, m, p, d, seed)
			for j, low := range r.Distribution.Function.Lower {
				width += r.Distribution.Function.Upper[j] - low
			}
		}
		return width
	}
	if stated, silent := mean(true, evaluate.DPDistribution{}), mean(false, evaluate.DPDistribution{}); stated > silent {
		t.Errorf("with the statement limits are %v wide, without it %v", stated, silent)
	}
	if stated, silent := mean(true, listed), mean(true, plain); stated > silent {
		t.Errorf("of listed returns limits are %v wide, of the same that are not said to be listed %v", stated, silent)
	}
	listed.Ends = listed.Ends[1:] // 0.5 is not listed, and the data show it
	p := spreadFacts(1000, 1, policy.Logged{})
	p.Complete = true
	plan, err := listed.Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Check(t.Context(), d); !errors.Is(err, evaluate.ErrData) || !strings.Contains(err.Error(), "100 of 1000 episodes") {
		t.Errorf("returns that are not listed: %v", err)
	}
}

// What cannot be asked is refused by name, and a policy that is too far with its reason.
func TestDistributionsRefuse(t *testing.T) {
	always, err := policy.NewConstant(1)
	if err != nil {
		t.Fatal(err)
	}
	for words, c := range map[string]struct {
		method evaluate.DPDistribution
		change func(*evaluate.Public)
	}{
		"ends and bins":        {evaluate.DPDistribution{Bins: 3, Ends: []float64{1}}, nil},
		"bins is 1":            {evaluate.DPDistribution{Bins: 1}, nil},
		"increasing numbers":   {evaluate.DPDistribution{Ends: []float64{1, 0.5}}, nil},
		"discrete needs ends":  {evaluate.DPDistribution{Discrete: true}, nil},
		"quantiles holds 1":    {evaluate.DPDistribution{Quantiles: []float64{1}}, nil},
		"lower_tails holds 0":  {evaluate.DPDistribution{LowerTails: []float64{0}}, nil},
		"ask for 0 numbers":    {evaluate.DPDistribution{Quantiles: []float64{}}, nil},
		"all weights are 1":    {evaluate.DPDistribution{MaxWeight: 3}, nil},
		"closer to the logged": {evaluate.DPDistribution{MaxWeight: 500}, func(p *evaluate.Public) { p.Target = always }},
		"one answer for all": {evaluate.DPDistribution{}, func(p *evaluate.Public) {
			p.By = &evaluate.Groups{Column: "x", Of: []evaluate.Group{{Name: "a"}, {Name: "b", Number: 1}}}
		}},
		"is Gaussian": {evaluate.DPDistribution{}, func(p *evaluate.Public) { p.Privacy.NoiseFamily = evaluate.LaplaceNoise }},
		"does not estimate": {evaluate.DPDistribution{MaxWeight: 2}, func(p *evaluate.Public) {
			p.Target, p.Behavior = always, &evaluate.EstimatedBehavior{States: 1, Column: "obs_s", Actions: 2, Share: 0.5}
		}},
	} {
		p := spreadFacts(1000, 1, policy.Logged{})
		if c.change != nil {
			c.change(&p)
		}
		if _, err := c.method.Plan(p); err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "bins and ends", "ends and bins"), words) {
			t.Errorf("want %q; got %v", words, err)
		}
	}
}
