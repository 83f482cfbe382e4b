package gpope

import (
	"math"
	"math/bits"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

// Sampling says how the persons of a step are picked.
type Sampling string

const (
	// Uniform picks a fixed number of persons without replacement. The number of
	// persons must be public: under replace_one alone.
	Uniform Sampling = "uniform"
	// Poisson picks each person independently. It is the default, since it needs
	// less noise.
	Poisson Sampling = "poisson"
	// Everyone takes all persons in every step.
	Everyone Sampling = "everyone"
)

// picker draws the persons of one step, by number, into a slice that the next
// call reuses. What it returns is never told.
type picker func(src *noise.Source) []int32

// everyone picks all persons.
func everyone(persons int) picker {
	all := make([]int32, persons)
	for i := range all {
		all[i] = int32(i)
	}
	return func(*noise.Source) []int32 { return all }
}

// uniform picks batch of persons, each subset equally likely: the first places
// of a shuffle, which may start from any order.
func uniform(persons, batch int) picker {
	if batch == 1 {
		one := make([]int32, 1)
		return func(src *noise.Source) []int32 {
			one[0] = int32(src.Uint64n(uint64(persons)))
			return one
		}
	}
	order := make([]int32, persons)
	for i := range order {
		order[i] = int32(i)
	}
	return func(src *noise.Source) []int32 {
		for i := range batch {
			j := i + int(src.Uint64n(uint64(persons-i)))
			order[i], order[j] = order[j], order[i]
		}
		return order[:batch]
	}
}

// poisson picks each person independently with probability exactly
// 1 - exp(-1/spacing). Persons stand in blocks of spacing places, the last one
// with places left empty; a Poisson number of darts with mean 1 is thrown at
// each block, so that places are hit by independent Poisson numbers with mean
// 1/spacing, and whoever is hit is picked. It costs of the order of the number
// picked.
func poisson(persons int, spacing int64) picker {
	picked := make([]int32, 0, 64)
	return func(src *noise.Source) []int32 {
		picked = picked[:0]
		for block := int64(0); block < int64(persons); block += spacing {
			first := len(picked)
			for range poissonOne(src) {
				p := block + int64(src.Uint64n(uint64(spacing)))
				if p < int64(persons) && !slices.Contains(picked[first:], int32(p)) {
					picked = append(picked, int32(p))
				}
			}
		}
		return picked
	}
}

// poissonOne draws a Poisson number with mean 1, exactly, from uniform bits: k
// with probability 2^-(k+1) is kept with probability 2^(k-1)/k!, which is 1/2
// for k = 0, 1 for k = 1 and 2, and else the product of 2/j, j = 3..k.
func poissonOne(src *noise.Source) int {
	for {
		k := 0
		word := src.Uint64()
		for word == 0 {
			k += 64
			word = src.Uint64()
		}
		k += bits.TrailingZeros64(word)
		if keep(k, src) {
			return k
		}
	}
}

func keep(k int, src *noise.Source) bool {
	if k == 0 {
		return src.Uint64()>>63 == 0
	}
	for j := 3; j <= k; j++ {
		if src.Uint64n(uint64(j)) >= 2 {
			return false
		}
	}
	return true
}

// spacingFor is the number of places a block that comes nearest to an expected
// batch, and rate the probability of each person that it gives, rounded up.
func spacingFor(persons, batch int64) (spacing int64, rate float64) {
	q := float64(batch) / float64(persons)
	spacing = max(1, int64(math.Round(-1/math.Log1p(-min(q, 0.9)))))
	return spacing, min(1, -math.Expm1(-1/float64(spacing))*(1+0x1p-50))
}

// Scheme is how persons are picked, with what it means for the accountant.
type Scheme struct {
	Sampling Sampling
	batch    int64   // uniform: persons a step
	spacing  int64   // poisson
	rate     float64 // poisson: probability of each person, rounded up
	Expected float64 // persons a step, what averages divide by; public
}

// NewScheme fixes the sampling from public facts.
func NewScheme(s Sampling, persons, batch int64) Scheme {
	if batch >= persons {
		return Scheme{Sampling: Everyone, batch: persons, Expected: float64(persons)}
	}
	if s == Uniform {
		return Scheme{Sampling: Uniform, batch: batch, Expected: float64(batch)}
	}
	spacing, rate := spacingFor(persons, batch)
	return Scheme{Sampling: Poisson, spacing: spacing, rate: rate, Expected: rate * float64(persons)}
}

// Event is one step whose noise has the given multiplier.
func (s Scheme) Event(persons int64, step dp.Event) dp.Event {
	switch s.Sampling {
	case Uniform:
		return dp.SampledWithoutReplacement{Population: persons, Sample: s.batch, Event: step}
	case Poisson:
		return dp.PoissonSampled{Rate: s.rate, Event: step}
	}
	return step
}

// picker makes the picker for a dataset of so many persons; under AddRemoveOne
// they may be more than the public number.
func (s Scheme) picker(persons int) picker {
	switch s.Sampling {
	case Uniform:
		return uniform(persons, int(s.batch))
	case Poisson:
		return poisson(persons, s.spacing)
	}
	return everyone(persons)
}
