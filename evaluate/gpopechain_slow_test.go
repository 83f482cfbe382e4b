//go:build slow

package evaluate

import (
	"testing"

	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
)

// RMSE over the chain's states, three seeds of data and noise, and one where seeds
// differ by a few per cent; public defaults: Algorithm 1, the mini-batch form, and the
// mini-batch form with public visits.
// The limits are a quarter above what was measured over more seeds, half above for one seed of single persons.
func TestGPOPEAccuracyOnTheChain(t *testing.T) {
	visits := make([]float64, chain.States)
	for s := range visits {
		// Starts are uniform, so state s is passed by (s+1)/40 of the episodes.
		visits[s] = float64(s+1) / (chain.States * (chain.States + 1) / 2)
	}
	t.Logf("best constant %.4f", bestConstant())
	for _, c := range []struct {
		persons int
		epsilon float64
		seeds   int
		limits  [3]float64
	}{
		{1_000, 1, 3, [3]float64{0.88, 0.21, 0.24}},
		{10_000, 0.1, 3, [3]float64{0.83, 0.17, 0.20}},
		{100_000, 0.1, 3, [3]float64{0.58, 0.038, 0.028}},
		{300_000, 1, 1, [3]float64{0.48, 0.0105, 0.011}},
	} {
		for i, m := range []GPOPE{{Batch: 1}, {}, {Visits: visits}} {
			got := chainError(t, m, c.persons, c.epsilon, c.seeds)
			t.Logf("%d persons, epsilon %v, batch %d, visits %v: RMSE %.4f", c.persons, c.epsilon, m.Batch, m.Visits != nil, got)
			if got > c.limits[i] {
				t.Errorf("%d persons, epsilon %v, batch %d, visits %v: RMSE %.4f; want at most %.4f", c.persons, c.epsilon, m.Batch, m.Visits != nil, got, c.limits[i])
			}
		}
	}
}
