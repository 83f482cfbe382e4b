package scalar

import (
	"math"

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
