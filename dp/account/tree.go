package account

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// leaves calls visit for every event of the tree that is not itself a
// composition, with the number of times it runs. A sample that always holds
// everyone is replaced by the event that it runs, and a
// sample that is never cut by the sample.
func leaves(event dp.Event, count int64, visit func(leaf dp.Event, count int64) error) error {
	switch e := event.(type) {
	case dp.Composed:
		for _, child := range e.Events {
			if err := leaves(child, count, visit); err != nil {
				return err
			}
		}
		return nil
	case dp.SelfComposed:
		if e.Count > math.MaxInt64/count {
			return fmt.Errorf("%w: self_composed: more than 2^63 repetitions in all; want fewer", dp.ErrEvent)
		}
		return leaves(e.Event, count*e.Count, visit)
	case dp.PoissonSampled:
		if e.Rate == 1 {
			return leaves(e.Event, count, visit)
		}
	case dp.TruncatedPoissonSampled:
		if e.Batch >= e.Population { // nothing is ever cut
			return leaves(dp.PoissonSampled{Rate: e.Rate, Event: e.Event}, count, visit)
		}
	}
	return visit(event, count)
}

// checkCompose validates an event and a count before they are composed.
func checkCompose(adj dp.Adjacency, event dp.Event, count int64) error {
	if !adj.Valid() {
		return fmt.Errorf("%w: %v; want replace_one or add_remove_one", dp.ErrAdjacency, adj)
	}
	if event == nil {
		return fmt.Errorf("%w: no event", dp.ErrEvent)
	}
	if count < 1 {
		return fmt.Errorf("%w: %s: count is %d; want at least 1", dp.ErrEvent, event.Kind(), count)
	}
	if err := event.Validate(); err != nil {
		return err
	}
	return meaningful(adj, event)
}

// meaningful refuses a tree that holds an event that is not defined under the
// adjacency, even where it changes nothing, such as a sample of the whole population
// under add_remove_one.
func meaningful(adj dp.Adjacency, event dp.Event) error {
	switch e := event.(type) {
	case dp.Composed:
		for _, child := range e.Events {
			if err := meaningful(adj, child); err != nil {
				return err
			}
		}
		return nil
	case dp.SelfComposed:
		return meaningful(adj, e.Event)
	case dp.PoissonSampled:
		return meaningful(adj, e.Event)
	case dp.TruncatedPoissonSampled:
		return meaningful(adj, e.Event)
	case dp.SelectBest:
		return meaningful(adj, e.Event)
	}
	return defined(adj, event)
}

// defined refuses, under add_remove_one, the kinds that are defined for a
// fixed set of persons alone, and under replace_one a choice whose scores are
// declared to move together, as no exchange of persons lets them.
func defined(adj dp.Adjacency, event dp.Event) error {
	if adj == dp.ReplaceOne {
		if e, ok := event.(dp.ReportNoisyMax); ok && e.Monotone {
			return unsupported(e, "is monotone under add_remove_one alone: an exchange moves some scores up and others down; account for it there, or set monotone to false and give the sensitivity of an exchange")
		}
		return nil
	}
	switch event.(type) {
	case dp.RandomizedResponse, dp.SampledWithoutReplacement, dp.Shuffled:
		return unsupported(event, "has no meaning under add_remove_one; account for it under replace_one")
	}
	return nil
}

// smoothRemedy is what to do about a smooth Gaussian event that is composed, or
// that an accountant without its closed form is asked about.
const smoothRemedy = "alone, the default accountant answers it in closed form; in a composition it needs a delta of its own: FixDelta (--fix-delta of the command account) makes an approximate_dp event of it"

func unsupported(event dp.Event, why string) error {
	return fmt.Errorf("%w: %s %s", ErrUnsupported, event.Kind(), why)
}

// counted brackets an int64 by float64s.
func counted(n int64) Bracket {
	x := float64(n)
	if n <= 1<<53 {
		return Bracket{x, x}
	}
	return Bracket{xmath.Down(x, 1), xmath.Up(x, 1)}
}

