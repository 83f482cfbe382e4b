package account

import (
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// Amplification by shuffling, by the clones of Feldman, McMillan and Talwar (2021), Theorem 3.1:
// with eps0 the local epsilon, A_C of each other person's report is, with probability e^-eps0,
// drawn from one of two distributions that hide the person, each equally often. All that is
// revealed about the person is a sum of C + 1 fair signs, one of which is biased by tanh(eps0/2).
// Proof and numerics: docs/proofs/shuffle.md.

const (
	// mostShuffled bounds the work: beyond it, persons only help and are not counted.
	mostShuffled = 1 << 27
	// binomialError bounds the relative error of probabilities in this file: of a first one, whose
	// logarithm is right to 1e-10, and of up to 2^18 factors after it.
	binomialError = 1e-9
	// shuffleTail is the probability at which the tail of the number of clones is cut off; the tail
	// is charged in full.
	shuffleTail = 1e-60
	// negligible is the probability at which a sum over signs ends. Probabilities decrease from the
	// middle on, so what is left out is below 2^28 of these, and e^eps0 + 1 < 2^54 times that is
	// below underflow.
	negligible = 0x1p-990
	// underflow is the amount charged for everything that was left out this way.
	underflow = 0x1p-900
)

// declared refuses a shuffle of reports that are not declared to be made by one
// randomiser: an order hides a person only among reports that others might have sent.
func declared(leaf dp.Event) error {
	if e, ok := leaf.(dp.Shuffled); ok && !e.OneRandomizer {
		return unsupported(e, "does not declare one_randomizer: that all persons use the same randomiser. Shuffle persons of different randomisers in groups of their own, or charge approximate_dp with the local epsilon")
	}
	return nil
}

// shuffledProfile bounds the privacy profile of a shuffle from above; the lower end is 0.
func shuffledProfile(e dp.Shuffled) *eventProfile {
	clones := cloneCounts(e)
	bias := math.Tanh(e.LocalEpsilon / 2)
	return &eventProfile{
		event: e,
		most:  e.LocalEpsilon,
		delta: func(epsilon float64) Bracket {
			if epsilon >= e.LocalEpsilon {
				return Bracket{}
			}
			u := max(xmath.Down(math.Tanh(epsilon/2)/bias, 16), 0)
			sum := 0.0
			for _, c := range clones {
				sum += c.mass * meanExcess(c.signs, u)
			}
			delta := sum*(math.Exp(epsilon)+1)*bias*(1+1e-12) + underflow
			if !(delta < 1) { // also where it overflows
				delta = 1
			}
			return Bracket{0, delta}
		},
	}
}

// clones is a range of numbers of clones: their probability, rounded up, and the number of signs,
// the person's included, at its lower end, which is the least private.
type clones struct {
	mass  float64
	signs int64
}

// cloneCounts sums up the binomial law of the number of clones among the other persons.
// Near its mode a range is a 32nd of a standard deviation wide, farther out a quarter.
func cloneCounts(e dp.Shuffled) []clones {
	n := min(e.Count, mostShuffled) - 1
	// A multiple of 2^-53 at most e^-eps0, so that 1-p is exact: fewer clones hide less.
	p := math.Floor(math.Ldexp(xmath.Down(math.Exp(-e.LocalEpsilon), 4), 53)) * 0x1p-53
	if p <= 0 || n == 0 {
		return []clones{{1, 1}}
	}
	low, masses, below, above := binomial(n, p)
	mean, sd := float64(n)*p, math.Sqrt(float64(n)*p*(1-p))
	out := []clones{{below, 1}}
	for i := 0; i < len(masses); {
		c := low + int64(i)
		width := sd / 32
		if math.Abs(float64(c)-mean) > 4*sd {
			width = sd / 4
		}
		end := min(i+1+int(width), len(masses))
		sum := 0.0
		for _, m := range masses[i:end] {
			sum += m
		}
		out = append(out, clones{sum, c + 1})
		i = end
	}
	out[len(out)-1].mass += above
	for i := range out {
		out[i].mass *= 1 + 2*binomialError
	}
	return out
}

// binomial returns the probabilities of n trials with success probability p, 0 < p < 1 a multiple of
// 2^-53, from low on, and bounds on the mass below and above them.
func binomial(n int64, p float64) (low int64, masses []float64, below, above float64) {
	q := 1 - p
	mode := min(int64(float64(n+1)*p), n)
	first := binomialMass(n, mode, p)
	var down, up []float64
	m := first
	for k := mode; ; k-- {
		down = append(down, m)
		ratio := float64(k) / float64(n-k+1) * q / p // falls with k
		if next := m * ratio; k == 0 || next < shuffleTail && ratio < 1 {
			low, below = k, rest(next, ratio)
			break
		}
		m *= ratio
	}
	m = first
	for k := mode; k < n; k++ {
		ratio := float64(n-k) / float64(k+1) * p / q // falls as k grows
		m *= ratio
		if m < shuffleTail && ratio < 1 {
			above = rest(m, ratio)
			break
		}
		up = append(up, m)
	}
	masses = make([]float64, 0, len(down)+len(up))
	for i := len(down) - 1; i >= 0; i-- {
		masses = append(masses, down[i])
	}
	return low, append(masses, up...), below, above
}

// rest bounds a series with first term m and ratios at most ratio < 1.
func rest(m, ratio float64) float64 {
	if m == 0 {
		return 0
	}
	return m / (1 - ratio) * (1 + 1e-6)
}

// meanExcess bounds the mean of (S/n - u)_+ from above, for S the sum of n fair signs
// and 0 <= u <= 1.
func meanExcess(n int64, u float64) float64 {
	size := float64(n)
	// The smallest number of plus signs that counts. One that rounding lets in adds 0.
	k := max(int64(math.Floor((size+size*u)/2))-1, n/2)
	m := binomialMass(n, k, .5)
	sum := 0.0
	for ; k <= n && m >= negligible; k++ {
		excess := max(float64(2*k-n)/size-u, 0)
		term := m * excess
		sum += term
		ratio := float64(n-k) / float64(k+1)
		m *= ratio
		// The next terms fall by at least this, and faster further on.
		if next := ratio * (1 + 2/size/max(excess, 0x1p-1000)); next < 1 && term*next < sum*(1-next)*1e-12 {
			sum *= 1 + 1e-12
			break
		}
	}
	return sum * (1 + 2*binomialError)
}

// binomialMass is the probability of k successes in n trials, in the saddle-point form of
// Loader (2000), in which no large numbers cancel.
func binomialMass(n, k int64, p float64) float64 {
	q := 1 - p
	switch k {
	case 0:
		return math.Exp(float64(n) * math.Log1p(-p))
	case n:
		return math.Exp(float64(n) * math.Log(p))
	}
	a, b, s := float64(k), float64(n-k), float64(n)
	log := stirlingError(n) - stirlingError(k) - stirlingError(n-k) - deviance(a, s*p) - deviance(b, s*q)
	return math.Exp(log) * math.Sqrt(s/(2*math.Pi*a*b))
}

// stirlingError is ln n! - (n+1/2) ln n + n - ln(2 pi)/2, n >= 1, with an error
// below 1e-11: of an enveloping series, so below its first term left out.
func stirlingError(n int64) float64 {
	x := float64(n)
	if n < 16 {
		factorial := 1.0
		for i := 2.0; i <= x; i++ {
			factorial *= i
		}
		return math.Log(factorial) - (x+.5)*math.Log(x) + x - .5*math.Log(2*math.Pi)
	}
	s := 1 / (x * x)
	return (1./12 - s*(1./360-s/1260)) / x
}

// deviance is x ln(x/m) + m - x >= 0, by its series in (x-m)/(x+m) near x = m.
func deviance(x, m float64) float64 {
	d := x - m
	if math.Abs(d) >= .1*(x+m) {
		return x*math.Log(x/m) - d
	}
	v := d / (x + m)
	sum, power := d*v, 2*x*v
	for j := 3.0; ; j += 2 {
		power *= v * v
		next := sum + power/j
		if next == sum {
			return sum
		}
		sum = next
	}
}
