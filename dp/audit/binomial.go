package audit

import "math"

// margin is taken off a tail's probability, relative to it: the rounding of its
// logarithm, below 1e-6 for up to 1e8 runs, must not make a limit too tight.
const margin = 1e-6

// atLeast is the largest p of which k or more successes in n runs have a
// probability of at most alpha: the lower limit of Clopper and Pearson (1934) for
// the probability of a success, rounded down. It fails with probability alpha at most.
func atLeast(k, n int, alpha float64) float64 {
	if k <= 0 {
		return 0
	}
	low, high := 0.0, float64(k)/float64(n)
	goal := math.Log(alpha) - margin
	for range 80 {
		p := low + (high-low)/2
		if logTail(k, n, p) <= goal {
			low = p
		} else {
			high = p
		}
	}
	return low
}

// atMost is the upper limit, rounded up.
func atMost(k, n int, alpha float64) float64 {
	return math.Nextafter(1-atLeast(n-k, n, alpha), 2)
}

// logTail is the logarithm of the probability of k or more successes in n runs with
// probability p, for k >= 1.
func logTail(k, n int, p float64) float64 {
	if p <= 0 {
		return math.Inf(-1)
	}
	if p >= 1 {
		return 0
	}
	odds := p / (1 - p)
	sum, term := 1.0, 1.0
	for j := k; j < n && term > 1e-18*sum; j++ {
		term *= float64(n-j) / float64(j+1) * odds
		sum += term
	}
	return logChoose(n, k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p) + math.Log(sum)
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n) + 1)
	b, _ := math.Lgamma(float64(k) + 1)
	c, _ := math.Lgamma(float64(n-k) + 1)
	return a - b - c
}
