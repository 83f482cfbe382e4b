package evaluate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/gpope"
	"github.com/discreet-rl/discreet/internal/dp/xie19"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// GPOPE is gradient-based private off-policy evaluation (Xie, Thomas and Miklau
// 2019): GTD2's saddle point
//
//	min over theta, max over w of  w'(b - A theta) - w'C w / 2
//
// by noisy stochastic descent and ascent on the gradients of persons, with its
// mini-batch form as the default. With Batch 1 it is Algorithm 1 of the paper:
// one uniform person a step, the stacked gradient clipped, noise, one step size,
// the final iterate. The noise is calibrated to the budget and the planned
// number of steps by privacy-loss distributions, not by the accountant of the
// paper, which is unsound.
//
// Released: the weight vector theta of a value function, for any features,
// on-policy or off-policy. Unit: a person, whose gradient is the mean over their
// trajectories. Adjacency: either. Clip: Clip, in l2, on a person's stacked
// gradient for theta and w after scaling. Event: Iterations times a dp.Gaussian
// under the sampling. Proof: docs/proofs/gpope.md.
//
// Every zero field has a default that depends on public facts alone. W below is
// the width of the public range of a return, and r the persons times the
// Gaussian-DP mu of the budget, over the number of features.
//
//	               batch      steps  clip     step_theta  step_w
//	Batch 1            1    persons  0.02 W   0.1         0.1
//	r < 25           200       1000  0.01 W   0.3         0.2
//	r < 300          200       3000  0.01 W   1           0.1
//	r < 1000         400       4000  0.05 W   1           0.02
//	otherwise        400       8000  0.05 W   1           0.02
type GPOPE struct {
	// Batch is the (expected) number of persons a step; 1 is Algorithm 1; the
	// number of persons or more takes everyone in every step. Poisson samples hold
	// the nearest rate 1 - exp(-1/L), L an integer: at most 63% of the persons.
	Batch int64 `json:"batch,omitempty"`
	// Sampling is "poisson", "uniform" (without replacement, under replace_one
	// alone) or "everyone". The default is poisson, but uniform for Batch 1 under
	// replace_one.
	Sampling string `json:"sampling,omitempty"`
	// Iterations is the number of steps N.
	Iterations int64 `json:"iterations,omitempty"`
	// Clip is the l2 norm h that a person's stacked gradient, after scaling, is
	// clipped to, in the unit of the reward.
	Clip float64 `json:"clip,omitempty"`
	// StepTheta and StepW are the step sizes in scaled coordinates. They belong to
	// Momentum 0; with more, divide them by about 1/(1-Momentum).
	StepTheta float64 `json:"step_theta,omitempty"`
	StepW     float64 `json:"step_w,omitempty"`
	// Schedule is "constant" (the default), "polynomial" (the steps divided by
	// N^Exponent) or "diminishing" (in step i divided by LambdaMin i).
	Schedule  string  `json:"schedule,omitempty"`
	Exponent  float64 `json:"exponent,omitempty"`
	LambdaMin float64 `json:"lambda_min,omitempty"`
	// Momentum is the share of the last step that is repeated, in [0, 1).
	Momentum float64 `json:"momentum,omitempty"`
	// Average releases the mean of the second half of the iterates (Polyak and
	// Juditsky 1992). The default is true, for Batch 1 false.
	Average *bool `json:"average,omitempty"`
	// Project keeps every value in the public range of a return, for one-hot
	// features. The default is true, for Batch 1 false.
	Project *bool `json:"project,omitempty"`
	// Start is what every component of theta starts at. The default is, for one-hot
	// features, the middle of the public range of a return; for Batch 1 and for
	// other features, 0.
	Start *float64 `json:"start,omitempty"`
	// Visits holds a public probability of each feature (one-hot: of each cell)
	// among the transitions, above 0: coordinates are scaled by its inverse root,
	// which makes C the identity. The default takes all to be equal; for Batch 1
	// nothing is scaled.
	Visits []float64 `json:"visits,omitempty"`
	// Weighting is "trajectory" (the default: every trajectory weighs 1, as in the
	// paper) or "transition" (long trajectories weigh more, which has the fixed
	// point of LSTD).
	Weighting string `json:"weighting,omitempty"`
	// Length is a public guess of a trajectory's number of transitions, to which
	// gradients of weighting "transition" are scaled. The default is the smaller
	// of the horizon and 1/(1-gamma).
	Length float64 `json:"length,omitempty"`
	// Accountant is "" or "xie19": with Batch 1, the noise of the paper's
	// accountant for a reproduction. That accountant is unsound; the release then
	// states the true epsilon, which may be far above the one asked for.
	Accountant string `json:"accountant,omitempty"`
}

// Plan implements [Estimator].
func (m GPOPE) Plan(p Public) (*Plan, error) {
	return planned(gpopeName, m, p, func(method string, p Public) (draft, error) {
		r, err := m.resolve(p)
		if err != nil {
			return draft{}, err
		}
		if err := r.calibrate(); err != nil {
			return draft{}, err
		}
		_, err = r.walk.StepSum()
		return draft{
			method: method, public: r.public, event: r.walk.Event(r.walk.Multiplier), prepare: whole(r.prepare),
			outcome: functionAgain(r.public, r.walk.Project), summary: r.summary(), bootstraps: true, perState: true,
		}, err
	})
}

