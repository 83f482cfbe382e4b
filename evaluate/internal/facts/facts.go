// Package facts holds the public facts of an evaluation as plain values: what is
// known, and may be told, without the data. The numerics of all methods rest on
// them and on nothing else but the data. Start with [Public], which package
// evaluate fills from its own, validated facts.
package facts

import (
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
)

// Range is a closed interval of public bounds.
type Range struct{ Min, Max float64 }

// Width is Max - Min.
func (r Range) Width() float64 { return r.Max - r.Min }

// Mid is the middle of the range.
func (r Range) Mid() float64 { return r.Min + r.Width()/2 }

// Clamp is the point of the range that is nearest to x; NaN stays NaN.
func (r Range) Clamp(x float64) float64 { return min(max(x, r.Min), r.Max) }

// Public are the facts that a mechanism may depend on.
type Public struct {
	// Persons is their number under ReplaceOne and a lower bound on it under
	// AddRemoveOne, or a guess.
	Persons   int64
	Guessed   bool
	Adjacency dp.Adjacency
	Noise     mechanism.Noise
	// Gamma is the discount, in (0, 1].
	Gamma float64
	// Reward bounds one reward, Returns the discounted return of a trajectory.
	Reward, Returns Range
	// Horizon is the largest number of decisions that a person contributes.
	Horizon int64
	// Features maps observations to features; nil where a method needs none.
	Features feature.Map
	// Target is the policy to evaluate.
	Target policy.Policy
}

// AtLeast is how many persons there are at least, for noisy numbers of them.
func (p Public) AtLeast() float64 {
	if p.Guessed {
		return 1
	}
	return float64(p.Persons)
}

// OnPolicy tells whether the target is the policy that made the data.
func (p Public) OnPolicy() bool { return policy.OnPolicy(p.Target) }
