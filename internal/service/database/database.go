package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/filelock"
	"github.com/discreet-rl/discreet/internal/sqlite"
)

var (
	// ErrLocation marks a store that is not there, or is something else.
	ErrLocation = fault.Input("not a store of this service")
	// ErrNotDurable marks a database that may forget what it committed.
	ErrNotDurable = fault.Input("database is not durable")
	// ErrSchema marks a schema that this program does not know.
	ErrSchema = errors.New("schema of another version")
	// ErrReplaced marks a store that is not the one that was opened.
	ErrReplaced = fault.Refused("store was replaced")
)

// HoldAtMost is how long a process that is stopped in a transaction keeps others
// waiting, on PostgreSQL.
const HoldAtMost = 5 * time.Second

// connections of one process to PostgreSQL.
const connections = 12

// DB is an open store. It is safe for concurrent use.
type DB struct {
	*sql.DB
	// Lite says that it is SQLite.
	Lite bool
	name string
	lock *filelock.Lock
	now  func() time.Time
	file os.FileInfo // of SQLite, as it was opened
}

// Options are for tests.
type Options struct {
	// Now is the clock of a SQLite store, which is the machine's if it is nil. That of
	// PostgreSQL is the server's always.
	Now func() time.Time
}

// Open connects to the store at the location. A SQLite file is made if there is
// none.
func Open(ctx context.Context, location string, o Options) (*DB, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if strings.HasPrefix(location, "postgres://") || strings.HasPrefix(location, "postgresql://") {
		return openPostgres(ctx, location, o)
	}
	return openSQLite(ctx, location, o)
}

// Close ends all connections.
func (d *DB) Close() error {
	err := d.DB.Close()
	if d.lock != nil {
		err = errors.Join(err, d.lock.Release())
	}
	return err
}

// InPlace reports an error if the file of a SQLite store was removed or replaced while it is
// open, when what is written would be lost. Pages that SQLite remembers are read again, in case
// the bytes were replaced in the same file.
func (d *DB) InPlace(ctx context.Context) error {
	if d.file == nil {
		return nil
	}
	if now, err := os.Stat(d.name); err != nil || !os.SameFile(now, d.file) {
		return fmt.Errorf("%w: %s: the file was removed or replaced while it was open", ErrReplaced, d.name)
	}
	_, err := d.ExecContext(ctx, `PRAGMA shrink_memory`)
	return err
}

// Name is the store's in messages: without a password.
func (d *DB) Name() string { return d.name }

func openSQLite(ctx context.Context, path string, o Options) (*DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLocation, err)
	}
	lock, err := filelock.Take(path + ".lock")
	switch {
	case errors.Is(err, filelock.ErrHeld):
		return nil, fmt.Errorf("%s: a SQLite store serves one process; stop the other, or use PostgreSQL: %w", path, err)
	case err != nil:
		return nil, fmt.Errorf("%w: %s: its directory has to be there, and to let this user write: %w", ErrLocation, path, err)
	}
	d := &DB{Lite: true, name: path, lock: lock, now: o.Now}
	if err := d.openFile(ctx, path); err != nil {
		if d.DB != nil {
			err = errors.Join(err, d.DB.Close())
		}
		return nil, errors.Join(err, lock.Release())
	}
	return d, nil
}

func (d *DB) openFile(ctx context.Context, path string) error {
	// SQLite takes an empty file for a new store; it may be what is left of an old one.
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return fmt.Errorf("%w: %s: is empty (0 bytes), as no store is; put back the right file, or remove it to begin a new store", ErrLocation, path)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) // what clients sent is in it
	if err != nil {
		return fmt.Errorf("%w: %w", ErrLocation, err)
	}
	info, err := f.Stat()
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%w: %w", ErrLocation, err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: %s: not a regular file", ErrLocation, path)
	}
	d.file = info
	d.DB, err = sqlite.Open(path, url.Values{"_txlock": {"immediate"}, "_pragma": {
		"busy_timeout(5000)", "journal_mode(wal)", "synchronous(full)", "fullfsync(1)", "foreign_keys(1)", "trusted_schema(0)", "cell_size_check(1)"}}, 0)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrLocation, path, err)
	}
	// Writers of one process queue for it instead of polling for the file's lock.
	d.DB.SetMaxOpenConns(1)
	var journal string
	var synchronous int
	err = d.DB.QueryRowContext(ctx, `PRAGMA journal_mode`).Scan(&journal)
	if err == nil {
		err = d.DB.QueryRowContext(ctx, `PRAGMA synchronous`).Scan(&synchronous)
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrLocation, path, err)
	}
	if journal != "wal" || synchronous != 2 {
		return fmt.Errorf("%w: %s: journal_mode is %s and synchronous is %d; want wal and 2 (full)", ErrNotDurable, path, journal, synchronous)
	}
	return nil
}

