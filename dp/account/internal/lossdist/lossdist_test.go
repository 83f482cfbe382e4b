package lossdist_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/account/internal/lossdist"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// plain wraps a law as count runs of an event that is not sampled.
func plain(law lossdist.Law, count float64) lossdist.Composition {
	return lossdist.Composition{Parts: []lossdist.Part{{Law: law, Rate: 1, Count: count}}}
}

func sampled(law lossdist.Law, rate, count float64) lossdist.Composition {
	shape := func(b *lossdist.Bins) *lossdist.Bins { return b.Poisson(rate) }
	return lossdist.Composition{Parts: []lossdist.Part{{Law: law, Shape: shape, Rate: rate, Count: count}}}
}

// exact composes a pair of laws by brute force and returns its delta at epsilon.
func exact(law lossdist.Atoms, count int, epsilon float64) float64 {
	if count == 0 {
		return max(0, -math.Expm1(epsilon))
	}
	sum := 0.0
	for _, a := range law {
		switch {
		case math.IsInf(a.Loss.Value, 1):
			sum += a.P
		case a.P > 0:
			sum += a.P * exact(law, count-1, epsilon-a.Loss.Value)
		}
	}
	return sum
}

// uneven is a pair with no symmetry and no common step of its losses.
func uneven() lossdist.Atoms {
	var law lossdist.Atoms
	p, q := []float64{0.5, 0.2, 0.2, 0.1}, []float64{0.3, 0.25, 0.05, 0.4}
	for i := range p {
		law = append(law, lossdist.Atom{P: p[i], Q: q[i], Loss: lossdist.Loss{Value: math.Log(p[i] / q[i]), Error: 1e-15}})
	}
	return law
}

// TestBracketHoldsBruteForce enumerates every outcome of a few runs.
func TestBracketHoldsBruteForce(t *testing.T) {
	laws := map[string]lossdist.Atoms{
		"response":     lossdist.Response(3, 0.4),
		"approximate":  lossdist.Approximate(0.7, 1e-3),
		"uneven":       uneven(),
		"two-sided":    lossdist.Response(2, 0.9),
		"far and near": append(uneven()[:3:3], lossdist.Atom{P: 0.1 - 1e-6, Q: 0.4 - 1e-12, Loss: lossdist.Loss{Value: math.Log((0.1 - 1e-6) / (0.4 - 1e-12)), Error: 1e-15}}, lossdist.Atom{P: 1e-6, Q: 1e-12, Loss: lossdist.Loss{Value: math.Log(1e6), Error: 1e-14}}),
	}
	for name, law := range laws {
		for _, count := range []int{1, 2, 6} {
			for _, epsilon := range []float64{0, 0.1, 0.5, 1, 2} {
				want := exact(law, count, epsilon)
				low, up, _ := plain(law, float64(count)).Delta(t.Context(), epsilon, 0)
				if low > want*(1+1e-12) || up < want*(1-1e-12) {
					t.Errorf("%s, %d runs, epsilon %v: delta [%v, %v]; want %v inside", name, count, epsilon, low, up, want)
				}
				if want > 1e-9 && up > want*1.01 {
					t.Errorf("%s, %d runs, epsilon %v: delta at most %v; want %v", name, count, epsilon, up, want)
				}
				if want <= 0 || epsilon == 0 {
					continue
				}
				low, up, _ = plain(law, float64(count)).Epsilon(t.Context(), want, 0)
				if low > epsilon*(1+1e-9) || up < epsilon*(1-1e-9) && exact(law, count, up) > want*(1+1e-9) {
					t.Errorf("%s, %d runs, delta %v: epsilon [%v, %v]; want %v inside", name, count, want, low, up, epsilon)
				}
			}
		}
	}
}

// TestGaussianThroughFourierMatchesClosedForm composes Gaussian mechanisms the
// hard way.
func TestGaussianThroughFourierMatchesClosedForm(t *testing.T) {
	for _, c := range []struct{ mu, count float64 }{{1, 2}, {0.3, 10}, {0.01, 1e4}, {1e-4, 1e8}, {3, 4}, {10, 3}} {
		total := c.mu * math.Sqrt(c.count)
		comp := plain(lossdist.Gaussian{Shift: c.mu}, c.count)
		for _, delta := range []float64{0.3, 1e-2, 1e-5, 1e-10, 1e-15} {
			want, err := account.GaussianEpsilon(total, delta)
			if err != nil {
				t.Fatal(err)
			}
			low, up, _ := comp.Epsilon(t.Context(), delta, 0)
			if low > want.Upper || up < want.Lower || up > want.Upper*1.0005+1e-12 {
				t.Errorf("mu %v, %v runs, delta %v: epsilon [%v, %v]; want %v inside", c.mu, c.count, delta, low, up, want)
			}
		}
		for _, epsilon := range []float64{0, 0.5, 3} {
			want := account.GaussianDelta(total, epsilon)
			low, up, _ := comp.Delta(t.Context(), epsilon, 0)
			if low > want.Upper || up < want.Lower || want.Lower > 1e-25 && up > want.Upper*1.002 {
				t.Errorf("mu %v, %v runs, epsilon %v: delta [%v, %v]; want %v inside", c.mu, c.count, epsilon, low, up, want)
			}
		}
	}
}

