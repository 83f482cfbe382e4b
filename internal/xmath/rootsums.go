package xmath

// RootSums are the first n coefficients of (1-x)^(-1/2): 1, 1/2, 3/8, 5/16, ... The lower
// triangular matrix that has them along its diagonals is the square root of the one of running
// sums: taken twice it sums (Henzinger, Upadhyay 2022, and Fichtenberger, Henzinger, Upadhyay 2023).
func RootSums(n int) []float64 {
	f := make([]float64, n)
	for k := range f {
		if f[k] = 1; k > 0 {
			f[k] = f[k-1] * float64(2*k-1) / float64(2*k)
		}
	}
	return f
}

// RootDifferences are those of (1-x)^(1/2), the inverse: 1, -1/2, -1/8, -1/16, ...
func RootDifferences(n int) []float64 {
	f := make([]float64, n)
	for k := range f {
		if f[k] = 1; k > 0 {
			f[k] = f[k-1] * float64(2*k-3) / float64(2*k)
		}
	}
	return f
}
