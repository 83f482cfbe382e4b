package discreet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// PendingError says that a charge is committed and no release came of it: the run
// failed or was interrupted. Its budget is spent and its key is never run again.
type PendingError struct {
	Dataset string
	Seq     int64
	Key     string
	// Continues says that the run is in shards and its transcript is kept: the same
	// command goes on with it, at no further cost.
	Continues bool
	// Err is what went wrong.
	Err error
}

// Error implements error.
func (e *PendingError) Error() string {
	if e.Continues {
		return fmt.Sprintf("entry %d of dataset %q is charged and its release is not made yet: %v; the same command with --key %s, over the same run directory, goes on from its transcript and costs nothing",
			e.Seq, e.Dataset, e.Err, e.Key)
	}
	return fmt.Sprintf("entry %d of dataset %q is charged and no release was recorded: %v; its budget is spent and `discreet ledger show` lists it as pending; start again with a new key (this one was %s)",
		e.Seq, e.Dataset, e.Err, e.Key)
}

// Unwrap returns what went wrong.
func (e *PendingError) Unwrap() error { return e.Err }

// Fault marks it as a failure: whatever was wrong, the budget is spent.
func (e *PendingError) Fault() fault.Class { return fault.Failure }

// ErrNotWritten marks a release that is recorded in its ledger and could not be
// written to its file. Asking again with the same key writes it.
var ErrNotWritten = errors.New("release is recorded and could not be written")

// unnamed is the analyst of a configuration that names none.
const unnamed = "unnamed"

// openLedger opens the ledger of the configuration, nil where it has none.
func (j *job) openLedger(ctx context.Context) (*ledger.Ledger, error) {
	if j.config.Ledger == nil {
		return nil, nil
	}
	return ledger.Open(ctx, j.config.location(), j.config.Ledger.Dataset)
}

// charge is what the job asks of the ledger.
func (j *job) charge(event dp.Event, fingerprint string) ledger.Charge {
	c := ledger.Charge{
		Key: j.key, Analyst: j.analyst(), Contract: j.version, Purpose: j.config.Ledger.Purpose,
		Event: event, Adjacency: j.public.Privacy.Adjacency, Unit: j.public.Privacy.Unit.String(),
		CodeVersion: Version(), ConfigHash: j.hash, Fingerprint: fingerprint, Check: j.checkID, Delta: j.public.Privacy.Budget.Delta,
	}
	return c
}

// analyst is who asks.
func (j *job) analyst() string {
	if name := j.config.Ledger.Analyst; name != "" {
		return name
	}
	return unnamed
}

// recorded answers a retry without a look at the data: it is the
// [ledger.RecordedError] with the release that the job's key paid for, or what
// else is to be said of a key that was charged; nil if it never was.
func (j *job) recorded(ctx context.Context, l *ledger.Ledger) error {
	if !j.retry {
		return nil
	}
	paid, err := l.ChargeOf(ctx, j.key)
	if paid == nil || err != nil {
		return err
	}
	old := paid.Entry.Charge
	// The question is told by the hash of its configuration; event and data are
	// those of the first time.
	if err := l.Fits(ctx, j.charge(old.Event, old.Fingerprint)); err != nil {
		return err
	}
	return fmt.Errorf("%w: key %s is that of a charge and not known as one; run discreet ledger verify", ledger.ErrTampered, j.key)
}

