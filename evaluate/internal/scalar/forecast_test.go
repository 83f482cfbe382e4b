package scalar

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
)

// TestMomentsOfCutWeights holds the moments of lognormal weights cut at a cap against a
// million draws; 5 standard errors are exceeded with probability below 1e-6 each.
func TestMomentsOfCutWeights(t *testing.T) {
	const n = 1_000_000
	rng := rand.New(rand.NewPCG(7, 1))
	normal := make([]float64, n)
	for i := range normal {
		normal[i] = rng.NormFloat64()
	}
	for _, g := range []Weighing{{Effective: 0.9}, {Effective: 0.3, Missing: 0.2}, {Effective: 0.02, Missing: 0.5}} {
		spread := math.Sqrt(math.Log(1 / g.Effective))
		for _, cap := range []float64{0.5, 1, 4, 64} {
			var mean, square, fourth float64
			for _, x := range normal {
				w := min((1-g.Missing)*math.Exp(spread*x-spread*spread/2), cap)
				mean += w / n
				square += w * w / n
				fourth += w * w * w * w / n
			}
			m, s := g.moments(cap)
			if math.Abs(m-mean) > 5*math.Sqrt((square-mean*mean)/n) || math.Abs(s-square) > 5*math.Sqrt((fourth-square*square)/n) {
				t.Errorf("%+v cut at %v: moments %v, %v; draws have %v, %v", g, cap, m, s, mean, square)
			}
		}
	}
	for cap, want := range map[float64]float64{0.5: 0.5, 2: 0.75} {
		if m, s := (Weighing{Effective: 1, Missing: 0.25}).moments(cap); m != want || s != want*want {
			t.Errorf("equal weights cut at %v: %v, %v; want %v and its square", cap, m, s, want)
		}
	}
}

// TestForecastIsThatOfTheExpectedSums: at a single cap, without missing mass and with weights that
// are all 1, the forecast is what the estimate makes of sums without noise, half of which are
// rewards. Less effective or more missing weight makes it wider, never wider than half the range.
func TestForecastIsThatOfTheExpectedSums(t *testing.T) {
	b := Bounds{
		Public: facts.Public{Persons: 2000, Adjacency: dp.ReplaceOne, Gamma: 1, Returns: facts.Range{Min: 1, Max: 3}},
		Range:  facts.Range{Min: 1, Max: 3}, Caps: ClipRanges{Above: 4}, Noise: Stages{Main: 5},
	}
	m, err := b.pair(4)
	if err != nil {
		t.Fatal(err)
	}
	noisy := (&Sums{Persons: 2000, X: 1000, Z: 1000, XX: 750, XZ: 250, ZZ: 750}).pair(m.SD())
	e := b.estimate(noisy, 4)
	half, cap, err := b.Forecast(Weighing{Effective: 1})
	if want := (e.Interval[1] - e.Interval[0]) / 2; err != nil || cap != 4 || math.Abs(half-want) > 1e-12 {
		t.Errorf("forecast %v at a cap of %v, %v; sums make %v", half, cap, err, want)
	}
	last := half
	for _, g := range []Weighing{{Effective: 0.5}, {Effective: 0.2}, {Effective: 0.2, Missing: 0.3}, {Effective: 1e-9, Missing: 0.999}} {
		half, _, err := b.Forecast(g)
		if err != nil || !(half > last) || half > 1 {
			t.Errorf("%+v: forecast %v, %v; before %v, at most 1", g, half, err, last)
		}
		last = half
	}
	b.Caps.Steps = 4
	if narrower, cap, err := b.Forecast(Weighing{Effective: 1}); err != nil || cap != 1 || !(narrower < half) {
		t.Errorf("with caps to choose from: %v at %v, %v; want the cap 1, where nothing is cut, and less than %v", narrower, cap, err, half)
	}
}

// TestForeseenWidthsAreReleased draws weights of a law, and returns that scatter as supposed, and holds the half width that is foreseen
// against the mean of 40 releases, by a guard and without one.
func TestForeseenWidthsAreReleased(t *testing.T) {
	const persons = 4000
	rng, src := rand.New(rand.NewPCG(3, 5)), noise.NewSeeded(9)
	for _, law := range [][]Atom{{{1, 1}}, {{3, 0.25}, {1.0 / 3, 0.75}}, {{12, 0.02}, {0.76 / 0.98, 0.98}}} {
		for _, scatter := range []float64{1, 0.2} {
			for _, bare := range []bool{false, true} {
				b := Bounds{
					Public: facts.Public{Persons: persons, Adjacency: dp.ReplaceOne, Gamma: 1, Returns: facts.Range{Min: 1, Max: 3}, Noise: mechanism.Fast},
					Range:  facts.Range{Min: 1, Max: 3}, Caps: ClipRanges{Above: law[0].Weight}, Noise: Stages{Main: 4}, SelfNormalised: true,
				}
				if bare {
					b.Uncut = &Uncut{Square: 3}
				}
				want := 0.0
				for range 40 {
					x, z := make([]float64, persons), make([]float64, persons)
					for i := range x {
						w, g := law[0].Weight, 0.5+math.Sqrt(scatter)/2
						if len(law) > 1 && rng.Float64() > law[0].Share {
							w = law[1].Weight
						}
						if rng.IntN(2) == 0 {
							g = 1 - g
						}
						x[i], z[i] = w*g, w*(1-g)
					}
					e, err := b.Run(Numbers{x}, Numbers{z}, src)
					if err != nil {
						t.Fatal(err)
					}
					want += (e.Interval[1] - e.Interval[0]) / 2 / 40
				}
				half, err := b.Foresee(law, scatter)
				if err != nil || half > 1.15*want || half < want/1.15 {
					t.Errorf("%v, scatter %v, without a guard %v: foreseen %.4f, %v; released %.4f", law, scatter, bare, half, err, want)
				}
			}
		}
	}
}
