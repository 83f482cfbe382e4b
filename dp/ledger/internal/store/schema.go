package store

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

// Version is the version of the schema that this program reads and writes.
const Version = 2

// versionTable is where the migrations are noted.
const versionTable = "ledger_schema"

// version reads the version of the schema, 0 where there is none.
func (s *Store) version(ctx context.Context) (int64, error) {
	has := `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = $1`
	if !s.lite {
		has = `SELECT count(*) FROM pg_tables WHERE tablename = $1 AND schemaname = ANY (current_schemas(false))`
	}
	var n, version int64
	err := s.retry(ctx, func(ctx context.Context) error {
		if err := s.db.QueryRowContext(ctx, has, versionTable).Scan(&n); err != nil || n == 0 {
			return err
		}
		return s.db.QueryRowContext(ctx, `SELECT coalesce(max(version_id), 0) FROM `+versionTable).Scan(&version)
	})
	return version, err
}

// current refuses a store whose schema is not this program's.
func (s *Store) current(ctx context.Context) error {
	version, err := s.version(ctx)
	switch {
	case err != nil:
		return err
	case version == 0:
		return fmt.Errorf("%w: %s: a database without a ledger; create one in it, or name another", ErrNotLedger, s.name)
	case version > Version:
		return fmt.Errorf("%w: %s: its schema is version %d and this program knows up to %d; use a newer program, or migrate it down with that one", ErrSchema, s.name, version, Version)
	case version < Version:
		return fmt.Errorf("%w: %s: its schema is version %d and this program needs %d; take a backup and migrate it up", ErrSchema, s.name, version, Version)
	}
	return nil
}

// refuseForeign refuses a SQLite file that something else lives in. A PostgreSQL
// database may be shared; the names of all tables begin with ledger_.
func (s *Store) refuseForeign(ctx context.Context) error {
	version, err := s.version(ctx)
	if err != nil {
		return err
	}
	if version > Version {
		return s.current(ctx)
	}
	if !s.lite || version > 0 {
		return nil
	}
	var foreign int
	err = s.retry(ctx, func(ctx context.Context) error {
		return s.db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE name NOT LIKE 'ledger\_%' ESCAPE '\' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`).Scan(&foreign)
	})
	if err != nil {
		return err
	}
	if foreign > 0 {
		return fmt.Errorf("%w: %s: a database of something else; name another file", ErrNotLedger, s.name)
	}
	return nil
}

func (s *Store) provider() (*goose.Provider, error) {
	dialect, dir := goose.DialectPostgres, "migrations/postgres"
	if s.lite {
		dialect, dir = goose.DialectSQLite3, "migrations/sqlite"
	}
	files, err := fs.Sub(migrations, dir)
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(dialect, s.db, files,
		goose.WithTableName(versionTable), goose.WithLogger(goose.NopLogger()), goose.WithDisableGlobalRegistry(true))
}

// up brings the schema up to date. Several processes may do so at once: one that
// loses the race to another finds the work done.
func (s *Store) up(ctx context.Context) error {
	var err error
	for range 50 {
		var version int64
		if version, err = s.version(ctx); err != nil {
			return err
		}
		if version == Version {
			return nil
		}
		if err = s.migrate(ctx, Version); err == nil {
			return nil
		}
		if !s.lite || ctx.Err() != nil {
			break
		}
	}
	return fmt.Errorf("%w: %s: the schema could not be brought up to version %d: %v", ErrStore, s.name, Version, err)
}

// migrationLock is the advisory lock of PostgreSQL under which one process at a
// time migrates: "ledger" in ASCII.
const migrationLock = 0x6c6564676572

func (s *Store) migrate(ctx context.Context, version int64) error {
	if !s.lite {
		conn, err := s.db.Conn(ctx)
		if err != nil {
			return err
		}
		defer conn.Close()
		if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, migrationLock); err != nil {
			return err
		}
		defer conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, migrationLock)
	}
	p, err := s.provider()
	if err != nil {
		return err
	}
	now, err := s.version(ctx)
	if err != nil {
		return err
	}
	switch {
	case version < now:
		_, err = p.DownTo(ctx, version)
	case version > now:
		_, err = p.UpTo(ctx, version)
	}
	return err
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
	now, err := s.version(ctx)
	if err != nil {
		return err
	}
	if now == 0 || now > Version {
		return s.current(ctx)
	}
	return failed(s.name, s.migrate(ctx, version))
}
