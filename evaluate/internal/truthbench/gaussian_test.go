package truthbench

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/discreet-rl/discreet/rl/policy"
)

// The linear-Gaussian process: x starts normal, follows
//
//	x' = keep x + push (2a - 1) + e,  e normal,
//
// and pays Phi(x'). Actions are drawn without regard to the state, so that x is a
// mixture of normals with one part for each sequence of actions, and
// E Phi(x) = Phi(mean/sqrt(1 + variance)) in each.
const (
	keep   = 0.9
	push   = 0.5
	spread = 0.3 // of e
	wide   = 0.5 // of the start
)

// normal is the distribution function of the standard normal.
func normal(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// gaussianValue is the value of acting 1 with probability p at every step.
func gaussianValue(horizon int, p float64) float64 {
	var from func(t int, mean, variance float64) float64
	from = func(t int, mean, variance float64) float64 {
		if t == horizon {
			return 0
		}
		variance = keep*keep*variance + spread*spread
		sum := 0.0
		for a, q := range single(p) {
			if q == 0 {
				continue
			}
			m := keep*mean + push*float64(2*a-1)
			sum += q * (normal(m/math.Sqrt(1+variance)) + from(t+1, m, variance))
		}
		return sum
	}
	return from(0, 0, wide*wide)
}

func linearGaussian(horizon int) Problem {
	return gaussian(fmt.Sprintf("linear-Gaussian %d", horizon), horizon, 0.7)
}

// FarGaussian always acts 1, whose logged probability is .4 at every decision.
func FarGaussian(horizon int) Problem {
	return gaussian(fmt.Sprintf("linear-Gaussian %d, always 1", horizon), horizon, 1)
}

func gaussian(name string, horizon int, target float64) Problem {
	const logged = 0.4
	behavior, wanted := single(logged), single(target)
	return Problem{
		Name: name, J: gaussianValue(horizon, target), Logged: gaussianValue(horizon, logged),
		Horizon: horizon, Gamma: 1, Target: policy.ProbColumn{},
		simulate: func(rng *rand.Rand, w *writer) {
			x := wide * rng.NormFloat64()
			for range horizon {
				a := choose(rng, behavior)
				before := x
				x = keep*x + push*float64(2*a-1) + spread*rng.NormFloat64()
				w.decision(before, a, normal(x), behavior[a], wanted[a])
			}
			w.end(false)
		},
	}
}
