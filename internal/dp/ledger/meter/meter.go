package meter

import (
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// Meter measures under one adjacency and one rule, fixed when it is made. It is
// immutable and safe for concurrent use.
type Meter struct {
	adj     dp.Adjacency
	rule    account.Rule
	options account.FilterOptions
}

// New returns a meter for the rule. An order of zero, under the Renyi rule, is
// replaced by the one at which the budget holds the most Gaussian noise;
// [Meter.Order] says which. The options hold for the life of the ledger.
func New(adj dp.Adjacency, budget dp.Budget, rule account.Rule, options account.FilterOptions) (*Meter, error) {
	f, err := account.NewFilter(adj, budget, rule, options)
	if err != nil {
		return nil, err
	}
	options.Order = f.Order()
	return &Meter{adj: adj, rule: rule, options: options}, nil
}

// Order is the order of the Renyi rule, and 0 under the others.
func (m *Meter) Order() float64 { return m.options.Order }

// Limits is what a budget admits, rounded down.
type Limits struct {
	// Budget is what all charges together must meet; Reserve is the part of it in
	// which epsilons and deltas add up (all of it under the basic rule).
	Budget, Reserve dp.Budget
	// Most is the largest total that is admitted.
	Most account.Cost
}

// Limits returns what a budget with the given reserve admits under the rule.
func (m *Meter) Limits(budget, reserve dp.Budget) (Limits, error) {
	options := m.options
	options.Reserve = reserve
	fresh, err := account.NewFilter(m.adj, budget, m.rule, options)
	if err != nil {
		return Limits{}, err
	}
	left := fresh.Remaining()
	l := Limits{Budget: budget, Reserve: reserve, Most: account.Cost{Epsilon: left.Basic.Epsilon, Delta: left.Basic.Delta}}
	switch m.rule {
	case account.Basic:
		l.Reserve = budget
	case account.GaussianDP:
		l.Most.Sum = xmath.MulDown(left.Mu, left.Mu)
	case account.Renyi:
		l.Most.Sum = left.Divergence
	}
	return l, nil
}

// Spent is an (epsilon, delta) that charges of this total are certain to meet:
// what was spent of the reserve, added to the epsilon of the rule's own sum at
// the delta of its part. A total within the limits is within the budget.
func (m *Meter) Spent(total account.Cost, l Limits) (dp.Budget, error) {
	spent := dp.Budget{Epsilon: total.Epsilon, Delta: total.Delta}
	if total.Sum == 0 {
		return spent, nil
	}
	main := m.main(l)
	var epsilon float64
	if m.rule == account.GaussianDP {
		b, err := account.GaussianEpsilon(xmath.Up(math.Sqrt(total.Sum), 1), main.Delta)
		if err != nil {
			return dp.Budget{}, err
		}
		epsilon = b.Upper
	} else {
		// At a fixed order epsilon is the divergence plus a constant, and the limit
		// is the divergence at which it reaches the part's epsilon.
		epsilon = max(xmath.AddUp(total.Sum, xmath.AddUp(main.Epsilon, -l.Most.Sum)), 0)
	}
	if total.Sum <= l.Most.Sum {
		epsilon = min(epsilon, main.Epsilon) // any excess is rounding
	}
	spent.Epsilon = xmath.AddUp(spent.Epsilon, epsilon)
	spent.Delta = xmath.AddUp(spent.Delta, main.Delta)
	if total.Within(l.Most) {
		spent.Epsilon, spent.Delta = min(spent.Epsilon, l.Budget.Epsilon), min(spent.Delta, l.Budget.Delta)
	}
	return spent, nil
}

// main is the rule's own part of the budget, rounded down.
func (m *Meter) main(l Limits) dp.Budget {
	return dp.Budget{
		Epsilon: xmath.AddDown(l.Budget.Epsilon, -l.Reserve.Epsilon),
		Delta:   xmath.AddDown(l.Budget.Delta, -l.Reserve.Delta),
	}
}

// Left is what is left of the limits, rounded down, in the form of a filter's.
func (m *Meter) Left(total account.Cost, l Limits) account.Allowance {
	a := account.Allowance{Basic: dp.Budget{
		Epsilon: max(xmath.AddDown(l.Most.Epsilon, -total.Epsilon), 0),
		Delta:   max(xmath.AddDown(l.Most.Delta, -total.Delta), 0),
	}}
	left := max(xmath.AddDown(l.Most.Sum, -total.Sum), 0)
	switch m.rule {
	case account.GaussianDP:
		a.Mu = max(xmath.Down(math.Sqrt(left), 1), 0)
	case account.Renyi:
		a.Divergence = left
		a.Mu = max(xmath.Down(math.Sqrt(xmath.DivDown(2*left, m.options.Order)), 2), 0)
	}
	return a
}
