package evaluate

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
)

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

// splitStages turns shares of the budget into noise multipliers. The main stage
// gets what the others leave.
func splitStages(method string, q Privacy, s scalar.Stages) (scalar.Stages, error) {
	used := 0.0
	for _, x := range s.Each() {
		if *x != 0 && !(*x > 0 && *x < 1) {
			return s, fmt.Errorf("%w: %s: a share of the budget is %v; want between 0 and 1", ErrMethod, method, *x)
		}
		used += *x
	}
	behavior := s.Behavior
	for _, x := range s.Rounds {
		behavior += x
	}
	if behavior > 0 && used >= 1 && used-behavior < 1 {
		return s, fmt.Errorf("%w: %s: data.behavior.share is %.7g, and the other shares of the budget add up to %.4g; want below 1 together, so that something is left for the estimate", ErrMethod, method, behavior, used-behavior)
	}
	if used >= 1 {
		return s, fmt.Errorf("%w: %s: the shares of the budget for baseline, clip, diagnostics and sampling error add up to %v; want below 1, so that something is left for the estimate", ErrMethod, method, used)
	}
	s.Main = 1 - used
	found, err := multipliers(q, s.Taken()...)
	if err != nil {
		return s, err
	}
	k := 0
	for _, x := range s.Each() {
		if *x != 0 {
			*x = found[k]
			k++
		}
	}
	return s, nil
}

// eventOf describes all stages that are not left out.
func eventOf(s scalar.Stages) dp.Event { return gaussians(s.Taken()...) }

// needPrivacy refuses a private method without a budget.
func needPrivacy(method string, p Public) error {
	if p.Privacy == nil {
		return fmt.Errorf("%w: %s is a private method; give privacy.epsilon, delta and adjacency, or choose a reference such as is, wis or lstd", ErrMethod, method)
	}
	if err := p.single(method); err != nil {
		return err
	}
	return p.Validate()
}
