package evaluate

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/policy"
)

// DPFirst is the mean over persons of the reward of their first decision, under differential
// privacy. A person without a usable decision counts with the middle of the public range.
//
// Released: a scalar with a 95% interval. On-policy. Unit: a person. Adjacency: either. Clip:
// the public range of a reward, or that below Most. Event: dp.Gaussian. Proof:
// docs/proofs/moments.md.
type DPFirst struct {
	// Most is the largest reward that counts as it is; larger ones count as it. nil means the
	// end of the public range.
	Most *float64 `json:"most,omitempty"`
}

// Plan implements [Estimator].
func (m DPFirst) Plan(p Public) (*Plan, error) { return planned("dp-first", m, p, m.draft) }

func (m DPFirst) draft(method string, p Public) (draft, error) {
	if !policy.OnPolicy(p.Target) {
		return draft{}, fmt.Errorf("%w: %s is the mean of what was logged; use dp-is for another policy", ErrMethod, method)
	}
	within := p.Reward
	if m.Most != nil {
		within.Max = min(within.Max, *m.Most)
	}
	if !(within.Width() > 0) {
		return draft{}, fmt.Errorf("%w: %s: the public range of a reward is a single point; give problem.reward a width", ErrPublic, method)
	}
	w, err := meanOf(method, p, scalar.ClipRanges{Anchor: within.Mid(), Below: within.Width() / 2, Above: within.Width() / 2}, 1, scalar.Stages{})
	if err != nil {
		return draft{}, err
	}
	w.Public.Returns = facts.Range(within) // what is estimated is a reward
	private, sampling, err := w.Expected()
	if err != nil {
		return draft{}, err
	}
	expected := p.expected(private, sampling)
	expected.HalfWidth, expected.Constant = w.ExpectedHalf(private, sampling), within.Width()/2
	return draft{
		method: method, public: p, event: eventOf(w.Noise),
		prepare: byPerson{public: p, numbers: 2, each: firstRewards(within.Mid()), run: func(numbers []scalar.Numbers, _ *value.Samples) (draw, error) {
			return func(_ context.Context, src *noise.Source) (*Release, error) {
				e, err := w.Run(numbers[0], numbers[1], w.Ranges, src)
				if err != nil {
					return nil, err
				}
				return estimated(e), nil
			}, nil
		}}.preparation(),
		outcome: estimateAgain(func(e *scalar.Estimate) (*scalar.Estimate, error) { return w.Again(e, w.Ranges) }, nil),
		summary: summary{
			facts: map[string]any{"clip": within}, expected: expected,
			notes: []string{p.words("The value is the mean reward of the first decision of each person, and not a return. A person without a usable decision counts with the middle of the range.")},
		},
	}, nil
}

// firstRewards writes the first reward of each person, or what stands for it.
func firstRewards(missing float64) func(numbers [][]float64, part []*value.Sample) error {
	return func(numbers [][]float64, part []*value.Sample) error {
		x, weight, d := numbers[0], numbers[1], part[0].Data
		for person := range x {
			x[person], weight[person] = missing, 1
			if e := d.PersonStart[person]; e < d.PersonStart[person+1] {
				x[person] = d.Reward[d.EpisodeStart[e]]
			}
		}
		return nil
	}
}
