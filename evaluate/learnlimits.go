package evaluate

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/evaluate/internal/rule"
)

// Forbidden is an action that a learned policy does not take where a column is above one number
// and at most another; a number that is missing is no bound.
type Forbidden struct {
	Action int      `json:"action"`
	Column string   `json:"column"`
	Above  *float64 `json:"above,omitempty"`
	AtMost *float64 `json:"at_most,omitempty"`
}

const (
	mostForbidden = 16
	personsShare  = 0.2 // of a round, for the numbers of persons, under a limit on who is treated
)

// limits checks what the policy must keep to.
func (q *learnQuestion) limits(m DPLearn, method string) error {
	refuse := func(text string, args ...any) error {
		return fmt.Errorf("%w: %s: "+text, append([]any{ErrMethod, method}, args...)...)
	}
	actions := q.grid.Actions
	switch {
	case m.Budget < 0 || m.Budget >= 1:
		return refuse("budget is %v; want the share of persons who may get another action than 0, above 0 and below 1", m.Budget)
	case m.Budget > 0 && q.public.decisions() > 1:
		return refuse("budget is a share of persons, of whom each has one decision, and an episode has up to %d; leave it out", q.public.decisions())
	case len(m.Never) > mostForbidden:
		return refuse("never has %d entries; want at most %d", len(m.Never), mostForbidden)
	}
	q.grid.Treated = m.Budget
	for i, f := range m.Never {
		p := rule.Prohibition{Action: f.Action, Covariate: slices.Index(q.names, f.Column), Above: math.Inf(-1), AtMost: math.Inf(1)}
		if f.Above != nil {
			p.Above = *f.Above
		}
		if f.AtMost != nil {
			p.AtMost = *f.AtMost
		}
		switch {
		case p.Covariate < 0:
			return refuse("never[%d].column is %q; want one of %v, the columns of features", i, f.Column, q.names)
		case f.Action < 0 || f.Action >= actions:
			return refuse("never[%d].action is %d; want 0 to %d", i, f.Action, actions-1)
		case f.Above == nil && f.AtMost == nil || !(p.Above < p.AtMost):
			return refuse("never[%d] holds above %v and at most %v; want a part of the range", i, p.Above, p.AtMost)
		case f.Action == 0 && m.Budget > 0:
			return refuse("never[%d] forbids action 0, which budget may have to give to all; leave one of them out", i)
		}
		q.grid.Never = append(q.grid.Never, p)
	}
	if q.states == nil && !q.grid.Open() {
		return refuse("never leaves no action to some; allow one")
	}
	for _, column := range slices.Sorted(maps.Keys(m.Monotone)) {
		at, order := slices.Index(q.names, column), map[string]int{"up": 1, "down": -1}[m.Monotone[column]]
		if at < 0 || order == 0 {
			return refuse("monotone has %s: %s; want one of %v, the columns of features, with up or down", column, m.Monotone[column], q.names)
		}
		if q.grid.Order == nil {
			q.grid.Order = make([]int, len(q.names))
		}
		q.grid.Order[at] = order
	}
	if q.states != nil {
		if !q.grid.Possible(q.states.States(), actions) {
			return refuse("never and monotone together leave no policy; allow more")
		}
		return nil
	}
	for i, p := range q.grid.Never { // of two actions what is done instead depends on that column alone
		if q.grid.Order != nil && (actions > 2 || q.grid.Order[p.Covariate] != 0) {
			return refuse("never[%d] and monotone can both be had with two actions and about different columns; leave one of them out", i)
		}
	}
	return nil
}

// limited are the limits in words.
func (m DPLearn) limited() (notes []string) {
	if m.Budget > 0 {
		notes = append(notes, fmt.Sprintf("At most a share of %v of persons is to get another action than 0. The policy keeps to it by noisy numbers of those who are learned from, with two standard deviations to spare.", m.Budget))
	}
	for _, column := range slices.Sorted(maps.Keys(m.Monotone)) {
		moves := "rises"
		if m.Monotone[column] == "down" {
			moves = "falls"
		}
		notes = append(notes, fmt.Sprintf("As %s rises, all else alike, the number of the action never %s.", column, map[string]string{"rises": "falls", "falls": "rises"}[moves]))
	}
	for _, f := range m.Never {
		where := ""
		if f.Above != nil {
			where += fmt.Sprintf(" above %v", *f.Above)
		}
		if f.AtMost != nil {
			if where != "" {
				where += " and"
			}
			where += fmt.Sprintf(" at most %v", *f.AtMost)
		}
		notes = append(notes, fmt.Sprintf("Action %d is never taken where %s is%s.", f.Action, f.Column, where))
	}
	return notes
}
