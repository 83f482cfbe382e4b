package account_test

import (
	"errors"
	"math"
	"math/bits"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

// cutSample is the law of a cut Poisson sample of few persons by enumeration: the weight of every
// sum of what the persons in it add, a whole number each.
func cutSample(persons []int, rate float64, batch int) map[int]float64 {
	law := map[int]float64{}
	for sample := range 1 << len(persons) {
		size := bits.OnesCount(uint(sample))
		weight := math.Pow(rate, float64(size)) * math.Pow(1-rate, float64(len(persons)-size))
		var kept []int // the subsets that the batch may be, each as likely
		for sub := sample; ; sub = (sub - 1) & sample {
			if bits.OnesCount(uint(sub)) == min(size, batch) {
				kept = append(kept, sub)
			}
			if sub == 0 {
				break
			}
		}
		for _, sub := range kept {
			sum := 0
			for i, x := range persons {
				if sub>>i&1 == 1 {
					sum += x
				}
			}
			law[sum] += weight / float64(len(kept))
		}
	}
	return law
}

// divergences integrates the hockey-stick divergence at e^epsilon, and the mean of the ratio's power that is
// the Renyi divergence of the order, of two mixtures of normals, on a fine grid.
func divergences(p, q map[int]float64, sd, epsilon, order float64) (delta, renyi float64) {
	density := func(law map[int]float64, x float64) float64 {
		sum := 0.0
		for mean, w := range law {
			z := (x - float64(mean)) / sd
			sum += w * math.Exp(-z*z/2) / sd / math.Sqrt(2*math.Pi)
		}
		return sum
	}
	const step = 0.05
	for x := -14.0; x <= 14; x += step {
		a, b := density(p, x), density(q, x)
		delta += max(a-math.Exp(epsilon)*b, 0) * step
		renyi += math.Pow(a, order) * math.Pow(b, 1-order) * step
	}
	return delta, math.Log(renyi) / (order - 1)
}

// TestTruncatedSamplesHoldWhatEnumerationFinds: four persons who add -1, 0 or 1, and every neighbour of every such dataset, by
// enumeration of all samples and all subsets that are kept, and integration: no delta and no Renyi divergence is above what is
// certain, and some dataset reaches the lower end.
func TestTruncatedSamplesHoldWhatEnumerationFinds(t *testing.T) {
	const sd, epsilon, order = 1.1, 0.3, 3
	for _, adj := range []dp.Adjacency{dp.AddRemoveOne, dp.ReplaceOne} {
		for _, rate := range []float64{0.2, 0.6, 1} {
			for _, batch := range []int{1, 3} {
				e := dp.TruncatedPoissonSampled{Population: 4, Rate: rate, Batch: int64(batch), Event: dp.Gaussian{NoiseMultiplier: sd}}
				got := ask(t, adj, e, 1, "delta", epsilon, 0)
				r := account.NewRDP(adj)
				compose(t, r, e, 1)
				limit := r.Renyi(order)
				most, farthest := 0.0, 0.0
				for _, others := range [][]int{{-1, -1, -1}, {-1, -1, 0}, {-1, -1, 1}, {-1, 0, 0}, {-1, 0, 1}, {-1, 1, 1}, {0, 0, 0}, {0, 0, 1}, {0, 1, 1}, {1, 1, 1}} {
					with := cutSample(append(others[:3:3], 1), rate, batch)
					neighbours := []map[int]float64{cutSample(others, rate, batch)}
					if adj == dp.ReplaceOne {
						neighbours = []map[int]float64{cutSample(append(others[:3:3], -1), rate, batch), cutSample(append(others[:3:3], 0), rate, batch)}
					}
					for _, without := range neighbours {
						for _, pair := range [][2]map[int]float64{{with, without}, {without, with}} {
							delta, renyi := divergences(pair[0], pair[1], sd, epsilon, order)
							most, farthest = max(most, delta), max(farthest, renyi)
						}
					}
				}
				if most > got.Upper*(1+1e-3) || most < got.Lower*(1-1e-3) || farthest > limit*(1+1e-6) {
					t.Errorf("%v, rate %v, batch %d: enumerated delta %v, Renyi %v; certain are %v, %v", adj, rate, batch, most, farthest, got, limit)
				}
				if got.Upper > 1.8*most {
					t.Errorf("%v, rate %v, batch %d: upper end %v for %v", adj, rate, batch, got.Upper, most)
				}
			}
		}
	}
}

// TestTruncatedSamplesMeetTheirLimits: a batch that holds everybody is a Poisson sample; one that nearly never
// fills costs nearly that; and with a rate of 1 it is a sample of fixed size.
func TestTruncatedSamplesMeetTheirLimits(t *testing.T) {
	noise := dp.Gaussian{NoiseMultiplier: 1}
	cut := func(population, batch int64, rate float64) dp.Event {
		return dp.TruncatedPoissonSampled{Population: population, Rate: rate, Batch: batch, Event: noise}
	}
	for _, adj := range []dp.Adjacency{dp.AddRemoveOne, dp.ReplaceOne} {
		whole := ask(t, adj, sgd(.01, 1), 1000, "epsilon", 0, 1e-6)
		if got := ask(t, adj, cut(10000, 10000, .01), 1000, "epsilon", 0, 1e-6); got != whole {
			t.Errorf("%v, everybody fits: %v; a Poisson sample %v", adj, got, whole)
		}
		if got := ask(t, adj, cut(10000, 200, .01), 1000, "epsilon", 0, 1e-6); math.Abs(got.Upper/whole.Upper-1) > 1e-4 || math.Abs(got.Lower/whole.Lower-1) > 1e-4 {
			t.Errorf("%v, 200 places for 100: %v; a Poisson sample %v", adj, got, whole)
		}
		if got := ask(t, adj, cut(10000, 130, .01), 1000, "epsilon", 0, 1e-6); !(got.Upper > whole.Upper*1.1) {
			t.Errorf("%v, 130 places for 100: %v; a Poisson sample %v is no price for it", adj, got, whole)
		}
	}
	fixed := ask(t, dp.ReplaceOne, dp.SampledWithoutReplacement{Population: 1000, Sample: 30, Event: noise}, 50, "epsilon", 0, 1e-6)
	if got := ask(t, dp.ReplaceOne, cut(1000, 30, 1), 50, "epsilon", 0, 1e-6); math.Abs(got.Upper/fixed.Upper-1) > 1e-6 {
		t.Errorf("rate 1: %v; a sample of fixed size %v", got, fixed)
	}
}

// TestTruncatedSamplesElsewhere: several Gaussians on one sample, filters, groups, and what is refused.
func TestTruncatedSamplesElsewhere(t *testing.T) {
	ctx := t.Context()
	cut := func(e dp.Event) dp.Event {
		return dp.TruncatedPoissonSampled{Population: 1000, Rate: .05, Batch: 90, Event: e}
	}
	for _, adj := range []dp.Adjacency{dp.AddRemoveOne, dp.ReplaceOne} {
		twice := ask(t, adj, cut(dp.SelfComposed{Count: 4, Event: dp.Gaussian{NoiseMultiplier: 8}}), 50, "epsilon", 0, 1e-6)
		once := ask(t, adj, cut(dp.Gaussian{NoiseMultiplier: 4}), 50, "epsilon", 0, 1e-6)
		if twice.Upper < once.Upper*(1-1e-4) || adj == dp.AddRemoveOne && twice.Upper > once.Upper*(1+1e-4) {
			t.Errorf("%v: four sums on one sample %v, one of twice the mu %v", adj, twice, once)
		}
	}
	event := cut(dp.Gaussian{NoiseMultiplier: 2})
	for _, rule := range []account.Rule{account.Renyi, account.Basic} {
		wide := cut(dp.Gaussian{NoiseMultiplier: 7})
		f, err := account.NewFilter(dp.AddRemoveOne, dp.Budget{Epsilon: 0.5, Delta: 1e-5}, rule, account.FilterOptions{ChargeDelta: 1e-6})
		if err != nil {
			t.Fatal(err)
		}
		charges := 0
		for ; charges < 1000 && f.Charge(ctx, wide) == nil; charges++ {
		}
		if spent, err := f.Spent(); err != nil || charges < 1 || charges == 1000 || spent.Epsilon > 0.5 {
			t.Errorf("%v: %d charges, spent %v, %v", rule, charges, spent, err)
		}
	}
	if err := account.ForGroup(account.New(dp.AddRemoveOne), 2).Compose(ctx, event, 1); !errors.Is(err, account.ErrUnsupported) {
		t.Errorf("a group under add_remove_one: %v", err)
	}
	if err := account.ForGroup(account.New(dp.ReplaceOne), 2).Compose(ctx, event, 1); err != nil {
		t.Errorf("a group under replace_one: %v", err)
	}
	for _, bad := range []dp.Event{cut(dp.Laplace{NoiseMultiplier: 2}), dp.PoissonSampled{Rate: .5, Event: event}} {
		if err := account.New(dp.AddRemoveOne).Compose(ctx, bad, 1); !errors.Is(err, account.ErrUnsupported) {
			t.Errorf("%+v: %v; want ErrUnsupported", bad, err)
		}
	}
	large := dp.TruncatedPoissonSampled{Population: 1 << 40, Rate: .05, Batch: 90, Event: dp.Gaussian{NoiseMultiplier: 2}}
	if err := account.New(dp.AddRemoveOne).Compose(ctx, large, 1); !errors.Is(err, account.ErrUncertified) {
		t.Errorf("2^40 persons: %v", err)
	}
}
