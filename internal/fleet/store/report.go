package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/discreet-rl/discreet/internal/service/database"
)

// Report is what a device sent in a round, under its pseudonym of that round.
type Report struct {
	Nullifier [32]byte
	Body      []byte
}

// Outcome is what became of a report.
type Outcome uint8

// The outcomes.
const (
	// ReportAccepted: the report is committed, and counts.
	ReportAccepted Outcome = iota + 1
	// ReportDuplicate: the same body was there.
	ReportDuplicate
	// ReportSpent: another body was there.
	ReportSpent
	// ReportEarly: uploads have not begun.
	ReportEarly
	// ReportLate: the time for uploads is over.
	ReportLate
	// ReportStale: the round is over, or there never was one.
	ReportStale
)

// Commit adds the reports of one round in one transaction and tells what became of
// each. When it returns without an error, that is durable. After an error nothing is
// known, and the same reports may be committed again.
func (s *Store) Commit(ctx context.Context, run RunID, round uint64, reports []Report, grace time.Duration) ([]Outcome, error) {
	out := make([]Outcome, len(reports))
	// One body for each pseudonym asks to be the first; all are in one order, so that
	// processes which add the same ones wait for each other in a line.
	order := make([]int, len(reports))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return bytes.Compare(reports[a].Nullifier[:], reports[b].Nullifier[:])
	})
	err := s.db.Update(ctx, func(tx *database.Tx) error {
		closed, err := gate(ctx, tx, run, round, grace)
		if err != nil {
			return err
		}
		if closed == ReportEarly {
			for i := range out {
				out[i] = closed
			}
			return nil
		}
		if closed != 0 {
			return find(ctx, tx, run, round, reports, closed, out)
		}
		if tx.Lite {
			return addLite(ctx, tx, run, round, reports, order, out)
		}
		return addPostgres(ctx, tx, run, round, reports, order, out)
	})
	return out, err
}

// Find tells what became of a report before: [ReportDuplicate], [ReportSpent], or
// [ReportStale] where its place is free.
func (s *Store) Find(ctx context.Context, run RunID, round uint64, r Report) (Outcome, error) {
	out := make([]Outcome, 1)
	err := s.db.Update(ctx, func(tx *database.Tx) error {
		return find(ctx, tx, run, round, []Report{r}, ReportStale, out)
	})
	return out[0], err
}

// gate locks the round against closing and says why it takes no reports, 0 if it does.
func gate(ctx context.Context, tx *database.Tx, run RunID, round uint64, grace time.Duration) (Outcome, error) {
	if err := queue(ctx, tx, run, round, "pg_advisory_xact_lock_shared"); err != nil {
		return 0, err
	}
	var from, until int64
	err := tx.QueryRowContext(ctx, `SELECT upload_from, upload_until FROM fleet_round WHERE run = $1 AND id = $2 AND state = 'open'`+tx.Locking("FOR SHARE"),
		run[:], int64(round)).Scan(&from, &until)
	if errors.Is(err, sql.ErrNoRows) {
		return ReportStale, nil
	} else if err != nil {
		return 0, err
	}
	now, err := millis(ctx, tx) // after the lock was had
	switch {
	case err != nil:
		return 0, err
	case now < from:
		return ReportEarly, nil
	case now > until+grace.Milliseconds():
		return ReportLate, nil
	}
	return 0, nil
}

// queue stands in the line of those who add to a round or close it. A row's lock alone is had by
// whoever adds while others do, so that one who closes could wait for ever.
func queue(ctx context.Context, tx *database.Tx, run RunID, round uint64, lock string) error {
	if tx.Lite {
		return nil
	}
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(append([]byte("discreet fleet round 1\x00"), run[:]...), round))
	_, err := tx.ExecContext(ctx, `SELECT `+lock+`($1)`, int64(binary.BigEndian.Uint64(sum[:])))
	return err
}

// find tells of reports that come after the end which were there before it: their
// answers were lost. The rows of a round are kept until two more have ended.
func find(ctx context.Context, tx *database.Tx, run RunID, round uint64, reports []Report, closed Outcome, out []Outcome) error {
	for i, r := range reports {
		var body []byte
		err := tx.QueryRowContext(ctx, `SELECT body FROM fleet_report WHERE run = $1 AND round = $2 AND nullifier = $3`, run[:], int64(round), r.Nullifier[:]).Scan(&body)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			out[i] = closed
		case err != nil:
			return err
		default:
			out[i] = beside(body, r.Body)
		}
	}
	return nil
}

