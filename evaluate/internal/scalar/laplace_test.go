package scalar

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// TestHalfIsTheQuantileOfBoth: the tail of a normal and a Laplace number together is the integral of
// the one's tail under the other's density, and the half width is where it is 2.5% over the number of answers. At the ends it is the
// quantile of one of them: 1.96 standard deviations, and ln 20/sqrt 2.
func TestHalfIsTheQuantileOfBoth(t *testing.T) {
	for k, sd := range []float64{0.01, 0.3, 1, 4, 50, 0.01, 1, 4} {
		const scale = 1.0
		answers := 1 + k/5*k // of the last three several hold together
		half := Bounds{Laplace: true, Answers: answers}.half(sd, scale*math.Sqrt2)
		density := func(x float64) float64 { return math.Exp(-math.Abs(x)/scale) / (2 * scale) }
		beyond := func(x float64) float64 { return density(x) * xmath.NormSF((half-x)/sd) }
		tail := 0.0
		for k := range 400 { // pieces from -50 to 50, so that the corner lies between two
			from := -50 + float64(k)*0.25
			tail += quad.Fixed(beyond, from, from+0.25, 40, quad.Legendre{}, 0)
		}
		if math.Abs(tail*float64(answers)-0.025) > 1e-6 {
			t.Errorf("sampling %v: %v is exceeded with probability %v", sd, half, tail)
		}
	}
	for _, c := range []struct{ sampling, private, want float64 }{{1, 0, Z95}, {0, 1, math.Log(20) / math.Sqrt2}, {1, 1e-9, Z95}} {
		if got := (Bounds{Laplace: true}).half(c.sampling, c.private); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("sampling %v, privacy %v: %v; want %v", c.sampling, c.private, got, c.want)
		}
	}
}

// TestSeveralLaplaceNumbersHaveTheLighterTail: a normal number and up to three Laplace numbers exceed what is allowed for the normal
// one and one Laplace number of the same variance no more often, at 2.5% and at all smaller tails. Each sum of Laplace
// numbers of scales c is a mixture of their laws with the weights prod c_i^2/(c_i^2 - c_j^2).
func TestSeveralLaplaceNumbersHaveTheLighterTail(t *testing.T) {
	shares := []float64{0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 0.999}
	for _, tail := range []float64{0.025, 0.0125, 0.005, 0.001, 1e-4, xmath.NormSF(refuting)} {
		for _, sd := range []float64{0.003, 0.03, 0.1, 0.2, 0.35, 0.5, 0.7, 1, 1.4, 2, 3, 6, 20} {
			for _, second := range shares {
				for _, third := range shares {
					if second > 0 && third == second || third > 0 && second == 0 {
						continue
					}
					scales := []float64{1}
					for _, c := range []float64{second, third} {
						if c > 0 {
							scales = append(scales, c)
						}
					}
					variance, beyond := 0.0, 0.0
					for _, c := range scales {
						variance += 2 * c * c
					}
					at := quantileOf(sd*math.Sqrt(variance), math.Sqrt(variance), tail, 40*math.Sqrt(variance*(1+sd*sd)))
					for i, c := range scales {
						weight := 1.0
						for j, d := range scales {
							if i != j {
								weight *= c * c / (c*c - d*d)
							}
						}
						beyond += weight * beyondBoth(at, sd*math.Sqrt(variance), c)
					}
					if beyond > tail*(1+1e-6) {
						t.Errorf("scales %v, normal %v: what %v should exceed is exceeded with %v", scales, sd, tail, beyond)
					}
				}
			}
		}
	}
}

// TestLaplaceNoiseRefutesNoMoreOften: a mean weight that is 1 is as rarely taken for more, whether noise is normal or Laplace, and
// whatever its part in the error is.
func TestLaplaceNoiseRefutesNoMoreOften(t *testing.T) {
	for _, private := range []float64{0.01, 0.1, 1, 10} {
		sd := Bounds{Laplace: true}.Refuting(0.3, private)
		if tail := beyondBoth(refuting*sd, 0.3, private/math.Sqrt2) / xmath.NormSF(refuting); math.Abs(tail-1) > 1e-6 {
			t.Errorf("noise of %v: it refutes %v times as often as normal noise", private, tail)
		}
		m := Bounds{Laplace: true}.missing(mechanism.NoisyPair{X: 600, Z: 600, SD: mechanism.PairSD{Both: private * 1000}}, 1000, 1.2)
		if beyond := 1.2-0.012 > 1+refuting*(Bounds{Laplace: true}).Refuting(0, private); m.Refuted != beyond {
			t.Errorf("noise of %v: a mean weight of 1.2 refutes: %v; want %v", private, m.Refuted, beyond)
		}
	}
}