// gaussianSquare brackets mu^2 of count runs of a Gaussian event.
func gaussianSquare(adj dp.Adjacency, e dp.Gaussian, count int64) Bracket {
	gap := adj.SumSensitivity(1)
	n := counted(count)
	mu := Bracket{xmath.DivDown(gap, e.NoiseMultiplier), xmath.DivUp(gap, e.NoiseMultiplier)}
	// A product that underflows is rounded down to below 0.
	square := max(xmath.MulDown(mu.Lower, mu.Lower), 0)
	return Bracket{
		max(xmath.MulDown(square, n.Lower), 0),
		xmath.MulUp(xmath.MulUp(mu.Upper, mu.Upper), n.Upper),
	}
}

// runs is the mu^2 of count runs.
func runs(square Bracket, count int64) Bracket {
	n := counted(count)
	return Bracket{max(xmath.MulDown(square.Lower, n.Lower), 0), xmath.MulUp(square.Upper, n.Upper)}
}

// squareRoot rounds the square root of a bracket of positive numbers outward.
func squareRoot(b Bracket) Bracket {
	return Bracket{max(xmath.Down(math.Sqrt(b.Lower), 1), 0), xmath.Up(math.Sqrt(b.Upper), 1)}
}

// sum adds two brackets of numbers that are not negative. A sum that overflows
// is at least the largest float64.
func sum(a, b Bracket) Bracket {
	lower := min(xmath.AddDown(a.Lower, b.Lower), math.MaxFloat64)
	return Bracket{lower, xmath.AddUp(a.Upper, b.Upper)}
}

// certain passes a bracket on if its ends are ordered numbers, and is an error
// otherwise: no guarantee may rest on a NaN.
func certain(b Bracket, err error) (Bracket, error) {
	if err == nil && !(b.Lower >= 0 && b.Lower <= b.Upper) {
		err = fmt.Errorf("%w: the bounds %v are out of order; the parameters are beyond what float64 arithmetic covers", ErrUncertified, b)
	}
	if err != nil {
		return Bracket{}, err
	}
	return b, nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// gaussianTree returns mu^2 of a tree that holds nothing but Gaussian events.
func gaussianTree(adj dp.Adjacency, event dp.Event, count int64) (square Bracket, ok bool) {
	err := leaves(event, count, func(leaf dp.Event, n int64) error {
		g, isGaussian := leaf.(dp.Gaussian)
		if !isGaussian {
			return ErrUnsupported
		}
		square = sum(square, gaussianSquare(adj, g, n))
		return nil
	})
	return square, err == nil
}

// muSquare returns mu^2 of a leaf that is Gaussian noise or known by its mu.
func muSquare(adj dp.Adjacency, leaf dp.Event, count int64) (square Bracket, ok bool) {
	switch e := leaf.(type) {
	case dp.Gaussian:
		return gaussianSquare(adj, e, count), true
	case dp.TreeAggregation:
		return treeMuSquare(adj, e, count), true
	case dp.GaussianDP:
		return runs(Bracket{max(xmath.MulDown(e.Mu, e.Mu), 0), xmath.MulUp(e.Mu, e.Mu)}, count), true
	}
	return Bracket{}, false
}

// MuSquared brackets the square of the mu of an event that is composed of Gaussian noise, tree
// aggregation and gdp events; ok is false for all other events. It holds for the worst neighbours
// under the adjacency, as a mu-Gaussian-private mechanism's does (Dong, Roth, Su 2022). The ends
// differ by rounding and, for trees with restarts, because the exact value is not known.
func MuSquared(adj dp.Adjacency, event dp.Event) (square Bracket, ok bool) {
	if checkCompose(adj, event, 1) != nil {
		return Bracket{}, false
	}
	return muTree(adj, event)
}

// muTree returns mu^2 of an event tree that consists only of Gaussian noise and events known by
// their mu. Unlike gaussianTree it does not treat sampling.
func muTree(adj dp.Adjacency, event dp.Event) (square Bracket, ok bool) {
	err := leaves(event, 1, func(leaf dp.Event, n int64) error {
		one, isGaussian := muSquare(adj, leaf, n)
		if !isGaussian {
			return ErrUnsupported
		}
		square = sum(square, one)
		return nil
	})
	return square, err == nil
}

// integerGap is the largest l1 (or l2) distance, in lattice steps, of two sums
// of integer vectors of norm at most norm: no integer vector has an l1 norm
// between integers, and doubling a rounded norm covers an exchange.
func integerGap(adj dp.Adjacency, norm float64) float64 {
	return adj.SumSensitivity(math.Floor(norm))
}
