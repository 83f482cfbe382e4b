//go:build slow

package evaluate

import (
	"testing"

	"github.com/discreet-rl/discreet/rl/sim/chain"
)

// RMSE over the chain's states, five seeds of data and noise, public defaults:
// Algorithm 1, the mini-batch form, and the mini-batch form with public visits.
// The limits are a quarter above what was measured.
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
		limits  [3]float64
	}{
		{1_000, 1, [3]float64{1, 1, 1}},
		{10_000, 0.1, [3]float64{1, 1, 1}},
		{100_000, 0.1, [3]float64{1, 1, 1}},
		{300_000, 1, [3]float64{1, 1, 1}},
	} {
		for i, m := range []GPOPE{{Batch: 1}, {}, {Visits: visits}} {
			got := chainError(t, m, c.persons, c.epsilon, 5)
			t.Logf("%d persons, epsilon %v, batch %d, visits %v: RMSE %.4f", c.persons, c.epsilon, m.Batch, m.Visits != nil, got)
			if got > c.limits[i] {
				t.Errorf("%d persons, epsilon %v, batch %d, visits %v: RMSE %.4f; want at most %.4f", c.persons, c.epsilon, m.Batch, m.Visits != nil, got, c.limits[i])
			}
		}
	}
}
