package scalar

import (
	"math"

	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/rl/value"
)

// Guess is a baseline: a number, and, where they are not nil, one for each
// action or each state. It is public, or was released.
type Guess struct {
	Overall float64
	Action  []float64
	State   []float64
}

// contributions writes the doubly robust value of every person, the mean over
// the person's episodes. rows holds the target policy's distribution in every
// row, where the baseline is by action.
func (g *Guess) contributions(dst []float64, s *value.Sample, rows []float64) {
	for p := range dst {
		lo, hi := s.Episodes(p)
		sum := 0.0
		for e := lo; e < hi; e++ {
			if g.Action != nil {
				sum += g.oneRow(s, s.Data.EpisodeStart[e], rows)
			} else {
				sum += g.episode(s, e)
			}
		}
		dst[p] = sum / float64(hi-lo)
	}
}

// far keeps products of ratios finite. No clip lies near it.
const far = 1e150

// episode is the recursion with a value of states that stands for every action.
func (g *Guess) episode(s *value.Sample, e int) float64 {
	lo, hi := s.Rows(e)
	v := 0.0
	for row := hi - 1; row >= lo; row-- {
		b := g.at(s, row)
		v = b + s.Ratio(row)*(s.Data.Reward[row]+s.Gamma(row)*v-b)
		v = max(-far, min(v, far))
	}
	return v
}

// at is the baseline in the state of a row.
func (g *Guess) at(s *value.Sample, row int) float64 {
	if g.State == nil {
		return g.Overall
	}
	if c := s.State[row]; c != value.NoCell {
		return g.State[c]
	}
	return g.Overall
}

// oneRow is the recursion for an episode of one row. An action that the policy
// does not know of is never taken by it and has ratio 0.
func (g *Guess) oneRow(s *value.Sample, row int, rows []float64) float64 {
	k := len(g.Action)
	v, taken := 0.0, 0.0
	for a, p := range rows[row*k : row*k+k] {
		v += p * g.Action[a]
	}
	if a := int(s.Data.Action[row]); a >= 0 && a < k {
		taken = g.Action[a]
	}
	return v + s.Ratio(row)*(s.Data.Reward[row]-taken)
}

// shrunk is a noisy ratio num/den drawn toward prior: num and den carry noise of
// standard deviations numSD and denSD, and the truth is thought to lie within
// about spread of prior. The answer lies in within.
func shrunk(num, den, numSD, denSD, prior, spread float64, within facts.Range) float64 {
	if !(den > 0) {
		return prior
	}
	d := max(den, denSD)
	offset := (num - prior*den) / d
	sd := math.Hypot(numSD, prior*denSD) / d
	return min(max(prior+offset*spread*spread/(spread*spread+sd*sd), within.Min), within.Max)
}
