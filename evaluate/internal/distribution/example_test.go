package distribution_test

import (
	"fmt"

	"github.com/discreet-rl/discreet/evaluate/internal/distribution"
)

// The number of visits of 10,000 persons, as it is counted with noise of standard deviation 5.
func Example() {
	q := distribution.Question{Ends: []float64{0, 1, 2, 3}, Discrete: true, Most: 1, Persons: 10000, Whole: true, SD: 5}
	f := q.Estimate(distribution.Masses{In: []float64{1004, 2993, 4001, 2002}})
	fmt.Printf("at most one visit: %.3f, from %.3f to %.3f\n", f.Band.Values[1], f.Band.Lower[1], f.Band.Upper[1])
	median, tail := f.Quantile(0.5), f.LowerTail(0.2)
	fmt.Printf("median %v, from %v to %v; mean of the lowest fifth %.2f\n", median.Value, median.Lower, median.Upper, tail.Value)
	// Output:
	// at most one visit: 0.400, from 0.388 to 0.412
	// median 2, from 2 to 2; mean of the lowest fifth 0.50
}
