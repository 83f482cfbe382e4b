package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// A view in place of a table shows other rows than are there, and a trigger writes
// other ones. So before anything is read, all that is there has to be what a
// version of the schema makes. Its own triggers, against slips, may be missing.

// lister is what a database and a transaction on it have in common.
type lister interface {
	querier
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// shaped refuses a store that holds something else than a version of the schema.
func (s *Store) shaped(ctx context.Context, q lister, version int64) error {
	if version < 1 || version > Version {
		return nil // refused for that
	}
	if s.lite {
		return s.shapedSQLite(ctx, q, version)
	}
	return s.shapedPostgres(ctx, q)
}

func (s *Store) foreign(what string) error {
	return Abort(fmt.Errorf("%w: %s: %s, which no version of this program makes: rows that were read through it could be others than those that are there; remove it, or restore the ledger from a backup", ErrNotLedger, s.name, what))
}

// objects are what a SQLite schema consists of: for each name its kind and the text
// that made it.
type objects map[string][2]string

func objectsOf(ctx context.Context, q lister) (objects, error) {
	rows, err := q.QueryContext(ctx, `SELECT type, name, coalesce(sql, '') FROM sqlite_master`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := objects{}
	for rows.Next() {
		var name string
		var is [2]string
		if err := rows.Scan(&is[0], &name, &is[1]); err != nil {
			return nil, err
		}
		all[name] = is
	}
	return all, rows.Err()
}

func (s *Store) shapedSQLite(ctx context.Context, q lister, version int64) error {
	want, err := newest()
	if version != Version {
		want, err = fresh(ctx, version)
	}
	if err != nil {
		return err
	}
	got, err := objectsOf(ctx, q)
	if err != nil {
		return err
	}
	for name, is := range got {
		// The table of versions was made by another tool once, which numbered its rows;
		// names with sqlite_ are SQLite's own, and nothing here reads them.
		if is == want[name] || is[0] == "table" && (name == schemaTable || strings.HasPrefix(name, "sqlite_")) {
			continue
		}
		return s.foreign(fmt.Sprintf("it holds the %s %q", is[0], name))
	}
	for name, is := range want {
		if _, there := got[name]; !there && is[0] == "table" {
			return s.foreign(fmt.Sprintf("it lacks the table %q", name))
		}
	}
	return nil
}

// newest is what the present version makes; it is made once, for it takes longer
// than all else that opening a store does.
var newest = sync.OnceValues(func() (objects, error) { return fresh(context.Background(), Version) })

// fresh is what a version of the schema makes of an empty SQLite database.
func fresh(ctx context.Context, version int64) (objects, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection would have a memory of its own
	for v := int64(1); v <= version; v++ {
		up, _, err := (&Store{lite: true}).migration(v)
		if err != nil {
			return nil, err
		}
		if _, err := db.ExecContext(ctx, up); err != nil {
			return nil, err
		}
	}
	return objectsOf(ctx, db)
}

// ownTables are the tables of the schema, and with them the triggers against slips.
var ownTables = []string{
	schemaTable, "ledger_store", "ledger_datasets", "ledger_entries", "ledger_charges", "ledger_releases", "ledger_analysts", "ledger_sightings",
	"ledger_witnesses", "ledger_sketches", "ledger_checks", "ledger_open_checks",
}

func (s *Store) shapedPostgres(ctx context.Context, q lister) error {
	for _, name := range ownTables {
		var kind string
		var rules, inherited, policies bool
		var triggers int
		// Of the triggers those that never fire here are left out: of the same names
		// and functions, before UPDATE, DELETE and TRUNCATE alone (8 + 16 + 32 + 2).
		err := q.QueryRowContext(ctx, `SELECT c.relkind::text, c.relhasrules, c.relhassubclass OR c.relispartition, c.relrowsecurity,
			(SELECT count(*) FROM pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND NOT (t.tgname = $1 || '_append_only' AND t.tgtype = 58))
			FROM pg_class c WHERE c.oid = to_regclass($1)`, name).Scan(&kind, &rules, &inherited, &policies, &triggers)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			continue // a table of a later version, or one whose lack shows
		case err != nil:
			return err
		case kind != "r":
			return s.foreign(fmt.Sprintf("%q is no table", name))
		case rules || inherited || policies:
			return s.foreign(fmt.Sprintf("the table %q has rules, policies or heirs", name))
		case triggers > 0:
			return s.foreign(fmt.Sprintf("the table %q has a trigger", name))
		}
	}
	return nil
}
