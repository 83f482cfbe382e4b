package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"time"
)

// KeySize is the length in bytes of the key of the fingerprints.
const KeySize = 32

// patience is how long an update waits for a lock where its context sets no
// deadline.
const patience = time.Minute

// Store is an open database of ledgers. It is safe for concurrent use, and many
// processes may have the same one open.
type Store struct {
	db   *sql.DB
	lite bool
	name string      // of the location, without a password, for errors
	made bool        // the SQLite file was not there before
	file fs.FileInfo // of the SQLite file when it was opened
}

// isPostgres tells the two stores apart. A scheme may be written in capitals.
func isPostgres(location string) bool {
	scheme, _, found := strings.Cut(location, "://")
	return found && (strings.EqualFold(scheme, "postgres") || strings.EqualFold(scheme, "postgresql"))
}

// passwordLike finds the connection strings of databases that are neither: as the
// path of a file they would come back in errors, with their password.
var passwordLike = regexp.MustCompile(`(?i)^[a-z][a-z0-9+.-]+:/*[^/]*@|://|\bpassword\s*=`)

// Create opens the store at the location, makes it where there is none, and
// brings its schema up to date.
func Create(ctx context.Context, location string) (*Store, error) {
	s, err := connect(ctx, location, true)
	if err != nil {
		return nil, err
	}
	if err := s.create(ctx); err != nil {
		s.Discard()
		return nil, err
	}
	return s, nil
}

