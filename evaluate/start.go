package evaluate

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/rl/feature"
)

// StartValue is the mean of the values by state under [Public.Start]: a linear function of
// what was released, which costs nothing.
type StartValue struct {
	Value float64 `json:"value"`
	// StdAtMost is the weighted sum of the standard deviations of the states' values, as if
	// all erred together: no error of the sum has a larger one, however those of the states
	// hang together. It is 0, as are Band and Deviations, where no standard deviations by
	// state about the truth were released.
	StdAtMost float64 `json:"std_at_most,omitempty"`
	// Band reaches Deviations times StdAtMost to either side, within the public range of a
	// return. It is no confidence interval.
	Band       *[2]float64 `json:"band,omitempty"`
	Deviations float64     `json:"standard_deviations,omitempty"`
	// Condition is what the value supposes and, where there is one, the band.
	Condition string `json:"condition,omitempty"`
}

// startable checks the states that a method answers for, and their public weights where these are given.
func (d draft) startable() error {
	p, method := d.public, d.method
	f, finite := p.Features.(feature.Finite)
	if d.perState && finite && d.event != nil {
		if err := listable(method, f.States(), mostListed); err != nil {
			return err
		}
	}
	if p.Start == nil {
		return nil
	}
	if !d.perState {
		return fmt.Errorf("%w: start asks for a mean of values by state, and %s answers with none; it takes first states as the data have them: leave start out, or choose a method of a value function, such as dp-refine", ErrPublic, method)
	}
	if !finite {
		return fmt.Errorf("%w: start weighs numbered states, and %s has features of another kind; use features of kind tabular or aggregate, or leave start out", ErrPublic, method)
	}
	if len(p.Start) != f.States() {
		return fmt.Errorf("%w: start has %d weights for %d states", ErrPublic, len(p.Start), f.States())
	}
	sum := 0.0
	for s, w := range p.Start {
		if !(w >= 0) {
			return fmt.Errorf("%w: start: the weight of state %d is %v; want 0 or above", ErrPublic, s, w)
		}
		sum += w
	}
	if !(math.Abs(sum-1) <= 1e-9) {
		return fmt.Errorf("%w: start: the weights add up to %v; want 1", ErrPublic, sum)
	}
	return nil
}

// startSupposed is what a mean of values by state rests on beside what the values do.
const startSupposed = "a value that depends on the state alone, not on the number of decisions left; with a fixed horizon, a state's value mixes first visits at all decisions, and the mean is not the value of an episode from its first decision (for that use dp-pdis, dp-wis or dp-fqe)"

// cutStart refuses the mean of values that are means of what follows in an episode where,
// publicly, every episode is cut off: what follows is then shorter the later a state is
// met.
func (p Public) cutStart(method string) error {
	if p.Start == nil || p.Labels["end"] != "truncated" {
		return nil
	}
	return fmt.Errorf("%w: problem.end says that every episode is cut off, and a value of %s is the mean of what follows in the episode, at whatever decision a state is first met: its mean over first states is not what an episode is worth from its first decision; leave start out, or use dp-fqe, dp-pdis or dp-wis, which take first states as the data have them", ErrPublic, method)
}

// startOf is the mean of released values under the public weights of first states.
func (p Public) startOf(r *Release) *StartValue {
	if p.Start == nil || r.Values == nil {
		return nil
	}
	out := &StartValue{Condition: startSupposed}
	for s, w := range p.Start {
		out.Value += w * r.Values[s]
	}
	sd, ok := r.Diagnostics[stdByCoordinate].([]float64)
	if r.Bands == nil || !ok {
		return out
	}
	f := p.Features.(feature.Finite)
	for s, w := range p.Start {
		out.StdAtMost += w * sd[f.Cell(s)]
	}
	returns, half := p.Returns(), scalar.Z95*out.StdAtMost
	out.Band = &[2]float64{max(out.Value-half, returns.Min), min(out.Value+half, returns.Max)}
	out.Deviations, out.Condition = scalar.Z95, startSupposed+"; and "+r.Bands.Condition
	return out
}
