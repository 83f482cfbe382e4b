package fqe

import (
	"math"

	"github.com/discreet-rl/discreet/evaluate/internal/facts"
)

// Values are those of the target policy with 1, 2, ... decisions to go.
type Values struct {
	// Actions is the number of actions of Q, 1 where values are by state alone.
	Actions int
	// V holds a number for each cell, Q one for each cell and action.
	V, Q [][]float64
}

// Last is the value by cell with all decisions to go.
func (v Values) Last() []float64 { return v.V[len(v.V)-1] }

// LastByAction is the value of each action in each cell, likewise; nil where values are
// by state alone.
func (v Values) LastByAction() []float64 {
	if v.Actions == 1 {
		return nil
	}
	return v.Q[len(v.Q)-1]
}

// Induct makes values by backward induction: target holds the target policy's
// probability of every action in every cell, in form ByAction; nil elsewhere.
func (m *Model) Induct(target []float64) Values {
	places := m.t.places()
	out := Values{Actions: m.t.rows() / places}
	after := make([]float64, places+1) // of each outcome, discounted; nothing follows the last
	for h := range m.t.Decisions {
		q, now := m.backup(after, m.t.Bounds(h+1)), make([]float64, places)
		for c := range now {
			now[c] = q[c]
			if out.Actions > 1 {
				now[c] = 0
				for a := range out.Actions {
					now[c] += target[c*out.Actions+a] * q[c*out.Actions+a]
				}
			}
			after[c] = m.t.Public.Gamma * now[c]
		}
		out.V, out.Q = append(out.V, now), append(out.Q, q)
	}
	return out
}

// backup is one step of the induction.
func (m *Model) backup(after []float64, within facts.Range) []float64 {
	values := make([]float64, len(m.levels[0]))
	for i, r := range m.levels[0] {
		sum := m.t.Public.Reward.Mid() + m.rewards.values[i]
		for o, share := range r.next {
			sum += share * after[o]
		}
		values[i] = within.Clamp(sum)
	}
	return values
}

// Bounds are those of the value of what is still to come with h decisions to go, from
// the range of a reward. An episode may end with any decision.
func (t Table) Bounds(h int64) facts.Range {
	total := float64(h)
	if g := t.Public.Gamma; g < 1 {
		total = -math.Expm1(float64(h)*math.Log(g)) / (1 - g)
	}
	out := t.Public.Reward
	if out.Min < 0 {
		out.Min *= total
	}
	if out.Max > 0 {
		out.Max *= total
	}
	if gone := float64(t.Decisions - h); out.Min >= 0 && !t.Discounts {
		// What was paid before is not negative.
		out.Max = min(out.Max, max(t.Public.Returns.Max, 0)/math.Pow(t.Public.Gamma, gone))
	}
	if h == t.Decisions { // from the start of an episode on, the public range holds too
		out = facts.Range{Min: t.Public.Returns.Clamp(out.Min), Max: t.Public.Returns.Clamp(out.Max)}
	}
	return out
}
