//go:build slow && measure

package truthbench_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/evaluate/internal/truthbench"
	"github.com/discreet-rl/discreet/rl/feature"
)

// TestTiersTable prints, for problems whose design is known beforehand, how 95%
// intervals do with the logged actions' probabilities alone and with the design. Both
// see the same logs. The names of problems are a regular expression. It judges nothing.
func TestTiersTable(t *testing.T) {
	all := append(truthbench.Problems(), truthbench.Trial("trial, half treated", 0.5), truthbench.Trial("trial, a fifth treated", 0.2))
	fmt.Println("problem\tpersons\tepsilon\tadjacency\tmethod\ttier\tmax weight\tlogs\tcovered %, probabilities\tdesign\twrong side %\tdesign\twidth\tdesign\tforecast of the design")
	cells := uint64(0)
	for _, text := range strings.Split(*persons, ",") {
		n := int(number(t, text))
		for _, p := range all {
			if p.Behavior == nil || !asked(t, p.Name) {
				continue
			}
			for _, adjacency := range strings.Split(*adjacent, ",") {
				kind := dp.ReplaceOne
				if adjacency == "add_remove_one" {
					kind = dp.AddRemoveOne
				}
				for _, epsilon := range strings.Split(*epsilons, ",") {
					for _, method := range strings.Split(*methods, ",") {
						e, err := evaluate.New(method, nil)
						check(t, err)
						bare, known := p.Public(n, number(t, epsilon), kind), p.Designed(n, number(t, epsilon), kind)
						if method == "dp-fqe" {
							if p.States == 0 {
								continue
							}
							bare.Features, err = feature.NewTabular(p.States, "obs_state")
							check(t, err)
							known.Features = bare.Features
						}
						old, err := e.Plan(bare)
						check(t, err)
						designed, err := e.Plan(known)
						check(t, err)
						var before, after cell
						cells++
						src := noise.NewSeeded(cells)
						for seed := range *draws {
							d := p.Draw(n, uint64(seed))
							if r := answer(t, old, d, src); r != nil {
								before.add(p, r)
							}
							if r := answer(t, designed, d, src); r != nil {
								after.add(p, r)
							}
						}
						of := func(x int, c cell) float64 { return 100 * float64(x) / float64(c.draws) }
						fmt.Printf("%s\t%d\t%s\t%s\t%s\t%v\t%.4g\t%d\t%.1f\t%.1f\t%.1f\t%.1f\t%.4g\t%.4g\t%.4g\n", p.Name, n, epsilon, adjacency, method,
							designed.Facts["tier"], designed.Facts["max_weight"], after.draws, of(before.covered, before), of(after.covered, after),
							of(before.wrong, before), of(after.wrong, after), before.width/float64(before.draws), after.width/float64(after.draws), 2*designed.Expected.HalfWidth)
					}
				}
			}
		}
	}
}
