package scalar

import (
	"fmt"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/rl/value"
)

// Filled is the doubly robust estimate off-policy: the estimates of [Bounds] from
// below and from above, and as the value the one from below with the baseline in place
// of what the data do not vouch for. Of the baseline its value at the start alone
// enters: between the two bounds every other part of it cancels.
type Filled struct {
	Bounds
	Baseline Baseline
}

// Run makes the releases in the order of the event: the baseline where it is paid for,
// then those of the bounds.
func (d Filled) Run(s *value.Sample, x, z []float64, src *noise.Source) (*Estimate, error) {
	g, err := d.Baseline.Pay(s, src)
	if err != nil {
		return nil, err
	}
	e, err := d.about(g).Run(x, z, src)
	if err == nil && d.Baseline.Guess == nil {
		e.Baseline = g
	}
	return e, err
}

// about are the bounds whose value rests on a baseline.
func (d Filled) about(g *Guess) Bounds {
	b := d.Bounds
	fill := (b.Range.Clamp(g.Overall) - b.Range.Min) / b.Range.Width()
	b.Fill = &fill
	return b
}

// Again computes a doubly robust estimate from the noisy numbers in it.
func (d Filled) Again(e *Estimate) (*Estimate, error) {
	g, err := d.Baseline.told(e)
	if err != nil {
		return nil, err
	}
	return d.about(g).Again(e)
}

// told is the baseline that an estimate rests on: the public one, or the one in it.
func (d Baseline) told(e *Estimate) (*Guess, error) {
	if d.Guess != nil {
		return d.Guess, nil
	}
	if e.Baseline == nil {
		return nil, fmt.Errorf("diagnostics.baseline is missing")
	}
	return e.Baseline, d.fits(e.Baseline)
}
