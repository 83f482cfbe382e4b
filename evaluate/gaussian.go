package evaluate

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

// z95 is the 97.5% point of the standard normal distribution.
const z95 = 1.959963984540054

// multipliers splits a budget among Gaussian releases that are all planned in
// advance. Release k gets the share shares[k] of mu^2, where mu is what the
// whole budget allows (Gaussian differential privacy composes by adding mu^2;
// Dong, Roth and Su 2022). It returns noise multipliers, rounded up.
func multipliers(q Privacy, shares ...float64) ([]float64, error) {
	mu, err := account.GaussianMu(q.Budget)
	if err != nil {
		return nil, err
	}
	total := 0.0
	for _, s := range shares {
		total += s
	}
	out := make([]float64, len(shares))
	for k, s := range shares {
		if !(s > 0) {
			return nil, fmt.Errorf("%w: a share of the budget is %v; want above 0", ErrMethod, s)
		}
		// The factor leaves room for the rounding of this division and of the
		// accountant's sum of squares.
		out[k] = q.Adjacency.SumSensitivity(1) / (mu.Lower * math.Sqrt(s/total)) * (1 + 0x1p-44)
	}
	return out, nil
}

// gaussians is the event of releases with the given noise multipliers.
func gaussians(multipliers ...float64) dp.Event {
	if len(multipliers) == 1 {
		return dp.Gaussian{NoiseMultiplier: multipliers[0]}
	}
	events := make([]dp.Event, len(multipliers))
	for i, x := range multipliers {
		events[i] = dp.Gaussian{NoiseMultiplier: x}
	}
	return dp.Composed{Events: events}
}

// needPrivacy refuses a private method without a budget.
func needPrivacy(method string, p Public) error {
	if p.Privacy == nil {
		return fmt.Errorf("%w: %s is a private method; give privacy.epsilon, delta and adjacency, or choose a reference such as is, wis or lstd", ErrMethod, method)
	}
	return p.Validate()
}

// interval is the 95% normal interval around value, within range, at two
// independent standard deviations.
func interval(value, sampling, privacy float64, within Range) [2]float64 {
	half := z95 * math.Hypot(sampling, privacy)
	return [2]float64{max(value-half, within.Min), min(value+half, within.Max)}
}
