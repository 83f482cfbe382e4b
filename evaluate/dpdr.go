package evaluate

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// DPDR is the doubly robust estimate (Jiang and Li 2016; Thomas and Brunskill
// 2016) under differential privacy: what the data vouch for, and a baseline in place of
// what they do not.
//
// Off-policy it makes the same release as [DPPDIS], or as [DPWIS] where returns have a
// public range of their own, and has the same interval, which holds the value of the
// policy whatever is cut and whatever was never tried. Its value is the mean of
//
//	V + sum_t gamma^t u_t (r_t - V/c),
//
// V the baseline's value at the start, u_t the weights and c the sum of gamma^t: right
// where V is right, and right where the weights are 1 on average. Values by state or by
// action enter through V alone: they cancel between the two ends of the interval, and no
// baseline narrows it (docs/proofs/overlap.md).
//
// On-policy the mean over persons of
//
//	V_t = Vhat(S_t) + rho_t (R_t + gamma V_{t+1} - Qhat(S_t, A_t))
//
// is the mean return, whatever the baseline: that of [DPIS] or, where data are stated to be
// complete, clipped as there and released by [mechanism.Moments].
//
// Released: a scalar with a 95% interval, the baseline and clip that were paid for, and
// off-policy the missing mass. Unit: a person. Adjacency: either. Clip: as in [DPIS].
// Event: dp.Gaussian for baseline, histogram, diagnostics and estimate, composed. Proofs:
// docs/proofs/dp-dr.md, docs/proofs/overlap.md.
type DPDR struct {
	// Baseline is "auto" (the default), "public", "none", "value", "action",
	// "state" or "model"; see [DPDR.Plan].
	Baseline string `json:"baseline,omitempty"`
	// Constant, ActionValues and StateValues are a public baseline: one number, one
	// for each action (logs of one-row episodes), or one for each state of finitely
	// many. At most one of them may be given. Off-policy the mean of a list stands for it.
	Constant     *float64  `json:"constant,omitempty"`
	ActionValues []float64 `json:"action_values,omitempty"`
	StateValues  []float64 `json:"state_values,omitempty"`
	// BaselineShare is the share of the budget (of mu^2) that a paid baseline
	// gets. 0 means 0.1 for a single number and 0.3 for the others.
	BaselineShare float64 `json:"baseline_share,omitempty"`
	// MaxWeight, Clip, ClipShare and Diagnostics are as in [DPIS], but that clip is auto
	// on-policy as well where data are complete.
	MaxWeight   float64 `json:"max_weight,omitempty"`
	Clip        string  `json:"clip,omitempty"`
	ClipShare   float64 `json:"clip_share,omitempty"`
	Diagnostics float64 `json:"diagnostics,omitempty"`
	// Guess is as in [DPIS].
	Guess *WeightGuess `json:"guess,omitempty"`
}

// Plan implements [Estimator]. The baseline is decided from public facts:
//
//   - public: Constant, ActionValues or StateValues, which auto chooses when one
//     of them is given;
//   - none: the middle of the public range. Auto chooses it on-policy, where every
//     ratio is 1 and a baseline cancels;
//   - value: one noisy number, which auto chooses off-policy;
//   - action: the noisy mean reward of each action, for one-row episodes and a
//     target policy that knows its probabilities;
//   - state: a noisy value of each state, for features of finitely many states, and of
//     the start;
//   - model: what [DPFQE] answers in its default form, a table for features over numbered
//     states and a linear model for others, without its interval. It needs what DPFQE needs.
func (m DPDR) Plan(p Public) (*Plan, error) { return planned("dp-dr", m, p, m.draft) }

