package scalar

import (
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/rl/value"
)

// The kinds of baseline.
const (
	BaselinePublic = "public"
	BaselineNone   = "none"
	BaselineValue  = "value"
	BaselineAction = "action"
	BaselineState  = "state"
	BaselineModel  = "model"
)

// DR is the doubly robust estimate on-policy: the mean of doubly robust values about
// a baseline that is public or paid for.
type DR struct {
	Mean
	Baseline Baseline
}

// ByAction tells whether the baseline has a value for each action.
func (d Baseline) ByAction() bool {
	return d.Kind == BaselineAction || d.Guess != nil && d.Guess.Action != nil
}

// ByState tells whether the baseline has a value for each state.
func (d Baseline) ByState() bool {
	return d.Kind == BaselineState || d.Guess != nil && d.Guess.State != nil
}

// Around is the family of clips about a centre, for weights up to cap. On-policy a
// contribution is a return and its public range bounds it.
func Around(p facts.Public, cap, centre float64) ClipRanges {
	half := cap * p.Returns.Width() / 2
	if p.OnPolicy() {
		centre = p.Returns.Mid()
	}
	return ClipRanges{Anchor: centre, Below: half, Above: half, Steps: ClipSteps}
}

// Run makes the releases in the order of the event: the baseline where it is paid
// for, then those of the mean.
func (d DR) Run(s value.Persons, weight Numbers, src *noise.Source) (*Estimate, error) {
	return d.Baseline.run(s, src, func(g *Guess) (*Estimate, error) {
		x, weight := make([]float64, s.Persons()), slices.Concat(weight...)
		if err := g.contributions(x, s); err != nil {
			return nil, err
		}
		return d.Mean.Run(Numbers{x}, Numbers{weight}, Around(d.Public, d.Cap, g.Overall), src)
	})
}

// Again computes a doubly robust estimate from the noisy numbers in it.
func (d DR) Again(e *Estimate) (*Estimate, error) {
	g, err := d.Baseline.inEffect(e)
	if err != nil {
		return nil, err
	}
	return d.Mean.Again(e, Around(d.Public, d.Cap, g.Overall))
}

// Filled is the doubly robust estimate off-policy: the estimates of [Bounds] from
// below and from above, and as the value the one from below with the baseline in place
// of what the data do not vouch for. Of the baseline its value at the start alone
// enters: between the two bounds every other part of it cancels.
type Filled struct {
	Bounds
	Baseline *Baseline // nil: the value is that of the bounds
}

// Run makes the releases in the order of the event: the baseline where it is paid for,
// then those of the bounds.
func (d Filled) Run(s value.Persons, x, z Numbers, src *noise.Source) (*Estimate, error) {
	if d.Baseline == nil {
		return d.Bounds.Run(x, z, src)
	}
	return d.Baseline.run(s, src, func(g *Guess) (*Estimate, error) { return d.about(g).Run(x, z, src) })
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
	if d.Baseline == nil {
		return d.Bounds.Again(e)
	}
	g, err := d.Baseline.inEffect(e)
	if err != nil {
		return nil, err
	}
	return d.about(g).Again(e)
}

// run pays for the baseline and makes an estimate about it.
func (d Baseline) run(s value.Persons, src *noise.Source, about func(g *Guess) (*Estimate, error)) (*Estimate, error) {
	g, err := d.Pay(s, src)
	if err != nil {
		return nil, err
	}
	if d.Guess == nil {
		g.clamp(d.Public.Returns)
	}
	e, err := about(g)
	if err == nil && d.Guess == nil {
		e.Baseline = g
	}
	return e, err
}

// inEffect is the baseline that an estimate rests on: the public one, or the one in it.
func (d Baseline) inEffect(e *Estimate) (*Guess, error) {
	if d.Guess != nil {
		return d.Guess, nil
	}
	if e.Baseline == nil {
		return nil, fmt.Errorf("diagnostics.baseline is missing")
	}
	return e.Baseline, d.fits(e.Baseline)
}

// fits tells whether a paid baseline has the numbers of its kind, all in the
// public range.
func (d Baseline) fits(g *Guess) error {
	actions, states := 0, 0
	switch d.Kind {
	case BaselineAction:
		actions = d.Public.Target.Actions()
	case BaselineState:
		states = d.States
	}
	if len(g.Action) != actions || len(g.State) != states {
		return fmt.Errorf("diagnostics.baseline holds %d action_values and %d state_values; a baseline of kind %s has %d and %d", len(g.Action), len(g.State), d.Kind, actions, states)
	}
	for _, list := range [][]float64{{g.Overall}, g.Action, g.State} {
		for _, v := range list {
			if r := d.Public.Returns; !(v >= r.Min && v <= r.Max) {
				return fmt.Errorf("diagnostics.baseline holds %v, outside the public range of a return, [%v, %v]", v, r.Min, r.Max)
			}
		}
	}
	return nil
}