// Open opens the store at the location. A location that holds no ledger is [ErrNotLedger],
// another version of the schema [ErrSchema]; but a store that a release of this program wrote
// is brought up to date.
func Open(ctx context.Context, location string) (*Store, error) {
	s, err := connect(ctx, location, false)
	if err != nil {
		return nil, err
	}
	err = s.current(ctx)
	if errors.Is(err, ErrSchema) {
		err = s.fromRelease(ctx, err)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func connect(ctx context.Context, location string, create bool) (*Store, error) {
	if isPostgres(location) {
		return connectPostgres(ctx, location, greeting)
	}
	if passwordLike.MatchString(location) {
		return nil, fmt.Errorf("%w: the location is neither the path of a SQLite file nor a postgres:// URL", ErrNotLedger)
	}
	return connectSQLite(ctx, location, create)
}

// Close releases the connections.
func (s *Store) Close() error { return failed(s.name, s.db.Close()) }

// Name is the location without a password.
func (s *Store) Name() string { return s.name }

// FingerprintKey is the secret key of the store's fingerprints.
func (s *Store) FingerprintKey(ctx context.Context) ([]byte, error) {
	var key []byte
	err := s.retry(ctx, func(ctx context.Context) error {
		err := s.db.QueryRowContext(ctx, `SELECT `+bounded("fingerprint_key", mostName)+` FROM ledger_store WHERE id = 1`).Scan(within[[]byte]{&key})
		if errors.Is(err, sql.ErrNoRows) {
			return Abort(fmt.Errorf("%w: %s: its creation was interrupted; create it again", ErrNotLedger, s.name))
		}
		return err
	})
	return key, err
}

// Datasets returns the names of the datasets, in order.
func (s *Store) Datasets(ctx context.Context) ([]string, error) {
	var names []string
	err := s.retry(ctx, func(ctx context.Context) error {
		names = names[:0]
		rows, err := s.db.QueryContext(ctx, `SELECT `+bounded("name", mostName)+` FROM ledger_datasets ORDER BY name`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(within[string]{&name}); err != nil {
				return err
			}
			names = append(names, name)
		}
		return rows.Err()
	})
	return names, err
}

// Update runs f in one transaction that holds the write lock of the dataset, and
// commits it. Where the lock is taken or the transaction has to yield, f runs
// again, until the context or a minute is over; f must not have effects outside
// the transaction. On any error of f nothing is written.
func (s *Store) Update(ctx context.Context, dataset string, f func(*Tx) error) error {
	return s.retry(ctx, func(ctx context.Context) error {
		return s.transact(ctx, &sql.TxOptions{}, func(tx *Tx) error {
			if err := tx.lock(ctx, dataset); err != nil {
				return err
			}
			return f(tx)
		})
	})
}

// Add begins a dataset: f writes its first entries.
func (s *Store) Add(ctx context.Context, dataset string, f func(*Tx) error) error {
	return s.retry(ctx, func(ctx context.Context) error {
		return s.transact(ctx, &sql.TxOptions{}, func(tx *Tx) error {
			row := tx.tx.QueryRowContext(ctx, `INSERT INTO ledger_datasets (name, seq, head) VALUES ($1, -1, $2) RETURNING id`, dataset, []byte{})
			if err := row.Scan(&tx.dataset); isUnique(err) {
				return fmt.Errorf("%w: %s: %q; open it, or choose another name", ErrExists, s.name, dataset)
			} else if err != nil {
				return err
			}
			tx.seq = -1
			return f(tx)
		})
	})
}

// View runs f on one consistent state of the dataset, without a write lock. f
// must not call the store other than through its transaction.
func (s *Store) View(ctx context.Context, dataset string, f func(*Tx) error) error {
	return s.retry(ctx, func(ctx context.Context) error {
		return s.transact(ctx, &sql.TxOptions{ReadOnly: true, Isolation: s.snapshot()}, func(tx *Tx) error {
			if err := tx.find(ctx, dataset, ""); err != nil {
				return err
			}
			return f(tx)
		})
	})
}

// snapshot is the isolation that shows one state; in SQLite every transaction does.
func (s *Store) snapshot() sql.IsolationLevel {
	if s.lite {
		return sql.LevelDefault
	}
	return sql.LevelRepeatableRead
}

func (s *Store) transact(ctx context.Context, o *sql.TxOptions, f func(*Tx) error) error {
	if err := s.inPlace(ctx); err != nil {
		return err
	}
	tx, err := s.db.BeginTx(ctx, o)
	if err != nil {
		return &beginError{err}
	}
	defer tx.Rollback()
	if err := f(&Tx{s: s, ctx: ctx, tx: tx}); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		// A commit that met a lock, or in SQLite the end of its context, was rolled
		// back. A server may have committed and its answer been lost.
		if busy(err) || o.ReadOnly || s.lite && ctx.Err() != nil {
			return err
		}
		return fmt.Errorf("%w: %s: %w", ErrUnknown, s.name, err)
	}
	return nil
}

// retry repeats what met a lock, after pauses that grow and differ.
func (s *Store) retry(ctx context.Context, f func(context.Context) error) error {
	if _, has := ctx.Deadline(); !has {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	for attempt := 0; ; attempt++ {
		err := f(ctx)
		if errors.Is(err, ErrUnknown) {
			return err
		}
		if !busy(err) && !(s.stale(err) && attempt < reconnects && ctx.Err() == nil) {
			return s.classify(err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %s: another process held its lock for too long (%w); try again", ErrBusy, s.name, ctx.Err())
		case <-time.After(pause(attempt)):
		}
	}
}

// pause is how long to wait after an attempt: up to 20 ms, and not the same for
// all who wait.
func pause(attempt int) time.Duration {
	var b [1]byte
	rand.Read(b[:]) // never fails
	longest := min(time.Millisecond<<min(attempt, 5), 20*time.Millisecond)
	return time.Millisecond/4 + longest*time.Duration(b[0])/256
}

// reconnects is how many connections that turn out to be dead are passed over.
const reconnects = 10

// stale reports that a transaction did not even begin, as on a pooled connection
// whose server was restarted: nothing can have happened in it.
func (s *Store) stale(err error) bool {
	var begin *beginError
	return !s.lite && errors.As(err, &begin)
}

// beginError is the failure to begin a transaction.
type beginError struct{ err error }

func (e *beginError) Error() string { return e.err.Error() }
func (e *beginError) Unwrap() error { return e.err }

// classify leaves errors of this module as they are and wraps those of drivers.
func (s *Store) classify(err error) error {
	var own *callerError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return own.err
	case errors.Is(err, ErrUnknown), errors.Is(err, ErrExists), errors.Is(err, ErrNoDataset), errors.Is(err, ErrStore):
		return err
	}
	return failed(s.name, err)
}

// callerError carries an error of a transaction's function through unchanged.
type callerError struct{ err error }

func (e *callerError) Error() string { return e.err.Error() }
func (e *callerError) Unwrap() error { return e.err }

// Abort wraps an error that ends a transaction for reasons of its caller.
func Abort(err error) error {
	if err == nil {
		return nil
	}
	return &callerError{err}
}
