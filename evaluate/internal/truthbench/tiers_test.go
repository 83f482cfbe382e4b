package truthbench_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/evaluate/internal/truthbench"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
)

// TestUnguardedIntervalsHoldOnTheBench counts how often intervals without a guard hold
// the truth, wherever a design is known beforehand and the plan leaves the guard out: 93%
// at least. A count fails where a method at that limit would show it with probability below 2e-6;
// there are below 200 counts, so that all false alarms together are less probable than
// 4e-4.
func TestUnguardedIntervalsHoldOnTheBench(t *testing.T) {
	const logs, persons = 100, 300
	src := noise.NewSeeded(29)
	cells := 0
	for _, p := range append(truthbench.Problems(), truthbench.Trial("trial, a fifth treated", 0.2)) {
		for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
			methods := maps.Clone(guarded)
			public := p.Designed(persons, 5, adjacency)
			if p.States > 0 {
				f, err := feature.NewTabular(p.States, "obs_state")
				if err != nil {
					t.Fatal(err)
				}
				public.Features, methods["dp-fqe"] = f, evaluate.DPFQE{}
			}
			for _, name := range slices.Sorted(maps.Keys(methods)) {
				plan, err := methods[name].Plan(public)
				if err != nil {
					t.Fatal(err)
				}
				if plan.Facts["tier"] == 2 { // in tier 1 the histogram leaves it out where that is narrower
					continue
				}
				cells++
				held, answered := 0, 0
				for seed := range logs {
					ready, err := plan.Check(context.Background(), p.Draw(persons, uint64(5000+seed)))
					if errors.Is(err, evaluate.ErrData) {
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					r, err := ready.Run(context.Background(), receipt.None(), src)
					if err != nil {
						t.Fatal(err)
					}
					answered++
					if r.Answers[0].Estimate.Interval[0] <= p.J && p.J <= r.Answers[0].Estimate.Interval[1] {
						held++
					}
				}
				if held < least(answered, 0.93) || answered < logs/2 {
					t.Errorf("%s, %v, %s: %d of %d intervals that need no guard hold the value", p.Name, adjacency, name, held, answered)
				}
			}
		}
	}
	if t.Logf("%d cells that need no guard", cells); cells < 36 {
		t.Errorf("%d cells that need no guard; want 36 or more", cells)
	}
}

// TestUnguardedAnswersHoldOnTheBench counts how often the values of the target and of the
// logged policy and their contrast hold together, wherever the plan leaves the guard out of
// them: 93% at least. A count fails where answers at that limit would show it with
// probability below 2e-6; there are below 50.
func TestUnguardedAnswersHoldOnTheBench(t *testing.T) {
	const logs, persons = 60, 300
	src := noise.NewSeeded(43)
	cells := 0
	for _, p := range append(truthbench.Problems(), truthbench.Trial("trial, a fifth treated", 0.2)) {
		truth := map[string]float64{"target": p.J, "logged": p.Logged, "target - logged": p.J - p.Logged}
		for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
			public := p.Designed(persons, 5, adjacency)
			public.Targets = &evaluate.Targets{Levels: []string{"target", "logged"}, Contrasts: [][2]string{{"target", "logged"}},
				Policies: []evaluate.NamedPolicy{{Name: "target", Policy: p.Target}, {Name: "logged", Policy: policy.Logged{}}}}
			public.Target = nil
			plan, err := evaluate.Auto{}.Plan(public)
			if err != nil {
				t.Fatal(err)
			}
			if plan.Facts["tier"] == 2 {
				continue
			}
			cells++
			held := 0
			for seed := range logs {
				ready, err := plan.Check(context.Background(), p.Draw(persons, uint64(7000+seed)))
				if err != nil {
					t.Fatal(err)
				}
				r, err := ready.Run(context.Background(), receipt.None(), src)
				if err != nil {
					t.Fatal(err)
				}
				all := true
				for _, a := range r.Answers {
					all = all && a.Estimate.Interval[0] <= truth[a.Name] && truth[a.Name] <= a.Estimate.Interval[1]
				}
				if all {
					held++
				}
			}
			if held < least(logs, 0.93) {
				t.Errorf("%s, %v: all of three intervals hold in %d of %d logs", p.Name, adjacency, held, logs)
			}
		}
	}
	if t.Logf("%d cells without a guard", cells); cells < 6 {
		t.Errorf("%d cells without a guard; want 6 or more", cells)
	}
}

// TestADesignDoesNotWidenDifferences: from the logged policy, contrasts over five or ten decisions are no wider with the design than without
// it, and their plans follow from the releases: where what policies differ by in each decision adds up to more than both weights vary, they are made of these.
func TestADesignDoesNotWidenDifferences(t *testing.T) {
	const logs, persons = 6, 2000
	for _, p := range truthbench.Problems() {
		if p.Behavior == nil || p.Horizon != 5 && p.Horizon != 10 {
			continue
		}
		var widths [2]float64
		for k, public := range []evaluate.Public{p.Public(persons, 1, dp.ReplaceOne), p.Designed(persons, 1, dp.ReplaceOne)} {
			public.Target, public.Complete = nil, true
			public.Targets = &evaluate.Targets{Contrasts: [][2]string{{"target", "logged"}},
				Policies: []evaluate.NamedPolicy{{Name: "target", Policy: p.Target}, {Name: "logged", Policy: policy.Logged{}}}}
			if public.Design != nil {
				public.Targets.Drawn = p.Behavior
			}
			plan, err := evaluate.Auto{}.Plan(public)
			if err != nil {
				t.Fatal(err)
			}
			src := noise.NewSeeded(11)
			for seed := range logs {
				ready, err := plan.Check(context.Background(), p.Draw(persons, uint64(9000+seed)))
				if err != nil {
					t.Fatal(err)
				}
				r, err := ready.Run(context.Background(), receipt.None(), src)
				if err != nil {
					t.Fatal(err)
				}
				widths[k] += r.Answers[0].Estimate.Interval[1] - r.Answers[0].Estimate.Interval[0]
				again, err := evaluate.Replan(r, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				if err := again.Verify(r); err != nil {
					t.Errorf("%s: %v", p.Name, err)
				}
			}
		}
		if t.Logf("%s: %.3g with the design, %.3g without", p.Name, widths[1]/logs, widths[0]/logs); widths[1] > 1.02*widths[0] {
			t.Errorf("%s: a design makes the mean width %.3g of %.3g", p.Name, widths[1]/logs, widths[0]/logs)
		}
	}
}
