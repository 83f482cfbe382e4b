package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/discreet-rl/discreet/internal/service/database"
)

// State is how far a round is.
type State string

// The states of a round: open, then closing, then one of the others for ever.
const (
	StateOpen      State = "open"
	StateClosing   State = "closing"
	StateApplied   State = "applied"
	StateAbandoned State = "abandoned"
)

// Round is a round as it stands.
type Round struct {
	ID      uint64
	Kind    int32
	Version uint64 // of the weights that it starts from
	Signed
	State                   State
	UploadFrom, UploadUntil int64 // milliseconds since 1970
	// Accepted and Positive are counted when it is closed: reports, and of those of an
	// evaluation the ones that say yes.
	Accepted, Positive uint64
	Digest             []byte // SHA-256 of the sum that was applied
}

const roundColumns = `id, kind, version, spec, sign_key, signature, state, upload_from, upload_until, accepted, positive, digest`

func scanRound(scan func(...any) error) (r Round, err error) {
	var id, version, accepted, positive int64
	var state string
	err = scan(&id, &r.Kind, &version, &r.Spec, &r.Key, &r.Signature, &state, &r.UploadFrom, &r.UploadUntil, &accepted, &positive, &r.Digest)
	r.ID, r.Version, r.State, r.Accepted, r.Positive = uint64(id), uint64(version), State(state), uint64(accepted), uint64(positive)
	return r, err
}

// Rounds lists up to most rounds above after, in their order.
func (s *Store) Rounds(ctx context.Context, run RunID, after uint64, most int) ([]Round, error) {
	return s.rounds(ctx, `SELECT `+roundColumns+` FROM fleet_round WHERE run = $1 AND id > $2 ORDER BY id LIMIT $3`, run[:], int64(after), most)
}

// Latest lists up to most rounds, the last one first.
func (s *Store) Latest(ctx context.Context, run RunID, most int) ([]Round, error) {
	return s.rounds(ctx, `SELECT `+roundColumns+` FROM fleet_round WHERE run = $1 ORDER BY id DESC LIMIT $2`, run[:], most)
}

// Round is one of them.
func (s *Store) Round(ctx context.Context, run RunID, id uint64) (Round, error) {
	r, err := scanRound(s.db.QueryRowContext(ctx, `SELECT `+roundColumns+` FROM fleet_round WHERE run = $1 AND id = $2`, run[:], int64(id)).Scan)
	if err = unknown(err); err != nil {
		err = fmt.Errorf("round %d: %w", id, err)
	}
	return r, err
}

