package scalar

import (
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/mechanism"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
)

// CapSteps is how often a cap on weights may be divided by sqrt 2.
const CapSteps = 7

// WIS is weighted importance sampling: the ratio of the noisy sums of weighted
// returns and of weights, and then, for the interval, the noisy second moment of
// the clipped residuals d(x - v) around the ratio v just released.
type WIS struct {
	Public facts.Public
	Cap    float64 // of weights, at most
	Noise  Stages  // noise multipliers
}

func (w WIS) newRatio(cap float64) (*mechanism.Ratio, error) {
	return mechanism.NewRatio(w.Public.Returns.Min, w.Public.Returns.Max, cap, w.Noise.Main, w.Public.Adjacency, w.Public.Noise)
}

// Expected is the error that is known beforehand. It assumes that weights average
// to 1, as they do when nothing is clipped, and that the value lies half-way
// between the middle and an end of its range.
func (w WIS) Expected() (private, sampling float64, err error) {
	r, err := w.newRatio(w.Cap)
	if err != nil {
		return 0, 0, err
	}
	numerator, denominator := r.SD()
	persons, half := float64(w.Public.Persons), w.Public.Returns.Width()/2
	return math.Hypot(numerator, half/2*denominator) / persons, 2 * half * math.Sqrt(w.Cap/persons), nil
}

// Run makes the releases in the order of the event: weighted holds every person's
// weighted return and weight their weight.
func (w WIS) Run(weighted, weight []float64, src *noise.Source) (*Estimate, error) {
	cap := w.Cap
	var chosen *float64
	if w.Noise.Clip != 0 {
		c := clipper{multiplier: w.Noise.Clip, adjacency: w.Public.Adjacency, kind: w.Public.Noise,
			persons: w.Public.Persons, tail: HeavyTail(), price: w.Noise.Main}
		choice, err := c.choose(weight, Nest{Above: w.Cap, Steps: CapSteps}, src)
		if err != nil {
			return nil, err
		}
		cap = choice.clip.Max
		chosen = &cap
	}
	var diagnostics *Overlap
	if w.Noise.Weights != 0 {
		var err error
		if diagnostics, err = (overlap{public: w.Public, cap: w.Cap, noise: w.Noise}).release(weight, func(i int) bool { return weight[i] > cap }, src); err != nil {
			return nil, err
		}
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
	e, err := w.divide(noisy, cap, weighted, weight, src)
	if err != nil {
		return nil, err
	}
	e.MaxWeight, e.Overlap = chosen, diagnostics
	return e, nil
}

// divide divides the sums and pays for the sampling error of the quotient.
func (w WIS) divide(noisy mechanism.NoisyRatio, cap float64, weighted, weight []float64, src *noise.Source) (*Estimate, error) {
	// A denominator that noise could have made says nothing about the policy.
	if noisy.Denominator < 4*noisy.DenominatorSD {
		return w.undetermined(), nil
	}
	offset := noisy.Numerator / noisy.Denominator
	v := min(max(noisy.Centre+offset, w.Public.Returns.Min), w.Public.Returns.Max)
	square, squareSD, err := w.squaredResiduals(v, cap, weighted, weight, src)
	if err != nil {
		return nil, err
	}
	private := math.Hypot(noisy.NumeratorSD, (v-noisy.Centre)*noisy.DenominatorSD)
	square = max(0, square) + allowance(square, private*private, squareSD)
	// No residual exceeds the range, and no weight the cap.
	far := max(w.Public.Returns.Max-v, v-w.Public.Returns.Min)
	sampling := math.Sqrt(min(square, cap*far*far*noisy.Denominator)) / noisy.Denominator
	private /= noisy.Denominator
	ends := Interval(v, sampling, private)
	missing := w.missing(noisy, cap)
	below, above := missing*(v-w.Public.Returns.Min), missing*(w.Public.Returns.Max-v)
	return &Estimate{
		Value:       v,
		Interval:    [2]float64{max(ends[0]-below, w.Public.Returns.Min), min(ends[1]+above, w.Public.Returns.Max)},
		Clipping:    [2]float64{below, above},
		StdSampling: sampling,
		StdPrivacy:  private,
	}, nil
}

// missing is what the mean of the clipped weights lacks to 1, less one standard
// deviation of its error: that of the noise and, at most, that of weights in
// [0, cap] with mean 1 (Bhatia and Davis 2000). Under AddRemoveOne the number of
// persons is private and the mean is not known.
func (w WIS) missing(noisy mechanism.NoisyRatio, cap float64) float64 {
	if w.Public.Adjacency != dp.ReplaceOne || w.Public.OnPolicy() {
		return 0
	}
	persons := float64(w.Public.Persons)
	chance := math.Hypot(noisy.DenominatorSD/persons, math.Sqrt(max(cap-1, 0)/persons))
	return min(max(1-noisy.Denominator/persons-chance, 0), 1)
}

// squaredResiduals releases the sum over persons of (d(x - v))^2, d and x
// clipped, and the standard deviation of the noise in it.
func (w WIS) squaredResiduals(v, cap float64, weighted, weight []float64, src *noise.Source) (sum, sd float64, err error) {
	largest := cap * max(w.Public.Returns.Max-v, v-w.Public.Returns.Min)
	largest *= largest
	// Under ReplaceOne the squares are centred, which halves their norm; under
	// AddRemoveOne the number of persons that would undo it is private.
	centre, clip := 0.0, largest
	if w.Public.Adjacency == dp.ReplaceOne {
		centre, clip = largest/2, largest/2
	}
	total, err := mechanism.NewVectorSum(1, clip, w.Noise.Residual, w.Public.Noise)
	if err != nil {
		return 0, 0, err
	}
	for i := range weighted {
		d := min(max(weight[i], 0), cap)
		x := v
		if weight[i] > 0 {
			x = min(max(weighted[i]/weight[i], w.Public.Returns.Min), w.Public.Returns.Max)
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
	return noisy[0] + centre*float64(len(weighted)), w.Noise.Residual * clip, nil
}

// undetermined is the estimate when the noisy sum of weights is too small to
// divide by: the whole public range. The residuals' share stays unused.
func (w WIS) undetermined() *Estimate {
	values := w.Public.Returns
	half := values.Width() / 2
	return &Estimate{
		Value:        values.Mid(),
		Interval:     [2]float64{values.Min, values.Max},
		StdSampling:  half,
		StdPrivacy:   half,
		Undetermined: true,
	}
}
