package account

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
)

// Odometer bounds what was spent so far if every charge, and the time to stop, may be chosen after
// seeing earlier releases and no budget is fixed in advance (Rogers, Roth, Ullman, Vadhan 2016). It
// is a sequence of filters whose epsilons grow by a factor and whose deltas sum to its delta; the
// reading is the epsilon of the first filter that would have admitted every charge.
//
// The guarantee: let o be all that was released when the analyst stops, and r(o) the reading then.
// For neighbours with distributions P and Q of o and any set E of outcomes,
//
//	P(E) <= E_Q[e^r(o); o in E] + delta.
//
// So what ended at a reading of at most r is (r, delta)-private, for all r simultaneously. The
// reading is public if the charges are. It bounds nothing that is charged afterwards: a bound on
// future charges needs a [Filter]. The proof is in docs/proofs/accounting.md.
//
// An Odometer is not safe for concurrent use.
type Odometer struct {
	delta, first float64
	meter        *Filter   // without limits: what an event costs does not depend on a budget
	levels       []*Filter // made as they are needed; nil where the rule admits nothing there
	now          int       // the first level that admits all charges
}

const (
	// odometerGrowth is the factor from one level to the next.
	odometerGrowth = 1.25
	// odometerLevels bounds the levels: the last reading is some 5e5 times the first.
	odometerLevels = 60
)

// NewOdometer returns an odometer that reads 0. First is its smallest reading above 0: a cost far
// below it also reads as first, and a reading far above it gets a smaller part of delta: level k,
// counted from 0, has delta/((k+1)(k+2)). Under the rule [Renyi] the options must fix an order. A
// reserve is refused, so an event that the rule does not support is refused by name.
func NewOdometer(adj dp.Adjacency, rule Rule, delta, first float64, options FilterOptions) (*Odometer, error) {
	if options.Reserve != (dp.Budget{}) {
		return nil, fmt.Errorf("%w: reserve (%v, %v) for an odometer; want none", dp.ErrBudget, options.Reserve.Epsilon, options.Reserve.Delta)
	}
	if rule == Renyi && options.Order == 0 {
		return nil, fmt.Errorf("%w: an odometer with the renyi rule has no budget to choose an order for; give one", dp.ErrBudget)
	}
	top := dp.Budget{Epsilon: first, Delta: delta}
	if err := top.Validate(); err != nil {
		return nil, err
	}
	if err := options.validate(top); err != nil {
		return nil, err
	}
	top.Epsilon *= math.Pow(odometerGrowth, odometerLevels)
	meter, err := NewFilter(adj, top, rule, options)
	if err != nil {
		return nil, err
	}
	meter.limit = math.MaxFloat64
	if rule == Basic {
		meter.options.Reserve = dp.Budget{Epsilon: math.MaxFloat64, Delta: 1}
	}
	return &Odometer{delta: delta, first: first, meter: meter}, nil
}

// level is the k-th filter, or nil where at a fixed order no divergence meets its budget.
func (o *Odometer) level(k int) (*Filter, error) {
	for i := len(o.levels); i <= k; i++ {
		budget := dp.Budget{
			Epsilon: o.first * math.Pow(odometerGrowth, float64(i)),
			Delta:   o.delta / float64((i+1)*(i+2)) * (1 - 0x1p-50), // sums to no more than delta
		}
		options := o.meter.options
		options.Reserve = dp.Budget{}
		f, err := NewFilter(o.meter.adj, budget, o.meter.rule, options)
		if o.meter.rule == Renyi && !(renyiLimit(options.Order, budget) > 0) {
			f, err = nil, nil
		}
		if err != nil {
			return nil, err
		}
		o.levels = append(o.levels, f)
	}
	return o.levels[k], nil
}

// Charge adds an event. It refuses an event that the rule does not support and, with
// [ErrExhausted], one that exceeds the last reading; then nothing is added.
func (o *Odometer) Charge(ctx context.Context, event dp.Event) error {
	state, err := o.meter.after(ctx, event)
	if err != nil {
		return err
	}
	for k := o.now; k < odometerLevels; k++ {
		f, err := o.level(k)
		if err != nil {
			return err
		}
		if f != nil && f.holds(state) {
			o.now, o.meter.state = k, state
			return nil
		}
	}
	return fmt.Errorf("%w: %s takes the odometer past %v times its first reading; begin with a larger one, or ask for more noise",
		ErrExhausted, event.Kind(), math.Pow(odometerGrowth, odometerLevels-1))
}

// Reading is the epsilon spent so far, at the odometer's delta: 0 before the first charge,
// else that of the first level that admits all charges.
func (o *Odometer) Reading() dp.Budget {
	if o.meter.state == (filterState{}) {
		return dp.Budget{}
	}
	return dp.Budget{Epsilon: o.levels[o.now].budget.Epsilon, Delta: o.delta}
}

// holds reports that a filter would have admitted charges that add up so.
func (f *Filter) holds(s filterState) bool {
	return s.sum <= f.limit && s.basic.Epsilon <= f.options.Reserve.Epsilon && s.basic.Delta <= f.options.Reserve.Delta
}
