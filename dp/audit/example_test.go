package audit_test

import (
	"fmt"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/audit"
	"github.com/discreet-rl/discreet/dp/noise"
)

// A count with Gaussian noise is held against two events. In world 1 it counts one
// person more.
func Example() {
	gaussian, err := noise.NewGaussian(2)
	if err != nil {
		panic(err)
	}
	src := noise.NewSeeded(1) // tests alone
	samples := audit.DrawNumbers(20000, func(world int) float64 {
		return float64(int64(100+world) + gaussian.Sample(src))
	})
	found, err := samples.Bound(audit.Options{Delta: 1e-5})
	if err != nil {
		panic(err)
	}
	for _, multiplier := range []float64{2, 4} {
		claim, err := audit.NewClaim(dp.Gaussian{NoiseMultiplier: multiplier}, dp.AddRemoveOne, 1e-5)
		if err != nil {
			panic(err)
		}
		fmt.Printf("mu %.2f at least, %.2f claimed: %v\n", found.Mu, claim.Mu, claim.Hold(found))
	}
	// Output:
	// mu 0.40 at least, 0.50 claimed: <nil>
	// mu 0.40 at least, 0.25 claimed: the mechanism shows more than its event allows: mu is at least 0.3996, and the event allows 0.25
}
