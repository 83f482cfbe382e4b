package refine

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The kernels give the bits of the plain loops over rows, for every number of rows
// beyond whole blocks and for numbers of all magnitudes.
func TestBlockedKernelsGiveTheBitsOfPlainLoops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, rows := rapid.IntRange(1, 9).Draw(t, "n"), rapid.IntRange(0, 13).Draw(t, "rows")
		number := rapid.Float64Range(-1e6, 1e6)
		phi := rapid.SliceOfN(number, n*rows, n*rows).Draw(t, "phi")
		theta := rapid.SliceOfN(number, n, n).Draw(t, "theta")
		factors := rapid.SliceOfN(number, rows, rows).Draw(t, "factors")
		weight := rapid.Float64Range(1e-3, 1).Draw(t, "weight")

		values, want := make([]float64, rows), make([]float64, rows)
		dots(values, phi, theta)
		residual, wantResidual := make([]float64, n), make([]float64, n)
		addRows(residual, phi, factors)
		matrix, wantMatrix := make([]float64, n*n), make([]float64, n*n)
		addSquares(matrix, phi, n, weight)
		mirror(matrix, n)
		for row := rows - 1; row >= 0; row-- {
			x := phi[row*n : row*n+n]
			for i, v := range x {
				want[row] += v * theta[i]
				wantResidual[i] += factors[row] * v
				for j, u := range x {
					first, second := v, u
					if j < i {
						first, second = u, v
					}
					wantMatrix[i*n+j] += weight * first * second
				}
			}
		}
		same(t, "dots", values, want)
		same(t, "addRows", residual, wantResidual)
		same(t, "addSquares", matrix, wantMatrix)
	})
}

func same(t *rapid.T, what string, got, want []float64) {
	for i := range want {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			t.Fatalf("%s: number %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}
