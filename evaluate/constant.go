package evaluate

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Constant answers without looking at the data: the middle of the public range
// of a return, or a value given beforehand. It costs nothing, and its largest
// possible error is what every private release has to beat.
type Constant struct {
	// Value is the answer; nil means the middle of the public range.
	Value *float64 `json:"value,omitempty"`
}

// Plan implements [Estimator].
func (m Constant) Plan(p Public) (*Plan, error) {
	p = p.asking(m)
	if err := p.single("constant"); err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	returns := p.Returns()
	answer := returns.Mid()
	if m.Value != nil {
		answer = *m.Value
		if !(answer >= returns.Min && answer <= returns.Max) {
			return nil, fmt.Errorf("%w: constant: value %v is outside the public range of a return, [%v, %v]", ErrMethod, answer, returns.Min, returns.Max)
		}
	}
	run := func(context.Context, *noise.Source) (*Release, error) {
		return &Release{estimate: &Estimate{
			Value:      answer,
			Interval:   [2]float64{returns.Min, returns.Max},
			Confidence: 1,
			Sampling:   NoSampling,
		}}, nil
	}
	return newPlan(draft{
		method: "constant", public: p, event: dp.ApproximateDP{}, perState: true, outcomes: true,
		prepare: whole(func(context.Context, *trajectory.Dataset) (draw, error) { return run, nil }),
		outcome: func(*Release) (*Release, error) { return run(context.Background(), nil) },
		summary: summary{
			expected: Expected{Constant: max(answer-returns.Min, returns.Max-answer)},
			notes:    []string{"This number was fixed before the data was read. The interval is the whole public range."},
		},
	})
}
