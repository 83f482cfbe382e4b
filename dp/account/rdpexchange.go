package account

import (
	"math"

	"github.com/discreet-rl/discreet/internal/xmath"
)

// exchangeRenyi bounds the Renyi divergence of Gaussian noise on a random sample
// when one person is exchanged for another: sampling a fixed number without
// replacement, or Poisson sampling. mu is the distance of the two sums in
// standard deviations when the person is in the sample, q the probability of it.
//
// Both are dominated, for every hockey-stick divergence and therefore for every
// Renyi divergence, by the symmetric pair of Zhu, Dong and Wang (2022,
// Proposition 30): with r = 1 - q + q e^loss, loss = mu y - mu^2/2, the pair has
// privacy loss ln r under r phi(y) and -ln r under phi(y), each on loss > 0, and
// 0 for the rest. So with R = ln r
//
//	A - 1 = integral over loss > 0 of phi(y) (e^((order-1) R) - 1) (e^R - e^((1-order) R)),
//
// a product of positive factors. The bound of Wang, Balle and Kasiviswanathan
// (2019) lies above it.
func exchangeRenyi(order, q, mu float64) float64 {
	if mu == 0 {
		return 0
	}
	low := mu / 2
	peak := order * (order - 1) / 2 * mu * mu
	high := order*mu + math.Sqrt(2*(truncation+min(peak, -order*math.Log(q))))
	// The panels are short enough for an ellipse of parameter 8 about each to
	// hold an analytic integrand of modest growth, which bounds the error of the
	// 20-point rule by panelError of A + order (docs/proofs/accounting.md).
	width := min(0.25, 0.5/mu, 5/(order*mu))
	panels := math.Ceil((high - low) / width)
	if !(panels <= maxNodes/20) { // NaN where mu or the order overflows
		return unsampled(order, mu)
	}
	var s logSum
	xmath.Panels(low, high, int(panels), func(y, weight float64) {
		ratio := math.Log1p(q * math.Expm1(mu*(y-low)))
		if math.IsInf(ratio, 1) {
			ratio = math.Log(q) + mu*(y-low)
		}
		log := ratio + xmath.LogExpm1((order-1)*ratio) + xmath.Log1mExp(-order*ratio) - y*y/2
		s.add(log+math.Log(weight), order*(ratio+mu*y)+y*y/2)
	})
	return min(fromLogExcess(order, s.log()-halfLog2Pi+s.slack(), panelError), unsampled(order, mu))
}

const panelError = 1e-22 // e^-50.6
