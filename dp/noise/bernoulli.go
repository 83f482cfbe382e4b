package noise

import (
	"fmt"
	"math"
	"math/big"
)

// Bernoulli returns true with probability p, taken as the exact dyadic rational
// that the float64 is. It panics unless 0 <= p <= 1.
func (s *Source) Bernoulli(p float64) bool {
	if !(p >= 0 && p <= 1) {
		panic(fmt.Sprintf("noise: Bernoulli(%v): want a probability", p))
	}
	if p == 1 {
		return true
	}
	for p > 0 {
		scaled := math.Ldexp(p, 64) // exact, below 2^64
		whole := math.Floor(scaled)
		u, threshold := s.Uint64(), uint64(whole)
		if u != threshold {
			return u < threshold
		}
		p = scaled - whole // exact: the bits of p that are not yet used
	}
	return false
}

// BernoulliExp returns true with probability exp(-x) exactly, where x is taken
// as the dyadic rational that the float64 is. It panics unless x >= 0 and
// finite. It compares uniform bits with an enclosure of the exponential that is
// refined until it decides, and takes a few microseconds.
func (s *Source) BernoulliExp(x float64) bool {
	if !(x >= 0) || math.IsInf(x, 0) {
		panic(fmt.Sprintf("noise: BernoulliExp(%v): want a finite number, 0 or above", x))
	}
	return s.BernoulliExpRat(new(big.Rat).SetFloat64(x))
}

// BernoulliExpRat is [Source.BernoulliExp] for any rational x, which it does not change.
// It panics if x is negative.
func (s *Source) BernoulliExpRat(x *big.Rat) bool {
	if t, ok := s.tape.(coinTape); ok {
		t.Tossed(x)
	}
	switch x.Sign() {
	case -1:
		panic("noise: BernoulliExpRat: want a number of 0 or above")
	case 0:
		return true
	}
	bits := s.Uint64()
	// Most coins are far from falling: f is x up to 2^-52, and Exp is right to 2^-50.
	if f, _ := x.Float64(); float64(bits)*0x1p-64*(1-0x1p-40) > math.Exp(-f*(1-0x1p-50))*(1+0x1p-40) {
		return false
	}
	c := curve{a: x}
	one := &prefix{z: big.NewInt(1), exact: true}
	u := &prefix{z: new(big.Int).SetUint64(bits), n: 64}
	return c.above(s, big.NewInt(1), one, u)
}

// BernoulliLogistic returns true with probability 1/(1+exp(-x)) exactly, the
// probability with which binary randomised response with epsilon = x tells the
// truth. It panics unless x is finite; x may be negative.
func (s *Source) BernoulliLogistic(x float64) bool {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		panic(fmt.Sprintf("noise: BernoulliLogistic(%v): want a finite number", x))
	}
	if x < 0 {
		return !s.BernoulliLogistic(-x)
	}
	for {
		// True has weight 1/2 in a trial and false exp(-x)/2.
		if s.Uint64()&1 == 0 {
			return true
		}
		if s.BernoulliExp(x) {
			return false
		}
	}
}
