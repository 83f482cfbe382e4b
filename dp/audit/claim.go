package audit

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

// Claim is what an event allows under an adjacency.
type Claim struct {
	// Mu is that of a composition of Gaussians; 0 where the event is no such.
	Mu float64 `json:"mu,omitempty"`
	// Epsilon is the accountant's upper bound at Delta.
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`

	accountant account.Accountant
}

// NewClaim accounts for an event.
func NewClaim(event dp.Event, adjacency dp.Adjacency, delta float64) (Claim, error) {
	c := Claim{Delta: delta, accountant: account.New(adjacency)}
	if err := c.accountant.Compose(context.Background(), event, 1); err != nil {
		return c, err
	}
	if square, ok := MuSquared(event, adjacency); ok {
		c.Mu = math.Sqrt(square)
	}
	b, err := c.accountant.Epsilon(context.Background(), delta)
	c.Epsilon = b.Upper
	return c, err
}

// MuSquared is the square of the mu of a composition of Gaussians, and false for
// other events: of a clipped sum, the square of the largest difference between
// neighbours over the noise (Dong, Roth and Su 2022, theorem 3). Of trees with restarts it is an
// upper bound.
func MuSquared(e dp.Event, adjacency dp.Adjacency) (float64, bool) {
	switch e := e.(type) {
	case dp.Gaussian:
		mu := adjacency.SumSensitivity(1) / e.NoiseMultiplier
		return mu * mu, true
	case dp.GaussianDP:
		return e.Mu * e.Mu, true
	case dp.TreeAggregation:
		square, ok := account.MuSquared(adjacency, e)
		return square.Upper, ok
	case dp.SelfComposed:
		one, ok := MuSquared(e.Event, adjacency)
		return float64(e.Count) * one, ok
	case dp.Composed:
		total := 0.0
		for _, part := range e.Events {
			one, ok := MuSquared(part, adjacency)
			if !ok {
				return 0, false
			}
			total += one
		}
		return total, true
	}
	return 0, false
}

// rounding is that of a mu that was computed of an event.
const rounding = 1e-9

// grid is the number of epsilons at which a claim without a mu is held against a
// region.
const grid = 24

// Hold returns nil where what was found stays within the claim, and an error that
// wraps [ErrBroken] where it passes it. A claim with a mu is its whole curve; any
// other is held at a grid of epsilons, from 0 to twice the one that was found.
func (c Claim) Hold(f Found) error {
	if c.Mu > 0 {
		if f.Mu > c.Mu*(1+rounding) {
			return fmt.Errorf("%w: mu is at least %.4g, and the event allows %.4g", ErrBroken, f.Mu, c.Mu)
		}
		return nil
	}
	if f.Epsilon > c.Epsilon && f.Delta == c.Delta {
		return fmt.Errorf("%w: epsilon at delta %g is at least %.4g, and the event allows %.4g", ErrBroken, f.Delta, f.Epsilon, c.Epsilon)
	}
	for _, r := range f.Regions {
		largest := r.Epsilon(0)
		for i := range grid {
			epsilon := largest * float64(i) / grid
			if r.Excess(epsilon, 0) <= 0 {
				continue
			}
			b, err := c.accountant.Delta(context.Background(), epsilon)
			if err != nil {
				return err
			}
			if by := r.Excess(epsilon, b.Upper); by > 0 {
				return fmt.Errorf("%w: delta at epsilon %.4g is at least %.4g, and the event allows %.4g", ErrBroken, epsilon, b.Upper+by, b.Upper)
			}
		}
	}
	return nil
}
