package evaluate

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
)

// The public rule of dp-refine. It was fixed on simulated chains
// (docs/results/refine-experiments.md) and reads public facts alone: the budget,
// the number of persons, the number of coordinates and the range of returns.
const (
	// refineLevelShare, refineCountShare: shares of mu^2 for the overall level and
	// for the visit counts with their first residuals. The rounds share the rest
	// equally.
	refineLevelShare = 0.04
	refineCountShare = 0.36
	refineRounds     = 3
	maxRefineRounds  = 20

	// refineFirstClip times the spread of persons' means is the typical norm to
	// which the first residuals are clipped.
	refineFirstClip = 3.5

	// The prior of V(s) = a + b (p_s - mean p) + d_s, p_s being the share of
	// persons who visit s: standard deviations in units of the range of returns.
	priorLevel = 0.2
	priorSlope = 0.7
	priorState = 0.1
)

// clipFactor is the rule for the clip of a round, in units of the predicted root
// mean square norm of a person's residual. Noise grows with the clip and falls
// with m mu, while the bias of a tight clip does not fall; so the clip widens
// with the fourth root of m mu, from 1 where noise rules to 8.
func clipFactor(mMu float64) float64 {
	return min(max(1.5*math.Sqrt(math.Sqrt(mMu/300)), 1), 8)
}

// refineSchedule is what the rule makes of the public facts.
type refineSchedule struct {
	shares      []float64 // of mu^2: level, counts, rounds
	multipliers []float64 // noise over clip, by release
	clipFactor  float64
}

// newRefineSchedule splits the budget. Gaussian releases whose multipliers are
// fixed beforehand compose exactly, whatever the later ones ask (Dong, Roth and
// Su 2022).
func newRefineSchedule(p Public, rounds int) (refineSchedule, error) {
	if rounds == 0 {
		rounds = refineRounds
	}
	if rounds < 1 || rounds > maxRefineRounds {
		return refineSchedule{}, fmt.Errorf("%w: dp-refine: rounds is %d; want 1 to %d", ErrMethod, rounds, maxRefineRounds)
	}
	s := refineSchedule{shares: []float64{refineLevelShare, refineCountShare}}
	for range rounds {
		s.shares = append(s.shares, (1-refineLevelShare-refineCountShare)/float64(rounds))
	}
	var err error
	if s.multipliers, err = multipliers(*p.Privacy, s.shares...); err != nil {
		return refineSchedule{}, err
	}
	// mu of the whole budget, as it stands for one unit of a replaced person.
	all := 0.0
	for _, x := range s.multipliers {
		all += 1 / (x * x)
	}
	s.clipFactor = clipFactor(float64(p.Persons) * 2 * math.Sqrt(all))
	return s, nil
}

// visitNorm is how a person's visits enter the counts: state by state as
// 1 - centre where visited and -centre where not, a vector whose norm is at most
// norm when at most visits of dim coordinates are visited. Under AddRemoveOne
// the number of persons, which would undo a centre, is private, so it is 0.
func visitNorm(adjacency dp.Adjacency, dim, visits int) (centre, norm float64) {
	n, k := float64(dim), float64(min(dim, visits))
	if adjacency == dp.AddRemoveOne {
		return 0, math.Sqrt(k)
	}
	centre = min(0.5, k/n)
	return centre, math.Sqrt(max(n*centre*centre, k*(1-centre)*(1-centre)+(n-k)*centre*centre))
}
