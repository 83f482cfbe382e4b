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

// stages are the Gaussian releases that a scalar estimator may make, in the
// order in which it makes them. As shares they hold parts of mu^2, as noise they
// hold noise multipliers; 0 marks a stage that is left out. All of them are
// fixed before the first release; what a stage asks may depend on the releases
// before it.
type stages struct {
	baseline float64 // what doubly robust contributions are centred on
	clip     float64 // histogram that the clip is chosen from
	weights  float64 // moments of the weights, for diagnostics
	clipped  float64 // number of persons that the clip cuts, for diagnostics
	main     float64 // the estimate
	residual float64 // sampling error of a ratio
}

func (s *stages) each() []*float64 {
	return []*float64{&s.baseline, &s.clip, &s.weights, &s.clipped, &s.main, &s.residual}
}

// taken lists the stages that are not left out, in order.
func (s stages) taken() []float64 {
	var out []float64
	for _, x := range s.each() {
		if *x != 0 {
			out = append(out, *x)
		}
	}
	return out
}

// noise turns shares into noise multipliers. The main stage gets what the others
// leave.
func (s stages) noise(method string, q Privacy) (stages, error) {
	used := 0.0
	for _, x := range s.each() {
		if *x != 0 && !(*x > 0 && *x < 1) {
			return s, fmt.Errorf("%w: %s: a share of the budget is %v; want between 0 and 1", ErrMethod, method, *x)
		}
		used += *x
	}
	if used >= 1 {
		return s, fmt.Errorf("%w: %s: the shares of the budget for baseline, clip, diagnostics and sampling error add up to %v; want below 1, so that something is left for the estimate", ErrMethod, method, used)
	}
	s.main = 1 - used
	found, err := multipliers(q, s.taken()...)
	if err != nil {
		return s, err
	}
	k := 0
	for _, x := range s.each() {
		if *x != 0 {
			*x = found[k]
			k++
		}
	}
	return s, nil
}

// event describes all stages that are not left out.
func (s stages) event() dp.Event { return gaussians(s.taken()...) }

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

// allowance is added to a noisy variance v with a noise of standard deviation
// sd, so that normal intervals cover as often as with the true variance t =
// v + other. An interval at z sqrt(V/t) covers with probability f(V/t), f(r) =
// 2 Phi(z sqrt r) - 1, so noise of relative size s in V costs -f”(1) s^2/2 of
// coverage and an allowance a gives f'(1) a/t back: a = (1+z^2)/4 s^2 t. Where
// the noise is not small, one standard deviation stands in its place.
func allowance(v, other, sd float64) float64 {
	t := max(v, 0) + other
	if t <= 0 {
		return sd
	}
	return min(sd, (1+z95*z95)/4*sd*sd/t)
}
