package asks

import (
	"context"
	"errors"
	"time"

	"github.com/discreet-rl/discreet/internal/service/database"
)

// Lease is a worker's hold on an ask: a later one has a higher fence.
type Lease struct {
	Ask
	fence int64
	// putBack is how often the ask was put back since it was taken first, and uncounted that it
	// left the backlog then.
	putBack   int64
	uncounted bool
	// begun says that its check of the data may be open.
	begun bool
}

// Again reports that the ask was run before, and may have been charged.
func (l *Lease) Again() bool { return l.fence > 1 }

// Uncounted reports that the ask is not counted as put back, since its data were read before.
func (l *Lease) Uncounted() bool { return l.uncounted }

// Begun reports that an earlier run may have left its check of the data open: whichever ask of the
// dataset begins another makes it a failed one.
func (l *Lease) Begun() bool { return l.begun }

// Both are found by an index, however many asks have ended.
const (
	nextOf = `SELECT ` + columns + `, fence, put_back, counted_until, begun FROM curator_ask WHERE dataset = $1 AND state IN ('queued', 'running') AND lease_until < $2
		AND (begun = 1 OR NOT EXISTS (SELECT 1 FROM curator_ask r WHERE r.dataset = $1 AND r.state = 'queued' AND r.begun = 1))
		AND NOT EXISTS (SELECT 1 FROM curator_ask r WHERE r.dataset = $1 AND r.state = 'running' AND r.lease_until >= $2) ORDER BY CASE state WHEN 'running' THEN 0 ELSE 1 END, number LIMIT 1`
	recentOf = `SELECT count(*) FROM curator_ask WHERE dataset = $1 AND analyst = $2 AND asked >= $3`
)

