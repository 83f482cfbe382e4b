package mechanism

import (
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
)

// PermuteAndFlip releases which of a public number of candidates has a large total
// score, and nothing else. Every person adds one score for each candidate. In a uniform
// order the candidates toss a coin each, which falls with probability
// exp(-rate (largest total - own total)), and the first whose coin falls is released.
//
// Only differences of scores count. Those of one person are clipped to an interval of
// length spread, so that between neighbours the difference of two totals changes by at
// most spread under AddRemoveOne and twice that under ReplaceOne; the rate is epsilon
// over that.
//
// Unit: a person. Adjacency: either. The event is dp.PermuteAndFlip, which is pure.
// Source: McKenna and Sheldon 2020. Proof: docs/proofs/permuteflip.md. The number of coins
// depends on the scores, and so does the time.
type PermuteAndFlip struct{ choice *mechanism.PermuteAndFlip }

// NewPermuteAndFlip makes an empty choice. All arguments are public: the number of
// candidates, the clip of the differences between one person's scores, and epsilon, which
// is taken as the exact dyadic rational that the float64 is.
func NewPermuteAndFlip(candidates int, spread, epsilon float64, adjacency dp.Adjacency) (*PermuteAndFlip, error) {
	p, err := mechanism.NewPermuteAndFlip(candidates, spread, epsilon, adjacency)
	if err != nil {
		return nil, err
	}
	return &PermuteAndFlip{p}, nil
}

// Capacity is the number of persons that can be added at most.
func (p *PermuteAndFlip) Capacity() int64 { return p.choice.Capacity() }

// Add adds one person's scores, a number for each candidate, and panics where there are
// more or fewer.
func (p *PermuteAndFlip) Add(scores []float64) error { return p.choice.Add(scores) }

// Merge adds the persons of o, which must have been made with the same arguments and cannot be used
// afterwards.
func (p *PermuteAndFlip) Merge(o *PermuteAndFlip) error { return p.choice.Merge(o.choice) }

// Event describes the release.
func (p *PermuteAndFlip) Event() dp.Event { return p.choice.Event() }

// Release draws the choice, a candidate's number from 0. It can be called once.
func (p *PermuteAndFlip) Release(src *noise.Source) (candidate int, event dp.Event, err error) {
	return p.choice.Release(src)
}
