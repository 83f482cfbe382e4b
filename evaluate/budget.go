package evaluate

import (
	"cmp"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/rl/policy"
)

// multipliers splits a budget among Gaussian releases that are all planned in
// advance. Release k gets the share shares[k] of mu^2, where mu is what the
// whole budget allows (Gaussian differential privacy composes by adding mu^2;
// Dong, Roth and Su 2022). It returns noise multipliers, rounded up.
func multipliers(q Privacy, shares ...float64) ([]float64, error) {
	if q.Budget.Delta == 0 {
		return nil, fmt.Errorf("%w: delta is 0, and the noise of this is Gaussian: set privacy.delta above 0, well below 1 over the number of persons", dp.ErrBudget)
	}
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
		if !(out[k] <= mostMultiplier) {
			return nil, fmt.Errorf("%w: noise of %.3g times what a person adds would leave nothing of any sum; choose a larger epsilon, or larger shares of the budget", dp.ErrBudget, out[k])
		}
	}
	return out, nil
}

// mostMultiplier leaves a lattice room for what one person adds, which no mechanism then refuses once it is paid for.
const mostMultiplier = 1 << 28

// Numbered states of which a release has a value, or a rule an action: a ledger keeps releases of up to 64 MiB, and one
// that it cannot keep would be paid for and never be seen.
const (
	mostListed = 1 << 19 // of 128 bytes
	mostRuled  = 1 << 17 // of 512
)

// listable refuses a release of something for more states.
func listable(method string, states, most int) error {
	if states <= most {
		return nil
	}
	return fmt.Errorf("%w: %s: features have %d states, each of which a release would list, and a ledger keeps releases of at most %d; use fewer states", ErrPublic, method, states, most)
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
	return noiseOf(q, s)
}

// noiseOf turns shares that add up to the budget into noise multipliers.
func noiseOf(q Privacy, s scalar.Stages) (scalar.Stages, error) {
	found, err := multipliers(q, s.Taken()...)
	if err == nil {
		s.Fill(found)
	}
	return s, err
}

// eventOf describes all stages that are not left out.
func eventOf(s scalar.Stages) dp.Event { return gaussians(s.Taken()...) }

// Values of the parameter clip.
const (
	clipPublic = "public"
	clipAuto   = "auto"
)

// weightCap is the public cap on a trajectory's importance weight.
func weightCap(method string, p Public, configured float64) (float64, error) {
	switch {
	case configured != 0 && !(configured >= 1e-30 && configured <= 1e30):
		return 0, fmt.Errorf("%w: %s: max_weight is %v; want a number from 1e-30 to 1e30", ErrMethod, method, configured)
	case policy.OnPolicy(p.Target):
		return 1, nil
	case configured == 0:
		return defaultMaxWeight, nil
	}
	return configured, nil
}

// meanInNoise is m mu: the number of persons times the budget's parameter of Gaussian
// differential privacy, that is the size of a mean in units of its noise. Of several
// releases each has an equal share of mu^2.
func meanInNoise(p Public) (float64, error) {
	mu, err := account.GaussianMu(p.Privacy.Budget)
	return float64(p.Persons) * mu.Lower / math.Sqrt(float64(max(p.parts, 1))) / p.share.dilution(), err
}

// affordableWeight is a public cap on weights that suits the budget. A cap c puts
// noise 2c/(m mu), in half ranges, on the mean, and cuts at most E[w^2]/(4c) of
// the weight, since w - c <= w^2/(4c); at E[w^2] = 4 the two are equal for
// c^2 = m mu/2.
func affordableWeight(p Public) (float64, error) {
	r, err := meanInNoise(p)
	return max(1, min(defaultMaxWeight, math.Sqrt(r/2))), err
}

