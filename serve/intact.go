package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/serve/internal/asks"
)

// errLost marks a ledger that lacks what was charged to it: with it the budget would be
// there again.
var errLost = fault.Refused("the ledger lacks what was charged to it")

// remedy is what a steward does about it.
const remedy = "stop the service, bring back the newest ledger, or restore its newest backup and say what was charged after it (discreet ledger restore), and start again"

// overlap is by how much a comparison goes back before the one that was made last: services
// that share a store may write the ends of asks down in another order than that of their times.
const overlap = time.Minute

// intact compares the ledger with the store: every ask that was charged has its entry, in the
// chain that its release says it was in. It is asked at the start, before each charge and
// before anything of the budget is shown. Charges that the steward declared lost when the
// ledger was restored are in no chain, and their budget was debited then.
func (d *dataset) intact(ctx context.Context) error {
	var since time.Time
	if at := d.compared.Load(); at != nil {
		since = *at
	}
	newest := since
	err := d.asks.Charged(ctx, d.name, since, func(c asks.Charged) error {
		newest = c.Ended.Add(-overlap)
		return d.paid(ctx, c)
	})
	if err != nil {
		return err
	}
	if newest.After(since) {
		d.compared.Store(&newest)
	}
	return nil
}

// inOrder is intact, for a budget that is shown: a witness that knows more of the ledger than
// it holds refuses it too. One that cannot be asked contradicts nothing.
func (d *dataset) inOrder(ctx context.Context) error {
	if err := d.intact(ctx); err != nil {
		return err
	}
	_, err := d.ledger.Witnesses(ctx)
	if errors.Is(err, ledger.ErrBehind) || errors.Is(err, ledger.ErrTampered) {
		return err
	}
	return nil
}

// paid refuses a ledger that lacks the charge of an ask.
func (d *dataset) paid(ctx context.Context, c asks.Charged) error {
	seq, charged, err := d.entryOf(ctx, c)
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, ledger.ErrBehind) && !errors.Is(err, ledger.ErrTampered):
		return fmt.Errorf("dataset %q: the ledger cannot be compared with ask %s: %w; %s", d.name, c.ID, err, remedy)
	}
	if lost, problem := d.declaredLost(ctx, seq, charged); lost || problem != nil {
		return problem
	}
	return fmt.Errorf("%w: dataset %q: ask %s: %w; nothing is charged and no budget is shown: %s", errLost, d.name, c.ID, err, remedy)
}

// entryOf looks up the charge of an ask. Its number is known of a release, and is past all
// others of a charge that has none.
func (d *dataset) entryOf(ctx context.Context, c asks.Charged) (seq int64, charged time.Time, err error) {
	if len(c.Release) == 0 {
		entry, err := d.ledger.ChargeOf(ctx, c.LedgerKey())
		if err == nil && entry == nil {
			err = fmt.Errorf("%w: it has no charge of key %s", ledger.ErrBehind, c.LedgerKey())
		}
		return 1<<62 - 1, c.Ended, err
	}
	stamp, err := ledger.StampOf(c.Release)
	if err != nil {
		return 0, time.Time{}, err
	}
	var stated struct {
		Ledger struct {
			Time time.Time `json:"time"`
		} `json:"ledger"`
	}
	if err := json.Unmarshal(c.Release, &stated); err != nil {
		return 0, time.Time{}, err
	}
	if o := d.ledger.Opening(); stamp.Ledger != o.Ledger || stamp.Dataset != o.Dataset {
		return stamp.Seq, stated.Ledger.Time, fmt.Errorf("%w: it is ledger %s of dataset %q, and its release was paid for by ledger %s of %q", ledger.ErrBehind, o.Ledger, o.Dataset, stamp.Ledger, stamp.Dataset)
	}
	err = d.ledger.VerifyHead(ctx, stamp.Head)
	if err == nil {
		err = d.ledger.VerifyHead(ctx, chain.Head{Seq: stamp.Seq, Hash: stamp.Entry})
	}
	return stamp.Seq, stated.Ledger.Time, err
}

// declaredLost tells of a charge whether it was made after a backup from which the ledger was
// restored later, and the steward debited what was charged between the two.
func (d *dataset) declaredLost(ctx context.Context, seq int64, charged time.Time) (bool, error) {
	for n, err := range d.ledger.Entries(ctx, 0) {
		if err != nil {
			return false, err
		}
		if n.Kind != string(chain.Restore) {
			continue
		}
		e, err := chain.Parse(n.Line)
		if err != nil {
			return false, err
		}
		if r := e.Restore; r.Declared != chain.LostNothing && seq > r.Backup.Seq && charged.Before(n.Time) {
			return true, nil
		}
	}
	return false, nil
}

// mayBegin refuses to begin a ledger where there was one.
func (d *dataset) mayBegin(ctx context.Context, missing error) error {
	ran, err := d.asks.Ran(ctx, d.name)
	if err != nil || !ran {
		return err
	}
	return fmt.Errorf("%w: %w; asks about dataset %q were answered, and a new ledger would give their budget back: %s", errLost, missing, d.name, remedy)
}

// whole is intact, as a caller may learn of it.
func (s *Service) whole(ctx context.Context, d *dataset) error { return s.refused(d, d.intact(ctx)) }

// stateOf is the state of a dataset's ledger, if that is whole.
func (s *Service) stateOf(ctx context.Context, who *caller) (*ledger.Summary, error) {
	reading := who.state
	if who.role == roleAnalyst && who.toldState != nil {
		reading = who.toldState // whether a charge was made since says how the check went
	}
	state, err := reading.Read(ctx)
	return state, s.refused(who.dataset, err)
}

// refused tells a caller that the ledger is not in order, and the log what is wrong with it.
func (s *Service) refused(d *dataset, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errLost), errors.Is(err, ledger.ErrBehind), errors.Is(err, ledger.ErrTampered):
		s.log.Error("the ledger would take no charge", "dataset", d.name, "error", err)
		return connect.NewError(connect.CodeUnavailable, errors.New(toldLedger))
	}
	return s.broken(err)
}