// TestGaussianFactorIsAGaussianPart holds the exact factor for plain Gaussians
// against the same mechanisms cut into cells, beside a sampled part.
func TestGaussianFactorIsAGaussianPart(t *testing.T) {
	factor := sampled(lossdist.Gaussian{Shift: 1}, 0.01, 200)
	factor.Gaussian = [2]float64{0.36, 0.36}
	cells := sampled(lossdist.Gaussian{Shift: 1}, 0.01, 200)
	cells.Parts = append(cells.Parts, lossdist.Part{Law: lossdist.Gaussian{Shift: 0.3}, Rate: 1, Count: 4})
	for _, delta := range []float64{1e-3, 1e-8, 1e-14} {
		a, b := factor, cells
		low1, up1, _ := a.Epsilon(t.Context(), delta, 0)
		low2, up2, _ := b.Epsilon(t.Context(), delta, 0)
		if low1 > up2 || low2 > up1 || up1 > low1*1.0005 || up2 > low2*1.0005 {
			t.Errorf("delta %v: as a factor [%v, %v], as a part [%v, %v]; want the same", delta, low1, up1, low2, up2)
		}
	}
}

// sampledOnce is the delta of one Poisson-sampled Gaussian in closed form, for
// the removal of a person and for the addition.
func sampledOnce(rate, mu, epsilon float64) (remove, add float64) {
	remove = rate * account.GaussianDelta(mu, math.Log1p(math.Expm1(epsilon)/rate)).Upper
	if c := rate*math.Exp(epsilon) - math.Expm1(epsilon); c > 0 {
		add = c * account.GaussianDelta(mu, epsilon+math.Log(rate/c)).Upper
	}
	return remove, add
}

func TestSampledGaussianMatchesClosedForm(t *testing.T) {
	for _, rate := range []float64{1e-9, 1e-4, 0.1, 0.9} {
		for _, mu := range []float64{0.05, 0.5, 2, 10} {
			for _, epsilon := range []float64{0, rate / 3, rate * 2, 0.1, 1} {
				remove, add := sampledOnce(rate, mu, epsilon)
				c := sampled(lossdist.Gaussian{Shift: mu}, rate, 1)
				low, up, _ := c.Delta(t.Context(), epsilon, 0)
				check(t, fmt.Sprintf("remove, rate %v, mu %v, epsilon %v", rate, mu, epsilon), low, up, remove)
				c.Parts[0].Shape = func(b *lossdist.Bins) *lossdist.Bins { return b.Poisson(rate).Reverse() }
				low, up, _ = c.Delta(t.Context(), epsilon, 0)
				check(t, fmt.Sprintf("add, rate %v, mu %v, epsilon %v", rate, mu, epsilon), low, up, add)
			}
		}
	}
}

func check(t *testing.T, what string, low, up, want float64) {
	t.Helper()
	if low > want*(1+1e-9) || up < want*(1-1e-9) || want > 1e-20 && up > want*1.002 {
		t.Errorf("%s: delta [%v, %v]; want %v inside", what, low, up, want)
	}
}

// TestSymmetricPairHasTheMixturesProfile: at epsilon >= 0 a single run of the
// symmetric pair is the mixture, in both orders.
func TestSymmetricPairHasTheMixturesProfile(t *testing.T) {
	laws := map[string]lossdist.Law{
		"gaussian": lossdist.Gaussian{Shift: 1.5}, "laplace": lossdist.Laplace{Shift: 2},
		"discrete gaussian": lossdist.DiscreteGaussian{Sigma: 3, Gap: 4}, "discrete laplace": lossdist.DiscreteLaplace{Scale: 2, Gap: 5},
		"response": lossdist.Response(4, 0.5), "approximate": lossdist.Approximate(1, 1e-4),
	}
	for name, law := range laws {
		for _, rate := range []float64{1e-6, 0.2, 0.8} {
			mix := sampled(law, rate, 1)
			for _, reversed := range []bool{false, true} {
				pair := sampled(law, rate, 1)
				pair.Parts[0].Shape = func(b *lossdist.Bins) *lossdist.Bins {
					if b = b.Symmetric(rate); reversed {
						b = b.Reverse()
					}
					return b
				}
				for _, epsilon := range []float64{0, rate / 2, rate, 0.3} {
					low1, up1, _ := mix.Delta(t.Context(), epsilon, 0)
					low2, up2, _ := pair.Delta(t.Context(), epsilon, 0)
					if low1 > up2*(1+1e-12) || low2 > up1*(1+1e-12) {
						t.Errorf("%s, rate %v, epsilon %v, reversed %v: mixture [%v, %v], symmetric pair [%v, %v]", name, rate, epsilon, reversed, low1, up1, low2, up2)
					}
				}
			}
		}
	}
}

