package evaluate

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
)

const (
	refineRounds    = 3
	maxRefineRounds = 20
)

// refineRule holds the numbers of dp-refine's public rule. There is one rule for
// all, standardRule; experiments try others.
type refineRule struct {
	// levelShare and countShare are shares of mu^2: for the overall level, and for
	// the visit counts with their first residuals. The rounds share the rest
	// equally.
	levelShare, countShare float64
	// firstClip times the spread of persons' means is the typical residual to which
	// the first ones are clipped, but at least firstFloor and at most half of the
	// range of returns: where persons are alike their states' values still differ.
	firstClip, firstFloor float64
	// clip is the factor of clipFactor at m mu = 300.
	clip float64
	// weight is the power of a state's share of visitors by whose inverse residuals
	// are scaled.
	weight float64
	// level, slope and state are the prior of V(s) = a + b (p_s - mean p) + d_s, p_s
	// being the share of persons who visit s: standard deviations in units of the
	// range of returns.
	level, slope, state float64
}

// standardRule was fixed on simulated chains (docs/results/refine-experiments.md).
// It is applied to public facts alone: the budget, the number of persons, the
// number of coordinates and the range of returns.
func standardRule() refineRule {
	return refineRule{
		levelShare: 0.04, countShare: 0.36,
		firstClip: 3.5, firstFloor: 0.4, clip: 1.5, weight: 0.5,
		level: 0.2, slope: 0.7, state: 0.1,
	}
}

// clipFactor is the rule for the clip of a round, in units of the predicted root
// mean square norm of a person's residual. Noise grows with the clip and falls
// with m mu, while the bias of a tight clip does not fall; so the clip widens
// with the fourth root of m mu, from 1 where noise rules to 8.
func (r refineRule) clipFactor(mMu float64) float64 {
	return min(max(r.clip*math.Sqrt(math.Sqrt(mMu/300)), 1), 8)
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
func newRefineSchedule(p Public, rule refineRule, rounds int) (refineSchedule, error) {
	if rounds == 0 {
		rounds = refineRounds
	}
	if rounds < 1 || rounds > maxRefineRounds {
		return refineSchedule{}, fmt.Errorf("%w: dp-refine: rounds is %d; want 1 to %d", ErrMethod, rounds, maxRefineRounds)
	}
	s := refineSchedule{shares: []float64{rule.levelShare, rule.countShare}}
	for range rounds {
		s.shares = append(s.shares, (1-rule.levelShare-rule.countShare)/float64(rounds))
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
	s.clipFactor = rule.clipFactor(float64(p.Persons) * 2 * math.Sqrt(all))
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
