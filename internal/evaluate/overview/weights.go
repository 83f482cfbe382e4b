package overview

import (
	"math"
	"math/bits"
	"slices"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// largestWeight keeps sums of squares of weights finite.
const largestWeight = 1e140

// weights are what is told of the products of ratios over each episode.
type weights struct {
	episodes, zero, above int
	largest               float64
	sum, squares, beyond  exactSum
	each                  [][]float64 // by part, where their order is asked for
}

// add adds the weights of episodes; of those above the cap, if there is one, what it cuts off.
func (w *weights) add(d *trajectory.Dataset, rho []float64, cap float64, order bool) {
	n := d.Episodes()
	w.episodes += n
	var each []float64
	if order {
		each = make([]float64, 0, n)
		defer func() { w.each = append(w.each, each) }()
	}
	for e := range n {
		weight := 1.0
		for _, r := range rho[d.EpisodeStart[e]:d.EpisodeStart[e+1]] {
			if weight *= r; !(weight <= largestWeight) {
				weight = largestWeight
			}
		}
		w.sum.add(weight)
		w.squares.add(weight * weight)
		w.largest = max(w.largest, weight)
		if weight == 0 {
			w.zero++
		}
		if cap > 0 && weight > cap {
			w.above++
			w.beyond.add(weight - cap)
		}
		if order {
			each = append(each, weight)
		}
	}
}

// merge adds the weights of other episodes, which come after those of w.
func (w *weights) merge(o *weights) {
	w.episodes, w.zero, w.above = w.episodes+o.episodes, w.zero+o.zero, w.above+o.above
	w.largest = max(w.largest, o.largest)
	w.sum.merge(&o.sum)
	w.squares.merge(&o.squares)
	w.beyond.merge(&o.beyond)
	w.each = append(w.each, o.each...)
}

// describe tells of the weights of episodes, of their median and bins where their order was asked for.
func (w *weights) describe(cap float64) *Weights {
	out := &Weights{Cap: cap, Zero: w.zero, Spread: spread(slices.Concat(w.each...))}
	out.Max = w.largest
	n, sum, squares := float64(w.episodes), w.sum.value(), w.squares.value()
	if n > 0 {
		out.Mean, out.BeyondShare = sum/n, float64(w.above)/n
	}
	if n > 1 {
		out.StdErr = math.Sqrt(max(squares/n-out.Mean*out.Mean, 0) / (n - 1))
	}
	if squares > 0 {
		out.EffectiveSize = sum * sum / squares
		out.BeyondMass = w.beyond.value() / sum
	}
	return out
}

// exactSum is a sum of finite numbers of 0 and above that is not rounded, so that it does not depend
// on their order. Those whose exponents have all but the last five bits in common are added up as
// integers of 128 bits, which have room for 2^43 of them.
type exactSum struct {
	first uint64      // the exponents of the first part, without these bits
	parts [][2]uint64 // low and high words
}

func (s *exactSum) add(v float64) {
	if v == 0 { // of either sign
		return
	}
	exponent, digits := math.Float64bits(v)>>52, math.Float64bits(v)&(1<<52-1)
	if exponent > 0 {
		exponent, digits = exponent-1, digits|1<<52
	}
	to, shift := s.part(exponent/32), exponent%32
	low, carry := bits.Add64(to[0], digits<<shift, 0)
	to[0], to[1] = low, to[1]+digits>>(64-shift)+carry
}

// part makes room for a part where there is none.
func (s *exactSum) part(k uint64) *[2]uint64 {
	if k-s.first >= uint64(len(s.parts)) {
		if len(s.parts) == 0 {
			s.first = k
		}
		if k < s.first {
			s.parts, s.first = append(make([][2]uint64, s.first-k), s.parts...), k
		}
		for k-s.first >= uint64(len(s.parts)) {
			s.parts = append(s.parts, [2]uint64{})
		}
	}
	return &s.parts[k-s.first]
}

func (s *exactSum) merge(o *exactSum) {
	for i, of := range o.parts {
		to := s.part(o.first + uint64(i))
		low, carry := bits.Add64(to[0], of[0], 0)
		to[0], to[1] = low, to[1]+of[1]+carry
	}
}

// value is the sum, but for some 2^-50 of it.
func (s *exactSum) value() (sum float64) {
	for i, of := range s.parts {
		sum += math.Ldexp(float64(of[1])*(1<<64)+float64(of[0]), 32*(int(s.first)+i)-1074)
	}
	return sum
}
