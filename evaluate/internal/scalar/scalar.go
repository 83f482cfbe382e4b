// Package scalar estimates the value of a policy, one number with an interval,
// from plain numbers: public facts ([facts.Public]), noise multipliers that were
// fixed beforehand ([Stages]) and what every person adds. It knows no plan and
// no budget; whoever calls it has accounted for the multipliers.
//
// Start with [Mean] (on-policy), [Bounds] (DP-IS, DP-PDIS and DP-WIS off-policy) or
// [DR] (DP-DR). Unit: a person. Proofs: docs/proofs/moments.md,
// docs/proofs/overlap.md, docs/proofs/confounding.md, docs/proofs/dp-dr.md.
package scalar

import (
	"fmt"

	"github.com/discreet-rl/discreet/evaluate/internal/facts"
)

// Z95 is the 97.5% point of the standard normal distribution.
const Z95 = 1.959963984540054

// Estimate is a released number with its error, in units of a return, and what
// was paid for beside it. In the form of JSON it is what a release tells beside its value.
type Estimate struct {
	Value float64 `json:"-"`
	// Interval has confidence 95%. Clipping is by how much it was lengthened below
	// and above for what the clip, or a log that is too short for rare outcomes, may hide.
	Interval, Clipping [2]float64 `json:"-"`
	// Beyond is by how much the value lay outside of its range before it was brought there, and Margins are
	// what its interval, before it was, had below and above the value.
	Beyond  float64    `json:"-"`
	Margins [2]float64 `json:"-"`
	// StdSampling and StdPrivacy are the standard deviations that finitely many
	// persons and the noise make.
	StdSampling, StdPrivacy float64 `json:"-"`
	// Undetermined tells that noise drowned the sum of weights, so that the value is
	// drawn to the middle of the range.
	Undetermined bool `json:"-"`
	// Missing and Sums are of estimates from below and above, nil of others.
	Missing *Missing `json:"-"`
	Sums    *Sums    `json:"sums"`
	// Counts are what the probabilities of logged actions were estimated from, by cell
	// and action; nil where these were known.
	Counts []float64 `json:"-"`
	// Rounds are the noisy sums that they were estimated from by a regression.
	Rounds [][]float64 `json:"-"`

	// Clip and MaxWeight are what a paid histogram chose, Baseline what a baseline's
	// share bought; nil where nothing was paid for it.
	Clip      *facts.Range `json:"clip"`
	MaxWeight *float64     `json:"max_weight"`
	// Anchor is where outcomes of a difference are measured from, as a share of their range.
	Anchor   *float64 `json:"anchor"`
	Overlap  *Overlap `json:"overlap"`
	Baseline *Guess   `json:"baseline"`
}

// Stages are the Gaussian releases that a scalar estimator may make, in the
// order in which it makes them. As shares they hold parts of mu^2, as noise they
// hold noise multipliers; 0 marks a stage that is left out. All of them are
// fixed before the first release; what a stage asks may depend on the releases
// before it.
type Stages struct {
	Behavior float64 // counts that the probabilities of logged actions are estimated from
	// Rounds are those of the regression that they are estimated by instead.
	Rounds   [LogisticRounds]float64
	Baseline float64 // what doubly robust contributions are centred on
	Start    float64 // what a baseline that is a model is worth at the start
	Practice float64 // how often a learned policy does otherwise than was done
	Clip     float64 // histogram that the clip is chosen from
	Weights  float64 // moments of the weights, for diagnostics
	Clipped  float64 // number of persons that the clip cuts, for diagnostics
	Anchor   float64 // where outcomes of a difference are measured from
	Spread   float64 // how far a difference scatters, which decides whether they are
	Main     float64 // the estimate
}

// Each lists all stages, in order.
func (s *Stages) Each() []*float64 {
	out := []*float64{&s.Behavior}
	for k := range s.Rounds {
		out = append(out, &s.Rounds[k])
	}
	return append(out, &s.Baseline, &s.Start, &s.Practice, &s.Clip, &s.Weights, &s.Clipped, &s.Anchor, &s.Spread, &s.Main)
}

// Taken lists the stages that are not left out, in order.
func (s Stages) Taken() []float64 {
	var out []float64
	for _, x := range s.Each() {
		if *x != 0 {
			out = append(out, *x)
		}
	}
	return out
}

// Fill puts numbers in the place of those of the stages that are not left out, in order, and
// returns the rest of them.
func (s *Stages) Fill(numbers []float64) []float64 {
	for _, x := range s.Each() {
		if *x != 0 {
			*x, numbers = numbers[0], numbers[1:]
		}
	}
	return numbers
}

// allowance is added to a noisy variance v with a noise of standard deviation
// sd, so that normal intervals cover as often as with the true variance t =
// v + other. An interval at z sqrt(V/t) covers with probability f(V/t), f(r) =
// 2 Phi(z sqrt r) - 1, so noise of relative size s in V costs -f”(1) s^2/2 of
// coverage and an allowance a gives f'(1) a/t back: a = (1+z^2)/4 s^2 t. Where
// the noise is not small, one standard deviation stands in its place.
func allowance(z, v, other, sd float64) float64 {
	t := max(v, 0) + other
	if t <= 0 {
		return sd
	}
	return min(sd, (1+z*z)/4*sd*sd/t)
}

// stagesOf holds what an estimate tells against what was paid for.
func stagesOf(e *Estimate, paid Stages, capped bool) error {
	switch {
	case (e.Overlap != nil) != (paid.Weights != 0):
		return fmt.Errorf("diagnostics.overlap is there exactly where it was paid for")
	case (e.Baseline != nil) != (paid.Baseline != 0):
		return fmt.Errorf("diagnostics.baseline is there exactly where it was paid for")
	case (e.MaxWeight != nil) != (capped && paid.Clip != 0):
		return fmt.Errorf("diagnostics.max_weight is there exactly where it was paid for")
	case (e.Anchor != nil) != (paid.Anchor != 0):
		return fmt.Errorf("diagnostics.anchor is there exactly where it was paid for")
	}
	return nil
}
