package distribution_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/evaluate/internal/distribution"
)

// world is a law of returns in [0, 1] and of weights given the return, with mean 1 under what
// made the data, and what it is under the target.
type world struct {
	name string
	most float64 // the cap on weights
	draw func(r *rand.Rand) (g, w float64)
	cdf  func(x float64) float64 // of the target
}

func worlds() []world {
	uniform := func(x float64) float64 { return min(max(x, 0), 1) }
	return []world{
		{"logged, uniform", 1, func(r *rand.Rand) (float64, float64) { return r.Float64(), 1 }, uniform},
		{"logged, mostly zero", 1, func(r *rand.Rand) (float64, float64) {
			if r.Float64() < 0.95 {
				return 0, 1
			}
			return r.Float64(), 1
		}, func(x float64) float64 {
			if x < 0 {
				return 0
			}
			return 0.95 + 0.05*uniform(x)
		}},
		// The target takes the action of return near 1 with 0.8 where it was drawn with 0.5.
		{"near", 1.6, func(r *rand.Rand) (float64, float64) {
			if r.Float64() < 0.5 {
				return 0.5 * r.Float64(), 0.4
			}
			return 0.5 + 0.5*r.Float64(), 1.6
		}, func(x float64) float64 { return 0.2*uniform(2*x) + 0.8*uniform(2*x-1) }},
		// Three decisions with ratios 1.5 and 0.5, the return rises with their number.
		{"three decisions", 3.375, func(r *rand.Rand) (float64, float64) {
			g, w := 0.0, 1.0
			for range 3 {
				if r.Float64() < 0.5 {
					g, w = g+0.25, w*1.5
				} else {
					w *= 0.5
				}
			}
			return g + 0.25*r.Float64(), w
		}, func(x float64) float64 {
			total := 0.0
			for k, p := range []float64{1. / 64, 9. / 64, 27. / 64, 27. / 64} {
				total += p * uniform(4*(x-0.25*float64(k)))
			}
			return total
		}},
		// Rare large weights, and a cap that cuts them.
		{"cut", 4, func(r *rand.Rand) (float64, float64) {
			if r.Float64() < 0.1 {
				return 0.5 + 0.5*r.Float64(), 7
			}
			return r.Float64(), 1. / 3
		}, func(x float64) float64 { return 0.3*uniform(x) + 0.7*uniform(2*x-1) }},
	}
}

// noisy are the masses of so many persons with noise.
func (w world) noisy(q distribution.Question, persons int, sd, squareSD float64, r *rand.Rand) distribution.Masses {
	m := distribution.Masses{In: make([]float64, len(q.Ends)), Squares: make([]float64, len(q.Ends))}
	for range persons {
		g, v := w.draw(r)
		bin, _ := slices.BinarySearch(q.Ends, g)
		v = min(v, w.most)
		m.In[bin] += v
		m.Squares[bin] += v * v
		m.Back += w.most - v
	}
	for j := range m.In {
		m.In[j] += sd * r.NormFloat64()
		m.Squares[j] += squareSD * r.NormFloat64()
	}
	m.Back += sd * r.NormFloat64()
	if w.most == 1 {
		m.Squares = nil
	}
	return m
}

// TestLimitsHold: the function at all ends lies within the limits in 95% of logs, and the
// quantities' do whenever it does, since they follow. With 400 logs a cell a true 95% gives
// fewer than 365 with probability 3e-4.
func TestLimitsHold(t *testing.T) {
	const logs = 400
	ends := make([]float64, 20)
	for j := range ends {
		ends[j] = float64(j+1) / 20
	}
	for i, w := range worlds() {
		for _, persons := range []int{300, 2000} {
			for _, known := range []bool{true, false} {
				r := rand.New(rand.NewPCG(uint64(i), uint64(persons)))
				q := distribution.Question{Ends: ends, Most: w.most, Whole: w.most == 1, SD: 5.3 * w.most, SquareSD: 10.6 * w.most * w.most}
				if known {
					q.Persons = float64(persons)
				}
				held, width := 0, 0.0
				for range logs {
					f := q.Estimate(w.noisy(q, persons, q.SD, q.SquareSD, r))
					ok := true
					for j, x := range ends {
						ok = ok && f.Band.Lower[j] <= w.cdf(x)+1e-12 && w.cdf(x) <= f.Band.Upper[j]+1e-12
					}
					if ok {
						held++
						for _, p := range []float64{0.1, 0.5, 0.9} {
							x := f.Quantile(p)
							if w.cdf(x.Lower-1e-9) >= p+1e-9 || w.cdf(x.Upper) < p-1e-9 {
								t.Errorf("%s: the function is held and the quantile at %v is not: %+v", w.name, p, x)
							}
						}
						if low, high := f.LowerTail(0.2), f.UpperTail(0.2); tail(w, 0, 0.2) < low.Lower-1e-6 || tail(w, 0, 0.2) > low.Upper+1e-6 || tail(w, 0.8, 1) < high.Lower-1e-6 || tail(w, 0.8, 1) > high.Upper+1e-6 {
							t.Errorf("%s: the function is held and its tails are not: %+v, %+v", w.name, low, high)
						}
					}
					width += f.Quantile(0.5).Upper - f.Quantile(0.5).Lower
				}
				t.Logf("%s, %d persons, known %v: %d of %d held, median %.3f wide", w.name, persons, known, held, logs, width/logs)
				if held < 365 {
					t.Errorf("%s, %d persons: %d of %d held", w.name, persons, held, logs)
				}
			}
		}
	}
}

