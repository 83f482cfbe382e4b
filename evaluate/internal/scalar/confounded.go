package scalar

import "github.com/discreet-rl/discreet/internal/rl/value"

// Confound lowers every importance ratio of a sample to the least that it can be
// where hidden circumstances moved the logged decisions: where, given these too, the
// odds of the logged action are up to factor >= 1 times as large, or as small, as those
// of its recorded probability e. That action then had a probability of at most
// f e/(1 - e + f e), and the ratio is at least pi/e (e + (1 - e)/f). An action that is
// sure to be taken stays so. Weights of lowered ratios are at most the true ones, which
// is all that [Bounds] ask for: docs/proofs/confounding.md.
func Confound(s *value.Sample, factor float64) {
	for row, e := range s.Data.BehaviorProb {
		s.Rho[row] *= e + (1-e)/factor
	}
}