func openPostgres(ctx context.Context, location string, o Options) (*DB, error) {
	c, err := pgx.ParseConfig(location)
	if err != nil {
		return nil, fmt.Errorf("%w: the URL of PostgreSQL cannot be read", ErrLocation) // it may hold a password
	}
	hold := strconv.FormatInt(HoldAtMost.Milliseconds(), 10)
	for key, value := range map[string]string{
		"idle_in_transaction_session_timeout": hold, "lock_timeout": strconv.FormatInt(3*HoldAtMost.Milliseconds(), 10),
		"statement_timeout": "60000", "timezone": "UTC",
	} {
		c.RuntimeParams[key] = value
	}
	d := &DB{DB: stdlib.OpenDB(*c), name: fmt.Sprintf("postgres://%s/%s", c.Host, c.Database), now: o.Now}
	d.SetMaxOpenConns(connections)
	d.SetMaxIdleConns(connections)
	for setting, wants := range map[string]string{"fsync": "on", "synchronous_commit": "on remote_apply remote_write local", "full_page_writes": "on"} {
		var is string
		if err := d.QueryRowContext(ctx, `SELECT current_setting($1)`, setting).Scan(&is); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", d.name, err), d.DB.Close())
		}
		if !strings.Contains(" "+wants+" ", " "+is+" ") {
			return nil, errors.Join(fmt.Errorf("%w: %s: %s is %s; want %s", ErrNotDurable, d.name, setting, is, strings.ReplaceAll(wants, " ", " or ")), d.DB.Close())
		}
	}
	return d, nil
}

// Tx is a transaction, with its database.
type Tx struct {
	*sql.Tx
	Lite bool
	now  func() time.Time
}

// Update runs f in one transaction and commits it, if f returns nil. What f needs
// to know of rows that others change it has to lock. An error may come back from
// the commit although it took place: whoever repeats f has to find out.
func (d *DB) Update(ctx context.Context, f func(*Tx) error) error {
	tx, err := d.BeginTx(ctx, &sql.TxOptions{Isolation: isolation(d.Lite)})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing is left to do after a commit
	if err := f(&Tx{tx, d.Lite, d.now}); err != nil {
		return err
	}
	return tx.Commit()
}

func isolation(lite bool) sql.IsolationLevel {
	if lite {
		return sql.LevelDefault // SQLite knows one: serializable
	}
	return sql.LevelReadCommitted
}

// Now is the store's clock at this moment, in microseconds since 1970: the same for
// all processes that share it.
func (t *Tx) Now(ctx context.Context) (int64, error) {
	if t.Lite {
		return t.now().UnixMicro(), nil
	}
	var now int64
	err := t.QueryRowContext(ctx, `SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint`).Scan(&now)
	return now, err
}

// Locking is the clause that locks the rows of a SELECT on PostgreSQL: FOR UPDATE,
// FOR SHARE. In SQLite a transaction has the whole file.
func (t *Tx) Locking(clause string) string {
	if t.Lite {
		return ""
	}
	return " " + clause
}

// Transient reports that a transaction which failed so may be tried again: the
// connection was lost, a lock or a deadlock was in the way, the server is starting
// or stopping.
func Transient(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		switch pg.Code[:2] {
		case "08", "40", "53", "55", "57": // connection, rollback, resources, lock not available, operator
			return true
		}
		return pg.Code == "25P03" // idle in transaction for too long
	}
	var connect *pgconn.ConnectError
	return errors.As(err, &connect) || pgconn.SafeToRetry(err) || errors.Is(err, sql.ErrConnDone) || lost(err)
}

// lost reports an error of the connection itself.
func lost(err error) bool {
	var path *fs.PathError
	if errors.As(err, &path) {
		return false
	}
	var closed interface{ Timeout() bool }
	return errors.As(err, &closed) || strings.Contains(err.Error(), "unexpected EOF") || strings.Contains(err.Error(), "conn closed")
}
