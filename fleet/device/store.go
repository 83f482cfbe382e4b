package device

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/service/database"
	"github.com/discreet-rl/discreet/train"
)

//go:embed migrations
var migrations embed.FS

// state is that of a round; see the package.
type state string

const (
	seen         state = "seen"
	trained      state = "trained"
	asking       state = "asking"
	debited      state = "debited"
	kept         state = "kept"
	sent         state = "sent"
	acknowledged state = "acknowledged"
	forfeited    state = "forfeited"
	skipped      state = "skipped"
)

// store is what the device must not forget.
type store struct{ db *database.DB }

func openStore(ctx context.Context, path string) (*store, error) {
	db, err := database.Open(ctx, path, database.Options{})
	if err != nil {
		return nil, err
	}
	files, err := fs.Sub(migrations, "migrations")
	if err == nil {
		err = db.Migrate(ctx, database.Schema{Name: "agent", Files: files})
	}
	if err == nil {
		_, err = db.ExecContext(ctx, `PRAGMA secure_delete = ON`)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &store{db}, nil
}

// identity is who the device is.
type identity struct {
	key       []byte // PKCS #8
	chain     []byte // certificates, DER, one after the other; nil until enrolled
	pseudonym []byte
	nextKey   []byte  // of a renewal under way
	wallet    bool    // there is one
	debited   float64 // what it paid at least
	machine   []byte  // that it is bound to; nil where it never was
	drawn     uint64  // the last permit that is known
	asked     uint64  // permits that were asked for since
	copied    bool    // another copy was seen
}

// identity reads it; nil where there is none.
func (s *store) identity(ctx context.Context) (*identity, error) {
	var id identity
	err := s.db.QueryRowContext(ctx, `SELECT key, chain, pseudonym, next_key, wallet, debited, machine, drawn, asked, copied FROM agent_identity`).
		Scan(&id.key, &id.chain, &id.pseudonym, &id.nextKey, &id.wallet, &id.debited, &id.machine, &id.drawn, &id.asked, &id.copied)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &id, err
}

func (s *store) exec(ctx context.Context, query string, args ...any) error {
	return s.db.Update(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, query, args...)
		return err
	})
}

func (s *store) newKey(ctx context.Context, key, machine []byte) error {
	return s.exec(ctx, `INSERT INTO agent_identity (id, key, machine) VALUES (1, ?, ?)`, key, machine)
}

func (s *store) bind(ctx context.Context, machine []byte) error {
	return s.exec(ctx, `UPDATE agent_identity SET machine = ?`, machine)
}

func (s *store) enrolled(ctx context.Context, chain, pseudonym []byte) error {
	return s.exec(ctx, `UPDATE agent_identity SET chain = ?, pseudonym = ?`, chain, pseudonym)
}

func (s *store) renewing(ctx context.Context, key []byte) error {
	return s.exec(ctx, `UPDATE agent_identity SET next_key = ?`, key)
}

func (s *store) renewed(ctx context.Context, chain []byte) error {
	return s.exec(ctx, `UPDATE agent_identity SET key = next_key, chain = ?, next_key = NULL`, chain)
}

func (s *store) walletMade(ctx context.Context) error {
	return s.exec(ctx, `UPDATE agent_identity SET wallet = 1`)
}

// follow begins with a run, or goes on with it where it is known: its first spec is the same, and no revision is taken
// back. The result is the last round that is known.
func (s *store) follow(ctx context.Context, run *fleet.Run) (head fleet.Head, err error) {
	err = s.db.Update(ctx, func(tx *database.Tx) error {
		var first, hash []byte
		var revision int
		err := tx.QueryRowContext(ctx, `SELECT first, revision, round, head FROM agent_run WHERE run = ?`, run.ID[:]).Scan(&first, &revision, &head.Round, &hash)
		if errors.Is(err, sql.ErrNoRows) {
			head = run.Head()
			_, err = tx.ExecContext(ctx, `INSERT INTO agent_run (run, first, revision, round, head) VALUES (?, ?, ?, 0, ?)`, run.ID[:], run.First[:], run.Revision, run.First[:])
			return err
		}
		if err != nil {
			return err
		}
		if string(first) != string(run.First[:]) || run.Revision < revision || len(hash) != len(head.Hash) {
			return fmt.Errorf("%w: the run begins with another spec than before, or takes a revision back", fleet.ErrFork)
		}
		copy(head.Hash[:], hash)
		_, err = tx.ExecContext(ctx, `UPDATE agent_run SET revision = ? WHERE run = ?`, run.Revision, run.ID[:])
		return err
	})
	return head, err
}

// follows tells whether the device has met a run.
func (s *store) follows(ctx context.Context, run train.RunID) (bool, error) {
	var n int
	err := s.db.QueryRowContext(ctx, `SELECT count(*) FROM agent_run WHERE run = ?`, run[:]).Scan(&n)
	return n > 0, err
}

// known is a round as it is kept.
type known struct {
	number   uint64
	previous fleet.Hash
	signed   *fleetv1.SignedSpec
	state    state
	reason   string
	sendAt   time.Time
	weights  []byte
	vector   []byte
	upload   []byte
}

