package aggregator

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Confidence is that of all the intervals of one run together.
const Confidence = .95

// Success is what an evaluation says of the share of devices that reach the
// threshold.
type Success struct {
	// Share is an estimate, cut to [0, 1]: without the cut it has no bias. StdError bounds
	// its standard deviation, whatever the share is.
	Share, StdError float64
	// [Low, High] holds the share, and does so for all looks of the run at once with
	// probability Confidence at least: Clopper and Pearson (1934) on the randomised
	// answers at level (1 - Confidence)/looks, mapped back and cut to [0, 1].
	Low, High float64
}

// NewSuccess estimates from positive of n randomised answers at epsilon, in a run
// that announced so many looks. It is unknown, with the interval [0, 1], where n is 0
// or no look was announced.
//
// Answers are independent, and each device says yes with its own probability. Of sums
// of such answers the binomial with the mean probability has the widest tails beyond
// one answer from the mean (Hoeffding 1956), so the interval, which is made for that
// one, holds for the share among the devices that answered as well.
func NewSuccess(positive, n uint64, epsilon float64, looks uint64) Success {
	s := Success{Share: .5, StdError: .5, Low: 0, High: 1}
	if n == 0 || positive > n {
		return s
	}
	gain := math.Tanh(epsilon / 2) // P(yes | reached) - P(yes | not reached)
	share := func(p float64) float64 { return .5 + (p-.5)/gain }
	s.Share = min(1, max(0, share(float64(positive)/float64(n))))
	s.StdError = 1 / (2 * gain * math.Sqrt(float64(n)))
	if looks == 0 {
		return s
	}
	low, high := clopperPearson(float64(positive), float64(n), (1-Confidence)/float64(looks))
	s.Low = min(1, max(0, share(low)))
	s.High = max(0, min(1, share(high)))
	return s
}

// Needed is the least number of answers of which an evaluation tells a policy that works from others: if every device
// reaches the threshold, and as many answers say yes as are expected to, the interval begins at one half or above. It is
// 0 where a million do not suffice.
func Needed(epsilon float64, looks uint64) uint64 {
	gain := math.Tanh(epsilon / 2)
	tells := func(n uint64) bool {
		low, _ := clopperPearson(float64(n)*(1+gain)/2, float64(n), (1-Confidence)/float64(max(looks, 1)))
		return low >= .5
	}
	const most = 1_000_000
	if !(gain > 0) || !tells(most) {
		return 0
	}
	low, high := uint64(0), uint64(most)
	for low+1 < high {
		if mid := (low + high) / 2; tells(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// clopperPearson is the interval for the probability of x successes in n, with each
// end wrong with probability alpha/2 at most.
func clopperPearson(x, n, alpha float64) (low, high float64) {
	low, high = 0, 1
	if x > 0 {
		low = mathext.InvRegIncBeta(x, n-x+1, alpha/2)
	}
	if x < n {
		high = mathext.InvRegIncBeta(x+1, n-x, 1-alpha/2)
	}
	return low, high
}
