package scalar

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// Weighing is a public guess of the weights of persons.
type Weighing struct {
	// Effective is the effective sample size (Kish 1965) as a share of persons, and
	// Missing what the mean weight lacks to 1.
	Effective, Missing float64
}

// moments are the mean and the mean square of weights cut at a cap, of the lognormal law
// that has the guess's mean and effective sample size. Equal weights are all that mean.
func (g Weighing) moments(cap float64) (mean, square float64) {
	m := 1 - g.Missing
	spread := math.Sqrt(-math.Log(g.Effective))
	if spread == 0 {
		return min(m, cap), min(m, cap) * min(m, cap)
	}
	at := (math.Log(cap/m) + spread*spread/2) / spread
	beyond := xmath.NormSF(at)
	return m*(1-xmath.NormSF(at-spread)) + cap*beyond,
		m*m/g.Effective*(1-xmath.NormSF(at-2*spread)) + cap*cap*beyond
}

// Forecast is the half width of the interval that the guess makes expect, and the cap on
// weights that choose would take by the numbers of persons whom the guess puts beyond
// each. Returns are supposed to be about the middle of their public range, and to scatter
// between not at all and as 0 and 1 do.
func (b Bounds) Forecast(g Weighing) (half, cap float64, err error) {
	best := math.Inf(1)
	persons := float64(b.Public.Persons)
	for k := range b.Caps.Steps + 1 {
		c := b.Caps.At(k).Max
		m, err := b.pair(c)
		if err != nil {
			return 0, 0, err
		}
		mean, square := g.moments(c)
		if width := 2*b.Z()*math.Hypot(m.SD().Sum/persons, math.Sqrt(square/persons)/2) - mean; width < best {
			best, cap = width, c
			half = b.halfAt(m.SD(), mean, square, c)
		}
	}
	return half, cap, nil
}

// Foresee is the half width that is expected of weights of a law with mean 1, at the cap that suits best and without a
// guard where none is needed. Returns are supposed to be about the middle of their range; scatter is their variance as a
// share of what it would be if all were at its ends.
func (b Bounds) Foresee(law []Atom, scatter float64) (half float64, err error) {
	half = b.Public.Returns.Width() / 2 / b.Range.Width()
	persons := float64(b.Public.Persons)
	for k := range b.Caps.Steps + 1 {
		cap := b.Caps.At(k).Max
		m, err := b.pair(cap)
		if err != nil {
			return 0, err
		}
		mean, square := cutAt(cap, law)
		noisy := mechanism.NoisyPair{Count: persons, SD: m.SD()}
		if k == 0 && b.Uncut != nil {
			half = min(half, b.bareHalf(noisy, scatter*square, cap))
			continue
		}
		half = min(half, b.guardedHalf(noisy, mean, square, scatter, cap)+max(1-mean, 0)/2)
	}
	return half * b.Range.Width(), nil
}

// ForeseeNear is half of what of the interval of a value lies within the range, without a guard and of outcomes at its
// ends, where the value is such a share of it; above is all of it beyond the value.
func (b Bounds) ForeseeNear(share float64, law []Atom, scatter float64) (half, above float64, err error) {
	cap, persons := b.Caps.At(0).Max, float64(b.Public.Persons)
	m, err := b.pair(cap)
	if err != nil {
		return 0, 0, err
	}
	_, square := cutAt(cap, law)
	fill := b.fillOf(share)
	e := &Estimate{Value: share, StdSampling: math.Sqrt(scatter * square * (fill*fill + share*(1-2*fill)) / persons)}
	if e.StdPrivacy, err = b.ValueNoise(cap, share); err != nil {
		return 0, 0, err
	}
	low, high := b.uncut(mechanism.NoisyPair{Count: persons, SD: m.SD()}, e, persons, cap)
	return (min(high, 1) - max(low, 0)) / 2 * b.Range.Width(), (high - share) * b.Range.Width(), nil
}

// guardedHalf is the margin that is expected of each end, for weights of a mean and a mean square at a cap.
func (b Bounds) guardedHalf(noisy mechanism.NoisyPair, mean, square, scatter, cap float64) float64 {
	return b.margin(noisy, mean/2, square*(1+scatter)/4*noisy.Count, noisy.Count, cap)
}

// bareHalf is the half width that is expected without a guard, for weights whose mean square times the scatter of
// returns is spread.
func (b Bounds) bareHalf(noisy mechanism.NoisyPair, spread, cap float64) float64 {
	e := &Estimate{Value: 0.5, StdSampling: math.Sqrt(spread/noisy.Count) / 2, StdPrivacy: noisy.SD.Difference / 2 / noisy.Count}
	_, high := b.uncut(noisy, e, noisy.Count, cap)
	return high - 0.5
}

// Least is the half width where all weights are 1.
func (b Bounds) Least() (half float64, err error) {
	half, _, err = b.Forecast(Weighing{Effective: 1})
	return half, err
}

