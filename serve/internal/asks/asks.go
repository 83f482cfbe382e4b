package asks

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/discreet-rl/discreet/internal/service/database"
)

// State of an ask.
type State string

// The states. An ask ends as released, pending, refused or withdrawn, and each ask ends
// once.
const (
	Waiting   State = "waiting"   // for a steward
	Queued    State = "queued"    // for a worker
	Running   State = "running"   // a worker has it
	Released  State = "released"  // charged, with a release
	Pending   State = "pending"   // charged, without one
	Refused   State = "refused"   // nothing was spent
	Withdrawn State = "withdrawn" // nothing was spent
)

// Ended reports that nothing comes after the state.
func (s State) Ended() bool {
	return s == Released || s == Pending || s == Refused || s == Withdrawn
}

// Ask is a question on its way to an answer.
type Ask struct {
	// ID is a UUID of version 7.
	ID string
	// Number orders asks by their time.
	Number            int64
	Key               string // of the client's call
	Analyst, Dataset  string
	Question, Purpose string
	Epsilon, Delta    float64
	State             State
	Reason            string
	Asked, Ended      time.Time
	// Told is from when on its analyst learns of the end.
	Told time.Time
}

// LedgerKey is the key under which the ledger is charged. It follows from what the client
// gave, so that an ask whose store was lost finds its charge.
func (a Ask) LedgerKey() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "discreet ask 1\x00%s\x00%s\x00%s", a.Dataset, a.Analyst, a.Key))
	return "ask-" + hex.EncodeToString(sum[:16])
}

const columns = `id, number, client_key, analyst, dataset, question, purpose, epsilon, delta, state, reason, asked, ended, told`

func scan(row interface{ Scan(...any) error }, a *Ask, more ...any) error {
	var asked, ended, told int64
	err := row.Scan(append([]any{&a.ID, &a.Number, &a.Key, &a.Analyst, &a.Dataset, &a.Question, &a.Purpose, &a.Epsilon, &a.Delta, &a.State, &a.Reason, &asked, &ended, &told}, more...)...)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNone
	}
	a.Asked, a.Ended, a.Told = inTime(asked), inTime(ended), inTime(told)
	return err
}

// newID returns a UUID of version 7 (RFC 9562).
func newID(now time.Time) string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	ms := now.UnixMilli()
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	b[6], b[8] = b[6]&0x0f|0x70, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Known returns what became of an analyst's key: [ErrNone] if it is new, [ErrKey] if it was
// used for another ask.
func (s *Store) Known(ctx context.Context, a Ask) (*Ask, error) {
	var old Ask
	err := scan(s.db.QueryRowContext(ctx, `SELECT `+columns+` FROM curator_ask WHERE analyst = $1 AND client_key = $2`, a.Analyst, a.Key), &old)
	if err == nil {
		err = a.same(old)
	}
	return &old, err
}

// same tells whether an ask is the same question as one that was asked under its key.
func (a Ask) same(old Ask) error {
	if old.Dataset != a.Dataset || old.Question != a.Question || old.Purpose != a.Purpose {
		return fmt.Errorf("%w: %s", ErrKey, a.Key)
	}
	return nil
}

