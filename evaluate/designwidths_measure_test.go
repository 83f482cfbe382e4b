//go:build slow && measure

package evaluate_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

var designRare = flag.Float64("design-rare", 0, "share of persons in the state in which weights are largest, 0 for what is drawn")
var designLost = flag.Bool("design-lost", false, "nothing states that records are complete")
var designLogs = flag.Int("design-logs", 10, "logs of each problem, with a design and without")

// makeRare leaves so many of all persons in the state in which the new policy is farthest from what is drawn.
func (w ward) makeRare(share float64) {
	most, largest := 0, 0.0
	for s := range w.often {
		p, b := distributionIn(w.new, s), distributionIn(w.drawn, s)
		for a := range p {
			if p[a]/b[a] > largest {
				most, largest = s, p[a]/b[a]
			}
		}
	}
	rest := 1 - w.often[most]
	for s := range w.often {
		w.often[s] *= (1 - share) / rest
	}
	w.often[most] = share
}

// distributionIn are the probabilities of actions in a state.
func distributionIn(of policy.Policy, state int) []float64 {
	d := &trajectory.Dataset{PersonStart: []int{0, 1}, EpisodeStart: []int{0, 1}, Columns: []string{"state"}, Obs: []float64{float64(state)}, Action: []int32{0}, Reward: []float64{0}, Terminated: []bool{true}}
	out := make([]float64, of.Actions())
	must(of.Bind(d)).Distribution(out, 0)
	return out
}

// ratioOf is the ratio of two means over the same logs, with its standard error.
func ratioOf(a, b []float64) (ratio, deviation float64) {
	ratio = floats.Sum(a) / floats.Sum(b)
	square := 0.0
	for i := range a {
		square += (a[i] - ratio*b[i]) * (a[i] - ratio*b[i])
	}
	return ratio, math.Sqrt(square) / floats.Sum(b)
}

// TestWidthsByADesign prints, for 30 random problems of one decision, how many times as wide intervals are with the design and complete
// records as with complete records alone, by the same noise, and the problems above 1.05 with the standard error, the tier of the plan with the
// design, and its forecast. It judges nothing.
func TestWidthsByADesign(t *testing.T) {
	const problems = 30
	logs := *designLogs
	fmt.Println("persons\tepsilon\tasked\tgeometric mean\tabove 1.05\tlargest")
	for _, persons := range []int{600, 2000, 20_000} {
		for _, epsilon := range []float64{1, 5} {
			for _, asked := range []string{"value", "difference", "from the logged policy"} {
				if !strings.Contains(asked, *strataOnly) {
					continue
				}
				mean, above, largest := 0.0, 0, 0.0
				for problem := range problems {
					rng := rand.New(rand.NewPCG(uint64(problem), *strataSeed+1))
					w := drawWard(rng)
					if *designRare > 0 {
						w.makeRare(*designRare)
					}
					p := banditPublic(t, int64(persons), dp.ReplaceOne, w.new)
					p.Complete, p.Privacy.Budget.Epsilon = !*designLost, epsilon
					targets := []policy.Policy{w.new, w.old}
					switch asked {
					case "value":
						targets = targets[:1]
					case "from the logged policy":
						targets[1] = policy.Logged{}
					}
					if len(targets) > 1 {
						p.Target, p.Targets = nil, &evaluate.Targets{Policies: []evaluate.NamedPolicy{{Name: "a", Policy: targets[0]}, {Name: "b", Policy: targets[1]}}, Contrasts: [][2]string{{"a", "b"}}}
					}
					var widths [2][]float64
					var plans [2]*evaluate.Plan
					var plan *evaluate.Plan
					for log := range logs {
						d := w.log(t, persons, rng)
						for k := range widths {
							q := p
							if k == 1 {
								q.Targets = nil
								if p.Targets != nil {
									own := *p.Targets
									q.Targets = &own
								}
								designed(&q, w.drawn, targets...)
								q.Complete = p.Complete
							}
							if plan = plans[k]; plan == nil {
								plan = must(evaluate.DPWIS{}.Plan(q))
								plans[k] = plan
							}
							e := runOf(t, plan, d, noise.NewSeeded(uint64(log))).Answers[0].Estimate
							widths[k] = append(widths[k], e.Interval[1]-e.Interval[0])
						}
					}
					ratio, deviation := ratioOf(widths[1], widths[0])
					if mean += math.Log(ratio) / problems; ratio > 1.05 {
						above++
						fmt.Printf("  problem %d: %.2f, standard error %.2f; width %.3g, forecast %.3g, tier %v\n", problem, ratio, deviation, floats.Sum(widths[1])/float64(logs), 2*halfOf(plan), plan.Facts["tier"])
					}
					largest = max(largest, ratio)
				}
				fmt.Printf("%d\t%g\t%s\t%.2f\t%d of %d\t%.2f\n", persons, epsilon, asked, math.Exp(mean), above, problems, largest)
			}
		}
	}
}
