//go:build slow && measure

package truthbench_test

import (
	"fmt"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/truthbench"
)

// TestConfoundingTable prints, for every problem with a hidden circumstance and several
// factors that are allowed for, how many intervals hold the value, and their width. It
// judges nothing; -truth-draws and -truth-persons choose.
func TestConfoundingTable(t *testing.T) {
	src := noise.NewSeeded(19)
	n := int64(number(t, *persons))
	fmt.Println("problem\ttrue factor\tmethod\tallowed\tdraws\tcovered %\twidth")
	for _, p := range truthbench.ConfoundedProblems() {
		for _, name := range []string{"dp-wis", "dp-pdis"} {
			for _, factor := range []float64{1, 1.25, 1.5, 2, 3} {
				held, width := hold(t, allowing[name](factor), p, p.Public(int(n), 1, dp.ReplaceOne), *draws, src)
				fmt.Printf("%s\t%g\t%s\t%g\t%d\t%.1f\t%.3f\n", p.Name, p.Factor, name, factor, *draws, 100*float64(held)/float64(*draws), width)
			}
		}
	}
}
