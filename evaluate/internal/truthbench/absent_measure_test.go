//go:build slow && measure

package truthbench_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/rl/value"
)

// TestAbsentTable prints, for every problem, question and absence, how often intervals hold the
// truth, how wide they are, and the missing mass of the same logs without privacy, in units of
// a return. It judges nothing.
func TestAbsentTable(t *testing.T) {
	fmt.Println("problem\tpersons\tepsilon\tadjacency\tmethod\tpolicy\tabsent\tlogs\tcovered %\twidth\tuncut width\tmissing mass\t(width - uncut)/missing")
	src := noise.NewSeeded(29)
	for _, size := range strings.Split(*persons, ",") {
		n := int(number(t, size))
		for _, p := range absentProblems() {
			if !asked(t, p.Name) {
				continue
			}
			for _, adjacency := range strings.Split(*adjacent, ",") {
				kind := dp.ReplaceOne
				if adjacency == "add_remove_one" {
					kind = dp.AddRemoveOne
				}
				for _, epsilon := range strings.Split(*epsilons, ",") {
					all, uncut := questions(t, p, n, number(t, epsilon), kind), []float64{}
					for _, a := range absences() {
						if p.Horizon == 1 && a.cut > 0 {
							continue
						}
						for i, q := range askAll(t, all, a, *first, *draws, src) {
							if a.cut+a.left == 0 {
								uncut = append(uncut, q.width)
							}
							missing := q.missing(t, a) - q.missing(t, absence{})
							of := "target"
							if q.onPolicy {
								of = "logged"
							}
							fmt.Printf("%s\t%d\t%s\t%s\t%s\t%s\t%s\t%d\t%.1f\t%.4g\t%.4g\t%.4g\t%.3g\n", p.Name, n, epsilon, adjacency, q.method, of, a.name, *draws,
								100*float64(q.held)/float64(*draws), q.width, uncut[i], missing, (q.width-uncut[i])/math.Max(missing, 1e-9))
						}
					}
				}
			}
		}
	}
}

// missing is the mean missing mass of some logs, without privacy and without a cap.
func (q question) missing(t *testing.T, a absence) float64 {
	const logs = 10
	sum := 0.0
	for seed := *first; seed < *first+logs; seed++ {
		d := a.take(q.problem.Draw(int(q.public.Persons), uint64(seed)), uint64(seed))
		s, err := value.NewSample(d, value.Options{Gamma: q.public.Gamma, Policy: q.public.Target})
		check(t, err)
		f := facts.Public{Reward: facts.Range(q.public.Reward), Returns: facts.Range(q.public.Returns()), Horizon: q.public.Horizon, Gamma: q.public.Gamma, Target: q.public.Target}
		x, z := make([]float64, d.Persons()), make([]float64, d.Persons())
		width := q.public.Returns().Width()
		if stepwise := q.stepwise(); stepwise {
			steps := scalar.StepwiseOf(f, false)
			steps.Contributions(x, z, s)
			width = steps.Range().Width()
		} else {
			scalar.WholeOf(f, false).Contributions(x, z, s)
		}
		for i := range x {
			sum += (1 - x[i] - z[i]) * width / float64(len(x)) / logs
		}
	}
	return sum
}

// stepwise tells that the method weights rewards decision by decision.
func (q question) stepwise() bool {
	switch q.method {
	case "dp-is", "dp-wis":
		return false
	case "dp-pdis":
		return !q.onPolicy
	case "dp-fqe":
		return q.public.Return == nil && q.problem.Horizon > 1
	}
	return !q.onPolicy && q.public.Return == nil && q.problem.Horizon > 1
}