// Add hands in an ask, in state Waiting or Queued. An analyst's key that was used for the
// same question returns what became of it; for another it is [ErrKey]. An analyst who asked
// most times about the dataset in the hour before is [ErrMany].
func (s *Store) Add(ctx context.Context, by By, a Ask, most int) (*Ask, error) {
	var out Ask
	err := s.update(ctx, func(tx *database.Tx) error {
		old := scan(tx.QueryRowContext(ctx, `SELECT `+columns+` FROM curator_ask WHERE analyst = $1 AND client_key = $2`, a.Analyst, a.Key), &out)
		if old == nil {
			return a.same(out)
		}
		if !errors.Is(old, ErrNone) {
			return old
		}
		if err := lock(ctx, tx, "curator_ask", "SHARE ROW EXCLUSIVE"); err != nil {
			return err
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		var n int
		if err := tx.QueryRowContext(ctx, recentOf, a.Dataset, a.Analyst, now-time.Hour.Microseconds()).Scan(&n); err != nil {
			return err
		}
		if n >= most {
			return ErrMany
		}
		a.ID, a.Asked = newID(inTime(now)), inTime(now)
		if _, err := write(ctx, tx, by, a.Dataset, a.ID, string(a.State)); err != nil {
			return err
		}
		err = tx.QueryRowContext(ctx, `SELECT coalesce(max(number), 0) + 1 FROM curator_ask`).Scan(&a.Number)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO curator_ask (`+columns+`, fence, lease_until, ledger_key, queued) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, '', $11, 0, 0, 0, 0, $12, $13)`,
			a.ID, a.Number, a.Key, a.Analyst, a.Dataset, a.Question, a.Purpose, a.Epsilon, a.Delta, a.State, now, a.LedgerKey(), queuedAt(a.State, now))
		out = a
		return err
	})
	if err != nil {
		return nil, err
	}
	return &out, nil
}

// queuedAt is a time for an ask that comes to the workers then.
func queuedAt(to State, now int64) int64 {
	if to == Queued {
		return now
	}
	return 0
}

// Get returns an ask; [ErrNone] if there is none of the id.
func (s *Store) Get(ctx context.Context, id string) (*Ask, error) {
	var a Ask
	if err := scan(s.db.QueryRowContext(ctx, `SELECT `+columns+` FROM curator_ask WHERE id = $1`, id), &a); err != nil {
		return nil, err
	}
	return &a, nil
}

// List returns up to n asks of a dataset below a number, newest first; those of one
// analyst unless that is empty.
func (s *Store) List(ctx context.Context, dataset, analyst string, below int64, n int) ([]Ask, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT `+columns+` FROM curator_ask WHERE dataset = $1 AND number < $2 AND ($3 = '' OR analyst = $3) ORDER BY number DESC LIMIT $4`, dataset, below, analyst, n)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Ask
	for rows.Next() {
		var a Ask
		if err := scan(rows, &a); err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, rows.Err()
}

// Release returns the bytes of the release of an ask.
func (s *Store) Release(ctx context.Context, id string) ([]byte, error) {
	var text []byte
	err := s.db.QueryRowContext(ctx, `SELECT release FROM curator_ask WHERE id = $1 AND release IS NOT NULL`, id).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNone
	}
	return text, err
}

// Move changes the state of an ask that is in one of the states from, and says why.
// [ErrState] if it is in none of them.
func (s *Store) Move(ctx context.Context, by By, id string, from []State, to State, reason string) (*Ask, error) {
	var a Ask
	err := s.update(ctx, func(tx *database.Tx) error {
		if err := lock(ctx, tx, "curator_ask", "ROW EXCLUSIVE"); err != nil {
			return err
		}
		if err := scan(tx.QueryRowContext(ctx, `SELECT `+columns+` FROM curator_ask WHERE id = $1`+tx.Locking("FOR UPDATE"), id), &a); err != nil {
			return err
		}
		in := false
		for _, f := range from {
			in = in || a.State == f
		}
		if !in {
			return fmt.Errorf("%w: %s", ErrState, a.State)
		}
		now, err := write(ctx, tx, by, a.Dataset, id, string(to))
		if err != nil {
			return err
		}
		a.State, a.Reason = to, reason
		if to.Ended() {
			a.Ended, a.Told = inTime(now), inTime(now)
		}
		_, err = tx.ExecContext(ctx, `UPDATE curator_ask SET state = $2, reason = $3, ended = $4, told = $5, queued = CASE queued WHEN 0 THEN $6 ELSE queued END WHERE id = $1`, id, to, reason, micros(a.Ended), micros(a.Told), queuedAt(to, now))
		return err
	})
	if err != nil {
		return nil, err
	}
	return &a, nil
}

// Now is the store's clock, which decides from when on an end is told.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	var now int64
	err := s.update(ctx, func(tx *database.Tx) error {
		var err error
		now, err = tx.Now(ctx)
		return err
	})
	return inTime(now), err
}
