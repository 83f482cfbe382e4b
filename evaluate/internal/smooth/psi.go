package smooth

import (
	"math"
	"slices"
	"sort"
)

// psiLSW is the smooth bound of DP-LSW, max over 0 <= k <= K of
// exp(-k beta) sum_s w_s / max(|X_s|-k, 1)^2, K = max_s |X_s| (Balle et al. 2016,
// section 5). Between two consecutive points of the set {0} + {|X_s| - 1} every
// term is log-convex in k, so the maximum lies on that set; the cost is the
// square of the number of distinct counts, whatever the number of persons.
func psiLSW(counts []int64, weights []float64, beta float64) float64 {
	distinct, weight := groupByCount(counts, weights)
	psi := 0.0
	try := func(k int64) {
		phi := 0.0
		for i, n := range distinct {
			d := float64(max(n-k, 1))
			phi += weight[i] / (d * d)
		}
		psi = max(psi, math.Exp(-float64(k)*beta)*phi)
	}
	try(0)
	for _, n := range distinct {
		if n > 1 {
			try(n - 1)
		}
	}
	return psi
}

// groupByCount adds up the weights of states with the same count.
func groupByCount(counts []int64, weights []float64) (distinct []int64, weight []float64) {
	order := make([]int, len(counts))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(counts[a] - counts[b]) })
	for _, s := range order {
		if n := len(distinct); n == 0 || distinct[n-1] != counts[s] {
			distinct = append(distinct, counts[s])
			weight = append(weight, 0)
		}
		weight[len(weight)-1] += weights[s]
	}
	return distinct, weight
}

// psiLSL is the smooth bound of DP-LSL, max over 0 <= k <= limit of
// exp(-k beta) phi(k) with
// phi(k) = (c sqrt(sum_s rho_s min(|X_s|+k, limit)) + ||rho||_2)^2 (Balle et al.
// 2016, section 6). The root of phi is concave in k, so the objective is
// log-concave and a binary search on its slope finds the maximum. limit is the
// number of persons under ReplaceOne; under AddRemoveOne, where the minimum is
// dropped, it is negative.
func psiLSL(counts []int64, rho []float64, c, beta float64, limit int64) float64 {
	norm := 0.0
	for _, r := range rho {
		norm += r * r
	}
	norm = math.Sqrt(norm)
	logObjective := func(k int64) float64 {
		visits := 0.0
		for s, n := range counts {
			seen := n + k
			if limit >= 0 {
				seen = min(seen, limit)
			}
			visits += rho[s] * float64(seen)
		}
		return 2*math.Log(c*math.Sqrt(visits)+norm) - float64(k)*beta
	}
	last := limit
	if limit < 0 {
		// d/dk of the first term is at most 2/(k + visits/sum rho) <= 2/k.
		last = int64(math.Ceil(2/beta)) + 1
	}
	k := int64(sort.Search(int(last), func(k int) bool { return logObjective(int64(k)+1) <= logObjective(int64(k)) }))
	return math.Exp(logObjective(k))
}
