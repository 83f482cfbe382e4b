package rule

import (
	"math"
	"slices"
)

// Table is the action in every state whose sums are largest together, the first of several, of
// all tables that the limits allow; under one on who is treated, nearly so.
func (l Limits) Table(s Sums, actions int) []int {
	if l.Treated > 0 {
		return l.afforded(s, actions)
	}
	of, _ := l.choose(s.Gains, actions)
	return of
}

// afforded is the table at the least price of treatment at which few enough are treated, changed
// in one state after the other, where that gains most, while it still fits.
func (l Limits) afforded(s Sums, actions int) []int {
	of := cheapest(s, func(price float64) ([]int, bool) {
		of, _ := l.choose(less(s, price, actions), actions)
		return of, treated(of, s).within(l.Treated)
	}, make([]int, len(s.Gains)/actions))
	for {
		most, best := 0.0, of
		for state, before := range of {
			for a := range actions {
				other := slices.Clone(of)
				other[state] = a
				if more := s.Gains[state*actions+a] - s.Gains[state*actions+before]; more > most && l.allows(other, state) && treated(other, s).within(l.Treated) {
					most, best = more, other
				}
			}
		}
		if most == 0 {
			return of
		}
		of = best
	}
}

// allows tells whether what is done in a state may be, and is in order with what is beside it.
func (l Limits) allows(of []int, state int) bool {
	for s := max(state, 1); s <= min(state+1, len(of)-1); s++ {
		if l.order(0)*(of[s]-of[s-1]) < 0 {
			return false
		}
	}
	return l.Banned([]float64{float64(state)})>>of[state]&1 == 0
}

// Possible tells whether a table of so many states is allowed at all.
func (l Limits) Possible(states, actions int) bool {
	_, ok := l.choose(make([]float64, states*actions), actions)
	return ok
}

// treated is how many persons are in states where another action than the first is taken.
func treated(of []int, s Sums) (n share) {
	for state, action := range of {
		n.all, n.allVar = n.all+s.Persons[state], n.allVar+s.PersonsSD*s.PersonsSD
		if action > 0 {
			n.treated, n.treatedVar = n.treated+s.Persons[state], n.treatedVar+s.PersonsSD*s.PersonsSD
		}
	}
	return n
}

// choose is the best table by dynamic programming over the states, from the last to the first,
// and whether there is one.
func (l Limits) choose(gains []float64, actions int) ([]int, bool) {
	states, order, ok := len(gains)/actions, l.order(0), true
	after := make([]float64, actions) // of the states from here on, by the action here
	follows := make([]int, states*actions)
	for s := states - 1; s >= 0; s-- {
		here := make([]float64, actions)
		banned := l.Banned([]float64{float64(s)})
		for a := range here {
			from, to := 0, actions-1 // of the next state
			switch order {
			case 1:
				from = a
			case -1:
				to = a
			}
			if here[a] = gains[s*actions+a]; banned>>a&1 == 1 {
				here[a] = math.Inf(-1)
			}
			if s < states-1 {
				next := span{from, to}.largest(after)
				follows[s*actions+a] = next
				if order != 0 { // what follows depends on what is done here
					here[a] += after[next]
				}
			}
		}
		after, ok = here, ok && !math.IsInf(slices.Max(here), -1)
	}
	out := make([]int, states)
	out[0] = largest(after)
	for s := 1; s < states; s++ {
		out[s] = follows[(s-1)*actions+out[s-1]]
	}
	return out, ok
}
