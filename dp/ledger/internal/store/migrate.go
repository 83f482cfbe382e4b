package store

import (
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// migrations holds a directory for each kind of store, and in it a file for each
// version of the schema: what leads to it and, below the line "-- down", what
// leads back.
//
//go:embed migrations
var migrations embed.FS

// migrationLock is the advisory lock of PostgreSQL under which one process at a
// time migrates: "ledger" in ASCII.
const migrationLock = 0x6c6564676572

// lockSchema waits until nobody else migrates, and keeps others from it until the
// transaction ends: in SQLite the transaction has the lock of the whole file
// already.
func (t *Tx) lockSchema() error {
	if t.s.lite {
		return nil
	}
	_, err := t.tx.ExecContext(t.ctx, `SELECT pg_advisory_xact_lock($1)`, migrationLock)
	return err
}

// migrate brings the schema from one version to another, up or down. Whoever looks
// meanwhile sees the old one: it happens in one transaction.
func (t *Tx) migrate(from, to int64) error {
	// Whoever reads or writes begins with this table. A step that took it after another one
	// could wait for somebody who waits for that.
	if !t.s.lite && from > 0 && from != to {
		if _, err := t.tx.ExecContext(t.ctx, `LOCK TABLE ledger_datasets IN ACCESS EXCLUSIVE MODE`); err != nil {
			return err
		}
	}
	if _, err := t.tx.ExecContext(t.ctx, `CREATE TABLE IF NOT EXISTS ledger_schema (version_id BIGINT NOT NULL, is_applied BOOLEAN NOT NULL)`); err != nil {
		return err
	}
	for v := from + 1; v <= to; v++ {
		up, _, err := t.s.migration(v)
		if err != nil {
			return err
		}
		if _, err := t.tx.ExecContext(t.ctx, up); err != nil {
			return err
		}
		if _, err := t.tx.ExecContext(t.ctx, `INSERT INTO ledger_schema (version_id, is_applied) VALUES ($1, $2)`, v, true); err != nil {
			return err
		}
	}
	for v := from; v > to; v-- {
		_, down, err := t.s.migration(v)
		if err != nil {
			return err
		}
		if _, err := t.tx.ExecContext(t.ctx, down); err != nil {
			return err
		}
		if _, err := t.tx.ExecContext(t.ctx, `DELETE FROM ledger_schema WHERE version_id = $1`, v); err != nil {
			return err
		}
	}
	return nil
}

// migration is the way to a version of the schema and back.
func (s *Store) migration(version int64) (up, down string, err error) {
	dir := "postgres"
	if s.lite {
		dir = "sqlite"
	}
	names, err := fs.Glob(migrations, fmt.Sprintf("migrations/%s/%05d_*.sql", dir, version))
	if err != nil || len(names) != 1 {
		return "", "", Abort(fmt.Errorf("%w: version %d of the schema is not in this program", ErrSchema, version))
	}
	text, err := migrations.ReadFile(names[0])
	if err != nil {
		return "", "", err
	}
	up, down, found := strings.Cut(string(text), "\n-- down\n")
	if !found {
		return "", "", Abort(fmt.Errorf("%w: version %d of the schema has no way back", ErrSchema, version))
	}
	return up, down, nil
}

// create makes the schema where there is none, or an older one, and the key of the
// fingerprints. Several processes may do so at once: the first does the work.
func (s *Store) create(ctx context.Context) error {
	key := make([]byte, KeySize)
	rand.Read(key) // never fails
	return s.atRest(ctx, func(tx *Tx, version int64) error {
		if version > Version {
			return Abort(s.supported(version))
		}
		if version == 0 {
			if err := tx.refuseForeign(); err != nil {
				return err
			}
		}
		if err := s.shaped(tx.ctx, tx.tx, version); err != nil {
			return err
		}
		if err := tx.migrate(version, Version); err != nil {
			return err
		}
		_, err := tx.tx.ExecContext(tx.ctx, `INSERT INTO ledger_store (id, fingerprint_key) VALUES (1, $1) ON CONFLICT DO NOTHING`, key)
		return err
	})
}

// refuseForeign refuses a SQLite file that something else lives in. A PostgreSQL
// database may be shared; the names of all tables begin with ledger_.
func (t *Tx) refuseForeign() error {
	if !t.s.lite {
		return nil
	}
	var foreign int
	err := t.tx.QueryRowContext(t.ctx, `SELECT count(*) FROM sqlite_master WHERE name NOT LIKE 'ledger\_%' ESCAPE '\' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`).Scan(&foreign)
	if err == nil && foreign > 0 {
		err = Abort(fmt.Errorf("%w: %s: a database of something else; name another file", ErrNotLedger, t.s.name))
	}
	return err
}

// fromRelease brings a store that an earlier release wrote up to date. One that this process
// may not write is read as it is: what newer versions add, only charges need.
func (s *Store) fromRelease(ctx context.Context, refused error) error {
	err := s.atRest(ctx, func(tx *Tx, now int64) error {
		if now < firstReleased || now > Version {
			return Abort(refused)
		}
		if err := s.shaped(tx.ctx, tx.tx, now); err != nil {
			return err
		}
		return tx.migrate(now, Version)
	})
	if !errors.Is(err, errReadOnly) {
		return err
	}
	version, err := s.version(ctx, s.db)
	if err != nil || version < firstReleased {
		return refused
	}
	return s.retry(ctx, func(ctx context.Context) error { return s.shaped(ctx, s.db, version) })
}

// Migrate brings the store at the location to a version of the schema, up or
// down. Version 0 would drop every entry and is refused; delete the store to be
// rid of it.
func Migrate(ctx context.Context, location string, version int64) error {
	if version < 1 || version > Version {
		return fmt.Errorf("%w: version %d; want one from 1 to %d", ErrSchema, version, Version)
	}
	s, err := connect(ctx, location, false)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.atRest(ctx, func(tx *Tx, now int64) error {
		if now == 0 || now > Version {
			return Abort(s.supported(now))
		}
		if err := s.shaped(tx.ctx, tx.tx, now); err != nil {
			return err
		}
		return tx.migrate(now, version)
	})
}
