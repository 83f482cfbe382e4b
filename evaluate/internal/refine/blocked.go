package refine

// The kernels of dense features walk four rows at a time: what is added up stays in a
// register over the four, and four sums that do not wait for each other run beside each
// other. Every sum is made in the order of the plain loop over rows, last row first
// (inner products: over coordinates, first to last), so that its bits do not depend on
// the blocks.

// inner is the inner product of two vectors, coordinate by coordinate.
func inner(x, y []float64) float64 {
	y = y[:len(x)]
	v := 0.0
	for i, a := range x {
		v += a * y[i]
	}
	return v
}

// dots writes the inner product of each row of phi with theta.
func dots(dst, phi, theta []float64) {
	n, row := len(theta), 0
	for ; row+4 <= len(dst); row += 4 {
		at := row * n
		a, b, c, d := phi[at:at+n], phi[at+n:at+2*n], phi[at+2*n:at+3*n], phi[at+3*n:at+4*n]
		b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
		t := theta[:len(a)]
		var va, vb, vc, vd float64
		for i, x := range a {
			y := t[i]
			va += x * y
			vb += b[i] * y
			vc += c[i] * y
			vd += d[i] * y
		}
		dst[row], dst[row+1], dst[row+2], dst[row+3] = va, vb, vc, vd
	}
	for ; row < len(dst); row++ {
		dst[row] = inner(phi[row*n:row*n+n], theta)
	}
}

// addRows adds factor times row to dst, for each row of phi, the last first.
func addRows(dst, phi, factors []float64) {
	n, row := len(dst), len(factors)
	for ; row >= 4; row -= 4 {
		at := row * n
		a, b, c, d := phi[at-n:at], phi[at-2*n:at-n], phi[at-3*n:at-2*n], phi[at-4*n:at-3*n]
		a, b, c, d = a[:len(dst)], b[:len(dst)], c[:len(dst)], d[:len(dst)]
		fa, fb, fc, fd := factors[row-1], factors[row-2], factors[row-3], factors[row-4]
		for i, v := range dst {
			v += fa * a[i]
			v += fb * b[i]
			v += fc * c[i]
			v += fd * d[i]
			dst[i] = v
		}
	}
	for row--; row >= 0; row-- {
		f := factors[row]
		for i, x := range phi[row*n : row*n+n] {
			dst[i] += f * x
		}
	}
}

// addSquares adds weight phi phi' to the upper half of a matrix of n rows, for each row
// of phi, the last first.
func addSquares(matrix, phi []float64, n int, weight float64) {
	row := len(phi) / n
	for ; row >= 4; row -= 4 {
		at := row * n
		a, b, c, d := phi[at-n:at], phi[at-2*n:at-n], phi[at-3*n:at-2*n], phi[at-4*n:at-3*n]
		for i := range n {
			fa, fb, fc, fd := weight*a[i], weight*b[i], weight*c[i], weight*d[i]
			line := matrix[i*n+i : i*n+n]
			a, b, c, d := a[i:], b[i:], c[i:], d[i:]
			a, b, c, d = a[:len(line)], b[:len(line)], c[:len(line)], d[:len(line)]
			for j, v := range line {
				v += fa * a[j]
				v += fb * b[j]
				v += fc * c[j]
				v += fd * d[j]
				line[j] = v
			}
		}
	}
	for row--; row >= 0; row-- {
		x := phi[row*n : row*n+n]
		for i, v := range x {
			f := weight * v
			line := matrix[i*n+i : i*n+n]
			for j, u := range x[i:] {
				line[j] += f * u
			}
		}
	}
}

// mirror copies the upper half of a matrix of n rows to the lower one.
func mirror(matrix []float64, n int) {
	for i := range n {
		for j := i + 1; j < n; j++ {
			matrix[j*n+i] = matrix[i*n+j]
		}
	}
}
