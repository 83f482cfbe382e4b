//go:build slow && measure

package truthbench_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate/internal/truthbench"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// TestWidthRegret prints by how much wider the mean interval of auto is than the narrowest of the methods that it may
// choose, over all problems, with recorded probabilities and, of finite problems, without. It judges nothing.
func TestWidthRegret(t *testing.T) {
	for _, recorded := range []bool{true, false} {
		var all []float64
		for _, p := range truthbench.Problems() {
			for _, size := range strings.Split(*persons, ",") {
				if !asked(t, p.Name) || !recorded && p.States == 0 {
					continue
				}
				n := int(number(t, size))
				widths := map[string]float64{}
				for _, name := range []string{"auto", "dp-is", "dp-pdis", "dp-wis"} {
					public, change := p.Public(n, 1, dp.ReplaceOne), withhold
					if recorded {
						change = func(d *trajectory.Dataset) *trajectory.Dataset { return d }
					} else {
						public = estimating(p, public)
					}
					var c cell
					tally(t, name, p, public, &c, change)
					widths[name] = c.width
				}
				regret := widths["auto"] / min(widths["dp-is"], widths["dp-pdis"], widths["dp-wis"])
				all = append(all, regret)
				if regret > 1.05 {
					fmt.Printf("%s\t%d\trecorded %v\t%.2f\n", p.Name, n, recorded, regret)
				}
			}
		}
		slices.Sort(all)
		fmt.Printf("recorded %v: %d cells, median %.2f, worst %.2f\n", recorded, len(all), all[len(all)/2], all[len(all)-1])
	}
}
