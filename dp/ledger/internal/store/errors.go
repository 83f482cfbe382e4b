package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/discreet-rl/discreet/internal/fault"
)

// Sentinel errors. Everything this package returns wraps one of them, or the
// error of the function that ran in a transaction.
var (
	// ErrStore marks a store that cannot be reached, read or written.
	ErrStore = errors.New("ledger store failed")
	// ErrUnknown marks a commit with an unknown outcome.
	ErrUnknown = errors.New("it is not known whether the ledger was written")
	// ErrNotLedger marks a location that holds something else, or nothing.
	ErrNotLedger = fault.Input("not a ledger")
	// ErrSchema marks a schema that is newer or older than this program's.
	ErrSchema = errors.New("schema of the ledger differs")
	// ErrNotDurable marks a server or file whose settings give up durability.
	ErrNotDurable = errors.New("store is not durable")
	// ErrNoDataset marks a dataset that the store does not hold.
	ErrNoDataset = fault.Input("no such dataset in the ledger")
	// ErrExists marks a dataset that the store holds already.
	ErrExists = fault.Input("dataset exists in the ledger")
	// ErrBusy marks a lock that could not be had in time.
	ErrBusy = errors.New("ledger is busy")
)

// errReadOnly marks a SQLite file that cannot be written.
var errReadOnly = fmt.Errorf("%w: the file is read-only", ErrStore)

// failed wraps an error of a driver.
func failed(what string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %s: %w", ErrStore, what, err)
	}
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		if lite.Code() == sqlite3.SQLITE_READONLY {
			return fmt.Errorf("%w: %s", errReadOnly, what)
		}
		switch lite.Code() & 0xff {
		case sqlite3.SQLITE_NOTADB:
			return fmt.Errorf("%w: %s: the file is not a SQLite database", ErrNotLedger, what)
		case sqlite3.SQLITE_CORRUPT:
			return fmt.Errorf("%w: %s: the file is damaged or cut short; restore it from a backup", ErrStore, what)
		case sqlite3.SQLITE_FULL:
			return fmt.Errorf("%w: %s: the disk is full; nothing was written", ErrStore, what)
		}
	}
	return fmt.Errorf("%w: %s: %v", ErrStore, what, err)
}

// busy reports an error that another attempt may not meet.
func busy(err error) bool {
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		code := lite.Code() & 0xff
		return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "40001" || pg.Code == "40P01" // serialisation, deadlock
	}
	return false
}

// isUnique reports a row that exists already.
func isUnique(err error) bool {
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		return lite.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || lite.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
	}
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23505"
}
