package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Version is the version of the schema that this program reads and writes.
const Version = 5

// firstReleased is the version from which on an older store is brought up to date when it is
// opened: that of the first release.
const firstReleased = 4

// schemaTable holds the versions that were applied.
const schemaTable = "ledger_schema"

// querier is what a database and a transaction on it have in common.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// version reads the version of the schema, 0 where there is none.
func (s *Store) version(ctx context.Context, q querier) (version int64, err error) {
	has := `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'ledger_schema'`
	if !s.lite {
		has = `SELECT count(*) FROM pg_tables WHERE tablename = 'ledger_schema' AND schemaname = ANY (current_schemas(false))`
	}
	var n int64
	if err := q.QueryRowContext(ctx, has).Scan(&n); err != nil || n == 0 {
		return 0, err
	}
	err = q.QueryRowContext(ctx, `SELECT coalesce(max(version_id), 0) FROM ledger_schema`).Scan(&version)
	return version, err
}

// current refuses a store whose schema is not this program's. Where another
// process is bringing it up to date, its end is waited for.
func (s *Store) current(ctx context.Context) error {
	var version int64
	err := s.retry(ctx, func(ctx context.Context) (err error) {
		version, err = s.version(ctx, s.db)
		return err
	})
	if err == nil && version != 0 && version != Version {
		version, err = s.settled(ctx, version)
	}
	if err == nil {
		err = s.supported(version)
	}
	if err != nil {
		return err
	}
	err = s.retry(ctx, func(ctx context.Context) error { return s.shaped(ctx, s.db, version) })
	if errors.Is(err, ErrNotLedger) {
		return s.foreignAtRest(ctx, err)
	}
	return err
}

// atRest runs f in one transaction in which nobody else migrates the store, with the
// version of its schema. Where the transaction has to yield, f runs again.
func (s *Store) atRest(ctx context.Context, f func(tx *Tx, version int64) error) error {
	return s.retry(ctx, func(ctx context.Context) error {
		return s.transact(ctx, &sql.TxOptions{}, func(tx *Tx) error {
			if err := tx.lockSchema(); err != nil {
				return err
			}
			version, err := s.version(ctx, tx.tx)
			if err != nil {
				return err
			}
			return f(tx, version)
		})
	})
}

// foreignAtRest looks once more at a store that was found to be foreign, while nobody
// migrates it: another process may have done so between the looks at its version and
// at its tables.
func (s *Store) foreignAtRest(ctx context.Context, found error) error {
	err := s.atRest(ctx, func(tx *Tx, version int64) error {
		if err := s.supported(version); err != nil {
			return Abort(err)
		}
		return s.shaped(tx.ctx, tx.tx, version)
	})
	if errors.Is(err, errReadOnly) {
		return found
	}
	return err
}

// settled is the version when nobody is migrating the store. A file that nobody may
// write, or not this process, has the version that was read.
func (s *Store) settled(ctx context.Context, read int64) (version int64, err error) {
	err = s.atRest(ctx, func(_ *Tx, now int64) error {
		version = now
		return nil
	})
	if errors.Is(err, errReadOnly) {
		return read, nil
	}
	return version, err
}

// supported refuses a version that is not this program's.
func (s *Store) supported(version int64) error {
	switch {
	case version == 0:
		return fmt.Errorf("%w: %s: a database without a ledger; create one in it, or name another", ErrNotLedger, s.name)
	case version > Version:
		return fmt.Errorf("%w: %s: its schema is version %d and this program knows up to %d; use a newer program, or migrate it down with that one", ErrSchema, s.name, version, Version)
	case version < Version:
		return fmt.Errorf("%w: %s: its schema is version %d and this program needs %d; take a backup and migrate it up", ErrSchema, s.name, version, Version)
	}
	return nil
}
