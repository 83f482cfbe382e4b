package truthbench_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/discreet-rl/discreet/evaluate/internal/truthbench"
	"github.com/discreet-rl/discreet/rl/policy"
)

// TestBettingAgreesWithItsAuthors: intervals that confseq 0.0.11 prints (betting_cs with lambda_predmix_eb for the
// number of observations, truncated at half of 1/m, on a grid of 20,000), for sequences that need no generator.
func TestBettingAgreesWithItsAuthors(t *testing.T) {
	for _, c := range []struct {
		n    int
		at   func(i int) float64
		want [2]float64
	}{
		{200, func(i int) float64 { return b2f(7*i%10 < 3) }, [2]float64{0.22145, 0.3941}},
		{100, func(i int) float64 { return float64((3*i*i+i)%17) / 16 }, [2]float64{0.3554, 0.5276}},
		{400, func(i int) float64 { return b2f(i%25 == 0) }, [2]float64{0.0182, 0.07155}},
	} {
		x, rest := make([]float64, c.n), make([]float64, c.n)
		for i := range x {
			x[i] = c.at(i)
			rest[i] = 1 - x[i]
		}
		got := [2]float64{truthbench.BettingLeast(x), 1 - truthbench.BettingLeast(rest)}
		if math.Abs(got[0]-c.want[0]) > 1e-4 || math.Abs(got[1]-c.want[1]) > 1e-4 {
			t.Errorf("%d numbers: %v; confseq %v", c.n, got, c.want)
		}
	}
}

// TestBettingHoldsMeans: of 2,000 samples of rare and of frequent outcomes, at most 2.5% of lower limits are above the mean (Ville). A
// count that one of this rate exceeds with probability below 2e-6 fails.
func TestBettingHoldsMeans(t *testing.T) {
	const samples = 2000
	rng := rand.New(rand.NewPCG(3, 1))
	for _, mean := range []float64{0.01, 0.3, 0.95} {
		held := 0
		for range samples {
			x := make([]float64, 150)
			for i := range x {
				x[i] = b2f(rng.Float64() < mean)
			}
			if truthbench.BettingLeast(x) <= mean {
				held++
			}
		}
		if held < least(samples, 0.975) {
			t.Errorf("mean %v: %d of %d limits hold", mean, held, samples)
		}
	}
}

// TestBootstrapIsBinomial: where all weights are equal, a resampled mean of k ones among n is binomial, and its
// percentiles are known. With 400 resamples their standard error is below .12 standard deviations.
func TestBootstrapIsBinomial(t *testing.T) {
	const n, ones, weight = 2000, 700, 3.0
	w := truthbench.Weighted{Gamma: 1, Horizon: 1}
	for i := range n {
		w.Weight, w.Reward = append(w.Weight, weight), append(w.Reward, b2f(i < ones))
	}
	normal := distuv.Normal{Mu: float64(ones) / n, Sigma: math.Sqrt(float64(ones) / n * float64(n-ones) / n / n)}
	got := truthbench.Percentiles(truthbench.Bootstrap(rand.New(rand.NewPCG(1, 1)).IntN, w)[0])
	for k, q := range []float64{0.025, 0.975} {
		if math.Abs(got[k]-normal.Quantile(q)) > 0.54*normal.Sigma {
			t.Errorf("percentile %v: %v; binomial %v", q, got[k], normal.Quantile(q))
		}
	}
}

// TestPeersWeighByHand: two persons over two decisions, by pencil. One has ratios 2 and .5 and rewards 0 and 1, the
// other's episode ends after a reward of 1 and a ratio of 3.
func TestPeersWeighByHand(t *testing.T) {
	p := truthbench.Problems()[0]
	d := p.Draw(2, 1)
	d.EpisodeStart, d.Obs, d.Action, d.Reward = []int{0, 2, 3}, []float64{0, 0, 0}, []int32{0, 0, 0}, []float64{0, 1, 1}
	d.BehaviorProb, d.TargetProb = []float64{0.25, 0.5, 0.25}, []float64{0.5, 0.25, 0.75}
	w, err := truthbench.NewWeighted(d, policy.ProbColumn{}, 0.5, 2)
	if err != nil {
		t.Fatal(err)
	}
	// By decision: (2*0 + 3*1)/5 + .5 (1*1 + 3*0)/4. Whole returns are .5 and 1, with weights 1 and 3.
	if got := w.Value(); math.Abs(got-(0.6+0.125)) > 1e-15 {
		t.Errorf("WPDIS %v; want .725", got)
	}
	if got := w.Whole().Value(); math.Abs(got-(0.5+3)/4) > 1e-15 {
		t.Errorf("WIS %v; want .875", got)
	}
}

func b2f(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
