package database

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/sqlite"
)

// ErrCopy marks a copy of a store that cannot be made, or put back.
var ErrCopy = fault.Input("copy of the store")

// liteCopy is the copy of a SQLite store; those of PostgreSQL are tables, each a CSV with a header.
const (
	liteCopy  = "store.db"
	tableCopy = "store-%s.csv"
)

// Copy writes the store at a location into a directory, as it is at one moment, while services
// use it, and returns the names of the files. The names of its tables begin with the prefix.
func Copy(ctx context.Context, location, prefix, dir string) ([]string, error) {
	if strings.Contains(location, "://") {
		return copyPostgres(ctx, location, prefix, dir)
	}
	return []string{liteCopy}, copySQLite(ctx, location, filepath.Join(dir, liteCopy))
}

// copySQLite has SQLite copy what one reader sees; writers go on meanwhile.
func copySQLite(ctx context.Context, path, to string) (err error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return fmt.Errorf("%w: %s is missing or no store", ErrCopy, path)
	}
	db, err := sqlite.Open(path, url.Values{"_pragma": {"busy_timeout(10000)", "trusted_schema(0)"}}, 0)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCopy, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	// It is made first, so that nobody else can read it.
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := db.ExecContext(ctx, `VACUUM INTO $1`, to); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrCopy, path, err)
	}
	return f.Sync()
}

func copyPostgres(ctx context.Context, location, prefix, dir string) (names []string, err error) {
	err = withPostgres(ctx, location, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `SELECT table_name::text FROM information_schema.tables WHERE table_schema = current_schema() AND table_name LIKE $1 ORDER BY 1`, prefix+`\_%`)
		if err != nil {
			return err
		}
		tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		if len(tables) == 0 {
			return fmt.Errorf("%w: the database holds no store", ErrCopy)
		}
		for _, table := range tables {
			name := fmt.Sprintf(tableCopy, table)
			f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
			if err != nil {
				return err
			}
			_, err = tx.Conn().PgConn().CopyTo(ctx, f, `COPY `+pgx.Identifier{table}.Sanitize()+` TO STDOUT WITH (FORMAT csv, HEADER true)`)
			if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
				return err
			}
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

func withPostgres(ctx context.Context, location string, o pgx.TxOptions, f func(pgx.Tx) error) error {
	c, err := pgx.Connect(ctx, location)
	if err != nil {
		return fmt.Errorf("%w: the database does not answer", ErrCopy) // its URL may hold a password
	}
	defer c.Close(context.WithoutCancel(ctx))
	return pgx.BeginTxFunc(ctx, c, o, f)
}

// Back says how a copy is put back.
type Back struct {
	// Open opens the store at a location, and makes its tables, and closes it.
	Open func(ctx context.Context, location string) error
	// Begun is a query of PostgreSQL that tells whether there is anything in the tables.
	Begun string
	// First is the table that others refer to; "" for none.
	First string
	// Without are tables that are not put back.
	Without []string
	// Mend changes what was put back, before anybody sees it.
	Mend func(context.Context, Executor) error
}

// Executor executes a statement.
type Executor func(ctx context.Context, query string, args ...any) error

// PutBack makes the store at a location from a copy, where there is none, and reports whether it
// did.
func PutBack(ctx context.Context, location, dir string, names []string, b Back) (made bool, err error) {
	if strings.Contains(location, "://") {
		return putBackPostgres(ctx, location, dir, names, b)
	}
	if _, err := os.Lstat(location); err == nil {
		return false, nil
	}
	// SQLite would take what a lost store left beside it for changes of this one.
	for _, rest := range []string{"-wal", "-shm", "-journal"} {
		if _, err := os.Lstat(location + rest); err == nil {
			return false, fmt.Errorf("%w: %s is left of a store that is gone; move it away, and restore again", ErrCopy, location+rest)
		}
	}
	if len(names) != 1 || names[0] != liteCopy {
		return false, fmt.Errorf("%w: the backup is of a PostgreSQL store, and %s is a SQLite file", ErrCopy, location)
	}
	from, err := os.Open(filepath.Join(dir, liteCopy))
	if err != nil {
		return false, err
	}
	defer from.Close()
	to, err := os.CreateTemp(filepath.Dir(location), ".writing-*")
	if err != nil {
		return false, err
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Sync(), to.Close()); err == nil {
		err = mendSQLite(ctx, to.Name(), b)
	}
	if err == nil {
		err = os.Link(to.Name(), location) // a name that somebody took meanwhile stays theirs
	}
	err = errors.Join(err, os.Remove(to.Name()))
	return err == nil, err
}

// mendSQLite brings the copy's tables up to date, and mends it.
func mendSQLite(ctx context.Context, path string, b Back) (err error) {
	if err := b.Open(ctx, path); err != nil {
		return err
	}
	d, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return d.Update(ctx, func(tx *Tx) error {
		return b.Mend(ctx, func(ctx context.Context, query string, args ...any) error {
			_, err := tx.ExecContext(ctx, query, args...)
			return err
		})
	})
}

func putBackPostgres(ctx context.Context, location, dir string, names []string, b Back) (made bool, err error) {
	if err := b.Open(ctx, location); err != nil { // with empty tables, if there were none
		return false, err
	}
	err = withPostgres(ctx, location, pgx.TxOptions{}, func(tx pgx.Tx) error {
		var begun bool
		if err := tx.QueryRow(ctx, b.Begun).Scan(&begun); err != nil || begun {
			return err
		}
		first := fmt.Sprintf(tableCopy, b.First)
		ordered := append(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n != first }), slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == first })...)
		for _, name := range ordered {
			table, ok := strings.CutPrefix(strings.TrimSuffix(name, ".csv"), "store-")
			if !ok {
				return fmt.Errorf("%w: the backup is of a SQLite store, and this one is PostgreSQL", ErrCopy)
			}
			if slices.Contains(b.Without, table) {
				continue
			}
			if err := load(ctx, tx, table, filepath.Join(dir, name)); err != nil {
				return fmt.Errorf("%w: %s: %w", ErrCopy, name, err)
			}
		}
		made = true
		return b.Mend(ctx, func(ctx context.Context, query string, args ...any) error {
			_, err := tx.Exec(ctx, query, args...)
			return err
		})
	})
	return made && err == nil, err
}

// load fills a table that is empty.
func load(ctx context.Context, tx pgx.Tx, table, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	header, err := in.ReadString('\n')
	if err != nil {
		return err
	}
	columns := strings.Split(strings.TrimSpace(header), ",")
	for i := range columns {
		columns[i] = pgx.Identifier{columns[i]}.Sanitize()
	}
	id := pgx.Identifier{table}.Sanitize()
	_, err = tx.Conn().PgConn().CopyFrom(ctx, in, `COPY `+id+` (`+strings.Join(columns, ", ")+`) FROM STDIN WITH (FORMAT csv)`)
	return err
}

// Digest is the SHA-256 of a file, in hexadecimal.
func Digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
