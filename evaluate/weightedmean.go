package evaluate

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/mechanism"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/value"
)

// defaultMaxWeight caps importance weights off-policy where nothing else is
// said. On-policy every weight is 1.
const defaultMaxWeight = 10

// clipSteps is how often the clip of a mean may be divided by sqrt 2.
const clipSteps = 12

// weightCap is the public cap on a trajectory's importance weight.
func weightCap(method string, p Public, configured float64) (float64, error) {
	switch {
	case configured != 0 && !(configured >= 1e-30 && configured <= 1e30):
		return 0, fmt.Errorf("%w: %s: max_weight is %v; want a number from 1e-30 to 1e30", ErrMethod, method, configured)
	case policy.OnPolicy(p.Target):
		return 1, nil
	case configured == 0:
		return defaultMaxWeight, nil
	}
	return configured, nil
}

// reach is m mu: the number of persons times the budget's parameter of Gaussian
// differential privacy, that is the size of a mean in units of its noise.
func reach(p Public) (float64, error) {
	mu, err := account.GaussianMu(p.Privacy.Budget)
	return float64(p.Persons) * mu.Lower, err
}

// affordableWeight is a public cap on weights that suits the budget. A cap c puts
// noise 2c/(m mu), in half ranges, on the mean, and cuts at most E[w^2]/(4c) of
// the weight, since w - c <= w^2/(4c); at E[w^2] = 4 the two are equal for
// c^2 = m mu/2.
func affordableWeight(p Public) (float64, error) {
	r, err := reach(p)
	return max(1, min(defaultMaxWeight, math.Sqrt(r/2))), err
}

// weightedMean is the part that DP-IS, DP-PDIS and DP-DR share: the private mean
// of one number a person, with its second moment, within a clip that is public
// or paid for.
type weightedMean struct {
	method string
	public Public
	nest   nest
	cap    float64 // of weights, in diagnostics
	noise  stages
	tail   tail
}

// newWeightedMean fixes the budget of every stage. shares.main is filled in.
func newWeightedMean(method string, p Public, n nest, cap float64, shares stages) (weightedMean, error) {
	if !(n.below+n.above > 0) {
		return weightedMean{}, fmt.Errorf("%w: %s: the public range of a return is a single point; give problem.reward or problem.return a width", ErrPublic, method)
	}
	noise, err := shares.noise(method, *p.Privacy)
	if err != nil {
		return weightedMean{}, err
	}
	return weightedMean{method: method, public: p, nest: n, cap: cap, noise: noise, tail: heavyTail()}, nil
}

func (w weightedMean) moments(clip Range) (*mechanism.Moments, error) {
	return mechanism.NewMoments(clip.Min, clip.Max, w.noise.main, w.public.Privacy.Adjacency, w.public.Privacy.Noise)
}

// describe fills in the errors that are known beforehand, at the widest clip.
func (w weightedMean) describe(plan *Plan) error {
	clip := w.nest.at(0)
	m, err := w.moments(clip)
	if err != nil {
		return err
	}
	count, sum, _ := m.SD()
	persons := float64(w.public.Persons)
	half := clip.Width() / 2
	plan.Expected.StdPrivacy = math.Hypot(sum, expectedOffset(w.public.Returns(), clip.Mid())*count) / persons
	plan.Expected.StdSampling = half / math.Sqrt(persons)
	plan.Expected.HalfWidth = z95 * math.Hypot(plan.Expected.StdPrivacy, plan.Expected.StdSampling)
	plan.Expected.Constant = w.public.Returns().Width() / 2
	plan.Facts["clip"] = clip
	if w.noise.clip == 0 {
		plan.Notes = append(plan.Notes, fmt.Sprintf("The interval covers the mean of contributions clipped to [%g, %g] a person. Where contributions lie outside, clipping moves the estimate by an amount that the interval does not hold.", clip.Min, clip.Max))
	} else {
		plan.Facts["clip_choices"] = w.nest.steps + 1
		plan.Notes = append(plan.Notes, fmt.Sprintf("The clip is chosen from a paid histogram, inside [%g, %g]; the expected errors are those of the widest. The interval is lengthened by what the histogram shows to be cut within that range; contributions beyond the range, and tails too thin to be told from noise, are not in it.", clip.Min, clip.Max))
	}
	return nil
}