// tail is the mean of the quantiles from one share to another, by the midpoint rule.
func tail(w world, from, to float64) float64 {
	const n = 2000
	sum, x := 0.0, 0.0
	for k := range n {
		u := from + (to-from)*(float64(k)+0.5)/n
		for w.cdf(x) < u {
			x += 1e-4
		}
		sum += x
	}
	return sum / n
}

// TestWithoutNoiseItCounts: the function is the share of persons, and quantiles and tails of
// discrete returns are those of a table that can be worked out by hand.
func TestWithoutNoiseItCounts(t *testing.T) {
	q := distribution.Question{Ends: []float64{0, 1, 2, 4}, Discrete: true, Most: 1, Persons: 10000, Whole: true}
	if x := q.Estimate(distribution.Masses{In: []float64{0, 10000, 0, 0}}).Quantile(0.5); x != (distribution.Quantity{Value: 1, Lower: 1, Upper: 1}) {
		t.Errorf("of one return alone the median is %+v", x)
	}
	f := q.Estimate(distribution.Masses{In: []float64{1000, 4000, 3000, 2000}})
	for j, want := range []float64{0.1, 0.5, 0.8, 1} {
		if math.Abs(f.Band.Values[j]-want) > 1e-12 {
			t.Errorf("the function at %v is %v; want %v", q.Ends[j], f.Band.Values[j], want)
		}
	}
	for p, want := range map[float64]float64{0.05: 0, 0.3: 1, 0.7: 2, 0.9: 4} {
		if got := f.Quantile(p).Value; got != want {
			t.Errorf("the quantile at %v is %v; want %v", p, got, want)
		}
	}
	// The lowest fifth: half of it 0 and half 1. The highest two fifths: 4 and 2 alike.
	if low, high := f.LowerTail(0.2).Value, f.UpperTail(0.4).Value; math.Abs(low-0.5) > 1e-12 || math.Abs(high-3) > 1e-12 {
		t.Errorf("tails %v and %v; want 0.5 and 3", low, high)
	}
	if mean := f.LowerTail(1).Value; math.Abs(mean-1.8) > 1e-12 {
		t.Errorf("mean %v; want 1.8", mean)
	}
}

// TestNothingIsSaidOfNobody: too few persons leave the limits of any function.
func TestNothingIsSaidOfNobody(t *testing.T) {
	q := distribution.Question{Ends: []float64{1, 2}, Most: 1, Whole: true, SD: 100}
	f := q.Estimate(distribution.Masses{In: []float64{-50, 20}})
	if f.Band.Lower[0] != 0 || f.Band.Upper[0] != 1 || f.Band.Lower[1] != 1 {
		t.Errorf("limits %+v; want 0 to 1", f.Band)
	}
	if x := f.Quantile(0.5); x.Lower != 0 || x.Upper != 2 {
		t.Errorf("median %+v; want 0 to 2", x)
	}
}

// TestNoiseThatHidesHowManyPersonsThereAreIsAllowedFor: under add_remove_one the sum of all masses
// is their number, here of one to three standard deviations of its noise, and all lie at one end.
func TestNoiseThatHidesHowManyPersonsThereAreIsAllowedFor(t *testing.T) {
	const bins, persons, runs = 10, 500, 300
	r := rand.New(rand.NewPCG(3, 4))
	for _, sds := range []float64{1, 2, 3} {
		q := distribution.Question{Most: 1, SD: persons / sds / math.Sqrt(bins+1)}
		for j := range bins {
			q.Ends = append(q.Ends, float64(j+1)/bins)
		}
		missed := 0
		for range runs {
			m := distribution.Masses{In: make([]float64, bins), Back: q.SD * r.NormFloat64()}
			for j := range m.In {
				m.In[j] = q.SD * r.NormFloat64()
			}
			m.In[0] += persons
			if f := q.Estimate(m); slices.Min(f.Band.Upper) < 1 {
				missed++
			}
		}
		if missed > runs/20 {
			t.Errorf("of %v standard deviations: %d of %d miss the function", sds, missed, runs)
		}
	}
}