// add notes a round and makes it the head of its chain, in one step. A round that is there already stays.
func (s *store) add(ctx context.Context, run train.RunID, before fleet.Head, round *fleet.Round, k *known) error {
	return s.db.Update(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO agent_round (run, round, previous, spec, key, signature, state, reason, send_at, weights)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, run[:], round.Number, before.Hash[:], k.signed.GetSpec(), k.signed.GetKey(), k.signed.GetSignature(),
			string(k.state), k.reason, k.sendAt.UnixMilli(), k.weights)
		if err == nil {
			_, err = tx.ExecContext(ctx, `UPDATE agent_run SET round = ?, head = ? WHERE run = ?`, round.Number, round.Hash[:], run[:])
		}
		return err
	})
}

// pending is the first round of the run that is not over; nil if there is none.
func (s *store) pending(ctx context.Context, run train.RunID) (*known, error) {
	k := known{signed: &fleetv1.SignedSpec{}}
	var previous []byte
	var at int64
	err := s.db.QueryRowContext(ctx, `SELECT round, previous, spec, key, signature, state, reason, send_at, weights, vector, upload FROM agent_round
		WHERE run = ? AND state NOT IN ('acknowledged', 'forfeited', 'skipped') ORDER BY round LIMIT 1`, run[:]).
		Scan(&k.number, &previous, &k.signed.Spec, &k.signed.Key, &k.signed.Signature, &k.state, &k.reason, &at, &k.weights, &k.vector, &k.upload)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	k.sendAt = time.UnixMilli(at)
	copy(k.previous[:], previous)
	return &k, err
}

// paid is the number of rounds of a run that a report was paid for.
func (s *store) paid(ctx context.Context, run train.RunID) (n int, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT count(*) FROM agent_round WHERE run = ? AND state IN ('debited', 'kept', 'sent', 'acknowledged', 'forfeited')`, run[:]).Scan(&n)
	return n, err
}

func (s *store) setTrained(ctx context.Context, run train.RunID, round uint64, vector []byte) error {
	return s.exec(ctx, `UPDATE agent_round SET state = 'trained', vector = ?, weights = NULL WHERE run = ? AND round = ?`, vector, run[:], round)
}

// setKept also notes what the wallet has paid in all.
func (s *store) setKept(ctx context.Context, run train.RunID, round uint64, upload []byte, spent float64) error {
	return s.db.Update(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE agent_round SET state = 'kept', upload = ?, vector = NULL WHERE run = ? AND round = ?`, upload, run[:], round)
		if err == nil {
			_, err = tx.ExecContext(ctx, `UPDATE agent_identity SET debited = max(debited, ?)`, spent)
		}
		return err
	})
}

// asking says that a permit is asked for from now on; only the server knows whether it was drawn.
func (s *store) asking(ctx context.Context, run train.RunID, round uint64) error {
	return s.both(ctx, `UPDATE agent_identity SET asked = asked + 1`, nil, `UPDATE agent_round SET state = 'asking' WHERE run = ? AND round = ?`, run[:], round)
}

// permitted notes the permit of the number, and that the wallet is asked from now on; only the wallet knows whether it paid.
func (s *store) permitted(ctx context.Context, run train.RunID, round, number uint64) error {
	return s.both(ctx, `UPDATE agent_identity SET drawn = ?, asked = 0`, []any{number}, `UPDATE agent_round SET state = 'debited' WHERE run = ? AND round = ?`, run[:], round)
}

// refused notes that a request drew nothing.
func (s *store) refused(ctx context.Context) error {
	return s.exec(ctx, `UPDATE agent_identity SET asked = asked - 1`)
}

// answered notes the last permit that was drawn.
func (s *store) answered(ctx context.Context, number uint64) error {
	return s.exec(ctx, `UPDATE agent_identity SET drawn = ?, asked = 0`, number)
}

// seesCopy notes that another copy goes on, and ends the round.
func (s *store) seesCopy(ctx context.Context, run train.RunID, round uint64) error {
	return s.both(ctx, `UPDATE agent_identity SET copied = 1`, nil,
		`UPDATE agent_round SET state = 'skipped', reason = 'copied', vector = NULL, weights = NULL, upload = NULL WHERE run = ? AND round = ?`, run[:], round)
}

// both changes the identity and a round in one step.
func (s *store) both(ctx context.Context, identity string, with []any, round string, of ...any) error {
	return s.db.Update(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, identity, with...)
		if err == nil {
			_, err = tx.ExecContext(ctx, round, of...)
		}
		return err
	})
}

// sending says that the report may have left.
func (s *store) sending(ctx context.Context, run train.RunID, round uint64) error {
	return s.exec(ctx, `UPDATE agent_round SET state = 'sent' WHERE run = ? AND round = ?`, run[:], round)
}

// end ends a round; a reason is public.
func (s *store) end(ctx context.Context, run train.RunID, round uint64, as state, reason string) error {
	return s.exec(ctx, `UPDATE agent_round SET state = ?, reason = ?, vector = NULL, weights = NULL, upload = NULL WHERE run = ? AND round = ?`,
		string(as), reason, run[:], round)
}
