package xmath

// SquareNorm is the sum of the squares of x, added from first to last.
func SquareNorm(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return sum
}
