package scalar

import (
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// bandMiss is the probability with which any of the upper limits of estimated
// probabilities may be too low.
const bandMiss = 0.01

// Behavior estimates, from paid counts, the probabilities with which actions were
// logged in public cells: how many persons took which action the first time that they
// were in a cell. Ratios are made of simultaneous upper limits of them, for sampling
// and noise, so that weights are at most the true ones: docs/proofs/propensities.md.
type Behavior struct {
	Cells, Actions int
	Most           int     // cells that one person can be in
	Floor          float64 // least limit
	Noise          float64 // multiplier
	Adjacency      dp.Adjacency
	Kind           mechanism.Noise
	// Together is how many groups of persons have limits of their own, all of which hold at
	// once; 0 means 1.
	Together int
}

// Visits are what persons did: of every row its bin, Actions times the cell plus the
// action, or -1 where it has none, or [Sure].
type Visits []int

// Sure marks a decision that followed from an earlier one. Its probability is taken for
// 1, which is an upper limit of any.
const Sure = -2

func (b Behavior) histogram() (*mechanism.Histogram, error) {
	return mechanism.NewSetHistogram(b.Cells*b.Actions, b.Most, b.Noise, b.Adjacency, b.Kind)
}

// Release counts, person by person, the first decision in each cell.
func (b Behavior) Release(s value.Persons, visits func(*value.Sample) (Visits, error), src *noise.Source) ([]float64, error) {
	return mechanism.Spread(b.histogram, mechanism.Workers(b.Cells*b.Actions), s.Persons(), func(h *mechanism.Histogram) func(int) error {
		last := make([]int, b.Cells) // person who was last seen in a cell, plus one
		var bins []int
		var v Visits
		walk, bind := s.Walk(), func(s *value.Sample) (err error) { v, err = visits(s); return err }
		return func(i int) error {
			s, p, err := walk.Bound(i, bind)
			if err != nil {
				return err
			}
			from, to := s.Episodes(p)
			bins = bins[:0]
			for row := s.Data.EpisodeStart[from]; row < s.Data.EpisodeStart[to]; row++ {
				if v[row] < 0 || last[v[row]/b.Actions] == i+1 {
					continue
				}
				last[v[row]/b.Actions] = i + 1
				bins = append(bins, v[row])
			}
			return h.AddSet(bins)
		}
	}, src)
}

// Upper are the limits, by bin. In a cell of n first decisions, k of which took an
// action of probability p, k - p n has mean 0 and variance n p (1-p), and noise in all
// counts of the cell makes sd^2 ((1-p)^2 + (actions-1) p^2) of it: the limit is the
// largest p that this does not exclude (Wilson 1927).
func (b Behavior) Upper(counts []float64) ([]float64, error) {
	h, err := b.histogram()
	if err != nil {
		return nil, err
	}
	sd, k := h.SD(), float64(b.Actions)
	z := xmath.NormQuantile(1 - bandMiss/float64(b.Cells*(b.Actions+1)*max(b.Together, 1)))
	out := make([]float64, len(counts))
	for cell := range b.Cells {
		of := counts[cell*b.Actions : (cell+1)*b.Actions]
		n := 0.0
		for _, c := range of {
			n += c
		}
		most := max(n, 0) + z*sd*math.Sqrt(k)
		for a, c := range of {
			possible := func(p float64) bool {
				return c-p*n >= -z*math.Sqrt(most*p*(1-p)+sd*sd*((1-p)*(1-p)+(k-1)*p*p))
			}
			out[cell*b.Actions+a] = max(largest(possible), b.Floor)
		}
	}
	return out, nil
}

// largest is the largest number in [0, 1] at which ok holds, to the safe side, looked
// for from 1 downward in steps of a thousandth.
func largest(ok func(float64) bool) float64 {
	const steps = 1000
	for i := steps; i > 0; i-- {
		low, high := float64(i-1)/steps, float64(i)/steps
		if ok(high) {
			return high
		}
		if !ok(low) {
			continue
		}
		for range 40 {
			if mid := (low + high) / 2; ok(mid) {
				low = mid
			} else {
				high = mid
			}
		}
		return high
	}
	return 0
}

// Divider divides the ratios of samples by the limits that noisy counts make.
func (b Behavior) Divider(counts []float64) (func(s *value.Sample, v Visits), error) {
	upper, err := b.Upper(counts)
	return func(s *value.Sample, v Visits) {
		divide(s, v, func(_, bin int) float64 { return upper[bin] })
	}, err
}

// divide divides the target's probabilities, which the ratios of the sample are up to
// here, by the limits of those of what was done. A decision of which that is not known has no
// weight, but for a sure one.
func divide(s *value.Sample, done []int, limit func(row, what int) float64) {
	for row, what := range done {
		switch {
		case what == Sure:
		case what < 0:
			s.Rho[row], s.Data.BehaviorProb[row] = 0, 1
		default:
			upper := limit(row, what)
			s.Rho[row] /= upper
			s.Data.BehaviorProb[row] = upper
		}
	}
}