// Take leases the oldest ask that is queued, or whose worker has not been heard of, of
// one of the datasets; [ErrNone] if there is none. The asks of one dataset run one after the
// other, and one that was cut off comes first: any other would make its check of the data a
// failed one. Whoever takes over an ask runs it under the same key, so that the ledger decides whether it was charged.
func (s *Store) Take(ctx context.Context, datasets []string, hold time.Duration) (*Lease, error) {
	var l Lease
	err := s.update(ctx, func(tx *database.Tx) error {
		if err := lock(ctx, tx, "curator_ask", "SHARE ROW EXCLUSIVE"); err != nil {
			return err
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		found := ErrNone
		for _, dataset := range datasets {
			var a Ask
			var fence, putBack, left, begun int64
			err := scan(tx.QueryRowContext(ctx, nextOf, dataset, now), &a, &fence, &putBack, &left, &begun)
			if errors.Is(err, ErrNone) {
				continue
			}
			if err != nil {
				return err
			}
			if found != nil || a.Number < l.Number {
				l, found = Lease{a, fence + 1, putBack, left > 0, begun > 0 || a.State == Running}, nil
			}
		}
		if found != nil {
			return found
		}
		if l.State == Queued && l.putBack == 0 {
			if _, err := write(ctx, tx, By{Who: "worker"}, l.Dataset, l.ID, string(Running)); err != nil {
				return err
			}
		}
		l.State = Running
		_, err = tx.ExecContext(ctx, `UPDATE curator_ask SET state = 'running', fence = $2, lease_until = $3 WHERE id = $1`, l.ID, l.fence, now+hold.Microseconds())
		return err
	})
	if err != nil {
		return nil, err
	}
	return &l, nil
}

// Extend holds a lease for longer; [ErrLost] if another has it.
func (s *Store) Extend(ctx context.Context, l *Lease, hold time.Duration) error {
	return s.update(ctx, func(tx *database.Tx) error {
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		r, err := tx.ExecContext(ctx, `UPDATE curator_ask SET lease_until = $3 WHERE id = $1 AND fence = $2 AND state = 'running'`, l.ID, l.fence, now+hold.Microseconds())
		if err != nil {
			return err
		}
		if n, err := r.RowsAffected(); err != nil || n != 1 {
			return errors.Join(ErrLost, err)
		}
		return nil
	})
}

// Outcome is what a run came to.
type Outcome struct {
	// State is Released, Pending or Refused; or Queued, to be run again.
	State State
	// Reason is what the analyst is told.
	Reason string
	// Release is set where there is one, and Paid where there was a charge.
	Release []byte
	Paid    *Paid
	// Notices are for the steward alone.
	Notices []string
	// Unread says that no data were read for it, so that it shows nothing of them.
	Unread bool
	// Open says of an ask that is put back that its check of the data may be open, so that no other of
	// the dataset is run before it.
	Open bool
	// Every holds the news back until the next multiple of it since 1970; 0 tells at once.
	Every time.Duration
}

// An ask that is put back is tried again after pause, and after twice as long each time, up
// to longestPause.
const (
	pause        = 10 * time.Second
	longestPause = 5 * time.Minute
)

// pauseAfter is how long an ask rests that was put back so many times before.
func pauseAfter(putBack int64) time.Duration {
	d := pause
	for ; putBack > 0 && d < longestPause; putBack-- {
		d *= 2
	}
	return min(d, longestPause)
}

// What the audit log says of an ask that is put back: once when it begins to wait, and once
// when it goes on, however often it was tried in between.
const (
	toWait = "waits until the ledger allows it"
	goesOn = "goes on"
)

// Finish ends a lease. It is [ErrLost] where another took the ask over: then nothing is
// written.
func (s *Store) Finish(ctx context.Context, l *Lease, o Outcome) error {
	return s.update(ctx, func(tx *database.Tx) error {
		if err := lock(ctx, tx, "curator_ask", "ROW EXCLUSIVE"); err != nil {
			return err
		}
		var is State
		var fence, putBack int64
		err := tx.QueryRowContext(ctx, `SELECT state, fence, put_back FROM curator_ask WHERE id = $1`+tx.Locking("FOR UPDATE"), l.ID).Scan(&is, &fence, &putBack)
		if err != nil {
			return err
		}
		if is != Running || fence != l.fence {
			return ErrLost
		}
		var now, ended, told, wait, left, begun int64
		var what []string
		switch {
		case o.State != Queued && putBack > 0:
			what = []string{goesOn, string(o.State)}
		case o.State != Queued:
			what = []string{string(o.State)}
		case putBack == 0:
			what = []string{toWait}
		}
		for _, w := range what {
			if _, err := write(ctx, tx, By{Who: "worker"}, l.Dataset, l.ID, w); err != nil {
				return err
			}
		}
		if now, err = tx.Now(ctx); err != nil {
			return err
		}
		if o.State == Queued {
			wait = now + pauseAfter(putBack).Microseconds()
			putBack++
			if !o.Unread {
				left = until(now, o.Every)
			}
			if o.Open {
				begun = 1
			}
		}
		if o.State.Ended() {
			ended, told = now, until(now, o.Every)
		}
		var paid Paid
		if o.Paid != nil {
			paid = *o.Paid
		}
		if _, err := tx.ExecContext(ctx, `UPDATE curator_ask SET state = $2, reason = $3, ended = $4, told = $5, release = $6, lease_until = $7, put_back = $8, ledger = $9, entry = $10, entry_hash = $11, counted_until = CASE counted_until WHEN 0 THEN $12 ELSE counted_until END, begun = $13 WHERE id = $1`,
			l.ID, o.State, o.Reason, ended, told, o.Release, wait, putBack, paid.Ledger, paid.Seq, paid.Hash, left, begun); err != nil {
			return err
		}
		for _, text := range o.Notices {
			if o.State == Queued {
				// The reason why it waits is told once, until it is another.
				if last, err := lastNotice(ctx, tx, l.ID); err != nil {
					return err
				} else if last == text {
					continue
				}
			}
			if err := addNotice(ctx, tx, l.Dataset, l.ID, now, text); err != nil {
				return err
			}
		}
		return nil
	})
}

// GoOn has the asks of a dataset that were put back tried again at once.
func (s *Store) GoOn(ctx context.Context, dataset string) error {
	return s.update(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE curator_ask SET lease_until = 0 WHERE dataset = $1 AND state = 'queued'`, dataset)
		return err
	})
}

// until is the next multiple of a duration after a time.
func until(now int64, every time.Duration) int64 {
	step := every.Microseconds()
	if step <= 0 {
		return now
	}
	return (now/step + 1) * step
}

// Recover frees the leases of the process before, and has what was put back tried again, where this process has the store to
// itself; on PostgreSQL they run out.
func (s *Store) Recover(ctx context.Context) error {
	if !s.db.Lite {
		return nil
	}
	return s.update(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE curator_ask SET lease_until = 0 WHERE state IN ('queued', 'running')`)
		return err
	})
}
