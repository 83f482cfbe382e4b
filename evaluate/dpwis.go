package evaluate

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/mechanism"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/value"
)

// DPWIS is weighted importance sampling (Precup, Sutton and Singh 2000) under
// differential privacy: the ratio of the noisy sums of weighted returns and of
// weights, from [mechanism.Ratio], and then, for the interval, the noisy second
// moment of the clipped residuals d(x - v) around the ratio v just released.
//
// Weights average 1 where the logged probabilities are right, so what the mean
// of the clipped weights lacks is what the clip cut off, or what the logs never
// tried. Under ReplaceOne the interval is lengthened by the most that returns in
// the public range could move the value with it.
//
// Released: a scalar with a 95% interval. Unit: a person. Adjacency: either.
// Clip: returns to their public range, weights to [0, MaxWeight] or to a smaller
// cap from a paid histogram. Event: dp.Gaussian for the ratio and for the
// residuals, and for histogram and diagnostics where they are asked for,
// composed. Proofs: docs/proofs/ratio.md, docs/proofs/dp-dr.md.
type DPWIS struct {
	// MaxWeight is the public cap on a person's weight; on-policy it is 1. 0 means
	// 10 or, where the budget is small, sqrt(m mu/2) for m persons, but at least
	// 1, where mu is the budget's parameter of Gaussian differential privacy.
	MaxWeight float64 `json:"max_weight,omitempty"`
	// SamplingShare is the share of the budget (of mu^2) that the second moment of
	// the residuals gets, in (0, 1). 0 means 0.1.
	SamplingShare float64 `json:"sampling_share,omitempty"`
	// Clip, ClipShare and Diagnostics are as in [DPIS]; the clip is the cap on
	// weights. On-policy there is nothing to choose.
	Clip        string  `json:"clip,omitempty"`
	ClipShare   float64 `json:"clip_share,omitempty"`
	Diagnostics float64 `json:"diagnostics,omitempty"`
}

// capSteps is how often a cap on weights may be divided by sqrt 2.
const capSteps = 7

// wis is a DPWIS with its defaults filled in.
type wis struct {
	public Public
	values Range
	cap    float64
	noise  stages
}

// Plan implements [Estimator].
func (m DPWIS) Plan(p Public) (*Plan, error) {
	p = p.clone()
	const method = "dp-wis"
	if err := needPrivacy(method, p); err != nil {
		return nil, err
	}
	if m.MaxWeight == 0 {
		var err error
		if m.MaxWeight, err = affordableWeight(p); err != nil {
			return nil, err
		}
	}
	cap, err := weightCap(method, p, m.MaxWeight)
	if err != nil {
		return nil, err
	}
	shares, err := m.shares(method, p)
	if err != nil {
		return nil, err
	}
	noise, err := shares.noise(method, *p.Privacy)
	if err != nil {
		return nil, err
	}
	w := wis{public: p, values: p.Returns(), cap: cap, noise: noise}
	ratio, err := w.newRatio(cap)
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(method, p, noise.event(), w.prepare)
	if err != nil {
		return nil, err
	}
	w.predict(plan, ratio)
	plan.Facts["max_weight"] = cap
	plan.Facts["sampling_share"] = shares.residual
	plan.Facts["clip_share"] = shares.clip
	plan.Facts["diagnostics_share"] = m.Diagnostics
	plan.Facts["clip"] = w.values
	plan.Notes = append(plan.Notes, w.note())
	return plan, nil
}

// shares are the parts of the budget that are asked for.
func (m DPWIS) shares(method string, p Public) (stages, error) {
	s := stages{residual: m.SamplingShare, weights: m.Diagnostics / 2, clipped: m.Diagnostics / 2}
	if s.residual == 0 {
		s.residual = 0.1
	}
	if m.Clip == "" {
		m.Clip = clipPublic
	}
	var err error
	s.clip, err = clipShare(method, p, m.Clip, m.ClipShare, capSteps)
	if policy.OnPolicy(p.Target) {
		s.clip = 0
	}
	return s, err
}

func (w wis) note() string {
	clipped := fmt.Sprintf("The estimate is the weighted mean of returns clipped to [%g, %g] with weights clipped to at most %g.", w.values.Min, w.values.Max, w.cap)
	if w.public.Privacy.Adjacency == dp.ReplaceOne {
		return clipped + " Where the mean of the clipped weights lies below 1 by more than chance explains, the interval is lengthened by what the missing weight could change; this rests on right logged probabilities."
	}
	return clipped + " Where weights lie above, clipping moves it by an amount that the interval does not hold."
}

func (w wis) newRatio(cap float64) (*mechanism.Ratio, error) {
	return mechanism.NewRatio(w.values.Min, w.values.Max, cap, w.noise.main, w.public.Privacy.Adjacency, w.public.Privacy.Noise)
}

// predict assumes that weights average to 1, as they do when nothing is clipped,
// and that the value lies half-way between the middle and an end of its range.
func (w wis) predict(plan *Plan, r *mechanism.Ratio) {
	numerator, denominator := r.SD()
	persons, half := float64(w.public.Persons), w.values.Width()/2
	plan.Expected.StdPrivacy = math.Hypot(numerator, half/2*denominator) / persons
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
	return func(_ context.Context, src *noise.Source) (*Release, error) {
		return w.run(weighted, weight, src)
	}, nil
}

