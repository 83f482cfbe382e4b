package scalar

import (
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/policy"
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
// for, then those of the mean. rows holds the target policy's distribution in
// every row where the baseline is by action.
func (d DR) Run(s *value.Sample, weight, rows []float64, src *noise.Source) (*Estimate, error) {
	g, err := d.Baseline.Pay(s, src)
	if err != nil {
		return nil, err
	}
	x := make([]float64, len(weight))
	g.contributions(x, s, rows)
	e, err := d.Mean.Run(x, weight, Around(d.Public, d.Cap, g.Overall), src)
	if err == nil && d.Baseline.Guess == nil {
		e.Baseline = g
	}
	return e, err
}

// Distributions returns the target policy's probability of every action, row by
// row.
func Distributions(s *value.Sample, p policy.Policy) ([]float64, error) {
	b, err := p.Bind(s.Data)
	if err != nil {
		return nil, err
	}
	k := p.Actions()
	dst := make([]float64, s.Data.Rows()*k)
	for row := range s.Data.Rows() {
		b.Distribution(dst[row*k:row*k+k], row)
	}
	return dst, nil
}
