// Package smooth estimates value functions by averages of first-visit returns and
// releases them with noise that follows a smooth bound on the local sensitivity
// (Balle, Gomrokchi and Precup 2016). It works on public facts and public
// constants alpha and beta; whoever calls it has accounted for these.
//
// Start with [NewLSW] (Algorithm 1) or [NewLSL] (Algorithm 2). Unit: a person, who
// owns one trajectory. Proof: docs/proofs/smooth-release.md.
package smooth

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/rl/value"
)

// Method is a least-squares fit to first-visit returns.
type Method interface {
	// Bound is the smooth upper bound on the local sensitivity at given counts by
	// state.
	Bound(counts []int64, beta float64) float64
	// Solve computes theta.
	Solve(v *Visits) []float64
	// Bias is the expected root mean square, over states, of what a penalty takes
	// off a value that may lie anywhere in the public range.
	Bias() float64
}

// InnerBeta is the smoothness that psi is computed with: a little below the beta
// that the noise promises, so that the rounding of psi, at most 2^-46 relative a
// state, stays inside the promise (docs/proofs/smooth-release.md). It is not
// positive where that leaves no room.
func InnerBeta(beta float64, states int) float64 {
	inner := beta*(1-1e-9) - float64(states)*0x1p-46
	if inner < 0.9*beta {
		return 0
	}
	return inner
}

// Lattice fixes the lattice of the noise from the bound at extremes of the counts.
func Lattice(alpha, beta float64, p facts.Public, states int, m Method) (mechanism.Smooth, error) {
	inner := InnerBeta(beta, states)
	none, all := make([]int64, states), make([]int64, states)
	most := int64(MaxPersons) // who may visit a state
	if p.Adjacency == dp.ReplaceOne {
		most = p.Persons
	}
	for s := range all {
		all[s] = most
	}
	a, b := m.Bound(none, inner), m.Bound(all, inner)
	step, err := mechanism.SmoothStep(alpha*min(a, b), 2*alpha*max(a, b))
	return mechanism.Smooth{Alpha: alpha, Beta: beta, Step: step}, err
}

// Release draws the noise. Where persons are spread over processes, visits of all of them
// are added up first.
func Release(smooth mechanism.Smooth, m Method, v *Visits, dim int, src *noise.Source) ([]float64, error) {
	noisy, _, err := smooth.ReleaseOf(v.statistic(), dim, func(all mechanism.Statistic) ([]float64, float64, error) {
		of, err := v.of(all)
		if err != nil {
			return nil, 0, err
		}
		return m.Solve(of), m.Bound(of.counts, InnerBeta(smooth.Beta, len(of.counts))), nil
	}, src)
	return noisy, err
}

// MaxPersons keeps the integer sums of first visits from overflowing.
const MaxPersons = 1 << 29

// Visits holds what DP-LSW and DP-LSL compute from: by state, the number
// of persons who visit it and the sum of their first-visit returns, each return
// clipped to the public range. All of it is private.
type Visits struct {
	counts []int64
	sums   []int64 // in units of width * 2^-32, relative to 0
	unit   float64
	// persons is how many were looked at, those without a visit too.
	persons int64
	bounds  [2]int64 // of one return, in units
}

// Spread is what takes the place of Fmax with rewards of either sign: the
// distance between the extremes of a return and of 0, the value of a state that
// nobody visits.
func Spread(returns facts.Range) float64 { return max(returns.Max, 0) - min(returns.Min, 0) }

// VisitsOf clips and sums the first-visit returns of every person. Each return
// is rounded to a lattice inside the range, so that the sums are exact integers.
func VisitsOf(s *value.Sample, returns facts.Range) (*Visits, error) {
	walk, err := value.NewFirstVisits(s)
	if err != nil {
		return nil, err
	}
	v := &Visits{
		counts: make([]int64, s.States),
		sums:   make([]int64, s.States),
		unit:   Spread(returns) * 0x1p-32,
	}
	v.persons = int64(s.Data.Persons())
	v.bounds = [2]int64{v.rounded(returns.Min), v.rounded(returns.Max)}
	for person := range s.Data.Persons() {
		walk.Person(person)
		for i, state := range walk.States {
			f := walk.Returns[i]
			if math.IsNaN(f) {
				f = 0
			}
			v.counts[state]++
			v.sums[state] += v.rounded(min(max(f, returns.Min), returns.Max))
		}
	}
	return v, nil
}

// Add adds the visits of other persons.
func (v *Visits) Add(o *Visits) {
	v.persons += o.persons
	for s, n := range o.counts {
		v.counts[s] += n
		v.sums[s] += o.sums[s]
	}
}

// Persons is how many were looked at.
func (v *Visits) Persons() int64 { return v.persons }

// rounded is a clipped return in units.
func (v *Visits) rounded(f float64) int64 { return int64(f / v.unit) }

// statistic is the visits as integers that add up over persons: counts, then sums.
func (v *Visits) statistic() mechanism.Statistic {
	return mechanism.Statistic{Values: slices.Concat(v.counts, v.sums), Persons: v.persons, Capacity: MaxPersons}
}

// errVisits is all that is said of a statistic that persons cannot make: its numbers are
// private.
var errVisits = fmt.Errorf("%w: visits and returns of all persons are not such as they can make", mechanism.ErrMismatch)

// of is the visits of all persons, of whom v are some.
func (v *Visits) of(all mechanism.Statistic) (*Visits, error) {
	n := len(v.counts)
	out := &Visits{counts: all.Values[:n], sums: all.Values[n:], unit: v.unit, persons: all.Persons, bounds: v.bounds}
	for s, count := range out.counts {
		if count < 0 || count > out.persons || out.sums[s] < count*v.bounds[0] || out.sums[s] > count*v.bounds[1] {
			return nil, errVisits
		}
	}
	return out, nil
}

// mean is the clipped Monte Carlo estimate of a state, 0 where nobody visits it.
func (v *Visits) mean(state int) float64 {
	if v.counts[state] == 0 {
		return 0
	}
	return float64(v.sums[state]) / float64(v.counts[state]) * v.unit
}

// GuessedVisits is the public guess that predictions for DP-LSW and DP-LSL rest
// on: the shares of persons who visit a state are spread evenly up to 1, so that
// the rarest state is visited by one in as many persons as there are states.
func GuessedVisits(persons int64, states int) []int64 {
	counts := make([]int64, states)
	for s := range counts {
		counts[s] = int64(math.Ceil(float64(persons) * float64(s+1) / float64(states)))
	}
	return counts
}
