package survival_test

import (
	"fmt"

	"github.com/discreet-rl/discreet/evaluate/internal/survival"
)

// Four persons of one arm over three visits, counted without noise.
func Example() {
	q := survival.Question{Layout: survival.Layout{Arms: 1, Bins: 3, Causes: 1}, Ends: []float64{1, 2, 3}, Until: 3, Control: -1}
	cells := make([]float64, q.Cells())
	cells[q.Exit(0, 0, 0, 1)]++ // an event at the first visit
	cells[q.Exit(0, 0, 1, 0)]++ // censored at the second
	cells[q.Exit(0, 0, 2, 1)]++ // an event at the third
	cells[q.End(0, 0)]++        // followed to the end
	arm := q.Estimate(cells).Arms[0]
	fmt.Println(arm.AtRisk, arm.Curve.Values, arm.Mean.Value)
	// Output: [4 3 2] [0.75 0.75 0.375] 2.5
}
