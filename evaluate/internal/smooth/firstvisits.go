package smooth

import (
	"math"

	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/rl/value"
)

// MaxPersons keeps the integer sums of first visits from overflowing.
const MaxPersons = 1 << 29

// Visits holds what DP-LSW and DP-LSL compute from: by state, the number
// of persons who visit it and the sum of their first-visit returns, each return
// clipped to the public range. All of it is private.
type Visits struct {
	counts []int64
	sums   []int64 // in units of width * 2^-32, relative to 0
	unit   float64
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
