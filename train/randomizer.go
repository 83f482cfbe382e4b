package train

import (
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/dp/local"
)

// Mechanism names a local randomiser.
type Mechanism string

// The mechanisms; those of package dp/local unless said otherwise.
const (
	Laplace   Mechanism = "laplace"
	PRS       Mechanism = "prs"
	SignPRS   Mechanism = "sign-prs"
	PrivUnit  Mechanism = "privunit"
	Ball      Mechanism = "ball"
	Piecewise Mechanism = "piecewise"
	Hybrid    Mechanism = "hybrid"
	// OneBit reports the score of weights that the task's seed perturbed, by one
	// bit: an evolution strategy.
	OneBit Mechanism = "one-bit"
	// NotPrivate sends the vector as it is, a reference: it protects nobody.
	NotPrivate Mechanism = "none"
)

// mechanism is what a codec has to know of one.
type mechanism struct {
	name Mechanism
	// vector makes the randomiser of vectors of length dim; nil for mechanisms that the codec
	// makes by itself: they need a task's seed, or report no vector, or protect nothing.
	vector func(dim int, r Randomizer) (local.Vector, error)
	// clipless tells that it has no clip, since it reports a direction.
	clipless bool
}

// mechanisms lists all of them; the index is their number in a task and never
// changes.
func mechanisms() []mechanism {
	return []mechanism{
		{name: NotPrivate},
		{name: Laplace, vector: func(dim int, r Randomizer) (local.Vector, error) { return local.NewLaplace(dim, r.Clip, r.Epsilon) }},
		{name: PRS},
		{name: SignPRS, clipless: true},
		{name: PrivUnit, vector: func(dim int, r Randomizer) (local.Vector, error) { return local.NewPrivUnitG(dim, r.Epsilon) }, clipless: true},
		{name: Ball, vector: func(dim int, r Randomizer) (local.Vector, error) { return local.NewBall(dim, r.Clip, r.Epsilon) }},
		{name: Piecewise, vector: func(dim int, r Randomizer) (local.Vector, error) { return local.NewPiecewise(dim, r.Clip, r.Epsilon) }},
		{name: Hybrid, vector: func(dim int, r Randomizer) (local.Vector, error) { return local.NewHybrid(dim, r.Clip, r.Epsilon) }},
		{name: OneBit},
	}
}

// number is the index of a mechanism in [mechanisms]; below 0 if there is no such one.
func (m Mechanism) number() int {
	return slices.IndexFunc(mechanisms(), func(of mechanism) bool { return of.name == m })
}

// Randomizer says how a report is made. It is part of every task; an agent answers
// only tasks that name the one it agreed to.
type Randomizer struct {
	// Mechanism is one of those of docs/training.md.
	Mechanism Mechanism `json:"mechanism" yaml:"mechanism"`
	// Epsilon bounds the privacy loss of one report.
	Epsilon float64 `json:"epsilon" yaml:"epsilon"`
	// Clip is that of Laplace (l1 norm Clip/2), PRS (a projection), Ball (l2 norm),
	// Piecewise and Hybrid (a coordinate), OneBit (the width of the range of scores) and,
	// unless it is 0, NotPrivate (as Laplace). SignPRS and PrivUnit report a
	// direction and have none: there it is 0.
	Clip float64 `json:"clip,omitempty" yaml:"clip"`
	// Rows is the reduced dimension of PRS; 0 stands for local.ReducedDim, and it is
	// 0 for all others.
	Rows int `json:"rows,omitempty" yaml:"rows"`
}

// Private reports whether reports are protected at all.
func (r Randomizer) Private() bool { return r.Mechanism != NotPrivate }

// check refuses settings that the mechanism has no use for, so that nobody takes
// them for protection, and those that package dp/local does not look at.
func (r Randomizer) check() error {
	switch within := r.Clip >= local.MinClip && r.Clip <= local.MaxClip; r.Mechanism {
	case NotPrivate:
		if r.Epsilon != 0 {
			return fmt.Errorf("%w: epsilon is %v, and nothing is protected; remove it", local.ErrParameter, r.Epsilon)
		}
		if r.Clip != 0 && !within {
			return fmt.Errorf("%w: clip is %v; want %v to %v, or 0 for none", local.ErrParameter, r.Clip, local.MinClip, local.MaxClip)
		}
	case OneBit:
		if !within {
			return fmt.Errorf("%w: clip is %v; want %v to %v", local.ErrParameter, r.Clip, local.MinClip, local.MaxClip)
		}
	default:
		if n := r.Mechanism.number(); n >= 0 && mechanisms()[n].clipless && r.Clip != 0 {
			return fmt.Errorf("%w: clip is %v, and a direction has none; remove it", local.ErrParameter, r.Clip)
		}
	}
	if r.Rows != 0 && r.Mechanism != PRS {
		return fmt.Errorf("%w: rows is %d, and only %s has rows; remove it", local.ErrParameter, r.Rows, PRS)
	}
	return nil
}