const gpopeName = "gpope"

// gpopePlan is a GPOPE with every setting fixed, all of it from public facts.
type gpopePlan struct {
	public Public // with the budget that the plan really claims
	asked  dp.Budget
	xie19  bool
	truth  account.Bracket // the epsilon of the noise of xie19
	walk   gpope.Walk
}

// calibrate finds the noise multiplier that the budget and the steps allow.
func (r *gpopePlan) calibrate() error {
	q := r.public.Privacy
	if r.xie19 {
		return r.calibrateXie19()
	}
	if r.walk.Scheme.Sampling == gpope.Everyone {
		one, err := multipliers(*q, 1)
		if err != nil {
			return err
		}
		// N Gaussian releases are one with mu^2 N times as large.
		r.walk.Multiplier = one[0] * math.Sqrt(float64(r.walk.Iterations)) * (1 + 0x1p-44)
		return nil
	}
	found, err := account.Calibrate(context.Background(),
		func(multiplier float64) (dp.Event, error) { return r.walk.Event(multiplier), nil },
		q.Budget,
		func() account.Accountant { return account.New(q.Adjacency) })
	if err != nil {
		if errors.Is(err, account.ErrUnsupported) && r.walk.Scheme.Sampling == gpope.Uniform {
			return fmt.Errorf("%w: %s: %w; use sampling: poisson", ErrMethod, gpopeName, err)
		}
		return err
	}
	r.walk.Multiplier = found.Upper
	return nil
}

// calibrateXie19 takes the noise of the paper's accountant and makes the plan
// claim what that noise really gives.
func (r *gpopePlan) calibrateXie19() error {
	q := r.public.Privacy
	sigma, _, err := xie19.Sigma(r.public.Persons, r.walk.Iterations, q.Budget.Epsilon, q.Budget.Delta)
	if err != nil {
		return err
	}
	r.walk.Multiplier = sigma
	accountant := account.New(q.Adjacency)
	if err := accountant.Compose(context.Background(), r.walk.Event(sigma), 1); err != nil {
		return err
	}
	if r.truth, err = accountant.Epsilon(context.Background(), q.Budget.Delta); err != nil {
		return err
	}
	r.public = r.public.withEpsilon(r.truth.Upper)
	return nil
}

// summary is what a reader should know.
func (r *gpopePlan) summary() summary {
	w := r.walk
	s := summary{expected: Expected{Constant: r.public.Returns().Width() / 2}, facts: map[string]any{
		"sampling": string(w.Scheme.Sampling), "expected_batch": w.Scheme.Expected, "iterations": w.Iterations, "clip": w.Clip,
		"step_theta": w.StepTheta, "step_w": w.StepW, "schedule": w.Schedule.Name,
		"momentum": w.Momentum, "average": w.Average, "project": w.Project, "start": w.Start, "scale": slices.Clone(w.Scale),
		"weighting": w.Weighting.String(), "gradient_factor": w.Shrink, "noise_multiplier": w.Multiplier, "dimension": w.N,
	}}
	s.notes = append([]string{
		r.public.words(fmt.Sprintf("A person's scaled gradient is clipped to norm %g. Clipping, noise and too few steps all bias the result by an amount that is not known in advance, and the release has no error bar. Compare it with the constant baseline.", w.Clip)),
	}, r.public.absentNotes(true)...)
	if r.xie19 {
		s.facts["xie19_epsilon"] = r.asked.Epsilon
		s.heading = []string{fmt.Sprintf(
			"Not a guarantee of epsilon %g: the noise was calibrated by the accountant of Xie, Thomas and Miklau (2019), which is unsound. The true epsilon at delta %g is between %.4g and %.4g, and that is what this release states and costs.",
			r.asked.Epsilon, r.asked.Delta, r.truth.Lower, r.truth.Upper)}
	}
	return s
}

// prepare binds the plan to data. Each person's gradient depends on that
// person's rows alone.
func (r *gpopePlan) prepare(_ context.Context, d *trajectory.Dataset) (draw, error) {
	if d.Persons() > math.MaxInt32 {
		return nil, fmt.Errorf("%w: %s: at most %d persons", ErrData, gpopeName, math.MaxInt32)
	}
	if err := feature.Check(r.public.Features, d); err != nil {
		return nil, err
	}
	s, err := sampleFor(d, r.public)
	if err != nil {
		return nil, err
	}
	sum, err := r.walk.StepSum()
	if err != nil {
		return nil, err
	}
	if int64(d.Persons()) > sum.Capacity() {
		return nil, fmt.Errorf("%w: %s: at most %d persons with %d features", ErrData, gpopeName, sum.Capacity(), r.walk.N)
	}
	walk := r.walk.On(s)
	return func(ctx context.Context, src *noise.Source) (*Release, error) {
		theta, err := walk(ctx, src)
		if err != nil {
			return nil, err
		}
		return functionReleased(r.public.Features, theta), nil
	}, nil
}
