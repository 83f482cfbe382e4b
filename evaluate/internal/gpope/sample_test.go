package gpope

import (
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

// chiSquare fails when counts do not fit probabilities, with a false-alarm rate
// below 1e-7 (Wilson and Hilferty 1931).
func chiSquare(t *testing.T, name string, counts []int, probability []float64) {
	t.Helper()
	total, x := 0, 0.0
	for _, c := range counts {
		total += c
	}
	for i, c := range counts {
		want := probability[i] * float64(total)
		x += (float64(c) - want) * (float64(c) - want) / want
	}
	k := float64(len(counts) - 1)
	h := 2 / (9 * k)
	if z := (math.Cbrt(x/k) - (1 - h)) / math.Sqrt(h); z > 5.3 {
		t.Errorf("%s: chi squared is %.1f on %v degrees of freedom: counts %v", name, x, k, counts)
	}
}

func TestPoissonNumbersHaveTheirLaw(t *testing.T) {
	src := noise.NewSeeded(1)
	counts := make([]int, 8)
	for range 1_000_000 {
		counts[min(poissonOne(src), 7)]++
	}
	p, rest := make([]float64, 8), 1.0
	factorial := 1.0
	for k := range 7 {
		if k > 0 {
			factorial *= float64(k)
		}
		p[k] = math.Exp(-1) / factorial
		rest -= p[k]
	}
	p[7] = rest
	chiSquare(t, "Poisson(1)", counts, p)
}

// Persons are picked independently, each with the rate of the event: all 2^5
// samples of five persons, who fill one block and part of a second, have the
// product probability.
func TestPoissonPicksAreIndependentWithTheirRate(t *testing.T) {
	const persons, spacing = 5, 3
	rate := -math.Expm1(-1.0 / spacing)
	pick, src := poisson(persons, spacing), noise.NewSeeded(2)
	counts, p := make([]int, 1<<persons), make([]float64, 1<<persons)
	for range 400_000 {
		set := 0
		for _, person := range pick(src) {
			if person < 0 || person >= persons || set>>person&1 == 1 {
				t.Fatalf("person %d picked outside 0..%d, or twice", person, persons-1)
			}
			set |= 1 << person
		}
		counts[set]++
	}
	for set := range p {
		p[set] = 1
		for person := range persons {
			if set>>person&1 == 1 {
				p[set] *= rate
			} else {
				p[set] *= 1 - rate
			}
		}
	}
	chiSquare(t, "samples", counts, p)
}

func TestUniformPicksEverySubsetAlike(t *testing.T) {
	for _, batch := range []int{1, 2, 3} {
		const persons = 5
		pick, src := uniform(persons, batch), noise.NewSeeded(3)
		counts := map[int]int{}
		for range 200_000 {
			set := 0
			for _, person := range pick(src) {
				if person < 0 || person >= persons || set>>person&1 == 1 {
					t.Fatalf("person %d picked outside 0..%d, or twice", person, persons-1)
				}
				set |= 1 << person
			}
			counts[set]++
		}
		var list []int
		var p []float64
		subsets := []int{1, 5, 10, 10}[batch]
		for _, c := range counts {
			list, p = append(list, c), append(p, 1/float64(subsets))
		}
		if len(list) != subsets {
			t.Fatalf("batch %d: %d subsets of %d", batch, len(list), subsets)
		}
		chiSquare(t, "subsets", list, p)
	}
}

// The rate that is accounted for is never below the rate of the sampler, and
// averages divide by the expected batch that it makes of the public number.
func TestTheAccountedRateIsThatOfTheSampler(t *testing.T) {
	for _, c := range []struct{ persons, batch int64 }{{1000, 1}, {1000, 200}, {1000, 700}, {3e5, 1}, {3e5, 400}, {2, 1}, {1 << 31, 1}} {
		s := NewScheme(Poisson, c.persons, c.batch)
		true53 := -math.Expm1(-1 / float64(s.spacing))
		if !(s.rate >= true53) || s.rate > true53*(1+1e-14) {
			t.Errorf("%+v: rate %v for a spacing of %d; want %v or just above", c, s.rate, s.spacing, true53)
		}
		if math.Abs(s.Expected-s.rate*float64(c.persons)) > 1e-9*s.Expected {
			t.Errorf("%+v: divides by %v; want rate times persons %v", c, s.Expected, s.rate*float64(c.persons))
		}
		if q := float64(c.batch) / float64(c.persons); q < 0.1 && math.Abs(s.rate/q-1) > 0.06 {
			t.Errorf("%+v: rate %v is far from %v", c, s.rate, q)
		}
		if _, ok := s.Event(c.persons, dp.Gaussian{NoiseMultiplier: 1}).(dp.PoissonSampled); !ok {
			t.Errorf("%+v: the event is not Poisson sampled", c)
		}
	}
	if s := NewScheme(Poisson, 10, 10); s.Sampling != Everyone || s.Expected != 10 {
		t.Errorf("a batch of everyone: %+v", s)
	}
}

func TestPickingAllocatesNothing(t *testing.T) {
	for name, pick := range map[string]picker{"one": uniform(1000, 1), "uniform": uniform(1000, 50), "poisson": poisson(1000, 20)} {
		src := noise.NewSeeded(1)
		for range 200 {
			pick(src)
		}
		// Refills of the source allocate three times for 1024 words.
		if got := testing.AllocsPerRun(5, func() { pick(src) }); got > 3 {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
}
