package survival

import (
	"math"

	"github.com/discreet-rl/discreet/internal/xmath"
)

// Series are the cells that stand in series, for noise of running sums: of each arm and stratum the events of
// each cause by bin, and those who left without one from the last bin back, after those who never left. So
// the noise of numbers of events up to a bin, and of numbers at risk from it on, is small.
func (l Layout) Series() (all [][]int) {
	for arm := range l.Arms {
		for stratum := range max(l.Strata, 1) {
			for _, series := range l.series() {
				for i := range series {
					series[i] += l.Exit(arm, stratum, 0, 0)
				}
				all = append(all, series)
			}
		}
	}
	return all
}

// series are those of the first stratum.
func (l Layout) series() (all [][]int) {
	for c := 1; c <= l.Causes; c++ {
		var events []int
		for j := range l.Bins {
			events = append(events, l.Exit(0, 0, j, c))
		}
		all = append(all, events)
	}
	left := []int{l.End(0, 0)}
	for j := l.Bins - 1; j >= 0; j-- {
		left = append(left, l.Exit(0, 0, j, 0))
	}
	return append(all, left)
}

// spreading turns the derivatives of a quantity by the cells of an arm into those by what has independent noise.
type spreading func(slope []float64) []float64

// spreading is that of the question: without running sums each cell has noise of its own.
func (q Question) spreading() spreading {
	if !q.Sums {
		return func(slope []float64) []float64 { return slope }
	}
	series, differences, each := q.series(), xmath.RootDifferences(q.Bins+1), q.perStratum()
	return func(slope []float64) []float64 {
		out := make([]float64, len(slope))
		for from := 0; from < len(slope); from += each {
			for _, cells := range series {
				for i, at := range cells {
					sum := 0.0
					for k, later := range cells[i:] {
						sum += differences[k] * slope[from+later]
					}
					out[from+at] = sum
				}
			}
		}
		return out
	}
}

// riskSDs are the standard deviations of the noise of the numbers at risk in each bin.
func (q Question) riskSDs() []float64 {
	out := make([]float64, q.Bins)
	if !q.Sums {
		for j := range out {
			out[j] = q.SD * math.Sqrt(float64((q.Bins-j)*(q.Causes+1)+1))
		}
		return out
	}
	differences := xmath.RootDifferences(q.Bins + 1)
	// Of events the last bins count, which are the last of their series; of those who left the last bins
	// are the first: sums of the latter depend on few roots.
	events, left := make([]float64, q.Bins), make([]float64, q.Bins+1)
	add := func(to []float64, position int) {
		for i := range position + 1 {
			to[i] += differences[position-i]
		}
	}
	add(left, 0)
	for j := q.Bins - 1; j >= 0; j-- {
		add(events, j)
		add(left, q.Bins-j)
		square := 0.0
		for _, g := range events {
			square += float64(q.Causes) * g * g
		}
		for _, g := range left {
			square += g * g
		}
		out[j] = q.SD * math.Sqrt(square)
	}
	return out
}