// begin asks the ledger, before the data are opened, all that a charge would ask of it,
// and has it note a check of the data that counts unless the charge pays for it. What
// else would stop the run is found before that.
func (j *job) begin(ctx context.Context, l *ledger.Ledger) error {
	if l == nil {
		return j.unspared()
	}
	if j.public.Persons == 0 && j.public.Privacy.Adjacency == dp.ReplaceOne {
		return fmt.Errorf("%w: problem.persons is missing; with a ledger the number of persons, which is public under replace_one, must be known before the data are opened; give it", ErrConfig)
	}
	plan, err := j.estimator.Plan(j.public)
	if err != nil {
		return err
	}
	c := j.charge(plan.Event, "")
	if stopped := cmp.Or(j.spareOthers(), j.readable()); stopped != nil {
		c.Key = "" // whether this key was charged is not the question
		return cmp.Or(j.remedied(l.Fits(ctx, c)), stopped)
	}
	// Whoever may not charge opens no data, not even for their fingerprint. That alone is taken
	// before the check is noted, and decides whether this one goes on with one that was cut off.
	asked := c
	asked.Key = ""
	if err := l.Fits(ctx, asked); err != nil {
		return j.remedied(err)
	}
	if c.Fingerprint, err = j.fingerprint(ctx, l); err != nil {
		return err
	}
	j.data = c.Fingerprint
	j.checkID, j.checks, err = l.BeginCheck(ctx, c, j.mayFail)
	return j.remedied(err)
}

// unspared is why a run without a ledger stops before it opens the data, nil if it does
// not: what is wrong with its plan comes before what is in its way. A number of persons
// that is yet to be counted leaves the plan for later.
func (j *job) unspared() error {
	stopped := j.spareOthers()
	if stopped == nil || j.public.Persons == 0 {
		return stopped
	}
	_, err := j.estimator.Plan(j.public)
	return cmp.Or(err, stopped)
}

// failed says that a check of the data counts as one that failed, whatever was wrong:
// that a run did not fail until its charge was refused tells of the data too, and so does
// that it had not failed when it was cut off. What was paid for is none.
func (j *job) failed(ctx context.Context, l *ledger.Ledger, err error) error {
	var recorded *ledger.RecordedError
	if l == nil || errors.As(err, &recorded) || errors.Is(err, ledger.ErrUnknown) {
		return err
	}
	if cutOff(err) {
		return fmt.Errorf("%w\nthis check of dataset %q was cut off: the same command with --key %s on the same data goes on with it; after any other check it counts as failed, as %d of %d, and then the steward has to clear them (discreet ledger clear)", err, l.Dataset(), j.key, j.checks, j.mayFail)
	}
	if problem := l.FailCheck(context.WithoutCancel(ctx), j.checkID); problem != nil {
		err = errors.Join(err, problem)
	}
	return fmt.Errorf("%w\nthis is failed check %d of %d of dataset %q; then the steward has to clear them (discreet ledger clear)", err, j.checks, j.mayFail, l.Dataset())
}

// cutOff tells of an error of a check that it is no answer about the data: somebody or
// something stopped it.
func cutOff(err error) bool {
	for _, cause := range []error{context.Canceled, context.DeadlineExceeded, ledger.ErrStore, ledger.ErrBusy, ledger.ErrWitness, ledger.ErrBehind, ledger.ErrTampered} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return false
}

// RefusedError says that a ledger does not cover an evaluation, and what it would
// cover, in the words of the configuration. It wraps the ledger's
// [ledger.RefusedError].
type RefusedError struct {
	*ledger.RefusedError
	// Method and Budget are what was asked for.
	Method string
	Budget dp.Budget
}

// Unwrap returns the ledger's error.
func (e *RefusedError) Unwrap() error { return e.RefusedError }

// Error implements error.
func (e *RefusedError) Error() string {
	whose := "the budget"
	if e.Analyst != "" {
		whose = fmt.Sprintf("the share of analyst %q", e.Analyst)
	}
	s := fmt.Sprintf("%v: dataset %q: %s at epsilon %g, delta %g exceeds what is left of %s; ", ledger.ErrBudget, e.Dataset, e.Method, e.Budget.Epsilon, e.Budget.Delta, whose)
	// A twentieth of what was asked for makes no useful answer.
	if fits := floored(e.Epsilon); e.Epsilon > e.Budget.Epsilon/20 {
		s += fmt.Sprintf("epsilon up to %g at delta %.4g would fit: lower privacy.epsilon, or ", fits, e.Delta)
	} else {
		s += "hardly anything is left: "
	}
	return s + "ask the steward for more (`discreet ledger show` prints what is spent, `discreet ledger budget` changes the budget)"
}

