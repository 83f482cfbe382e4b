package audit

import (
	"math"
	"sort"

	"github.com/discreet-rl/discreet/internal/xmath"
)

// Power is what an audit can find at all.
type Power struct {
	// expected is the bound on mu that is expected of a mechanism that spends all it
	// claims, on its worst neighbours.
	Expected float64 `json:"expected_mu"`
	// HalfNoise is a lower bound of the probability to refute one whose noise is half
	// of what it claims.
	HalfNoise float64 `json:"finds_half_noise"`
}

// Power is what so many runs of each world can find of a claim with a mu, by a test
// that answers half way between two normal laws; see expected and detects.
func (c Claim) Power(runs int, falseAlarm float64) Power {
	return Power{expected(c.Mu, runs, falseAlarm), detects(c.Mu, 2*c.Mu, runs, falseAlarm)}
}

// counted is how many of the runs of a world count, after those that choose.
func counted(runs int) int { return runs - choosing(runs) }

// expected is the bound on mu that so many runs of each world show of a mechanism
// whose two outcomes are N(0, 1) and N(mu, 1), by a test that answers half way between
// them as often as is expected.
func expected(mu float64, runs int, falseAlarm float64) float64 {
	n := counted(runs)
	hits := int(xmath.NormCDF(mu/2) * float64(n))
	return halfway(n-hits, hits, n).limited(falseAlarm / 2).Mu()
}

// halfway is the region of a test that answered wrongly and rightly so often.
func halfway(wrong, right, n int) Region {
	return Region{Answering: 1, Hits: [2]int{wrong, right}, Runs: [2]int{n, n}}
}

// slabs part the number of wrong answers, a quarter of a standard deviation each.
const slabs = 64

// detects is a lower bound of the probability that so many runs of each world refute
// the claimed mu, of a mechanism whose two outcomes are N(0, 1) and N(mu, 1) and
// with a test that answers half way between them. A test that is chosen from few
// samples stands beside it and finds a little less.
func detects(claimed, mu float64, runs int, falseAlarm float64) float64 {
	n := counted(runs)
	share := xmath.NormCDF(mu / 2)
	passes := func(wrong, right int) bool {
		return halfway(wrong, right, n).limited(falseAlarm/2).Mu() > claimed*(1+rounding)
	}
	mean, deviation := float64(n)*(1-share), math.Sqrt(float64(n)*share*(1-share))
	total, before := 0.0, 0.0
	for i := range slabs {
		wrong := min(n, int(mean+deviation*(float64(i+1)/4-slabs/8)))
		if wrong < 0 {
			continue
		}
		upTo := 1 - atLeastOf(wrong+1, n, 1-share)
		right := sort.Search(n+1, func(k int) bool { return passes(wrong, k) })
		if right <= n {
			total += max(0, upTo-before) * atLeastOf(right, n, share)
		}
		before = upTo
	}
	return max(0, total-2*margin)
}

// atLeastOf is the probability of k or more successes in n runs.
func atLeastOf(k, n int, p float64) float64 {
	switch {
	case k <= 0:
		return 1
	case k > n:
		return 0
	}
	return min(1, math.Exp(logTail(k, n, p)))
}

// Enough is a number of runs of each world that is expected to show a share of mu,
// at most limit.
func Enough(mu, share, falseAlarm float64, limit int) int {
	for runs := 2000; runs < limit; runs += runs / 4 {
		if expected(mu, runs, falseAlarm) >= share*mu {
			return runs
		}
	}
	return limit
}
