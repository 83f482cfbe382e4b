package scalar

// Contrast writes what every person adds to the difference of two policies' values,
// J_A - J_B. With x and z of each policy as [Bounds] has them,
//
//	p = (x_A + z_B)/2,  q = (z_A + x_B)/2
//
// are an estimate from below and above again: of (1 + J_A - J_B)/2, in shares of the
// range that reaches as far below 0 as above. What both policies do alike, with
// weight w, adds w/2 to each of p and q, whatever came of it: where weights are 1 it
// cancels outcome for outcome. A person's weight p + q is the mean of the two
// policies'. docs/proofs/contrasts.md has the proof.
func Contrast(p, q, xa, za, xb, zb []float64) {
	for i := range p {
		p[i], q[i] = (xa[i]+zb[i])/2, (za[i]+xb[i])/2
	}
}