// halfAt is the half width at noisy sums that are what they are expected to be.
func (b Bounds) halfAt(sd mechanism.PairSD, mean, square, cap float64) float64 {
	persons, returns := float64(b.Public.Persons), b.Public.Returns
	value := min(max((returns.Mid()-b.Range.Min)/b.Range.Width(), 0), 1)
	end := func(share float64) (expected, margin float64) {
		noisy := mechanism.NoisyPair{Count: persons, SD: sd}
		return share * mean, b.margin(noisy, share*mean, square*persons*share*(1+share)/2, persons, cap)
	}
	x, below := end(value)
	z, above := end(1 - value)
	return (b.at(1-z+above) - b.at(x-below)) / 2
}

// Choosing is a choice among policies by the sum of one score a person, with the policies
// supposed to be of this kind: the best is better than all others by Gap, these are alike,
// and all are worth about Value. Gap, Value and Center are in shares of the range. All of
// it is public.
type Choosing struct {
	Candidates int
	Persons    int64
	Gap, Value float64
	// Center is what returns are measured from: a person of return G and weight w has the
	// score w (G - Center).
	Center float64
	// Square is the mean square of weights, of mean 1.
	Square float64
}

// Score is what a person adds for a policy, of x and z as [Bounds] has them: the reward
// less the center's part of the weight, shrunk where the weight exceeds a cap.
func Score(x, z, cap, center float64) float64 {
	s := x - center*(x+z)
	if w := x + z; w > cap {
		s *= cap / w
	}
	return s
}

// sampling is the standard deviation of a mean score over persons. Returns are supposed
// to be 0 or 1.
func (c Choosing) sampling() float64 {
	up, down := 1-c.Center, -c.Center
	square := c.Square * (c.Value*up*up + (1-c.Value)*down*down)
	mean := c.Value - c.Center
	return math.Sqrt(max(square-mean*mean, 0) / float64(c.Persons))
}

// ByNormal is the probability that the largest of the estimates is that of the best
// policy, where each has an independent normal error of noise beside that of sampling.
func (c Choosing) ByNormal(noise float64) float64 {
	sd := math.Hypot(c.sampling(), noise)
	if sd == 0 {
		return 1
	}
	return integral(func(t float64) float64 {
		return math.Exp(xmath.LogNormPDF(t)) * math.Pow(xmath.NormCDF(t+c.Gap/sd), float64(c.Candidates-1))
	}, -normalCutoff, normalCutoff)
}

// ByFlip is the same of permute-and-flip with epsilon and the clip spread of differences
// of scores: it draws the largest score under exponential noise (Ding, Kifer, Rappaport,
// Wang, Xu and Zhang 2021).
func (c Choosing) ByFlip(spread, epsilon float64, adjacency dp.Adjacency) float64 {
	scale := adjacency.SumSensitivity(spread) / epsilon / float64(c.Persons)
	sd := c.sampling()
	sd, scale = max(sd, scale*1e-5), max(scale, sd*1e-5) // neither changes what is told
	noisy := func(t float64) (law, density float64) {
		z, r := t/sd, sd/scale
		law = xmath.NormCDF(z) - math.Exp(-t/scale+r*r/2+xmath.LogNormSF(r-z))
		return max(law, 0), max(xmath.NormCDF(z)-law, 0) / scale
	}
	right := func(t float64) float64 {
		_, density := noisy(t)
		others, _ := noisy(t + c.Gap)
		return density * math.Pow(others, float64(c.Candidates-1))
	}
	edge := normalCutoff * sd
	return integral(right, -edge, edge) + integral(right, edge, edge+exponentialCutoff*scale)
}

// Beyond these the laws of noise have next to nothing.
const (
	normalCutoff      = 9.
	exponentialCutoff = 40.
)

// integral is by Gauss's rule in several pieces.
func integral(f func(float64) float64, from, to float64) float64 {
	const pieces, nodes = 16, 24
	total := 0.0
	for k := range pieces {
		a, b := from+(to-from)*float64(k)/pieces, from+(to-from)*float64(k+1)/pieces
		total += quad.Fixed(f, a, b, nodes, quad.Legendre{}, 0)
	}
	return total
}

// ValueNoise is the standard deviation of the noise in a value at a cap, where nothing is missing and it is such a share
// of the range.
func (b Bounds) ValueNoise(cap, share float64) (float64, error) {
	m, err := b.pair(cap)
	if err != nil {
		return 0, err
	}
	sd := m.SD()
	return math.Hypot(sd.Difference/2, (b.fillOf(share)-0.5)*sd.Both) / float64(b.Public.Persons), nil
}

// EndNoise is that of the noise in the lower limit of a value at a cap,
// in shares of the range: of the mean that bounds it from below or, where nothing is cut
// and nothing can be missing, of the value.
func (b Bounds) EndNoise(cap float64) (float64, error) {
	m, err := b.pair(cap)
	if err != nil {
		return 0, err
	}
	if b.Bare() {
		return m.SD().Difference / 2 / float64(b.Public.Persons), nil
	}
	return m.SD().Sum / float64(b.Public.Persons), nil
}