func (m DPDR) draft(method string, p Public) (d draft, err error) {
	m.ActionValues, m.StateValues = slices.Clone(m.ActionValues), slices.Clone(m.StateValues)
	b, share, err := m.baseline(method, p)
	if err != nil {
		return d, err
	}
	switch {
	case p.share.some() && b.Kind == scalar.BaselineModel:
		return d, fmt.Errorf("%w: %s: a model is of all persons, and by asks for an answer of each group; use another baseline, or leave by out", ErrMethod, method)
	case !p.onPolicy():
		return m.offPolicy(method, p, b, share)
	}
	d, err = m.onPolicy(method, p, b, share)
	d.summary = d.summary.and((&paidBaseline{Baseline: b, share: share}).summary())
	return d, err
}

// onPolicy is the mean return, whatever the baseline.
func (m DPDR) onPolicy(method string, p Public, b scalar.Baseline, share float64) (draft, error) {
	if err := m.Guess.onPolicy(method); err != nil {
		return draft{}, err
	}
	if p.share.some() || !p.Complete {
		if share != 0 {
			return draft{}, fmt.Errorf("%w: %s: on-policy every baseline cancels, and one would be paid for in vain; leave baseline out", ErrMethod, method)
		}
		return DPIS{MaxWeight: m.MaxWeight, Clip: m.Clip, ClipShare: m.ClipShare, Diagnostics: m.Diagnostics}.usable(method, p)
	}
	clip, err := clipShare(method, p, cmp.Or(m.Clip, defaultDRClip), m.ClipShare, scalar.ClipSteps)
	if err != nil {
		return draft{}, err
	}
	cap, err := weightCap(method, p, m.MaxWeight)
	if err != nil {
		return draft{}, err
	}
	half := m.Diagnostics / 2
	d := scalar.DR{Baseline: b}
	if d.Mean, err = meanOf(method, p, scalar.Around(p.numbers(), cap, 0), cap, scalar.Stages{Baseline: share, Clip: clip, Weights: half, Clipped: half}); err != nil {
		return draft{}, err
	}
	d.Tail = scalar.ThinTail()
	d.Baseline.Noise = d.Noise.Baseline
	about, err := p.aboutMean(d.Mean)
	return draft{
		method: method, public: p, event: eventOf(d.Noise), outcome: estimateAgain(d.Again, nil),
		prepare: preparedDR(d, p),
		summary: about.and(DPIS{Diagnostics: m.Diagnostics}.shares(cap, clip)),
	}, err
}

// offPolicy makes the release of importance sampling, step by step where rewards bound
// the return, with the baseline in place of what is missing.
func (m DPDR) offPolicy(method string, p Public, b scalar.Baseline, share float64) (draft, error) {
	like := DPIS{MaxWeight: m.MaxWeight, Clip: m.Clip, ClipShare: m.ClipShare, Diagnostics: m.Diagnostics, Guess: m.Guess}
	of := narrowest(p)
	paid := &paidBaseline{Baseline: b, share: share}
	if b.Kind == scalar.BaselineModel {
		paid.model = new(modelBaseline)
		of.needsEnds = p.decisions() > 1
	}
	return like.offPolicy(method, p, of, paid)
}

// preparedDR prepares the plan on-policy. Whatever may fail, fails before noise is drawn.
func preparedDR(d scalar.DR, p Public) preparation {
	return byPerson{
		public: p, rows: true, moves: true, numbers: 2, coordinates: 2 * max(d.Baseline.States, p.Target.Actions(), 2),
		check: func(data *trajectory.Dataset) error {
			if d.Baseline.ByState() {
				if err := feature.Check(p.Features, data); err != nil {
					return err
				}
			}
			if !d.Baseline.ByAction() {
				return nil
			}
			if data.Rows() != data.Episodes() {
				return errByAction
			}
			_, err := p.Target.Bind(data)
			return err
		},
		each: func(numbers [][]float64, part []*value.Sample) error {
			value.ISContributions(numbers[0], numbers[1], part[0])
			return nil
		},
		run: func(numbers []scalar.Numbers, rows *value.Samples) (draw, error) {
			return func(_ context.Context, src *noise.Source) (*Release, error) {
				return paidFor(d.Run(rows, numbers[1], src))
			}, nil
		},
	}.preparation()
}