// affordableCap is the largest weight that counts, where no histogram chooses one: the one that
// is asked for, else what suits the budget, and no more than the design allows.
func affordableCap(method string, p Public, asked, largest float64) (float64, error) {
	if p.onPolicy() && asked > 1 {
		return 0, fmt.Errorf("%w: %s: max_weight is %v, and on-policy all weights are 1; leave it out", ErrMethod, method, asked)
	}
	most, err := weightCap(method, p, asked)
	if err != nil || p.onPolicy() {
		return most, err
	}
	switch {
	case asked != 0:
	case !p.private():
		most = unclipped
	default:
		if most, err = affordableWeight(p); err != nil {
			return 0, err
		}
	}
	return min(most, max(largest, 1)), nil
}

// clipShare turns the parameters clip and clip_share into a share of the budget:
// 0 where the public clip is kept. A histogram that cannot tell a tenth of the
// persons from nobody is not paid for.
func clipShare(method string, p Public, clip string, share float64, steps int) (float64, error) {
	share, err := askedShare(method, clip, share)
	if share == 0 || err != nil {
		return 0, err
	}
	r, err := meanInNoise(p)
	if err != nil {
		return 0, err
	}
	// sqrt 2/mu is the noise of one bin, and steps of them may be added up.
	if math.Sqrt(2*float64(steps)/share) > r/10 {
		return 0, nil
	}
	return share, nil
}

// askedShare is the share of the budget that the parameters ask for.
func askedShare(method, clip string, share float64) (float64, error) {
	if !(share >= 0 && share < 1) {
		return 0, fmt.Errorf("%w: %s: clip_share is %v; want between 0 and 1", ErrMethod, method, share)
	}
	switch clip {
	case clipPublic:
		return 0, nil
	case clipAuto:
	default:
		return 0, fmt.Errorf("%w: %s: clip is %q; want public or auto", ErrMethod, method, clip)
	}
	return cmp.Or(share, defaultClipShare), nil
}

// WeightGuess is what is publicly supposed of persons' importance weights cut at 64,
// from the design of the study or from an earlier release: of what a person adds in
// [DPPDIS], of those of whole trajectories in [DPIS]. They are supposed to be lognormal
// with these two numbers.
type WeightGuess struct {
	// Effective is the effective sample size (Kish 1965), (sum w)^2 / sum w^2, as a share
	// of persons: above 0, and 1 where all weights are alike. Where a trial drew an arm with
	// probability p and the policy always takes it, it is p.
	Effective float64 `json:"effective"`
	// Missing is what the mean weight lacks to 1: the share of what the policy would do
	// that was never logged, or only with weights above 64.
	Missing float64 `json:"missing,omitempty"`
}

// validate checks the guess against what else is asked for.
func (g *WeightGuess) validate(method string, p Public, confounding float64) error {
	switch {
	case g == nil:
		return nil
	case !p.targets().alone:
		return fmt.Errorf("%w: %s: guess is of the weights of one policy, under target, and does not apply to targets; remove it, or plan that policy by itself as target", ErrMethod, method)
	case p.share.some():
		return fmt.Errorf("%w: %s: guess applies to all persons, and by divides them into groups; remove it, and guess how many persons a group has in by.guess", ErrMethod, method)
	case p.estimates() || confounding > 1:
		return fmt.Errorf("%w: %s: guess applies to weights from known logged probabilities; remove it with estimated probabilities and with confounding", ErrMethod, method)
	case !(g.Effective > 0 && g.Effective <= 1):
		return fmt.Errorf("%w: %s: guess.effective is %v; want the effective sample size as a share of persons, above 0 and at most 1", ErrMethod, method, g.Effective)
	case !(g.Missing >= 0 && g.Missing < 1):
		return fmt.Errorf("%w: %s: guess.missing is %v; want a share from 0 to below 1", ErrMethod, method, g.Missing)
	}
	return nil
}

// onPolicy refuses a guess where weights are 1.
func (g *WeightGuess) onPolicy(method string) error {
	if g == nil {
		return nil
	}
	return fmt.Errorf("%w: %s: guess applies to the weights of an off-policy value, and a mean return has none; remove it", ErrMethod, method)
}
