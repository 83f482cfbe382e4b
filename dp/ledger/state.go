package ledger

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger/internal/store"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
)

// Summary is the state of a ledger, for show. Its epsilons are rounded up where
// they are spent and down where they are left.
type Summary struct {
	Config Opening `json:"config"`
	// Budget is the present budget, which may differ from that of Config.
	Budget dp.Budget `json:"budget"`
	// Spent is an (epsilon, delta) that all charges so far are certain to meet,
	// Totals what they add up to under the rule, Left what the rule still admits.
	Spent  dp.Budget         `json:"spent"`
	Totals account.Cost      `json:"totals"`
	Left   account.Allowance `json:"left"`
	// Head is the last entry: note it elsewhere to find a ledger that was cut.
	Head     chain.Head       `json:"head"`
	Charges  int64            `json:"charges"`
	Analysts []AnalystSummary `json:"analysts"`
	// Pending are charges whose release was never recorded; their budget is spent.
	// At most 1000 are listed, and fewer long ones; PendingCount has them all.
	Pending      []Pending `json:"pending"`
	PendingCount int64     `json:"pending_count"`
	// Contract is the version in force; nil where the dataset has none.
	Contract *Contract `json:"contract,omitempty"`
	// FailedChecks are the checks of the data that are unpaid since they were cleared.
	FailedChecks []FailedCheck `json:"failed_checks,omitempty"`
	// Witnesses are the places outside the store that keep its head.
	Witnesses []string `json:"witnesses,omitempty"`
	// Warnings are for the curator, such as a restore from a backup.
	Warnings []string `json:"warnings,omitempty"`
}

// AnalystSummary is what one analyst spent. Spent is what the analyst's charges
// alone are certain to meet; those of all analysts do not add up to the total's.
type AnalystSummary struct {
	Analyst string             `json:"analyst"`
	Charges int64              `json:"charges"`
	Spent   dp.Budget          `json:"spent"`
	Totals  account.Cost       `json:"totals"`
	Share   *dp.Budget         `json:"share,omitempty"`
	Left    *account.Allowance `json:"left,omitempty"`
}

// Pending is a charge without a release: its run crashed, failed, or is going on.
type Pending struct {
	Seq     int64     `json:"seq"`
	Key     string    `json:"key"`
	Analyst string    `json:"analyst"`
	Purpose string    `json:"purpose"`
	Time    time.Time `json:"time"`
	Event   dp.Event  `json:"event"`
}

// mostPending is how many pending charges a summary lists.
const mostPending = 1000

// mostPendingBytes is how long their entries may be together.
const mostPendingBytes = 16 << 20

// State returns the state of the ledger. Its cost does not grow with the number
// of charges but for counting them.
func (l *Ledger) State(ctx context.Context) (*Summary, error) {
	var s *Summary
	err := l.view(ctx, func(tx *store.Tx) (err error) {
		s, err = l.summary(tx)
		return err
	})
	return s, err
}

func (l *Ledger) summary(tx *store.Tx) (*Summary, error) {
	last, err := l.lastEntry(tx)
	if err != nil {
		return nil, err
	}
	_, head := tx.Head()
	s := &Summary{
		Config: Opening(*l.open), Budget: last.Totals.Budget, Totals: last.Totals.Spent,
		Head: chain.Head{Seq: last.Seq, Hash: toHash(head)},
	}
	if n := last.Totals.Restores; n > 0 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("this ledger was restored from a backup %d times; charges that a backup did not hold are counted only as the steward declared them: hold it against the releases that left (verify)", n))
	}
	limits, err := l.limits(s.Budget)
	if err != nil {
		return nil, store.Abort(err)
	}
	if s.Spent, err = l.meter.Spent(s.Totals, limits); err != nil {
		return nil, store.Abort(err)
	}
	s.Left = l.meter.Left(s.Totals, limits)
	if _, s.Charges, s.PendingCount, _, err = tx.Counts(); err != nil {
		return nil, err
	}
	contract, err := l.contractIn(tx, last)
	if err != nil {
		return nil, err
	}
	s.Contract = (*Contract)(contract)
	if s.FailedChecks, err = failedChecks(tx); err != nil {
		return nil, err
	}
	if s.Witnesses, err = tx.Witnesses(); err != nil {
		return nil, err
	}
	if s.Analysts, err = l.analysts(tx, s.Budget); err != nil {
		return nil, err
	}
	s.Pending, err = l.pending(tx)
	return s, err
}

