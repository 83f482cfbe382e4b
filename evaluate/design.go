package evaluate

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/rl/policy"
)

// Design is what public policies say of the importance ratios before any data are seen.
// docs/proofs/overlap.md has what follows from it.
type Design struct {
	// Ratios are the largest importance ratios at decisions 0, 1, ... of an episode;
	// the last is that of all later ones.
	Ratios []float64 `json:"ratios"`
	// Squares are the largest means, over the actions drawn in a state, of the squared
	// ratio.
	Squares []float64 `json:"squares"`
	// Usual are the means of the squared ratio if all states are as frequent, for forecasts; nil where they
	// are no other.
	Usual []float64 `json:"usual,omitempty"`
	// Cubes are those of the cubed ratio; nil where the largest ratio is supposed to be one of two.
	Cubes []float64 `json:"cubes,omitempty"`
	// Supported says that the probabilities are those that actions were drawn with,
	// fixed beforehand, and that each action that a target takes is drawn with
	// probability above 0: the mean ratio is 1.
	Supported bool `json:"supported,omitempty"`
	// Varies says that the policies tell states apart, so that ratios are smaller in some than
	// in others.
	Varies bool `json:"varies,omitempty"`
	// Each is what is said of every target alone, nothing of what was logged, where that is not the same of all: for
	// values.
	Each []*Design `json:"each,omitempty"`
}

// NewDesign compares targets with the policy that made the data; nil where these do not
// bound the ratios. drawn says that behaviour is what actions were drawn with, and not a
// model of it.
func NewDesign(behaviour policy.Policy, drawn bool, targets ...policy.Policy) *Design {
	if behaviour == nil {
		return nil
	}
	var d *Design
	for _, target := range targets {
		if policy.OnPolicy(target) {
			continue
		}
		b, ok := policy.BoundRatios(target, behaviour)
		if !ok {
			return nil
		}
		if d == nil {
			d = &Design{Ratios: b.Ratios, Squares: b.Squares, Usual: b.Usual, Cubes: b.Cubes, Supported: drawn, Varies: policy.TellsApart(behaviour)}
		}
		if len(b.Cubes) < len(d.Cubes) {
			d.Cubes = nil
		}
		for t := range d.Cubes {
			d.Cubes[t] = max(d.Cubes[t], b.Cubes[t])
		}
		for t := range d.Ratios {
			d.Ratios[t], d.Squares[t], d.Usual[t] = max(d.Ratios[t], b.Ratios[t]), max(d.Squares[t], b.Squares[t]), max(d.Usual[t], b.Usual[t])
		}
		d.Supported = d.Supported && b.Supported
		d.Varies = d.Varies || policy.TellsApart(target)
	}
	if d != nil && slices.Equal(d.Usual, d.Squares) {
		d.Usual = nil
	}
	if d != nil && len(targets) > 1 {
		d.tellEach(behaviour, drawn, targets)
	}
	return d
}

// tellEach adds what is said of every target alone.
func (d *Design) tellEach(behaviour policy.Policy, drawn bool, targets []policy.Policy) {
	each, differ := make([]*Design, len(targets)), false
	for i, target := range targets {
		each[i] = NewDesign(behaviour, drawn, target)
		differ = differ || each[i] != nil && !(slices.Equal(each[i].Ratios, d.Ratios) && slices.Equal(each[i].Squares, d.Squares))
	}
	if differ {
		d.Each = each
	}
}

func (d Design) validate() error {
	if len(d.Ratios) == 0 || len(d.Ratios) != len(d.Squares) {
		return fmt.Errorf("%w: design: %d ratios and %d squares; give one of each for each decision, the last for all later ones", ErrPublic, len(d.Ratios), len(d.Squares))
	}
	if d.Usual != nil && len(d.Usual) != len(d.Squares) {
		return fmt.Errorf("%w: design: %d usual squares and %d largest; give as many, or none", ErrPublic, len(d.Usual), len(d.Squares))
	}
	if d.Cubes != nil && len(d.Cubes) != len(d.Squares) {
		return fmt.Errorf("%w: design: %d usual cubes and %d largest squares; give as many, or none", ErrPublic, len(d.Cubes), len(d.Squares))
	}
	for t, r := range d.Ratios {
		if u := d.usual(t); !(u >= 0 && u <= d.Squares[t]) {
			return fmt.Errorf("%w: design: at decision %d the usual mean square is %v and the largest %v; want one no larger", ErrPublic, t, u, d.Squares[t])
		}
		if q := d.Squares[t]; !(r >= 0 && q >= 0 && q <= r) || math.IsInf(r, 1) {
			return fmt.Errorf("%w: design: at decision %d the largest ratio is %v and the largest mean square %v; want finite numbers, the second no larger", ErrPublic, t, r, q)
		} else if d.Supported && !(q >= 1-1e-6) {
			return fmt.Errorf("%w: design: it says that all the target does is drawn, so that the mean ratio is 1, and at decision %d the largest mean square is %v; want 1 or more", ErrPublic, t, q)
		}
	}
	for i, one := range d.Each {
		if one == nil {
			continue
		}
		if err := one.validate(); err != nil {
			return err
		}
		for t, r := range one.Ratios {
			if len(one.Ratios) > len(d.Ratios) || r > d.Ratios[min(t, len(d.Ratios)-1)] {
				return fmt.Errorf("%w: design: each[%d] has larger ratios than all targets together", ErrPublic, i)
			}
		}
	}
	return nil
}

// usual is the mean square that is supposed at a decision.
func (d *Design) usual(t int) float64 {
	if d.Usual == nil {
		return d.Squares[t]
	}
	return d.Usual[t]
}

func (d *Design) clone() *Design {
	c := copied(d)
	if c != nil {
		c.Ratios, c.Squares, c.Usual, c.Cubes = slices.Clone(d.Ratios), slices.Clone(d.Squares), slices.Clone(d.Usual), slices.Clone(d.Cubes)
		c.Each = slices.Clone(d.Each)
		for i, one := range c.Each {
			c.Each[i] = one.clone()
		}
	}
	return c
}
