package policy

import "github.com/discreet-rl/discreet/rl/trajectory"

// Logged is the policy that made the data: evaluation is on-policy and every
// importance ratio is 1, whether or not its probabilities are known.
type Logged struct{}

// Actions is 0: the logged policy does not say.
func (Logged) Actions() int { return 0 }

// MaxProb is 1.
func (Logged) MaxProb() float64 { return 1 }

// Bind implements [Policy]. Prob needs the column of behaviour probabilities,
// Distribution that of all actions' probabilities; without them they return
// false.
func (Logged) Bind(d *trajectory.Dataset) (Bound, error) { return boundLogged{d}, nil }

type boundLogged struct{ d *trajectory.Dataset }

func (b boundLogged) Actions() int { return b.d.Actions }

func (b boundLogged) Prob(row int) (float64, bool) {
	if b.d.BehaviorProb == nil {
		return 0, false
	}
	return probability(b.d.BehaviorProb[row])
}

func (b boundLogged) Distribution(dst []float64, row int) bool {
	clear(dst)
	k := b.d.Actions
	if k == 0 {
		return false
	}
	copy(dst[:k], b.d.ActionProbs[row*k:row*k+k])
	return true
}

// probability passes on a number in [0, 1] and refuses any other.
func probability(p float64) (float64, bool) {
	if p >= 0 && p <= 1 {
		return p, true
	}
	return 0, false
}
