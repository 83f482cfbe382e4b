package evaluate

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/value"
)

// maxPersons keeps the integer sums of first visits from overflowing.
const maxPersons = 1 << 29

// firstVisits holds what DP-LSW and DP-LSL compute from: by state, the number
// of persons who visit it and the sum of their first-visit returns, each return
// clipped to the public range. All of it is private.
type firstVisits struct {
	counts []int64
	sums   []int64 // in units of width * 2^-32, relative to 0
	unit   float64
}

// spread is what takes the place of Fmax with rewards of either sign: the
// distance between the extremes of a return and of 0, the value of a state that
// nobody visits.
func spread(returns Range) float64 { return max(returns.Max, 0) - min(returns.Min, 0) }

// visitsOf clips and sums the first-visit returns of every person. Each return
// is rounded to a lattice inside the range, so that the sums are exact integers.
func visitsOf(s *value.Sample, returns Range) (*firstVisits, error) {
	walk, err := value.NewFirstVisits(s)
	if err != nil {
		return nil, err
	}
	v := &firstVisits{
		counts: make([]int64, s.States),
		sums:   make([]int64, s.States),
		unit:   spread(returns) * 0x1p-32,
	}
	for person := range s.Data.Persons() {
		walk.Person(person)
		for i, state := range walk.States {
			f := walk.Returns[i]
			if math.IsNaN(f) {
				f = 0
			}
			v.counts[state]++
			v.sums[state] += int64(min(max(f, returns.Min), returns.Max) / v.unit)
		}
	}
	return v, nil
}

// mean is the clipped Monte Carlo estimate of a state, 0 where nobody visits it.
func (v *firstVisits) mean(state int) float64 {
	if v.counts[state] == 0 {
		return 0
	}
	return float64(v.sums[state]) / float64(v.counts[state]) * v.unit
}

// finiteProblem checks the public side of a method that is based on first
// visits, and returns the features.
func finiteProblem(method string, p Public) (feature.Finite, error) {
	if err := needPrivacy(method, p); err != nil {
		return nil, err
	}
	finite, ok := p.Features.(feature.Finite)
	if !ok {
		return nil, fmt.Errorf("%w: %s averages returns by state: features must be of kind tabular or aggregate", ErrMethod, method)
	}
	if !policy.OnPolicy(p.Target) {
		return nil, fmt.Errorf("%w: %s evaluates the logged policy alone (target {kind: logged}); off-policy use dp-is, dp-pdis or dp-wis", ErrMethod, method)
	}
	if !(spread(p.Returns()) > 0) {
		return nil, fmt.Errorf("%w: %s: the public range of a return is [0, 0]; give problem.reward or problem.return a width", ErrPublic, method)
	}
	if p.Persons > maxPersons {
		return nil, fmt.Errorf("%w: %s: at most %d persons", ErrPublic, method, maxPersons)
	}
	return finite, nil
}

// oneEpisodeEach refuses data in which a person owns several trajectories: the
// smooth bounds rest on counts that move by one a person.
func oneEpisodeEach(method string, d *trajectory.Dataset) error {
	if d.Persons() > maxPersons {
		return fmt.Errorf("%w: %s: at most %d persons", ErrData, method, maxPersons)
	}
	if d.Episodes() > d.Persons() {
		return fmt.Errorf("%w: %s wants one trajectory a person and the data holds more; set problem.episodes to 1 to keep each person's first", ErrData, method)
	}
	return nil
}

// weightsByState fills in and checks public weights by state.
func weightsByState(method, name string, given []float64, states int) ([]float64, error) {
	if given == nil {
		given = make([]float64, states)
		for i := range given {
			given[i] = 1
		}
		return given, nil
	}
	if len(given) != states {
		return nil, fmt.Errorf("%w: %s: %d %s for %d states", ErrMethod, method, len(given), name, states)
	}
	given = slices.Clone(given)
	for state, w := range given {
		if !(w > 0) || math.IsInf(w, 0) {
			return nil, fmt.Errorf("%w: %s: %s of state %d is %v; want a finite number above 0", ErrMethod, method, name, state, w)
		}
	}
	return given, nil
}

// byCell adds up public weights over the states that share a coordinate.
func byCell(f feature.Finite, weights []float64) []float64 {
	total := make([]float64, f.Dim())
	for state, w := range weights {
		total[f.Cell(state)] += w
	}
	return total
}

// statesOf spreads theta over the states.
func statesOf(f feature.Finite, theta []float64) []float64 {
	values := make([]float64, f.States())
	for state := range values {
		values[state] = theta[f.Cell(state)]
	}
	return values
}

// guessedVisits is the public guess that predictions for DP-LSW and DP-LSL rest
// on: the shares of persons who visit a state are spread evenly up to 1, so that
// the rarest state is visited by one in as many persons as there are states.
func guessedVisits(p Public, states int) []int64 {
	counts := make([]int64, states)
	for s := range counts {
		counts[s] = int64(math.Ceil(float64(p.Persons) * float64(s+1) / float64(states)))
	}
	return counts
}