// run makes the releases in the order of the event.
func (w wis) run(weighted, weight []float64, src *noise.Source) (*Release, error) {
	cap, extra := w.cap, map[string]any{}
	if w.noise.clip != 0 {
		c := clipper{multiplier: w.noise.clip, adjacency: w.public.Privacy.Adjacency, kind: w.public.Privacy.Noise,
			persons: w.public.Persons, tail: heavyTail(), price: w.noise.main}
		choice, err := c.choose(weight, nest{above: w.cap, steps: capSteps}, src)
		if err != nil {
			return nil, err
		}
		cap = choice.clip.Max
		extra["max_weight"] = cap
	}
	if w.noise.weights != 0 {
		o, err := overlap{public: w.public, cap: w.cap, noise: w.noise}.release(weight, func(i int) bool { return weight[i] > cap }, src)
		if err != nil {
			return nil, err
		}
		extra["overlap"] = o
	}
	ratio, err := w.newRatio(cap)
	if err != nil {
		return nil, err
	}
	for i := range weighted {
		if err := ratio.Add(weighted[i], weight[i]); err != nil {
			return nil, err
		}
	}
	noisy, _, err := ratio.Release(src)
	if err != nil {
		return nil, err
	}
	r, err := w.release(noisy, cap, weighted, weight, src)
	if err != nil {
		return nil, err
	}
	r.Diagnostics = extra
	return r, nil
}

// release divides the sums and pays for the sampling error of the quotient.
func (w wis) release(noisy mechanism.NoisyRatio, cap float64, weighted, weight []float64, src *noise.Source) (*Release, error) {
	// A denominator that noise could have made says nothing about the policy.
	if noisy.Denominator < 4*noisy.DenominatorSD {
		return w.undetermined(), nil
	}
	offset := noisy.Numerator / noisy.Denominator
	v := min(max(noisy.Centre+offset, w.values.Min), w.values.Max)
	square, squareSD, err := w.squaredResiduals(v, cap, weighted, weight, src)
	if err != nil {
		return nil, err
	}
	private := math.Hypot(noisy.NumeratorSD, (v-noisy.Centre)*noisy.DenominatorSD)
	square = max(0, square) + allowance(square, private*private, squareSD)
	// No residual exceeds the range, and no weight the cap.
	far := max(w.values.Max-v, v-w.values.Min)
	sampling := math.Sqrt(min(square, cap*far*far*noisy.Denominator)) / noisy.Denominator
	private /= noisy.Denominator
	ends := interval(v, sampling, private, Range{Min: math.Inf(-1), Max: math.Inf(1)})
	missing := w.missing(noisy, cap)
	below, above := missing*(v-w.values.Min), missing*(w.values.Max-v)
	return &Release{Estimate: &Estimate{
		Value:       v,
		Interval:    [2]float64{max(ends[0]-below, w.values.Min), min(ends[1]+above, w.values.Max)},
		Clipping:    [2]float64{below, above},
		Confidence:  0.95,
		StdSampling: sampling,
		Sampling:    Paid,
		StdPrivacy:  private,
	}}, nil
}

// missing is what the mean of the clipped weights lacks to 1, less one standard
// deviation of its error: that of the noise and, at most, that of weights in
// [0, cap] with mean 1 (Bhatia and Davis 2000). Under AddRemoveOne the number of
// persons is private and the mean is not known.
func (w wis) missing(noisy mechanism.NoisyRatio, cap float64) float64 {
	if w.public.Privacy.Adjacency != dp.ReplaceOne || policy.OnPolicy(w.public.Target) {
		return 0
	}
	persons := float64(w.public.Persons)
	chance := math.Hypot(noisy.DenominatorSD/persons, math.Sqrt(max(cap-1, 0)/persons))
	return min(max(1-noisy.Denominator/persons-chance, 0), 1)
}

// squaredResiduals releases the sum over persons of (d(x - v))^2, d and x
// clipped, and the standard deviation of the noise in it.
func (w wis) squaredResiduals(v, cap float64, weighted, weight []float64, src *noise.Source) (sum, sd float64, err error) {
	largest := cap * max(w.values.Max-v, v-w.values.Min)
	largest *= largest
	// Under ReplaceOne the squares are centred, which halves their norm; under
	// AddRemoveOne the number of persons that would undo it is private.
	centre, clip := 0.0, largest
	if w.public.Privacy.Adjacency == dp.ReplaceOne {
		centre, clip = largest/2, largest/2
	}
	total, err := mechanism.NewVectorSum(1, clip, w.noise.residual, w.public.Privacy.Noise)
	if err != nil {
		return 0, 0, err
	}
	for i := range weighted {
		d := min(max(weight[i], 0), cap)
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
	return noisy[0] + centre*float64(len(weighted)), w.noise.residual * clip, nil
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
		Notes: []string{"The noisy sum of weights is too small to divide by: the data tell nothing about the target policy at this budget, and the interval is the whole public range. A larger epsilon, more persons, a shorter horizon, or data logged by a policy nearer to the target would help."},
	}
}