// floored keeps four digits of a positive number, rounded down.
func floored(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 0) {
		return 0
	}
	text := strconv.FormatFloat(x, 'e', 3, 64)
	y, err := strconv.ParseFloat(text, 64)
	if err == nil && y > x {
		y -= math.Pow(10, math.Floor(math.Log10(x))-3)
		y, err = strconv.ParseFloat(strconv.FormatFloat(y, 'e', 3, 64), 64)
	}
	if err != nil {
		return 0
	}
	return y
}

// remedied adds to an error of the ledger what can be done about it.
func (j *job) remedied(err error) error {
	var refused *ledger.RefusedError
	if errors.As(err, &refused) {
		return &RefusedError{RefusedError: refused, Method: j.config.Method.Name, Budget: j.public.Privacy.Budget}
	}
	if errors.Is(err, account.ErrUnsupported) {
		return fmt.Errorf("the ledger cannot take this method: %w; choose a method of Gaussian noise, or a ledger that holds a reserve for others (discreet ledger init --help)", err)
	}
	return err
}

// pay charges the plan's event and returns its receipt; without a ledger, that of
// an uncharged run.
func (j *job) pay(ctx context.Context, l *ledger.Ledger, plan *evaluate.Plan) (*ledger.Grant, error) {
	if l == nil {
		return &ledger.Grant{Receipt: receipt.None()}, nil
	}
	fingerprint, err := j.fingerprint(ctx, l)
	if err != nil {
		return nil, err
	}
	if fingerprint != j.data {
		return nil, fmt.Errorf("%w: the data were changed while they were read; ask again when nobody writes them", trajectory.ErrInput)
	}
	c := j.charge(plan.Event, fingerprint)
	// Episodes and rows are often numbered from one; their ids say nothing of whose.
	if j.public.Privacy.Unit == evaluate.Person && j.persons != nil {
		c.Units = j.persons
	}
	grant, err := l.Charge(ctx, c)
	if errors.Is(err, ledger.ErrUnknown) {
		return nil, fmt.Errorf("%w; the key was %s: with --key %[2]s the next run learns whether it was charged", err, j.key)
	}
	return grant, j.remedied(err)
}

// entry is what the release says of its charge, as it was when it was committed:
// nothing is asked of the ledger between the draw and the record.
func entry(rule string, g *ledger.Grant) *evaluate.LedgerEntry {
	c := g.Entry.Charge
	return &evaluate.LedgerEntry{
		Stamp: *g.Receipt.Stamp(), Time: g.Entry.Time, Key: c.Key, Analyst: c.Analyst, Purpose: c.Purpose,
		Rule: rule, Budget: g.Budget, Spent: g.Spent, Shares: shares(rule, g.Before, c.Cost, g.Most),
	}
}

// shares splits the part of the budget that the charge was taken from.
func shares(rule string, before, cost, most chain.Cost) evaluate.Shares {
	split := func(part string, before, this, most float64) evaluate.Shares {
		if !(most > 0) {
			return evaluate.Shares{Part: part, Left: 1}
		}
		clamp := func(x float64) float64 { return min(max(x/most, 0), 1) }
		return evaluate.Shares{Part: part, Before: clamp(before), This: clamp(this), Left: clamp(most - before - this)}
	}
	if rule != account.Basic.String() && cost.Sum > 0 {
		return split("rule", before.Sum, cost.Sum, most.Sum)
	}
	part := "reserve"
	if rule == account.Basic.String() {
		part = "budget"
	}
	// Both epsilon and delta add up here; what is nearer to its end decides.
	if (before.Delta+cost.Delta)*most.Epsilon > (before.Epsilon+cost.Epsilon)*most.Delta {
		return split(part, before.Delta, cost.Delta, most.Delta)
	}
	return split(part, before.Epsilon, cost.Epsilon, most.Epsilon)
}
