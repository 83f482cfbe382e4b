package balle16

import "math"

// Bounds on the expected excess empirical risk for one-hot features and unit
// weights. A state's probability p is that a trajectory visits it, above 0.

// boundLSWPrinted is Theorem 11 divided by C^2 = (alpha Fmax ||Phi^+|| ||Phi||_F)^2: a
// bound on E psi, psi being the smooth bound of DP-LSW. As printed its term by
// state is 6 (1/(pm)^2 + beta^2 (1 - beta p/2)^m).
func boundLSWPrinted(visits []float64, m, beta float64) float64 {
	sum := 0.0
	for _, p := range visits {
		sum += 6 * (1/(p*p*m*m) + beta*beta*math.Exp(m*math.Log1p(-beta*p/2)))
	}
	return sum
}

// boundLSW is the bound that holds. Where x persons visit a state its share of
// psi is at most the larger end of the convex exp(-k beta)/(x-k)^2 over
// 0 <= k <= x-1: 1/x^2 <= 6/((x+1)(x+2)), whose mean over the binomial x is at
// most 6/(p^2 (m+1)(m+2)), or exp(-(x-1) beta), whose mean is
// e^beta (1 - (1 - e^-beta) p)^m. The proof in the paper takes a stationary
// point between the ends for the maximum; it is the minimum.
func boundLSW(visits []float64, m, beta float64) float64 {
	sum := 0.0
	for _, p := range visits {
		sum += 6/(p*p*(m+1)*(m+2)) + math.Exp(beta+m*math.Log1p(math.Expm1(-beta)*p))
	}
	return sum
}

// boundLSL is Theorem 32 divided by C_lambda^2, for unit weights: the mean of
//
//	(lambda d/(2m) + 1/m sum_s |X_s|) (2 S + ||Phi||^2/lambda sum_s (|X_s| + u_s))
//
// over the binomial counts |X_s|, with S states, d features and squared norm
// normSq of Phi. both[s][t] is the probability of visiting s and t. As printed
// u_s is 1{|X_s| = 0}/(2 e beta); the maximum over k of
// exp(-k beta) (|X_s| + k) allows more, and u_s = 1/(e beta) bounds it.
func boundLSL(visits []float64, both [][]float64, d int, normSq, m, lambda, beta float64, printed bool) float64 {
	states := float64(len(visits))
	sum, product, extra, cross := 0.0, 0.0, 0.0, 0.0
	for s, p := range visits {
		sum += p
		if printed {
			extra += math.Exp(m*math.Log1p(-p)) / (2 * math.E * beta)
		} else {
			extra += 1 / (math.E * beta)
		}
		for t, q := range visits {
			// E |X_s||X_t| / m
			product += (m-1)*p*q + both[s][t]
			if printed { // E |X_s| 1{|X_t| = 0} / m
				cross += (p - both[s][t]) * math.Exp((m-1)*math.Log1p(-q)) / (2 * math.E * beta)
			} else {
				cross += p / (math.E * beta)
			}
		}
	}
	half := lambda * float64(d) / (2 * m)
	return half*(2*states+normSq/lambda*(m*sum+extra)) + 2*states*sum + normSq/lambda*(product+cross)
}

// psiLSW is DP-LSW's smooth bound for one state that x persons visit.
func psiLSW(x int, beta float64) float64 {
	psi := 0.0
	for k := range max(x, 1) {
		y := float64(max(x-k, 1))
		psi = max(psi, math.Exp(-float64(k)*beta)/(y*y))
	}
	return psi
}

// psiLSL is DP-LSL's for one state, unit weight and feature.
func psiLSL(x, m int, lambda, beta float64) float64 {
	psi := 0.0
	for k := range m - x + 1 {
		y := math.Sqrt(float64(x+k)/(2*lambda)) + 1
		psi = max(psi, math.Exp(-float64(k)*beta)*y*y)
	}
	return psi
}

// binomial is the mean of f over Binomial(m, p), summed exactly.
func binomial(m int, p float64, f func(x int) float64) float64 {
	sum := 0.0
	whole, _ := math.Lgamma(float64(m) + 1)
	for x := range m + 1 {
		a, _ := math.Lgamma(float64(x) + 1)
		b, _ := math.Lgamma(float64(m-x) + 1)
		weight := math.Exp(whole - a - b + float64(x)*math.Log(p) + float64(m-x)*math.Log1p(-p))
		if weight > 1e-20 {
			sum += weight * f(x)
		}
	}
	return sum
}

// excessOneStateLSW is the exact expected excess risk of DP-LSW over C^2 on a
// problem of one state.
func excessOneStateLSW(m int, p, beta float64) float64 {
	return binomial(m, p, func(x int) float64 { return psiLSW(x, beta) })
}

// excessOneStateLSL is that of DP-LSL over C_lambda^2.
func excessOneStateLSL(m int, p, lambda, beta float64) float64 {
	return binomial(m, p, func(x int) float64 {
		return (lambda/2 + float64(x)) / float64(m) * psiLSL(x, m, lambda, beta)
	})
}
