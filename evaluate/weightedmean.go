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

// defaultMaxWeight caps importance weights off-policy where nothing else is
// said. On-policy every weight is 1.
const defaultMaxWeight = 10

// weightCap is the public cap on a trajectory's importance weight.
func weightCap(method string, p Public, configured float64) (float64, error) {
	switch {
	case configured != 0 && !(configured > 0 && !math.IsInf(configured, 0)):
		return 0, fmt.Errorf("%w: %s: max_weight is %v; want a finite number above 0", ErrMethod, method, configured)
	case policy.OnPolicy(p.Target):
		return 1, nil
	case configured == 0:
		return defaultMaxWeight, nil
	}
	return configured, nil
}

// contributions is the number that each person adds to an average, in dst by
// person.
type contributions func(dst []float64, s *value.Sample)

// weightedMean is the part that DP-IS and DP-PDIS share: the private mean of one
// number a person, with its second moment.
type weightedMean struct {
	method string
	public Public
	clip   Range
	each   contributions
}

// clipRange is what a person's weighted return is clipped to: with weights up to
// cap it holds every return in the public range, and 0 where weights may vanish.
func clipRange(p Public, cap float64) Range {
	g := p.Returns()
	if policy.OnPolicy(p.Target) {
		return g
	}
	return Range{Min: min(0, g.Min*cap), Max: max(0, g.Max*cap)}
}

func (w weightedMean) plan() (*Plan, error) {
	if !(w.clip.Width() > 0) {
		return nil, fmt.Errorf("%w: %s: the public range of a return is a single point; give problem.reward or problem.return a width", ErrPublic, w.method)
	}
	noise, err := multipliers(*w.public.Privacy, 1)
	if err != nil {
		return nil, err
	}
	fresh := func() (*mechanism.Moments, error) {
		return mechanism.NewMoments(w.clip.Min, w.clip.Max, noise[0], w.public.Privacy.Adjacency, w.public.Privacy.Noise)
	}
	moments, err := fresh()
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(w.method, w.public, moments.Event(), func(ctx context.Context, d *trajectory.Dataset) (draw, error) {
		return w.prepare(ctx, d, fresh)
	})
	if err != nil {
		return nil, err
	}
	w.predict(plan, moments)
	plan.Facts["clip"] = w.clip
	plan.Notes = []string{fmt.Sprintf("The interval covers the mean of weighted returns clipped to [%g, %g] a person. Where weighted returns lie outside, clipping moves the estimate by an amount that the interval does not hold.", w.clip.Min, w.clip.Max)}
	return plan, nil
}

// predict fills in the errors that are known beforehand.
func (w weightedMean) predict(plan *Plan, m *mechanism.Moments) {
	count, sum, _ := m.SD()
	persons := float64(w.public.Persons)
	half := w.clip.Width() / 2
	plan.Expected.StdPrivacy = math.Hypot(sum, half*count) / persons
	plan.Expected.StdSampling = half / math.Sqrt(persons)
	plan.Expected.HalfWidth = z95 * math.Hypot(plan.Expected.StdPrivacy, plan.Expected.StdSampling)
	plan.Expected.Constant = w.public.Returns().Width() / 2
}

func (w weightedMean) prepare(_ context.Context, d *trajectory.Dataset, fresh func() (*mechanism.Moments, error)) (draw, error) {
	s, err := sampleFor(d, w.public)
	if err != nil {
		return nil, err
	}
	x := make([]float64, d.Persons())
	w.each(x, s)
	moments, err := fresh()
	if err != nil {
		return nil, err
	}
	for _, v := range x {
		if err := moments.Add(v); err != nil {
			return nil, err
		}
	}
	return func(_ context.Context, src *noise.Source) (*Release, error) {
		noisy, _, err := moments.Release(src)
		if err != nil {
			return nil, err
		}
		return w.release(noisy), nil
	}, nil
}

// release turns noisy moments into an estimate. All of it is post-processing.
func (w weightedMean) release(noisy mechanism.NoisyMoments) *Release {
	count := noisy.Count
	if w.public.Privacy.Adjacency == dp.AddRemoveOne {
		count = max(count, float64(w.public.Persons))
	}
	offset := noisy.Sum / count
	mean := noisy.Centre + offset
	// One standard deviation of noise is added to the second moment, so that an
	// unlucky draw does not make the interval too short; the range caps it.
	variance := max(0, noisy.Squares/count-offset*offset) + noisy.SquaresSD/count
	half := w.clip.Width() / 2
	sampling := math.Sqrt(min(variance, half*half) / count)
	private := math.Hypot(noisy.SumSD, offset*noisy.CountSD) / count
	mean = min(max(mean, w.clip.Min), w.clip.Max)
	return &Release{Estimate: &Estimate{
		Value:       mean,
		Interval:    interval(mean, sampling, private, w.clip),
		Confidence:  0.95,
		StdSampling: sampling,
		Sampling:    Paid,
		StdPrivacy:  private,
	}}
}

// sampleFor validates the data against the target policy and the features, for
// the curator, and builds what the estimators work on.
func sampleFor(d *trajectory.Dataset, p Public) (*value.Sample, error) {
	if err := policy.Check(p.Target, d); err != nil {
		return nil, err
	}
	return value.NewSample(d, value.Options{Gamma: p.Gamma, Features: p.Features, Policy: p.Target})
}