func (l *Ledger) analysts(tx *store.Tx, budget dp.Budget) ([]AnalystSummary, error) {
	names, err := tx.Analysts()
	if err != nil {
		return nil, err
	}
	all := make([]AnalystSummary, 0, len(names))
	for _, name := range names {
		a, err := l.analyst(tx, name)
		if err != nil {
			return nil, err
		}
		limits, err := l.limits(budget)
		s := AnalystSummary{Analyst: name, Charges: a.Charges, Totals: a.Spent}
		if err == nil && a.Share != nil {
			limits, err = l.meter.Limits(a.Share.Budget, a.Share.Reserve)
			left := l.meter.Left(a.Spent, limits)
			s.Share, s.Left = &a.Share.Budget, &left
		}
		if err != nil {
			return nil, store.Abort(err)
		}
		if s.Spent, err = l.meter.Spent(a.Spent, limits); err != nil {
			return nil, store.Abort(err)
		}
		all = append(all, s)
	}
	return all, nil
}

func (l *Ledger) pending(tx *store.Tx) ([]Pending, error) {
	rows, err := tx.Charges(0, mostPending, true)
	if err != nil {
		return nil, err
	}
	all := make([]Pending, 0, len(rows))
	size := 0
	for _, r := range rows {
		row, err := tx.Entry(r.Seq)
		if err != nil {
			return nil, err
		}
		if size += len(row.Body); size > mostPendingBytes {
			break
		}
		e, err := chain.Parse(row.Body)
		if err != nil || e.Kind != chain.Charge {
			return nil, store.Abort(l.tampered(r.Seq, "it is not the charge that is pending"))
		}
		all = append(all, Pending{Seq: e.Seq, Key: e.Charge.Key, Analyst: e.Charge.Analyst, Purpose: e.Charge.Purpose, Time: e.Time, Event: e.Charge.Event})
	}
	return all, nil
}

// Point is what was spent after one entry.
type Point struct {
	Seq    int64     `json:"seq"`
	Time   time.Time `json:"time"`
	Spent  dp.Budget `json:"spent"`
	Budget dp.Budget `json:"budget"`
}

// History returns what was spent over time, after each entry that changed it.
func (l *Ledger) History(ctx context.Context) ([]Point, error) {
	var points []Point
	for n, err := range l.entries(ctx, 0) {
		if err != nil {
			return nil, err
		}
		e := n.Entry
		if e.Kind == chain.Record || e.Kind == chain.Share || e.Kind == chain.Contract || e.Kind == chain.Round {
			continue
		}
		limits, err := l.limits(e.Totals.Budget)
		if err != nil {
			return nil, err
		}
		spent, err := l.meter.Spent(e.Totals.Spent, limits)
		if err != nil {
			return nil, err
		}
		points = append(points, Point{Seq: e.Seq, Time: e.Time, Spent: spent, Budget: e.Totals.Budget})
	}
	return points, nil
}

// IfFixed brackets the epsilon that all charges together would have at delta if
// every one of them had been fixed before the first release. It is information
// only: charges that are chosen after seeing releases are not bound by it.
func (l *Ledger) IfFixed(ctx context.Context, delta float64) (account.Bracket, error) {
	counts, events := map[string]int64{}, map[string]dp.Event{}
	for n, err := range l.entries(ctx, 0) {
		if err != nil {
			return account.Bracket{}, err
		}
		if n.Kind != chain.Charge {
			continue
		}
		text, err := dp.MarshalEvent(n.Entry.Charge.Event)
		if err != nil {
			return account.Bracket{}, err
		}
		counts[string(text)]++
		events[string(text)] = n.Entry.Charge.Event
	}
	if len(events) == 0 {
		return account.Bracket{}, nil
	}
	a := account.New(l.open.Adjacency)
	for _, text := range slices.Sorted(maps.Keys(events)) {
		if err := a.Compose(ctx, events[text], counts[text]); err != nil {
			return account.Bracket{}, err
		}
	}
	return a.Epsilon(ctx, delta)
}

// Fits reports what Charge would, without charging: nil, or the error. Another
// charge may come between.
func (l *Ledger) Fits(ctx context.Context, c Charge) error {
	if c.Key == "" {
		c.Key = NewKey()
	}
	body, err := l.body(ctx, c)
	if err != nil {
		return err
	}
	if _, err := l.Witnesses(ctx); err != nil {
		return err
	}
	return l.view(ctx, func(tx *store.Tx) error {
		last, err := l.lastEntry(tx)
		if err != nil {
			return err
		}
		if err := l.charged(tx, body); err != nil {
			return err
		}
		totals, since, err := l.asOf(tx, last.Totals, c.AsOf)
		if err != nil {
			return err
		}
		_, _, err = l.mayCharge(tx, totals, body, c.Delta, since[body.Analyst])
		return err
	})
}