func (s *Store) rounds(ctx context.Context, query string, args ...any) ([]Round, error) {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Round
	for rows.Next() {
		r, err := scanRound(rows.Scan)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, rows.Err()
}

// OpenRound adds the next round, for which none may be open or closing. It makes the
// round of the run as it then is, of the store's clock and of the last round, nil for the
// first.
func (s *Store) OpenRound(ctx context.Context, run RunID, make func(now int64, r Run, last *Round) (Round, error)) (out Round, err error) {
	err = s.db.Update(ctx, func(tx *database.Tx) error {
		r, err := scanRun(tx.QueryRowContext(ctx, `SELECT id, settings, version, reports, ended FROM fleet_run WHERE id = $1`+tx.Locking("FOR UPDATE"), run[:]).Scan)
		if err != nil {
			return unknown(err)
		}
		out, err = addRound(ctx, tx, r, make)
		return err
	})
	return out, err
}

// addRound is OpenRound in a transaction that holds the run's row.
func addRound(ctx context.Context, tx *database.Tx, r Run, make func(now int64, r Run, last *Round) (Round, error)) (out Round, err error) {
	if r.Ended {
		return out, fmt.Errorf("%w: the run has ended", ErrState)
	}
	var last *Round
	l, err := scanRound(tx.QueryRowContext(ctx, `SELECT `+roundColumns+` FROM fleet_round WHERE run = $1 ORDER BY id DESC LIMIT 1`, r.ID[:]).Scan)
	switch {
	case err == nil && (l.State == StateOpen || l.State == StateClosing):
		return out, fmt.Errorf("%w: round %d is %s", ErrState, l.ID, l.State)
	case err == nil:
		last = &l
	case !errors.Is(err, sql.ErrNoRows):
		return out, err
	}
	now, err := millis(ctx, tx)
	if err != nil {
		return out, err
	}
	if out, err = make(now, r, last); err != nil {
		return out, err
	}
	out.State = StateOpen
	_, err = tx.ExecContext(ctx, `INSERT INTO fleet_round (run, id, kind, version, spec, sign_key, signature, state, upload_from, upload_until) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		r.ID[:], int64(out.ID), out.Kind, int64(out.Version), out.Spec, out.Key, out.Signature, string(StateOpen), out.UploadFrom, out.UploadUntil)
	return out, err
}

// Lease makes the caller the leader of a run for the time, if nobody is: the fence is
// above 0 then.
func (s *Store) Lease(ctx context.Context, run RunID, hold time.Duration) (fence int64, err error) {
	err = s.db.Update(ctx, func(tx *database.Tx) error {
		now, err := millis(ctx, tx)
		if err != nil {
			return err
		}
		err = tx.QueryRowContext(ctx, `UPDATE fleet_run SET fence = fence + 1, lease_until = $2 WHERE id = $1 AND lease_until < $3 RETURNING fence`,
			run[:], now+hold.Milliseconds(), now).Scan(&fence)
		if errors.Is(err, sql.ErrNoRows) {
			fence, err = 0, nil
		}
		return err
	})
	return fence, err
}

// Renew holds a lease for longer, or says [ErrFence].
func (s *Store) Renew(ctx context.Context, run RunID, fence int64, hold time.Duration) error {
	return s.db.Update(ctx, func(tx *database.Tx) error {
		now, err := millis(ctx, tx)
		if err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, `UPDATE fleet_run SET lease_until = $3 WHERE id = $1 AND fence = $2`, run[:], fence, now+hold.Milliseconds())
		return affected(res, err)
	})
}

// Yield gives a lease back.
func (s *Store) Yield(ctx context.Context, run RunID, fence int64) error {
	_, err := s.db.ExecContext(ctx, `UPDATE fleet_run SET lease_until = 0 WHERE id = $1 AND fence = $2`, run[:], fence)
	return err
}

func affected(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		if err == nil {
			err = ErrFence
		}
		return err
	}
	return nil
}

// CloseRound moves a round on from open to closing: at once if early, else if its time and
// the grace are over. It waits for those who are adding reports; after it nobody adds
// one. It reports whether the round is closing now.
func (s *Store) CloseRound(ctx context.Context, run RunID, id uint64, grace time.Duration, early bool) (closing bool, err error) {
	err = s.db.Update(ctx, func(tx *database.Tx) error {
		now, err := millis(ctx, tx)
		if err != nil {
			return err
		}
		if early {
			now = 1 << 62
		}
		var due bool // those who add reports are not kept waiting for a look
		err = tx.QueryRowContext(ctx, `SELECT state = 'open' AND upload_until + $3 < $4 FROM fleet_round WHERE run = $1 AND id = $2`,
			run[:], int64(id), grace.Milliseconds(), now).Scan(&due)
		if err != nil {
			return unknown(err)
		}
		if due {
			if err := queue(ctx, tx, run, id, "pg_advisory_xact_lock"); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `UPDATE fleet_round SET state = 'closing' WHERE run = $1 AND id = $2 AND state = 'open'`, run[:], int64(id)); err != nil {
				return err
			}
		}
		var state string
		err = tx.QueryRowContext(ctx, `SELECT state FROM fleet_round WHERE run = $1 AND id = $2`, run[:], int64(id)).Scan(&state)
		closing = State(state) == StateClosing
		return unknown(err)
	})
	return closing, err
}

// Result is what a closed round came to.
type Result struct {
	Accepted, Positive uint64
	// Digest and Policy are nil unless the weights move. Policy.Version is the next.
	Digest []byte
	Policy *Policy
	// Moved is the number of reports that moved the weights.
	Moved uint64
	// Record is what the round came to; nil for none.
	Record *Record
	// Keep is the number of rounds whose reports are kept, this one among them; 2 if less.
	Keep uint64
	// End says that no round follows.
	End bool
	// Next makes the round that follows; nil for none.
	Next func(now int64, r Run, last *Round) (Round, error)
}

// Apply ends a closing round: one transaction writes its counts, the new weights and
// the next round, if the fence is the run's last and the round is still closing; or
// it is [ErrFence] and nothing is written.
func (s *Store) Apply(ctx context.Context, run RunID, id uint64, fence int64, state State, res Result) error {
	return s.db.Update(ctx, func(tx *database.Tx) error {
		r, err := scanRun(tx.QueryRowContext(ctx, `SELECT id, settings, version, reports, ended FROM fleet_run WHERE id = $1 AND fence = $2`+tx.Locking("FOR UPDATE"), run[:], fence).Scan)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrFence
		} else if err != nil {
			return err
		}
		done, err := tx.ExecContext(ctx, `UPDATE fleet_round SET state = $3, accepted = $4, positive = $5, digest = $6 WHERE run = $1 AND id = $2 AND state = 'closing'`,
			run[:], int64(id), string(state), int64(res.Accepted), int64(res.Positive), res.Digest)
		if err := affected(done, err); err != nil {
			return err
		}
		if res.Policy != nil {
			if res.Policy.Version != r.Version+1 {
				return fmt.Errorf("%w: the weights are of version %d", ErrFence, r.Version)
			}
			if err := insertPolicy(ctx, tx, run, *res.Policy); err != nil {
				return err
			}
			r.Version++
			r.Reports += res.Moved
		}
		r.Ended = r.Ended || res.End
		if _, err := tx.ExecContext(ctx, `UPDATE fleet_run SET version = $2, reports = $3, ended = $4 WHERE id = $1`, run[:], int64(r.Version), int64(r.Reports), r.Ended); err != nil {
			return err
		}
		if res.Record != nil {
			if err := addRecord(ctx, tx, run, id, *res.Record); err != nil {
				return err
			}
		}
		// What was applied two rounds ago is needed no more, unless for a transcript.
		if keep := max(res.Keep, 2); id > keep {
			if _, err := tx.ExecContext(ctx, `DELETE FROM fleet_report WHERE run = $1 AND round <= $2`, run[:], int64(id-keep)); err != nil {
				return err
			}
		}
		if res.Next == nil || r.Ended {
			return nil
		}
		_, err = addRound(ctx, tx, r, res.Next)
		return err
	})
}
