package account

import (
	"errors"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// ErrExhausted marks a charge that the filter's budget does not cover.
var ErrExhausted = errors.New("privacy budget exhausted")

// Rule is a composition theorem that stays true when every charge, its size
// included, is chosen after seeing the earlier releases.
type Rule int

const (
	// Basic: epsilons and deltas add up (Rogers, Roth, Ullman, Vadhan 2016). A
	// charge is pure or (epsilon, delta) itself, or is converted at the fixed
	// [FilterOptions.ChargeDelta].
	Basic Rule = iota + 1
	// GaussianDP: the mu^2 of Gaussian charges add up to that of the budget
	// (Smith and Thakurta 2022; Koskela, Tobaben, Honkela 2023). Other charges
	// go to the reserve.
	GaussianDP
	// Renyi: divergences of one order, fixed when the filter is made, add up (Feldman and Zrnic
	// 2021). Charges without a Renyi curve use the reserve.
	Renyi
)

// String returns "basic", "gaussian" or "renyi".
func (r Rule) String() string {
	switch r {
	case Basic:
		return "basic"
	case GaussianDP:
		return "gaussian"
	case Renyi:
		return "renyi"
	}
	return fmt.Sprintf("Rule(%d)", int(r))
}

// ParseRule is the inverse of [Rule.String].
func ParseRule(s string) (Rule, error) {
	for _, r := range []Rule{Basic, GaussianDP, Renyi} {
		if r.String() == s {
			return r, nil
		}
	}
	return 0, fmt.Errorf("%w: rule %q; want basic, gaussian or renyi", dp.ErrBudget, s)
}

// FilterOptions are the fixed, public choices of a filter. The zero value is
// sound and refuses what needs a choice.
type FilterOptions struct {
	// Reserve is the part of the budget set aside, under GaussianDP and Renyi,
	// for charges that the rule cannot take; they add up in it as under Basic.
	// Zero by default: such charges are refused by name.
	Reserve dp.Budget
	// ChargeDelta is the delta at which a charge that is neither pure nor
	// (epsilon, delta) is converted where charges add up as under Basic. Zero by
	// default: such charges are refused by name.
	ChargeDelta float64
	// Order is the order of the Renyi rule. Zero takes the order at which the
	// budget holds the most Gaussian noise.
	Order float64
	// Accountant makes the accountant for those conversions, under the filter's
	// adjacency; [New] by default.
	Accountant func(dp.Adjacency) Accountant
}

// Filter admits charges, one after the other, for as long as all of them
// together are certain to meet a budget, however each was chosen. It keeps a few
// sums, so a charge costs the same whatever came before. A Filter is not safe
// for concurrent use.
//
// The reserve is composed with the rule's own part as two interactive mechanisms
// that run side by side: their epsilons and deltas add up, whatever the
// interleaving (Vadhan and Zhang 2023).
type Filter struct {
	adj     dp.Adjacency
	rule    Rule
	budget  dp.Budget
	options FilterOptions
	main    dp.Budget // what the rule's own part must meet
	limit   float64   // of the rule's own sum, rounded down
	state   filterState
}

// filterState is all that a charge changes. Both parts are rounded up.
type filterState struct {
	sum   float64   // mu^2, or the divergence at the order
	basic dp.Budget // spent under Basic, or of the reserve
}

// NewFilter returns a filter to which nothing is charged yet.
func NewFilter(adj dp.Adjacency, budget dp.Budget, rule Rule, options FilterOptions) (*Filter, error) {
	if !adj.Valid() {
		return nil, fmt.Errorf("%w: %v; want replace_one or add_remove_one", dp.ErrAdjacency, adj)
	}
	if err := budget.Validate(); err != nil {
		return nil, err
	}
	if err := options.validate(budget); err != nil {
		return nil, err
	}
	f := &Filter{adj: adj, rule: rule, budget: budget, options: options}
	if f.options.Accountant == nil {
		f.options.Accountant = func(adj dp.Adjacency) Accountant { return New(adj) }
	}
	if rule == Basic {
		f.main, f.options.Reserve = budget, budget
		return f, nil
	}
	reserve := options.Reserve
	f.main = dp.Budget{
		Epsilon: xmath.AddDown(budget.Epsilon, -reserve.Epsilon),
		Delta:   xmath.AddDown(budget.Delta, -reserve.Delta),
	}
	if !(f.main.Epsilon > 0 && f.main.Delta >= xmath.SmallestNormal) {
		return nil, fmt.Errorf("%w: the %v rule is left with epsilon %v, delta %v; want both above 0, and delta %v at least", dp.ErrBudget, rule, f.main.Epsilon, f.main.Delta, xmath.SmallestNormal)
	}
	return f, f.setLimit()
}

func (o FilterOptions) validate(budget dp.Budget) error {
	if r := o.Reserve; !(r.Epsilon >= 0 && r.Epsilon <= budget.Epsilon && r.Delta >= 0 && r.Delta <= budget.Delta) {
		return fmt.Errorf("%w: reserve (%v, %v); want it within the budget (%v, %v)", dp.ErrBudget, r.Epsilon, r.Delta, budget.Epsilon, budget.Delta)
	}
	if err := checkDelta(o.ChargeDelta); err != nil {
		return fmt.Errorf("delta of a charge: %w", err)
	}
	if o.Order != 0 && !(o.Order > 1 && !math.IsInf(o.Order, 1)) {
		return fmt.Errorf("%w: order is %v; want a finite number above 1", dp.ErrBudget, o.Order)
	}
	return nil
}

func (f *Filter) setLimit() error {
	switch f.rule {
	case GaussianDP:
		mu, err := GaussianMu(f.main)
		f.limit = xmath.MulDown(mu.Lower, mu.Lower)
		return err
	case Renyi:
		if f.options.Order == 0 {
			f.options.Order = bestOrder(f.main)
		}
		f.limit = renyiLimit(f.options.Order, f.main)
		if !(f.limit > 0) {
			return fmt.Errorf("%w: order %v holds no divergence within epsilon %v, delta %v; choose a higher order", dp.ErrBudget, f.options.Order, f.main.Epsilon, f.main.Delta)
		}
		return nil
	}
	return fmt.Errorf("%w: %v; want basic, gaussian or renyi", dp.ErrBudget, f.rule)
}

// renyiLimit is the largest divergence of an order that meets the budget,
// rounded down.
func renyiLimit(order float64, b dp.Budget) float64 {
	atZero := renyiEpsilon(order, 0, b.Delta)
	limit := b.Epsilon - atZero
	return xmath.Down(limit-(b.Epsilon+math.Abs(atZero))*0x1p-48, 1)
}

// bestOrder maximises the noise-to-signal that the budget holds, limit/order.
func bestOrder(b dp.Budget) float64 {
	value := func(t float64) float64 { order := 1 + math.Exp(t); return -renyiLimit(order, b) / order }
	best, at := math.Inf(1), 0.0
	for t := -7.0; t <= 30; t += 1.0 / 64 {
		if v := value(t); v < best {
			best, at = v, t
		}
	}
	return 1 + math.Exp(at)
}
