package xmath

// Panels calls f with the nodes and weights of the composite 20-point
// Gauss-Legendre rule that cuts [low, high] into n panels of equal width: the
// integral is near the sum of weight times the integrand at node.
func Panels(low, high float64, n int, f func(node, weight float64)) {
	half := (high - low) / float64(2*n)
	for i := range n {
		mid := low + half*float64(2*i+1)
		for j, node := range legendreNodes {
			f(mid-half*node, half*legendreWeights[j])
			f(mid+half*node, half*legendreWeights[j])
		}
	}
}

// Positive nodes of the 20-point Gauss-Legendre rule on [-1, 1] and their
// weights (mpmath, 30 digits).
var (
	legendreNodes = [10]float64{
		0.07652652113349733375464,
		0.2277858511416450780805,
		0.3737060887154195606725,
		0.5108670019508270980044,
		0.6360536807265150254528,
		0.7463319064601507926143,
		0.8391169718222188233945,
		0.9122344282513259058678,
		0.9639719272779137912677,
		0.9931285991850949247861,
	}
	legendreWeights = [10]float64{
		0.1527533871307258506981,
		0.1491729864726037467878,
		0.1420961093183820513293,
		0.1316886384491766268985,
		0.1181945319615184173124,
		0.1019301198172404350368,
		0.08327674157670474872476,
		0.06267204833410906356951,
		0.04060142980038694133104,
		0.01761400713915211831186,
	}
)
