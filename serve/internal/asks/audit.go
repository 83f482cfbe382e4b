package asks

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/discreet-rl/discreet/internal/service/database"
)

// Line is one line of the audit log: who did what, when and from where. It never holds
// a private value.
type Line struct {
	Seq     int64     `json:"seq"`
	Time    time.Time `json:"time"`
	Who     string    `json:"who"`
	Address string    `json:"address,omitempty"`
	Dataset string    `json:"dataset,omitempty"`
	Ask     string    `json:"ask,omitempty"`
	What    string    `json:"what"`
	// Previous is the hash of the line before; that of the first is of no bytes.
	Previous []byte `json:"previous"`

	// Hash is the SHA-256 of the line as it is stored.
	Hash []byte `json:"-"`
}

// By is who does something, and from where.
type By struct{ Who, Address string }

// write appends a line. The transaction holds the end of the log until it commits.
func write(ctx context.Context, tx *database.Tx, by By, dataset, ask, what string) (int64, error) {
	if err := lock(ctx, tx, "curator_audit", "EXCLUSIVE"); err != nil {
		return 0, err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return 0, err
	}
	last, err := ended(ctx, tx)
	if err != nil {
		return 0, err
	}
	l := Line{Seq: last.seq + 1, Time: inTime(now), Who: by.Who, Address: by.Address, Dataset: dataset, Ask: ask, What: what, Previous: last.hash}
	if l.Seq == 0 {
		empty := sha256.Sum256(nil)
		l.Previous = empty[:]
	}
	text, err := json.Marshal(l)
	if err != nil {
		return 0, err
	}
	sum := sha256.Sum256(text)
	_, err = tx.ExecContext(ctx, `INSERT INTO curator_audit (seq, dataset, line, hash) VALUES ($1, $2, $3, $4)`, l.Seq, dataset, text, sum[:])
	if err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO curator_audit_end (one, seq, hash) VALUES (0, $1, $2) ON CONFLICT (one) DO UPDATE SET seq = excluded.seq, hash = excluded.hash`, l.Seq, sum[:])
	return now, err
}

// Note appends a line for what has no row of its own.
func (s *Store) Note(ctx context.Context, by By, dataset, ask, what string) error {
	return s.update(ctx, func(tx *database.Tx) error {
		_, err := write(ctx, tx, by, dataset, ask, what)
		return err
	})
}

// Note is what a line of the audit log is to say.
type Note struct {
	By
	Dataset, Ask, What string
}

// NoteAll appends a line for each note, in one transaction.
func (s *Store) NoteAll(ctx context.Context, notes []Note) error {
	return s.update(ctx, func(tx *database.Tx) error {
		for _, n := range notes {
			if _, err := write(ctx, tx, n.By, n.Dataset, n.Ask, n.What); err != nil {
				return err
			}
		}
		return nil
	})
}

// Audit returns up to n lines of a dataset, and those of none, from seq on.
func (s *Store) Audit(ctx context.Context, dataset string, from int64, n int) ([]Line, error) {
	return s.lines(ctx, `SELECT line, hash FROM curator_audit WHERE seq >= $1 AND (dataset = $2 OR dataset = '') ORDER BY seq LIMIT $3`, from, dataset, n)
}

func (s *Store) lines(ctx context.Context, query string, args ...any) ([]Line, error) {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Line
	for rows.Next() {
		var text, hash []byte
		if err := rows.Scan(&text, &hash); err != nil {
			return nil, err
		}
		var l Line
		if err := json.Unmarshal(text, &l); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrAudit, err)
		}
		if sum := sha256.Sum256(text); !bytes.Equal(sum[:], hash) {
			return nil, fmt.Errorf("%w: line %d does not have its hash", ErrAudit, l.Seq)
		}
		l.Hash = hash
		out = append(out, l)
	}
	return out, rows.Err()
}

// auditPage is how many lines are checked at a time.
const auditPage = 1000

// VerifyAudit recomputes the chain of the whole log and returns its length and last hash.
// Lines that are missing at the end cannot be seen here: note the last hash elsewhere.
func (s *Store) VerifyAudit(ctx context.Context) (int64, []byte, error) {
	sum := sha256.Sum256(nil)
	previous, next := sum[:], int64(0)
	for {
		lines, err := s.lines(ctx, `SELECT line, hash FROM curator_audit WHERE seq >= $1 ORDER BY seq LIMIT $2`, next, auditPage)
		if err != nil {
			return next, nil, err
		}
		if len(lines) == 0 {
			return next, previous, nil
		}
		for _, l := range lines {
			if l.Seq != next || !bytes.Equal(l.Previous, previous) {
				return next, nil, fmt.Errorf("%w: line %d does not follow line %d", ErrAudit, l.Seq, next-1)
			}
			previous, next = l.Hash, next+1
		}
	}
}
