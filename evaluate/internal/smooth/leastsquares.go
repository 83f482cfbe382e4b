package smooth

import (
	"math"
	"slices"
	"sort"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/rl/feature"
)

// LSW is least squares with public weights by state.
type LSW struct {
	features feature.Finite
	weights  []float64
	cells    []float64 // weights added up by coordinate
	scale    float64
}

// NewLSW takes public weights w_s > 0 by state.
func NewLSW(p facts.Public, features feature.Finite, weights []float64) LSW {
	cells := make([]float64, features.Dim())
	for state, w := range weights {
		cells[features.Cell(state)] += w
	}
	return LSW{features: features, weights: weights, cells: cells, scale: Spread(p.Returns) * pseudoInverseNorm(cells)}
}

// Bound implements [Method].
func (l LSW) Bound(counts []int64, beta float64) float64 {
	return l.scale * math.Sqrt(psiLSW(counts, l.weights, beta))
}

// Bias implements [Method]: there is no penalty.
func (l LSW) Bias() float64 { return 0 }

// Solve implements [Method].
func (l LSW) Solve(v *Visits) []float64 {
	theta := make([]float64, l.features.Dim())
	for state, w := range l.weights {
		c := l.features.Cell(state)
		theta[c] += w / l.cells[c] * v.mean(state)
	}
	return theta
}

// pseudoInverseNorm is the spectral norm of (G^1/2 Phi)^+ for one-hot features:
// the columns of G^1/2 Phi are orthogonal, and the squared norm of column c is
// the weight of the states that share it. A coordinate without states (weight
// 0) has no column.
func pseudoInverseNorm(cells []float64) float64 {
	smallest := math.Inf(1)
	for _, w := range cells {
		if w > 0 {
			smallest = min(smallest, w)
		}
	}
	return 1 / math.Sqrt(smallest)
}

// LSL is least squares weighted by visits and with an l2 penalty.
type LSL struct {
	// Lambda is the penalty, above [LSL.Floor].
	Lambda float64

	public   facts.Public
	features feature.Finite
	weights  []float64
	norm     float64 // ||Phi||_2
	largest  float64 // max rho
}

// NewLSL takes public weights rho_s > 0 by state. The penalty is still to be set.
func NewLSL(p facts.Public, features feature.Finite, weights []float64) LSL {
	l := LSL{public: p, features: features, weights: weights, norm: featureNorm(features)}
	for _, w := range weights {
		l.largest = max(l.largest, w)
	}
	return l
}

// Floor is ||Phi||^2 max rho, which the penalty must exceed.
func (l LSL) Floor() float64 { return l.norm * l.norm * l.largest }

// featureNorm is the spectral norm of Phi for one-hot features: the root of the
// largest number of states that share a coordinate.
func featureNorm(f feature.Finite) float64 {
	shared := make([]float64, f.Dim())
	most := 0.0
	for s := range f.States() {
		shared[f.Cell(s)]++
		most = max(most, shared[f.Cell(s)])
	}
	return math.Sqrt(most)
}

// Bound implements [Method].
func (l LSL) Bound(counts []int64, beta float64) float64 {
	c := l.norm * l.largest / math.Sqrt(2*l.Lambda)
	scale := 2 * Spread(l.public.Returns) * l.norm / (l.Lambda - l.norm*l.norm*l.largest)
	limit := int64(-1)
	if l.public.Adjacency == dp.ReplaceOne {
		limit = l.public.Persons
	}
	return scale * math.Sqrt(psiLSL(counts, l.weights, c, beta, limit))
}

// Bias implements [Method], at the guessed visits.
func (l LSL) Bias() float64 {
	sum := 0.0
	counts := GuessedVisits(l.public.Persons, l.features.States())
	for _, n := range counts {
		visits := float64(n) * l.norm * l.norm
		shrink := l.Lambda / 2 / (visits + l.Lambda/2)
		sum += shrink * shrink
	}
	r := l.public.Returns
	square := (r.Max*r.Max + r.Max*r.Min + r.Min*r.Min) / 3
	return math.Sqrt(sum / float64(len(counts)) * square)
}

// Rule chooses the penalty from public facts: it minimises, over a grid, the
// squared bias of the penalty plus the variance of the noise at the guessed visits.
func (l LSL) Rule(alpha, beta float64) float64 {
	floor := l.Floor()
	counts := GuessedVisits(l.public.Persons, l.features.States())
	best, least := 2*floor, math.Inf(1)
	for i := 1; i <= 200; i++ {
		l.Lambda = floor * math.Pow(2, float64(i)/5)
		shrink := l.Bias()
		noise := alpha * l.Bound(counts, beta)
		if e := shrink*shrink + noise*noise; e < least {
			best, least = l.Lambda, e
		}
	}
	return best
}

// Solve implements [Method]. With one-hot features the system is diagonal and the
// factor 1/m cancels.
func (l LSL) Solve(v *Visits) []float64 {
	theta, total := make([]float64, l.features.Dim()), make([]float64, l.features.Dim())
	for state, w := range l.weights {
		c := l.features.Cell(state)
		visits := w * float64(v.counts[state])
		theta[c] += visits * v.mean(state)
		total[c] += visits
	}
	for c := range theta {
		theta[c] /= total[c] + l.Lambda/2
	}
	return theta
}

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
