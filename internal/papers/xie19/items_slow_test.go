//go:build slow

package xie19

import (
	"context"
	"flag"
	"testing"

	"github.com/discreet-rl/discreet/internal/papers/figure"
)

var largest = flag.Bool("largest", false, "draw the two items too whose jobs take half a minute each; .ci/long papers runs them at their full size")

// The cheapest quick job of each kind gives positive numbers in panels that
// exist, and one item's jobs together draw every curve of every panel.
func TestItemsDrawEveryCurve(t *testing.T) {
	type key struct{ panel, series string }
	items := []figure.Item{carSteps(), hivItem(), chainSizes(), relations()}
	if *largest {
		items = append(items, carComparison(), carPrivacy())
	}
	for _, item := range items {
		drawn := map[key]bool{}
		for _, p := range item.Panels {
			for _, c := range p.Curves {
				drawn[key{p.Name, c.Series}] = false
			}
		}
		for _, j := range item.Jobs(true) {
			if j.Trial > 1 {
				continue
			}
			samples, err := j.Run(context.Background())
			if err != nil {
				t.Fatalf("%s, %s: %v", item.Name, j.Key, err)
			}
			for _, s := range samples {
				if _, ok := drawn[key{s.Panel, s.Series}]; !ok || !(s.Y > 0) {
					t.Errorf("%s, %s: %+v: not above 0, or not drawn", item.Name, j.Key, s)
				}
				drawn[key{s.Panel, s.Series}] = true
			}
		}
		for k, found := range drawn {
			if !found {
				t.Errorf("%s: curve %+v has no numbers", item.Name, k)
			}
		}
	}
}
