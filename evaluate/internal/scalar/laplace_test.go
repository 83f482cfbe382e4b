package scalar

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/discreet-rl/discreet/internal/xmath"
)

// TestHalfOfIsTheQuantileOfBoth: the tail of a normal and a Laplace number together is the integral of
// the one's tail under the other's density, and the half width is where it is 2.5%. At the ends it is the
// quantile of one of them: 1.96 standard deviations, and ln 20/sqrt 2.
func TestHalfOfIsTheQuantileOfBoth(t *testing.T) {
	for _, sd := range []float64{0.01, 0.3, 1, 4, 50} {
		const scale = 1.0
		half := halfOf(sd, scale*math.Sqrt2, true)
		density := func(x float64) float64 { return math.Exp(-math.Abs(x)/scale) / (2 * scale) }
		beyond := func(x float64) float64 { return density(x) * xmath.NormSF((half-x)/sd) }
		tail := 0.0
		for k := range 400 { // pieces from -50 to 50, so that the corner lies between two
			from := -50 + float64(k)*0.25
			tail += quad.Fixed(beyond, from, from+0.25, 40, quad.Legendre{}, 0)
		}
		if math.Abs(tail-0.025) > 1e-6 {
			t.Errorf("sampling %v: %v is exceeded with probability %v", sd, half, tail)
		}
	}
	for _, c := range []struct{ sampling, private, want float64 }{{1, 0, Z95}, {0, 1, math.Log(20) / math.Sqrt2}, {1, 1e-9, Z95}} {
		if got := halfOf(c.sampling, c.private, true); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("sampling %v, privacy %v: %v; want %v", c.sampling, c.private, got, c.want)
		}
	}
}
