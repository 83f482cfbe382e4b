package rule

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// ordered moves scores, by action and term, to the nearest in the metric of the products under which
// the action's number never moves against the order of a covariate: there the largest of linear scores
// has the larger slopes the farther up it is, so slopes that do not fall with the number are enough.
// One covariate after the other is put in order given the others, until nothing moves.
func (g Grid) ordered(scores [][]float64, metric mat.Symmetric) {
	wanted := make([][]float64, len(scores))
	for a := range scores {
		wanted[a] = slices.Clone(scores[a])
	}
	slopes := make([]float64, len(scores))
	for range 200 {
		moved := 0.0
		for i := range g.Dim() {
			for a, score := range scores { // the best given the other terms
				pull := 0.0
				for k := range score {
					if k != i {
						pull += metric.At(i, k) * (wanted[a][k] - score[k])
					}
				}
				slopes[a] = wanted[a][i] + pull/metric.At(i, i)
			}
			if i > 0 {
				monotone(slopes, g.Order[i-1])
			}
			for a, score := range scores {
				moved = max(moved, math.Abs(score[i]-slopes[a]))
				score[i] = slopes[a]
			}
		}
		if moved == 0 {
			return
		}
	}
}

// monotone moves numbers to the nearest that do not fall, of order 1, or do not rise, of order -1:
// pools of neighbours in the wrong order become their mean.
func monotone(x []float64, order int) {
	type pool struct{ sum, n float64 }
	var pools []pool
	for _, v := range x {
		pools = append(pools, pool{v, 1})
		for k := len(pools) - 1; k > 0 && float64(order)*(pools[k-1].sum*pools[k].n-pools[k].sum*pools[k-1].n) > 0; k-- {
			pools[k-1] = pool{pools[k-1].sum + pools[k].sum, pools[k-1].n + pools[k].n}
			pools = pools[:k]
		}
	}
	x = x[:0]
	for _, p := range pools {
		for range int(p.n) {
			x = append(x, p.sum/p.n)
		}
	}
}

// Prices is how many there are, of treatment.
const Prices = 32

// Price is what another action than the first costs at a place, 0 first, where no margin is above the
// largest.
func Price(place int, largest float64) float64 {
	share := float64(place) / Prices
	return largest * share * share
}

// Margin is by how much the best score of the other actions is above that of the first.
func Margin(weights [][]float64, intercept, x []float64) float64 {
	best := math.Inf(-1)
	for a := len(weights) - 1; a >= 0; a-- {
		score := intercept[a]
		for j, w := range weights[a] {
			score += w * x[j]
		}
		if a == 0 {
			return best - score
		}
		best = max(best, score)
	}
	return best
}

// LargestMargin bounds margins of covariates in their ranges.
func (g Grid) LargestMargin(weights [][]float64, intercept []float64) (most float64) {
	for a := 1; a < len(weights); a++ {
		margin := intercept[a] - intercept[0]
		for j, w := range weights[a] {
			d := w - weights[0][j]
			margin += max(d*g.Lows[j], d*g.Highs[j])
		}
		most = max(most, margin)
	}
	return most
}

// Paid is at how many prices a margin still is above the price.
func Paid(margin, largest float64) int {
	n := 0
	for n < Prices && margin > Price(n, largest) {
		n++
	}
	return n
}

// Affordable is the first place whose price few enough pay, by noisy numbers of persons who pay so many.
func (g Grid) Affordable(persons []float64, sd float64) int {
	all := 0.0
	for _, n := range persons {
		all += n
	}
	for place := range Prices {
		n := share{all: all, allVar: sd * sd * float64(len(persons)), treatedVar: sd * sd * float64(Prices-place)}
		for _, x := range persons[place+1:] {
			n.treated += x
		}
		if n.within(g.Treated) {
			return place
		}
	}
	return Prices
}
