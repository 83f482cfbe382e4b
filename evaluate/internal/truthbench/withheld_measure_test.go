//go:build slow && measure

package truthbench_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/evaluate/internal/truthbench"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// TestWithheldTable prints, for every finite problem, what intervals do whose
// probabilities of logged actions are estimated, beside those that know them. It judges
// nothing.
func TestWithheldTable(t *testing.T) {
	fmt.Println("problem\tpersons\tepsilon\tadjacency\tmethod\tprobabilities\tdraws\tcovered %\twidth\tRMSE")
	for _, size := range strings.Split(*persons, ",") {
		n := int(number(t, size))
		for _, p := range withheld() {
			if !asked(t, p.Name) {
				continue
			}
			for _, adjacency := range strings.Split(*adjacent, ",") {
				for _, epsilon := range strings.Split(*epsilons, ",") {
					kind := dp.ReplaceOne
					if adjacency == "add_remove_one" {
						kind = dp.AddRemoveOne
					}
					for _, method := range strings.Split(*methods, ",") {
						public := p.Public(n, number(t, epsilon), kind)
						known, estimated := cell{}, cell{}
						tally(t, method, p, public, &known, func(d *trajectory.Dataset) *trajectory.Dataset { return d })
						tally(t, method, p, estimating(p, public), &estimated, withhold)
						for i, c := range []cell{known, estimated} {
							k := float64(c.draws)
							fmt.Printf("%s\t%d\t%s\t%s\t%s\t%s\t%d\t%.1f\t%.4g\t%.4g\n", p.Name, n, epsilon, adjacency, method, []string{"known", "estimated"}[i],
								c.draws, 100*float64(c.covered)/k, c.width/k, math.Sqrt(c.square/k))
						}
					}
				}
			}
		}
	}
}

// tally asks one question of every log.
func tally(t *testing.T, method string, p truthbench.Problem, public evaluate.Public, c *cell, change func(*trajectory.Dataset) *trajectory.Dataset) {
	e, err := evaluate.New(method, nil)
	check(t, err)
	plan, err := e.Plan(public)
	check(t, err)
	src := noise.NewSeeded(uint64(public.Persons))
	for seed := range *draws {
		ready, err := plan.Check(context.Background(), change(p.Draw(int(public.Persons), uint64(seed))))
		check(t, err)
		r, err := ready.Run(context.Background(), receipt.None(), src)
		check(t, err)
		c.add(p, r.Answers[0].Estimate)
	}
}

// TestRegressionTable prints the same of problems in which logged actions follow
// features, on which they are regressed. It judges nothing.
func TestRegressionTable(t *testing.T) {
	fmt.Println("problem\tpersons\tepsilon\tadjacency\tmethod\tprobabilities\tdraws\tcovered %\twidth\tRMSE")
	for _, size := range strings.Split(*persons, ",") {
		n := int(number(t, size))
		for _, p := range truthbench.RegressedProblems() {
			if !strings.Contains(p.Name, *only) {
				continue
			}
			for _, adjacency := range strings.Split(*adjacent, ",") {
				for _, epsilon := range strings.Split(*epsilons, ",") {
					kind := dp.ReplaceOne
					if adjacency == "add_remove_one" {
						kind = dp.AddRemoveOne
					}
					for _, method := range strings.Split(*methods, ",") {
						public := p.Public(n, number(t, epsilon), kind)
						known, estimated := cell{}, cell{}
						tally(t, method, p.Problem, public, &known, func(d *trajectory.Dataset) *trajectory.Dataset { return d })
						tally(t, method, p.Problem, regressing(p, public), &estimated, withhold)
						for i, c := range []cell{known, estimated} {
							k := float64(c.draws)
							fmt.Printf("%s\t%d\t%s\t%s\t%s\t%s\t%d\t%.1f\t%.4g\t%.4g\n", p.Name, n, epsilon, adjacency, method, []string{"known", "estimated"}[i],
								c.draws, 100*float64(c.covered)/k, c.width/k, math.Sqrt(c.square/k))
						}
					}
				}
			}
		}
	}
}

// TestWithheldTogether prints, for every finite problem, how often all intervals hold of one
// release for the target policy, the logged one and their difference, and of one release for four
// groups, with probabilities known and estimated, and their mean widths. It judges nothing.
func TestWithheldTogether(t *testing.T) {
	fmt.Println("problem\tpersons\tepsilon\tadjacency\tasked\tprobabilities\tdraws\tall hold %\twidths")
	for _, size := range strings.Split(*persons, ",") {
		n := int(number(t, size))
		for _, p := range withheld() {
			if !asked(t, p.Name) {
				continue
			}
			for _, adjacency := range strings.Split(*adjacent, ",") {
				kind, err := dp.ParseAdjacency(adjacency)
				check(t, err)
				for _, epsilon := range strings.Split(*epsilons, ",") {
					both := p.Public(n, number(t, epsilon), kind)
					both.Target = nil
					both.Targets = &evaluate.Targets{
						Policies: []evaluate.NamedPolicy{{Name: "target", Policy: p.Target}, {Name: "logged", Policy: policy.Logged{}}},
						Levels:   []string{"target", "logged"}, Contrasts: [][2]string{{"target", "logged"}},
					}
					groups := groupsPublic(p, n, number(t, epsilon), kind, false)
					head := fmt.Sprintf("%s\t%d\t%s\t%s", p.Name, n, epsilon, adjacency)
					tellTogether(t, p, both, head+"\tpolicies", []float64{p.J, p.Logged, p.J - p.Logged}, func(seed uint64) *trajectory.Dataset { return p.Draw(n, seed) })
					tellTogether(t, p, groups, head+"\tgroups", []float64{p.J, p.J, p.J, p.J}, func(seed uint64) *trajectory.Dataset { return inGroups(p, n, seed) })
				}
			}
		}
	}
}

// tellTogether asks one question of every log, with probabilities and without.
func tellTogether(t *testing.T, p truthbench.Problem, public evaluate.Public, head string, truth []float64, draw func(uint64) *trajectory.Dataset) {
	hidden := public
	hidden.Behavior = &evaluate.EstimatedBehavior{States: p.States, Column: "obs_state", Actions: p.Target.Actions()}
	for i, question := range []evaluate.Public{public, hidden} {
		plan, err := evaluate.Auto{}.Plan(question)
		check(t, err)
		src, held, widths := noise.NewSeeded(uint64(public.Persons)), 0, make([]float64, len(truth))
		for seed := range *draws {
			d := draw(uint64(seed))
			if i == 1 {
				d = withhold(d)
			}
			all := true
			for k, a := range released(t, plan, d, src).Answers {
				x := a.Estimate.Interval
				all = all && x[0] <= truth[k] && truth[k] <= x[1]
				widths[k] += (x[1] - x[0]) / float64(*draws)
			}
			if all {
				held++
			}
		}
		fmt.Printf("%s\t%s\t%d\t%.1f", head, []string{"known", "estimated"}[i], *draws, 100*float64(held)/float64(*draws))
		for _, w := range widths {
			fmt.Printf("\t%.3g", w)
		}
		fmt.Println()
	}
}
