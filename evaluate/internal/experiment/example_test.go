package experiment_test

import (
	"fmt"

	"github.com/discreet-rl/discreet/evaluate/internal/experiment"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
)

// Of about 5,000 persons an arm 4% buy something, and 5% of those who see the new page; sums have
// noise of standard deviation 4.
func Example() {
	q := experiment.Reading{SD: 4, ProductSD: 1.4, Whole: true, Z: 2.4, Unseen: 4}
	arm := func(buy, others float64) experiment.Level {
		return q.Level(experiment.Arm{Sums: mechanism.NoisySplit{X: buy, Z: others}})
	}
	now, before := arm(251, 4747), arm(202, 4805)
	d := q.Difference(now, before)
	fmt.Printf("difference %.3f, from %.3f to %.3f\n", d.Value, d.Lower, d.Upper)
	fmt.Printf("p-value of equal arms: %.2f\n", experiment.Chance([]float64{now.Count, before.Count}, now.CountSD, []float64{0.5, 0.5}))
	// Output:
	// difference 0.010, from -0.000 to 0.020
	// p-value of equal arms: 0.93
}
