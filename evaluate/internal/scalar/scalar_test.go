package scalar

import (
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
)

// TestAllowanceRestoresCoverage integrates the coverage of z sqrt(V) over a
// normal V: without the allowance it falls below 95%, with it it does not by more
// than a tenth of a percent, and it exceeds 95% by no more than 1%.
func TestAllowanceRestoresCoverage(t *testing.T) {
	for _, s := range []float64{0.05, 0.1, 0.2, 0.3} {
		plain, with := 0.0, 0.0
		const points = 2000
		for i := range points {
			z := -6 + 12*(float64(i)+0.5)/points
			weight := 12.0 / points * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
			v := max(0, 1+s*z)
			cover := func(v float64) float64 { return math.Erf(Z95 * math.Sqrt(v/2)) }
			plain += weight * cover(v)
			with += weight * cover(v+allowance(Z95, v, 0, s))
		}
		if plain >= 0.95 {
			t.Errorf("noise %v: plain coverage %v", s, plain)
		}
		if with < 0.949 || with > 0.96 {
			t.Errorf("noise %v: coverage %.4f with the allowance, %.4f without; want .949 to .96", s, with, plain)
		}
	}
}

// TestSamplingErrorHoldsNoNoise: where all persons are alike, sampling makes no error, and
// half of the noisy variances are below 0. Of 40 runs fewer than 5 are so with probability
// below 1e-6. What noise may hide is an error of privacy.
func TestSamplingErrorHoldsNoNoise(t *testing.T) {
	p := facts.Public{Persons: 500, Adjacency: dp.ReplaceOne, Returns: facts.Range{Min: 0, Max: 1}}
	w := Mean{Public: p, Ranges: ClipRanges{Anchor: 0.5, Below: 0.5, Above: 0.5}, Noise: Stages{Main: 5}}
	x := make([]float64, 500)
	for i := range x {
		x[i] = 0.5
	}
	m, err := w.moments(w.Ranges.At(0))
	if err != nil {
		t.Fatal(err)
	}
	_, sum, _ := m.SD()
	none, src := 0, noise.NewSeeded(8)
	for range 40 {
		e, err := w.Run(Numbers{x}, Numbers{x}, w.Ranges, src)
		if err != nil {
			t.Fatal(err)
		}
		if e.StdSampling == 0 {
			none++
		}
		if !(e.StdPrivacy > sum/500) {
			t.Errorf("std_privacy %v leaves out what noise hides; that of the mean alone is %v", e.StdPrivacy, sum/500)
		}
	}
	if none < 5 {
		t.Errorf("%d of 40 runs have no error of sampling; want about half", none)
	}
}
