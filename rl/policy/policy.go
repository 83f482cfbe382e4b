package policy

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Sentinel errors. Everything this package returns wraps one of them or one of
// package feature's.
var (
	// ErrPolicy marks parameters or a file that define no policy.
	ErrPolicy = fault.Input("invalid policy")
	// ErrMissing marks a column of the data that a policy needs and that is not
	// there.
	ErrMissing = fault.Input("column needed by the policy is missing")
	// ErrRow marks a row that a policy cannot judge. Errors that wrap it name
	// rows of private data and are for the curator alone.
	ErrRow = fault.Input("row outside the policy")
)

// Policy is a target policy. It is immutable and public.
type Policy interface {
	// Actions is the number of actions K that the policy knows of, numbered 0 to
	// K-1; 0 when it does not say.
	Actions() int
	// MaxProb is a public upper bound on the probability of any action in any
	// state, in (0, 1]; of densities it is +Inf.
	MaxProb() float64
	// Bind ties the policy to a dataset. It fails with ErrMissing, or with an
	// error of package feature, when a column that it needs is not there; it
	// does not look at rows.
	Bind(d *trajectory.Dataset) (Bound, error)
}

// Bound is a policy tied to a dataset. It may not be shared by goroutines: bind
// once for each.
type Bound interface {
	// Actions is the number of actions that Distribution covers; 0 when the
	// policy has no distributions to give. It does not depend on rows.
	Actions() int
	// Prob is the probability of the logged action of a row, in [0, 1], and
	// false when the policy cannot judge the row.
	Prob(row int) (float64, bool)
	// Distribution writes the probability of each action in the state of a row
	// to dst, whose length is at least Actions (else it panics); what lies beyond becomes zero. It
	// returns false, and zeros, when the policy does not know or cannot judge the
	// row.
	Distribution(dst []float64, row int) bool
}

// Ratios writes the importance ratio of every row of d to dst, of length
// d.Rows(). A row that p cannot judge has ratio 0; see [Check]. It fails with
// ErrMissing when the ratios of p need a column that d does not have.
func Ratios(dst []float64, p Policy, d *trajectory.Dataset) error {
	if len(dst) != d.Rows() {
		panic(fmt.Sprintf("policy: Ratios: dst has length %d, the dataset %d rows", len(dst), d.Rows()))
	}
	if OnPolicy(p) {
		for i := range dst {
			dst[i] = 1
		}
		return nil
	}
	b, err := bindForRatios(p, d)
	if err == nil {
		ratios(dst, b, d)
	}
	return err
}

// CheckedRatios is [Check] and [Ratios] by one look at the rows.
func CheckedRatios(dst []float64, p Policy, d *trajectory.Dataset) error {
	if len(dst) != d.Rows() {
		panic(fmt.Sprintf("policy: CheckedRatios: dst has length %d, the dataset %d rows", len(dst), d.Rows()))
	}
	if OnPolicy(p) {
		return Ratios(dst, p, d)
	}
	b, err := bindForRatios(p, d)
	if err != nil || ratios(dst, b, d) {
		return err
	}
	return Check(p, d)
}

// ratios writes the ratio of every row, and tells whether all of them can be had.
func ratios(dst []float64, b Bound, d *trajectory.Dataset) bool {
	good := true
	if t, ok := b.(*boundTable); ok {
		return t.ratios(dst)
	}
	for row := range dst {
		rho, ok := ratio(b, d, row)
		dst[row], good = rho, good && ok
	}
	return good
}

// OnPolicy reports whether p is the logged policy itself, whose ratios are 1
// without any look at the data.
func OnPolicy(p Policy) bool {
	_, ok := p.(Logged)
	return ok
}

func bindForRatios(p Policy, d *trajectory.Dataset) (Bound, error) {
	if d.BehaviorProb == nil {
		return nil, fmt.Errorf("%w: behavior_prob: importance ratios divide by the behaviour policy's probability of the logged action; map the column that holds it, or evaluate the logged policy (target kind logged)", ErrMissing)
	}
	return p.Bind(d)
}

// ratio is pi/pi_b of one row, or 0 and false when it cannot be had.
func ratio(b Bound, d *trajectory.Dataset, row int) (float64, bool) {
	p, ok := b.Prob(row)
	return divided(p, ok, d.BehaviorProb[row])
}

// divided is pi/pi_b, or 0 and false where pi is not known or the ratio cannot be had.
func divided(p float64, ok bool, behavior float64) (float64, bool) {
	rho := p / behavior
	// The reader keeps behaviour probabilities in (0, 1], and densities above 0. What a dataset made by
	// other hands holds beside them (0, NaN, a number so small that the ratio
	// overflows) must not become an infinity inside a sum.
	if !ok || !(rho >= 0 && rho <= math.MaxFloat64) {
		return 0, false
	}
	return rho, true
}

// needActions is the structural check of every policy that reads actions.
func needActions(d *trajectory.Dataset) error {
	if d.Action == nil {
		return fmt.Errorf("%w: action: the policy's probability depends on the logged action; map the column that holds it", ErrMissing)
	}
	return nil
}
