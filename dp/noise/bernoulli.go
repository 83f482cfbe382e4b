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
	f, _ := x.Float64()
	return !above(bits, f) && s.below(bits, x)
}

// BernoulliExpTimes is [Source.BernoulliExpRat] of n times rate, of which most are told apart
// without the product: near is the float64 that is nearest to rate. It panics if either is negative.
func (s *Source) BernoulliExpTimes(n int64, rate *big.Rat, near float64) bool {
	product := func() *big.Rat {
		x := new(big.Rat).SetInt64(n)
		return x.Mul(x, rate)
	}
	if _, told := s.tape.(coinTape); told || n <= 0 || near < 0x1p-900 {
		return s.BernoulliExpRat(product())
	}
	bits := s.Uint64()
	return !above(bits, float64(n)*near) && s.below(bits, product())
}

// above tells where 64 bits of a uniform number settle that it is above exp(-x), as most are whose
// coin is far from falling: f is x up to 2^-51 of it, and Exp is right to 2^-50.
func above(bits uint64, f float64) bool {
	return float64(bits)*0x1p-64*(1-0x1p-40) > math.Exp(-f*(1-0x1p-49))*(1+0x1p-40)
}

// below tells whether a uniform number that begins with these bits is below exp(-x), whose further
// bits it draws as it needs them.
func (s *Source) below(bits uint64, x *big.Rat) bool {
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
