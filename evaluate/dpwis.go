package evaluate

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/mechanism"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/value"
)

// DPWIS is weighted importance sampling (Precup, Sutton and Singh 2000) under
// differential privacy: the ratio of the noisy sums of weighted returns and of
// weights, from [mechanism.Ratio], and then, for the interval, the noisy second
// moment of the clipped residuals d(x - v) around the ratio v just released.
//
// Released: a scalar with a 95% interval. Unit: a person. Adjacency: either.
// Clip: returns to their public range, weights to [0, MaxWeight]. Event: two
// composed dp.Gaussian. Proof: docs/proofs/ratio.md.
type DPWIS struct {
	// MaxWeight is the public cap on a person's weight. 0 means 10; on-policy it
	// is 1.
	MaxWeight float64 `json:"max_weight,omitempty"`
	// SamplingShare is the share of the budget (of mu^2) that the second moment of
	// the residuals gets, in (0, 1). 0 means 0.1.
	SamplingShare float64 `json:"sampling_share,omitempty"`
}

// wis is a DPWIS with its defaults filled in.
type wis struct {
	public   Public
	values   Range
	cap      float64
	ratio    float64 // noise multiplier of the ratio
	residual float64 // noise multiplier of the residuals' second moment
}

// Plan implements [Estimator].
func (m DPWIS) Plan(p Public) (*Plan, error) {
	const method = "dp-wis"
	if err := needPrivacy(method, p); err != nil {
		return nil, err
	}
	share := m.SamplingShare
	if share == 0 {
		share = 0.1
	}
	if !(share > 0 && share < 1) {
		return nil, fmt.Errorf("%w: %s: sampling_share is %v; want between 0 and 1", ErrMethod, method, m.SamplingShare)
	}
	cap, err := weightCap(method, p, m.MaxWeight)
	if err != nil {
		return nil, err
	}
	noise, err := multipliers(*p.Privacy, 1-share, share)
	if err != nil {
		return nil, err
	}
	w := wis{public: p, values: p.Returns(), cap: cap, ratio: noise[0], residual: noise[1]}
	ratio, err := w.newRatio()
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(method, p, gaussians(noise...), w.prepare)
	if err != nil {
		return nil, err
	}
	w.predict(plan, ratio)
	plan.Facts["max_weight"] = cap
	plan.Facts["sampling_share"] = share
	plan.Facts["clip"] = w.values
	plan.Notes = []string{fmt.Sprintf("The interval covers the weighted mean of returns clipped to [%g, %g] with weights clipped to [0, %g]. Where weights lie above, clipping moves the estimate by an amount that the interval does not hold.", w.values.Min, w.values.Max, cap)}
	return plan, nil
}

func (w wis) newRatio() (*mechanism.Ratio, error) {
	return mechanism.NewRatio(w.values.Min, w.values.Max, w.cap, w.ratio, w.public.Privacy.Adjacency, w.public.Privacy.Noise)
}

// predict assumes that weights average to 1, as they do when nothing is clipped.
func (w wis) predict(plan *Plan, r *mechanism.Ratio) {
	numerator, denominator := r.SD()
	persons, half := float64(w.public.Persons), w.values.Width()/2
	plan.Expected.StdPrivacy = math.Hypot(numerator, half*denominator) / persons
	plan.Expected.StdSampling = 2 * half * math.Sqrt(w.cap/persons)
	plan.Expected.HalfWidth = z95 * math.Hypot(plan.Expected.StdPrivacy, plan.Expected.StdSampling)
	plan.Expected.Constant = half
}

func (w wis) prepare(_ context.Context, d *trajectory.Dataset) (draw, error) {
	s, err := sampleFor(d, w.public)
	if err != nil {
		return nil, err
	}
	weighted, weight := make([]float64, d.Persons()), make([]float64, d.Persons())
	value.ISContributions(weighted, weight, s)
	ratio, err := w.newRatio()
	if err != nil {
		return nil, err
	}
	for i := range weighted {
		if err := ratio.Add(weighted[i], weight[i]); err != nil {
			return nil, err
		}
	}
	return func(_ context.Context, src *noise.Source) (*Release, error) {
		noisy, _, err := ratio.Release(src)
		if err != nil {
			return nil, err
		}
		return w.release(noisy, weighted, weight, src)
	}, nil
}

// release divides the sums and pays for the sampling error of the quotient.
func (w wis) release(noisy mechanism.NoisyRatio, weighted, weight []float64, src *noise.Source) (*Release, error) {
	// A denominator that noise could have made says nothing about the policy.
	if noisy.Denominator < 4*noisy.DenominatorSD {
		return w.undetermined(), nil
	}
	offset := noisy.Numerator / noisy.Denominator
	v := min(max(noisy.Centre+offset, w.values.Min), w.values.Max)
	square, squareSD, err := w.squaredResiduals(v, weighted, weight, src)
	if err != nil {
		return nil, err
	}
	sampling := math.Sqrt(max(square, 0)+squareSD) / noisy.Denominator
	sampling = min(sampling, w.values.Width()/2)
	private := math.Hypot(noisy.NumeratorSD, (v-noisy.Centre)*noisy.DenominatorSD) / noisy.Denominator
	return &Release{Estimate: &Estimate{
		Value:       v,
		Interval:    interval(v, sampling, private, w.values),
		Confidence:  0.95,
		StdSampling: sampling,
		Sampling:    Paid,
		StdPrivacy:  private,
	}}, nil
}

// squaredResiduals releases the sum over persons of (d(x - v))^2, d and x
// clipped, and the standard deviation of the noise in it.
func (w wis) squaredResiduals(v float64, weighted, weight []float64, src *noise.Source) (sum, sd float64, err error) {
	largest := w.cap * max(w.values.Max-v, v-w.values.Min)
	largest *= largest
	// Under ReplaceOne the squares are centred, which halves their norm; under
	// AddRemoveOne the number of persons that would undo it is private.
	centre, clip := 0.0, largest
	if w.public.Privacy.Adjacency == dp.ReplaceOne {
		centre, clip = largest/2, largest/2
	}
	total, err := mechanism.NewVectorSum(1, clip, w.residual, w.public.Privacy.Noise)
	if err != nil {
		return 0, 0, err
	}
	for i := range weighted {
		d := min(max(weight[i], 0), w.cap)
		x := v
		if weight[i] > 0 {
			x = min(max(weighted[i]/weight[i], w.values.Min), w.values.Max)
		}
		e := d * (x - v)
		if err := total.Add([]float64{e*e - centre}); err != nil {
			return 0, 0, err
		}
	}
	noisy, _, err := total.Release(src)
	if err != nil {
		return 0, 0, err
	}
	return noisy[0] + centre*float64(len(weighted)), w.residual * clip, nil
}

// undetermined is the release when the noisy sum of weights is too small to
// divide by: the whole public range. The residuals' share stays unused.
func (w wis) undetermined() *Release {
	half := w.values.Width() / 2
	return &Release{
		Estimate: &Estimate{
			Value:       w.values.Mid(),
			Interval:    [2]float64{w.values.Min, w.values.Max},
			Confidence:  0.95,
			StdSampling: half,
			Sampling:    PublicBound,
			StdPrivacy:  half,
		},
		Notes: []string{"The noisy sum of weights is too small to divide by: the data tell nothing about the target policy at this budget, and the interval is the whole public range."},
	}
}
