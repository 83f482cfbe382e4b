package chain

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/rl/value"
)

// The fixed parts of the problem.
const (
	// States is the number of states, without the absorbing end.
	States = 40
	// Actions is the number of actions: 0 stays, 1 advances.
	Actions = 2
	// Column is the observation column that holds the state number.
	Column = "obs_state"
)

// ErrOptions marks settings out of range.
var ErrOptions = fault.Input("invalid chain settings")

// Values returns the exact value of every state for the policy that advances
// with probability advance, in (0, 1], under discount gamma, in [0, 1]:
//
//	V(39) = p / (1 - (1-p) gamma),  V(s) = p gamma V(s+1) / (1 - (1-p) gamma).
//
// It panics outside these ranges.
func Values(advance, gamma float64) []float64 {
	if !(advance > 0 && advance <= 1) || !(gamma >= 0 && gamma <= 1) {
		panic(fmt.Sprintf("chain: Values: advance %v, gamma %v", advance, gamma))
	}
	v := make([]float64, States)
	step := advance / (1 - (1-advance)*gamma)
	v[States-1] = step
	for s := States - 2; s >= 0; s-- {
		v[s] = step * gamma * v[s+1]
	}
	return v
}

// MDP returns the problem as a finite MDP with discount gamma; start holds the
// probability of each of the States first states, nil for uniform.
func MDP(gamma float64, start []float64) *value.FiniteMDP {
	m := &value.FiniteMDP{
		States: States, Actions: Actions,
		P:     make([]float64, States*Actions*States),
		R:     make([]float64, States*Actions),
		Start: start,
		Gamma: gamma,
	}
	if start == nil {
		m.Start = uniform()
	}
	for s := range States {
		m.P[(s*Actions)*States+s] = 1
		if s+1 < States {
			m.P[(s*Actions+1)*States+s+1] = 1
		}
	}
	m.R[States*Actions-1] = 1
	return m
}

// Policy returns the table of States x Actions probabilities of the policy that
// advances with probability advance in every state.
func Policy(advance float64) []float64 {
	table := make([]float64, 0, States*Actions)
	for range States {
		table = append(table, 1-advance, advance)
	}
	return table
}

// At returns the start distribution that is all at one state. It panics when
// there is no such state.
func At(state int) []float64 {
	start := make([]float64, States)
	start[state] = 1
	return start
}

func uniform() []float64 {
	start := make([]float64, States)
	for s := range start {
		start[s] = 1.0 / States
	}
	return start
}

// cumulative turns start probabilities into thresholds of a uniform draw over
// [0, 2^53): state s begins where the draw is below thresholds[s] and not below
// the one before.
func cumulative(start []float64) ([]uint64, error) {
	if start == nil {
		start = uniform()
	}
	if len(start) != States {
		return nil, fmt.Errorf("%w: %d start probabilities; want %d", ErrOptions, len(start), States)
	}
	thresholds := make([]uint64, States)
	sum, last := 0.0, 0
	for s, p := range start {
		if !(p >= 0) {
			return nil, fmt.Errorf("%w: start probability of state %d is %v; want 0 or above", ErrOptions, s, p)
		}
		if p > 0 {
			last = s
		}
		sum += p
		thresholds[s] = uint64(min(sum, 1) * unit)
	}
	if math.Abs(sum-1) > 1e-9 {
		return nil, fmt.Errorf("%w: start probabilities add up to %v; want 1", ErrOptions, sum)
	}
	// What rounding left of the unit belongs to the last possible state.
	for s := last; s < States; s++ {
		thresholds[s] = unit
	}
	return thresholds, nil
}
