//go:build slow && measure

package evaluate_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
)

var differenceLogs = flag.Int("difference-logs", 200, "logs a cell")

// TestDifferencesTable prints, for ten random problems on which nothing was tuned, how often the interval of a
// difference of two policies holds it, lies on the wrong side of 0, and decides the sign, with its width. It judges nothing.
func TestDifferencesTable(t *testing.T) {
	fmt.Println("persons\tepsilon\tknown\tpolicies\tlogs\theld %\tleast %\twrong side %\tsign %\twidth")
	for _, persons := range []int{2000, 20_000} {
		for _, epsilon := range []float64{1, 5} {
			for _, known := range []string{"probabilities", "design"} {
				for _, against := range []string{"policies", "logged"} {
					var held, wrong, sign, logs int
					least, width := 1.0, 0.0
					for problem := range 10 {
						rng := rand.New(rand.NewPCG(uint64(problem), 4711))
						w := drawWard(rng)
						p := banditPublic(t, int64(persons), dp.ReplaceOne, nil)
						p.Privacy.Budget.Epsilon = epsilon
						other, behind := w.old, w.old
						if against == "logged" {
							other, behind = policy.Logged{}, w.drawn
						}
						truth := w.worthOf(w.new, behind)
						p.Targets = &evaluate.Targets{Policies: []evaluate.NamedPolicy{{Name: "new", Policy: w.new}, {Name: "old", Policy: other}}, Contrasts: [][2]string{{"new", "old"}}}
						if known == "design" {
							p.Design, p.Complete, p.Targets.Drawn = evaluate.NewDesign(w.drawn, true, w.new, other), true, w.drawn
						}
						here := 0
						for log := range *differenceLogs {
							d := w.log(t, persons, rng)
							e := run(t, evaluate.DPWIS{}, p, d, noise.NewSeeded(uint64(log))).Answers[0].Estimate
							width += e.Interval[1] - e.Interval[0]
							logs++
							if e.Interval[0] <= truth && truth <= e.Interval[1] {
								here++
							}
							switch positive, negative := e.Interval[0] > 0, e.Interval[1] < 0; {
							case positive && truth < 0 || negative && truth > 0:
								wrong++
							case positive || negative:
								sign++
							}
						}
						held += here
						least = math.Min(least, float64(here)/float64(*differenceLogs))
					}
					of := func(k int) float64 { return 100 * float64(k) / float64(logs) }
					fmt.Printf("%d\t%g\t%s\t%s\t%d\t%.1f\t%.1f\t%.2f\t%.0f\t%.4f\n", persons, epsilon, known, against, logs, of(held), 100*least, of(wrong), of(sign), width/float64(logs))
				}
			}
		}
	}
}
