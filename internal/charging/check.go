package charging

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/scan"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Check is a check of the data that is noted in the ledger: it counts as failed unless a
// charge pays for it. It is not changed after it was made.
type Check struct {
	account     *Account
	terms       Terms
	id          int64
	count       int    // of the checks that count so far, this one among them
	fingerprint string // of the data when the check began
}

// Begin asks the ledger, before the data are opened, all that a charge would ask of it,
// and has it note a check of the data. What else would stop the run, blocked says, is
// found before that.
func (a *Account) Begin(ctx context.Context, terms Terms, blocked func() error) (*Check, error) {
	s := a.Spec
	if s.Public.Persons == 0 && s.Public.Privacy.Adjacency == dp.ReplaceOne {
		return nil, fmt.Errorf("%w: problem.persons is missing; with a ledger the number of persons, which is public under replace_one, must be known before the data are opened; give it", config.ErrConfig)
	}
	plan, err := s.Plan()
	if err != nil {
		return nil, err
	}
	charge := a.charge(terms, plan.Event, "")
	// Whether this key was charged is not the question yet.
	unkeyed := charge
	unkeyed.Key = ""
	stopped := blocked()
	if stopped == nil && !a.Elsewhere {
		stopped = scan.CheckFiles(ctx, s)
	}
	if stopped != nil {
		return nil, cmp.Or(a.remedied(a.Ledger.Fits(ctx, unkeyed)), stopped)
	}
	// Whoever may not charge opens no data, not even for their fingerprint. That alone is taken
	// before the check is noted, and decides whether this one goes on with one that was cut off.
	if err := a.Ledger.Fits(ctx, unkeyed); err != nil {
		return nil, a.remedied(err)
	}
	if charge.Fingerprint, err = a.fingerprint(ctx); err != nil {
		return nil, err
	}
	c := Check{account: a, terms: terms, fingerprint: charge.Fingerprint}
	c.id, c.count, err = a.Ledger.BeginCheck(ctx, charge, terms.FailedChecks)
	if err != nil {
		return nil, a.remedied(err)
	}
	return &c, nil
}

// fingerprint is the keyed hash of the data's files; empty where there are none.
func (a *Account) fingerprint(ctx context.Context) (string, error) {
	if a.Elsewhere {
		return "", nil
	}
	digest, err := scan.Digest(ctx, a.Spec)
	if err != nil {
		return "", err
	}
	return a.Ledger.FingerprintOf(bytes.NewReader(digest))
}

// Fail notes that the check failed, whatever was wrong: that a run did not fail until its
// charge was refused tells of the data too. A check that was cut off is still open.
func (c *Check) Fail(ctx context.Context, err error) error {
	l := c.account.Ledger
	var recorded *ledger.RecordedError
	if errors.As(err, &recorded) || errors.Is(err, ledger.ErrUnknown) {
		return err
	}
	if cutOff(err) {
		return fmt.Errorf("%w\nthis check of dataset %q was cut off: the same command with --key %s on the same data goes on with it; after any other check it counts as failed, as %d of %d, and then the steward has to clear them (discreet ledger clear)", err, l.Dataset(), c.account.Key, c.count, c.terms.FailedChecks)
	}
	if problem := l.FailCheck(context.WithoutCancel(ctx), c.id); problem != nil {
		err = errors.Join(err, problem)
	}
	return fmt.Errorf("%w\nthis is failed check %d of %d of dataset %q; then the steward has to clear them (discreet ledger clear)", err, c.count, c.terms.FailedChecks, l.Dataset())
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

// Pay charges the plan's event, and with it takes the check back. Persons are the ids of the
// data's; nil where they have none.
func (c *Check) Pay(ctx context.Context, plan *evaluate.Plan, persons iter.Seq[string]) (*ledger.Grant, error) {
	a := c.account
	fingerprint, err := a.fingerprint(ctx)
	if err != nil {
		return nil, err
	}
	if fingerprint != c.fingerprint {
		return nil, fmt.Errorf("%w: the data were changed while they were read; ask again when nobody writes them", trajectory.ErrInput)
	}
	charge := a.charge(c.terms, plan.Event, fingerprint)
	charge.Check = c.id
	// Episodes and rows are often numbered from one; their ids say nothing of whose.
	if a.Spec.Public.Privacy.Unit == evaluate.Person && persons != nil {
		charge.Units = persons
	}
	grant, err := a.Ledger.Charge(ctx, charge)
	if errors.Is(err, ledger.ErrUnknown) {
		return nil, fmt.Errorf("%w; the key was %s: with --key %[2]s the next run learns whether it was charged", err, a.Key)
	}
	return grant, a.remedied(err)
}
