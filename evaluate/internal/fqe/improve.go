package fqe

import (
	"slices"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/rl/value"
)

// Numbers pays for the table of the given persons, ascending: counts, then sums of weights, then
// sums of marks.
func (t Table) Numbers(s value.Persons, persons []int, src *noise.Source) ([]float64, error) {
	noisy, err := t.noisy(s, len(persons), func(i int) int { return persons[i] }, src)
	if err != nil {
		return nil, err
	}
	return slices.Concat(noisy.Counts, noisy.Weights, noisy.Marks), nil
}

// ModelOf is the model of the numbers that were paid for.
func (t Table) ModelOf(numbers []float64) (*Model, error) {
	sum, err := t.sums()
	if err != nil {
		return nil, err
	}
	n := t.rows()
	counts := n * t.outcomes()
	noisy := mechanism.NoisyTransitions{Counts: numbers[:counts], Weights: numbers[counts : counts+n], Marks: numbers[counts+n:]}
	noisy.CountSD, noisy.SumSD = sum.SD()
	return newModel(t, noisy), nil
}

// mostImprovements bounds how often a policy is improved; a few are enough.
const mostImprovements = 20

// Improve is the action in every cell of the policy that choose no longer changes, beginning with
// all actions alike: it is told, by cell and action, the values of the action if the policy is
// followed afterwards, summed over an episode's decisions, each times how often it is made there.
func (m *Model) Improve(choose func(gains []float64) []int) []int {
	cells, actions := m.t.places(), m.t.Actions
	target := slices.Repeat([]float64{1 / float64(actions)}, cells*actions)
	var of []int
	for range mostImprovements {
		next := choose(m.gains(target))
		if slices.Equal(next, of) {
			break
		}
		of = next
		clear(target)
		for c, a := range of {
			target[c*actions+a] = 1
		}
	}
	return of
}

// gains are, by cell and action, values with 1, 2, ... decisions to go, each less the policy's,
// times how often the cell is visited then: first as all decisions of the logs together.
func (m *Model) gains(target []float64) []float64 {
	cells, actions := m.t.places(), m.t.Actions
	values, visits := m.Induct(target), make([]float64, cells)
	for c, r := range m.levels[1] {
		visits[c] = r.weight
	}
	out := make([]float64, cells*actions)
	for left := len(values.Q) - 1; left >= 0; left-- {
		next := make([]float64, cells+1)
		for i, q := range values.Q[left] {
			out[i] += visits[i/actions] * (q - values.V[left][i/actions])
			for o, share := range m.levels[0][i].next {
				next[o] += visits[i/actions] * target[i] * share
			}
		}
		visits = next[:cells]
	}
	return out
}

// ImproveByStep is the action by decision and cell of the best policy that may tell decisions apart, by
// backward induction: choose is told, by cell and action, the values with so many decisions to go, each
// times how often the logs have it there.
func (m *Model) ImproveByStep(choose func(gains []float64) []int) [][]int {
	places, actions := m.t.places(), m.t.Actions
	after, of := make([]float64, places+1), make([][]int, m.t.Decisions)
	for h := range m.t.Decisions {
		q := m.backup(after, m.t.Bounds(h+1))
		gains := slices.Clone(q)
		for i := range gains {
			gains[i] *= max(m.levels[1][i/actions].weight, 1)
		}
		chosen := choose(gains)
		for c, a := range chosen {
			after[c] = m.t.Public.Gamma * q[c*actions+a]
		}
		of[m.t.Decisions-1-h] = chosen
	}
	return of
}