// TestBinsKeepTheMass checks that both laws of every pair add up to one, however
// it is cut and sampled.
func TestBinsKeepTheMass(t *testing.T) {
	laws := []lossdist.Law{
		lossdist.Gaussian{Shift: 0.01}, lossdist.Gaussian{Shift: 1}, lossdist.Gaussian{Shift: 30},
		lossdist.Antipodal{Shift: 1, Rate: 0.3}, lossdist.Laplace{Shift: 0.1}, lossdist.Laplace{Shift: 40},
		lossdist.DiscreteGaussian{Sigma: 0.4, Gap: 1}, lossdist.DiscreteGaussian{Sigma: 400, Gap: 30},
		lossdist.DiscreteLaplace{Scale: 0.7, Gap: 1}, lossdist.DiscreteLaplace{Scale: 900, Gap: 5000},
		lossdist.Response(7, 0.3), lossdist.Approximate(2, 0.1),
	}
	for _, law := range laws {
		b := law.Bins(law.Cuts(lossdist.Tails{Mass: 1e-12, Rate: 1}))
		for shape, s := range map[string]*lossdist.Bins{"plain": b, "sampled": b.Poisson(0.01), "reversed": b.Poisson(0.01).Reverse()} {
			p, q := 0.0, 0.0
			for _, c := range s.Cell {
				p, q = p+c.P, q+c.Q
			}
			for _, a := range s.Atom {
				p, q = p+a.P, q+a.Q
			}
			if slack := s.MassError + 1e-13; math.Abs(p-1) > slack || math.Abs(q-1) > slack {
				t.Errorf("%T%+v, %s: masses %v and %v; want 1", law, law, shape, p, q)
			}
		}
	}
}

// TestAntipodalPairIsTheWorst holds the pair for Poisson sampling under
// replace_one against every pair of records on a line, by direct integration.
func TestAntipodalPairIsTheWorst(t *testing.T) {
	const mu = 1.3
	for _, rate := range []float64{0.05, 0.5, 0.95} {
		pair := plain(lossdist.Antipodal{Shift: mu, Rate: rate}, 1)
		for _, epsilon := range []float64{0, rate / 4, rate, 0.7, 1.5} {
			_, worst, _ := pair.Delta(t.Context(), epsilon, 0)
			for u := -1.0; u <= 1; u += 0.25 {
				for v := -1.0; v <= 1; v += 0.25 {
					got := integrated(rate, u*mu, v*mu, epsilon)
					if got > worst+1e-5 {
						t.Errorf("rate %v, epsilon %v, records at %v and %v: delta %v; want at most %v", rate, epsilon, u, v, got, worst)
					}
					if u == 1 && v == -1 && got < worst*0.998-1e-5 {
						t.Errorf("rate %v, epsilon %v: delta %v at the ends; want %v", rate, epsilon, got, worst)
					}
				}
			}
		}
	}
}

// integrated is the hockey-stick divergence of two Gaussian mixtures.
func integrated(rate, u, v, epsilon float64) float64 {
	const step = 0.01
	sum := 0.0
	for x := -10.0; x <= 10; x += step {
		base := (1 - rate) * xmath.NormPDF(x)
		sum += max(0, base+rate*xmath.NormPDF(x-u)-math.Exp(epsilon)*(base+rate*xmath.NormPDF(x-v)))
	}
	return sum * step
}

func ExampleComposition() {
	// A thousand runs of DP-SGD's mechanism: sampling rate 1%, noise multiplier 1,
	// one person removed.
	c := lossdist.Composition{Parts: []lossdist.Part{{
		Law:   lossdist.Gaussian{Shift: 1},
		Shape: func(b *lossdist.Bins) *lossdist.Bins { return b.Poisson(0.01) },
		Rate:  0.01,
		Count: 1000,
	}}}
	low, up, _ := c.Epsilon(context.Background(), 1e-5, 0)
	fmt.Printf("%.2f to %.2f\n", low, up)
	// Output: 1.83 to 1.83
}
