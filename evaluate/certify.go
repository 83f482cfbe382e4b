package evaluate

import (
	"fmt"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

// Certify accounts for the event of a statement anew and returns the bracket of
// its epsilon at its delta. An event that costs more than the statement promises
// is [ErrOverBudget]. It needs nothing but the release, so anybody can do it.
func (s *Statement) Certify() (account.Bracket, error) {
	if s.Event == nil {
		return account.Bracket{}, fmt.Errorf("%w: the statement holds no event", dp.ErrEvent)
	}
	q := Privacy{Adjacency: s.Adjacency, Budget: dp.Budget{Epsilon: s.Epsilon, Delta: s.Delta}}
	if err := q.Budget.Validate(); err != nil {
		return account.Bracket{}, err
	}
	a, err := certify("the release", s.Event, q)
	return a.epsilon, err
}