// expectedOffset is the mean distance from centre of a value that may lie
// anywhere in g.
func expectedOffset(g Range, centre float64) float64 {
	below, above := centre-g.Min, g.Max-centre
	if below <= 0 || above <= 0 {
		return math.Abs(g.Mid() - centre)
	}
	return (below*below + above*above) / (2 * (below + above))
}

// run makes the releases from the clip onward: x holds every person's number and
// weight their importance weight; n are the ranges to choose from.
func (w weightedMean) run(x, weight []float64, n nest, src *noise.Source) (*Release, error) {
	clip := choice{clip: n.at(0)}
	if w.noise.clip != 0 {
		var err error
		if clip, err = w.clipper(n).choose(x, n, src); err != nil {
			return nil, err
		}
	}
	extra := map[string]any{}
	if w.noise.weights != 0 {
		cut := func(i int) bool { return !(x[i] >= clip.clip.Min && x[i] <= clip.clip.Max) }
		o, err := overlap{public: w.public, cap: w.cap, noise: w.noise}.release(weight, cut, src)
		if err != nil {
			return nil, err
		}
		extra["overlap"] = o
	}
	m, err := w.moments(clip.clip)
	if err != nil {
		return nil, err
	}
	for _, v := range x {
		if err := m.Add(v); err != nil {
			return nil, err
		}
	}
	noisy, _, err := m.Release(src)
	if err != nil {
		return nil, err
	}
	if w.noise.clip != 0 {
		extra["clip"] = clip.clip
	}
	r := w.release(noisy, clip)
	r.Diagnostics = extra
	return r, nil
}

// clipper spends the clip's share.
func (w weightedMean) clipper(n nest) clipper {
	return clipper{multiplier: w.noise.clip, adjacency: w.public.Privacy.Adjacency, kind: w.public.Privacy.Noise,
		persons: w.public.Persons, tail: w.tail, price: w.noise.main * (n.below + n.above) / 2 / max(n.below, n.above)}
}

// release turns noisy moments into an estimate. All of it is post-processing.
func (w weightedMean) release(noisy mechanism.NoisyMoments, c choice) *Release {
	count := noisy.Count
	if w.public.Privacy.Adjacency == dp.AddRemoveOne {
		count = max(count, float64(w.public.Persons))
	}
	offset := noisy.Sum / count
	private := math.Hypot(noisy.SumSD, offset*noisy.CountSD) / count
	half := c.clip.Width() / 2
	variance := noisy.Squares/count - offset*offset
	variance = max(0, variance) + allowance(variance, private*private*count, noisy.SquaresSD/count)
	sampling := math.Sqrt(min(variance, half*half) / count)
	bias := c.bias / count
	within := w.public.Returns()
	v := min(max(noisy.Centre+offset, within.Min), within.Max)
	ends := interval(v, sampling, private, Range{Min: math.Inf(-1), Max: math.Inf(1)})
	return &Release{Estimate: &Estimate{
		Value:       v,
		Interval:    [2]float64{max(ends[0]-bias, within.Min), min(ends[1]+bias, within.Max)},
		Clipping:    [2]float64{bias, bias},
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
	s, err := value.NewSample(d, value.Options{Gamma: p.Gamma, Features: p.Features, Policy: p.Target})
	if err != nil {
		return nil, err
	}
	if s.Rho != nil && !slices.ContainsFunc(s.Rho, func(r float64) bool { return r > 0 }) {
		return nil, fmt.Errorf("%w: the target policy takes none of the logged decisions, so the data say nothing about it; check the numbers of the actions, or evaluate a policy closer to the logged one", ErrData)
	}
	return s, nil
}