func addLite(ctx context.Context, tx *database.Tx, run RunID, round uint64, reports []Report, order []int, out []Outcome) error {
	insert, err := tx.PrepareContext(ctx, `INSERT INTO fleet_report (run, round, nullifier, body) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`)
	if err != nil {
		return err
	}
	defer insert.Close()
	for _, i := range order {
		r := reports[i]
		res, err := insert.ExecContext(ctx, run[:], int64(round), r.Nullifier[:], r.Body)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if err != nil {
			return err
		}
		if n == 1 {
			out[i] = ReportAccepted
			continue
		}
		var body []byte
		if err := tx.QueryRowContext(ctx, `SELECT body FROM fleet_report WHERE run = $1 AND round = $2 AND nullifier = $3`, run[:], int64(round), r.Nullifier[:]).Scan(&body); err != nil {
			return err
		}
		out[i] = beside(body, r.Body)
	}
	return nil
}

// beside is what a body is where another holds the place.
func beside(held, body []byte) Outcome {
	if bytes.Equal(held, body) {
		return ReportDuplicate
	}
	return ReportSpent
}

func addPostgres(ctx context.Context, tx *database.Tx, run RunID, round uint64, reports []Report, order []int, out []Outcome) error {
	var nullifiers, bodies [][]byte
	held := map[[32]byte][]byte{} // the body that holds the place
	for _, i := range order {
		r := reports[i]
		if _, twice := held[r.Nullifier]; !twice {
			held[r.Nullifier] = r.Body
			nullifiers, bodies = append(nullifiers, r.Nullifier[:]), append(bodies, r.Body)
		}
	}
	added := map[[32]byte]bool{}
	err := each(ctx, tx, `INSERT INTO fleet_report (run, round, nullifier, body) SELECT $1, $2, n, b FROM unnest($3::bytea[], $4::bytea[]) AS t (n, b) ON CONFLICT DO NOTHING RETURNING nullifier, NULL::bytea`,
		func(n [32]byte, _ []byte) { added[n] = true }, run[:], int64(round), nullifiers, bodies)
	if err != nil {
		return err
	}
	if len(added) < len(nullifiers) {
		missing := slices.DeleteFunc(slices.Clone(nullifiers), func(n []byte) bool { return added[[32]byte(n)] })
		// A statement of its own: the one above does not see what others committed
		// while it waited for them.
		found := 0
		err := each(ctx, tx, `SELECT nullifier, body FROM fleet_report WHERE run = $1 AND round = $2 AND nullifier = ANY ($3::bytea[])`,
			func(n [32]byte, body []byte) { held[n] = body; found++ }, run[:], int64(round), missing)
		if err != nil {
			return err
		}
		if found != len(missing) {
			return errors.New("a report that was in the way is not there")
		}
	}
	for _, i := range order {
		r := reports[i]
		if added[r.Nullifier] {
			out[i] = ReportAccepted
			added[r.Nullifier] = false // the first of those in this batch
			continue
		}
		out[i] = beside(held[r.Nullifier], r.Body)
	}
	return nil
}

func each(ctx context.Context, tx *database.Tx, query string, row func(n [32]byte, body []byte), args ...any) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var n, body []byte
		if err := rows.Scan(&n, &body); err != nil {
			return err
		}
		row([32]byte(n), body)
	}
	return rows.Err()
}

// Reports hands the reports of a round that is closed to f, in the order of their
// pseudonyms: the order in which they came is nowhere.
func (s *Store) Reports(ctx context.Context, run RunID, round uint64, f func(Report) error) error {
	rows, err := s.db.QueryContext(ctx, `SELECT nullifier, body FROM fleet_report WHERE run = $1 AND round = $2 ORDER BY nullifier`, run[:], int64(round))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var n sql.RawBytes
		var body []byte
		if err := rows.Scan(&n, &body); err != nil {
			return err
		}
		if err := f(Report{[32]byte(n), body}); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Count is the number of reports of a round so far.
func (s *Store) Count(ctx context.Context, run RunID, round uint64) (n uint64, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT count(*) FROM fleet_report WHERE run = $1 AND round = $2`, run[:], int64(round)).Scan(&n)
	return n, err
}
