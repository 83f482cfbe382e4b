package asks

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/discreet-rl/discreet/internal/service/database"
)

// Mark is the newest entry of a dataset's ledger that the service has seen.
type Mark struct {
	Ledger string
	Seq    int64
	Hash   []byte
	// Made is the entry's time, by the ledger.
	Made time.Time
}

// Mark returns the mark of a dataset; [ErrNone] if it was never seen.
func (s *Store) Mark(ctx context.Context, dataset string) (*Mark, error) {
	var m Mark
	var made int64
	err := s.db.QueryRowContext(ctx, `SELECT ledger, seq, hash, made FROM curator_mark WHERE dataset = $1`, dataset).Scan(&m.Ledger, &m.Seq, &m.Hash, &made)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNone
	}
	m.Made = inTime(made)
	return &m, err
}

// SetMark notes the newest entry of a ledger. Of two services the one that saw less changes
// nothing, unless again says that the ledger was restored.
func (s *Store) SetMark(ctx context.Context, dataset string, m Mark, again bool) error {
	return s.update(ctx, func(tx *database.Tx) error {
		later := ` WHERE curator_mark.seq < excluded.seq`
		if again {
			later = ``
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO curator_mark (dataset, ledger, seq, hash, made) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (dataset) DO UPDATE SET ledger = excluded.ledger, seq = excluded.seq, hash = excluded.hash, made = excluded.made`+later,
			dataset, m.Ledger, m.Seq, m.Hash, micros(m.Made))
		return err
	})
}

// Knows reports whether the charge of a key is that of an ask, or one that the steward took over
// from a store that was lost.
func (s *Store) Knows(ctx context.Context, key string) (knows bool, err error) {
	const query = `SELECT EXISTS (SELECT 1 FROM curator_ask WHERE ledger_key = $1) OR EXISTS (SELECT 1 FROM curator_orphan WHERE ledger_key = $1)`
	err = s.db.QueryRowContext(ctx, query, key).Scan(&knows)
	if err != nil || knows {
		return knows, err
	}
	// A service of an earlier version that shares the store may have taken the ask in.
	if err := s.nameKeys(ctx); err != nil {
		return false, err
	}
	err = s.db.QueryRowContext(ctx, query, key).Scan(&knows)
	return knows, err
}

// TakeOver notes charges whose asks the store does not hold, with a line of the audit log and
// a notice.
func (s *Store) TakeOver(ctx context.Context, by By, dataset string, keys []string, what string) error {
	return s.update(ctx, func(tx *database.Tx) error {
		for _, key := range keys {
			if _, err := tx.ExecContext(ctx, `INSERT INTO curator_orphan (dataset, ledger_key) VALUES ($1, $2) ON CONFLICT DO NOTHING`, dataset, key); err != nil {
				return err
			}
		}
		now, err := write(ctx, tx, by, dataset, "", what)
		if err != nil {
			return err
		}
		return addNotice(ctx, tx, dataset, "", now, what)
	})
}

// nameKeys gives the asks of earlier versions the keys of their charges.
func (s *Store) nameKeys(ctx context.Context) error {
	return s.update(ctx, func(tx *database.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT id, dataset, analyst, client_key FROM curator_ask WHERE ledger_key = ''`)
		if err != nil {
			return err
		}
		defer rows.Close()
		var all []Ask
		for rows.Next() {
			var a Ask
			if err := rows.Scan(&a.ID, &a.Dataset, &a.Analyst, &a.Key); err != nil {
				return err
			}
			all = append(all, a)
		}
		if err := rows.Err(); err != nil {
			return err
		}
		for _, a := range all {
			if _, err := tx.ExecContext(ctx, `UPDATE curator_ask SET ledger_key = $2 WHERE id = $1`, a.ID, a.LedgerKey()); err != nil {
				return err
			}
		}
		return nil
	})
}

// end is the last line of the audit log.
type end struct {
	seq  int64
	hash []byte
}

// ended reads the last line that was written, by what the log itself holds and by what was noted
// of it beside, which have to agree.
func ended(ctx context.Context, q interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}) (*end, error) {
	// In one statement, so that nobody writes in between. Services of an earlier version that share
	// the store note nothing beside: lines after the noted one are no loss.
	var noted, last end
	var there []byte
	var first int64
	err := q.QueryRowContext(ctx, `SELECT coalesce((SELECT seq FROM curator_audit_end), -1), (SELECT hash FROM curator_audit_end),
		(SELECT a.hash FROM curator_audit a JOIN curator_audit_end e ON a.seq = e.seq),
		coalesce((SELECT max(seq) FROM curator_audit), -1), (SELECT hash FROM curator_audit ORDER BY seq DESC LIMIT 1), coalesce((SELECT min(seq) FROM curator_audit), 0)`).
		Scan(&noted.seq, &noted.hash, &there, &last.seq, &last.hash, &first)
	switch {
	case err != nil:
		return nil, err
	case first != 0:
		return nil, fmt.Errorf("%w: it begins at line %d", ErrAudit, first)
	case last.seq < noted.seq:
		return nil, fmt.Errorf("%w: it ends at line %d, and line %d was written", ErrAudit, last.seq, noted.seq)
	case !bytes.Equal(there, noted.hash):
		return nil, fmt.Errorf("%w: its line %d is not the one that was written", ErrAudit, noted.seq)
	}
	return &last, nil
}

// InPlace reports an error if the store is another than the one that was opened: its file was
// removed or replaced, or it lacks a line of the audit log that this process has seen there.
func (s *Store) InPlace(ctx context.Context) error {
	if err := s.db.InPlace(ctx); err != nil {
		return err
	}
	seen := s.seen.Load() // before it is read again: what comes meanwhile is later
	last, err := ended(ctx, s.db)
	if err != nil {
		return err
	}
	if seen != nil && seen.seq >= 0 {
		var hash []byte
		err := s.db.QueryRowContext(ctx, `SELECT hash FROM curator_audit WHERE seq = $1`, seen.seq).Scan(&hash)
		if errors.Is(err, sql.ErrNoRows) || err == nil && !bytes.Equal(hash, seen.hash) {
			return fmt.Errorf("%w: %s: it was replaced while it was open: line %d of its audit log, which was there, is missing or another", ErrReplaced, s.Name(), seen.seq)
		}
		if err != nil {
			return err
		}
	}
	if seen == nil || last.seq > seen.seq {
		s.seen.CompareAndSwap(seen, last)
	}
	return nil
}

// Sound has SQLite check its file, and recomputes the chain of the audit log.
func (s *Store) Sound(ctx context.Context) error {
	if s.db.Lite {
		var verdict string
		if err := s.db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&verdict); err != nil {
			return err
		}
		if verdict != "ok" {
			return fmt.Errorf("%w: %s: the file is damaged: %s", ErrReplaced, s.Name(), verdict)
		}
	}
	if _, _, err := s.VerifyAudit(ctx); err != nil {
		return err
	}
	return s.InPlace(ctx)
}
