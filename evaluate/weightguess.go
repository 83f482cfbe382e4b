package evaluate

import "fmt"

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
	case p.Targets != nil:
		return fmt.Errorf("%w: %s: guess is of the weights of one policy, and targets asks for several; leave it out", ErrMethod, method)
	case p.share != nil:
		return fmt.Errorf("%w: %s: guess is of the weights of all persons, and by asks for groups of them; leave it out", ErrMethod, method)
	case p.Behavior != nil || confounding > 1:
		return fmt.Errorf("%w: %s: guess is of weights from right logged probabilities; leave it out with estimated probabilities and with confounding", ErrMethod, method)
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
	return fmt.Errorf("%w: %s: guess is of the weights of an off-policy value, and a mean return has none; leave it out", ErrMethod, method)
}
