package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// journal is a driver that writes down what it is asked.
type journal struct {
	prepared map[string]int
	open     map[string]int
	fail     bool // the next statement
	closed   bool
}

func (l *journal) Connect(context.Context) (driver.Conn, error) { return line{l}, nil }
func (l *journal) Driver() driver.Driver                        { return nil }

type line struct{ *journal }

func (l line) Prepare(string) (driver.Stmt, error) { panic("without a context") }
func (l line) PrepareContext(_ context.Context, query string) (driver.Stmt, error) {
	l.prepared[query]++
	l.open[query]++
	return &statement{l.journal, query}, nil
}
func (l line) Close() error                                                 { l.closed = true; return nil }
func (l line) Begin() (driver.Tx, error)                                    { panic("without a context") }
func (l line) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) { return l, nil }
func (l line) Commit() error                                                { return nil }
func (l line) Rollback() error                                              { return nil }
func (l line) Ping(context.Context) error                                   { return nil }
func (l line) ResetSession(context.Context) error                           { return nil }
func (l line) IsValid() bool                                                { return true }

type statement struct {
	of    *journal
	query string
}

var errAsked = errors.New("as asked for")

func (s *statement) Close() error                               { s.of.open[s.query]--; return nil }
func (s *statement) NumInput() int                              { return 0 }
func (s *statement) Exec([]driver.Value) (driver.Result, error) { panic("without a context") }
func (s *statement) Query([]driver.Value) (driver.Rows, error)  { panic("without a context") }
func (s *statement) ExecContext(context.Context, []driver.NamedValue) (driver.Result, error) {
	if s.of.fail {
		return nil, errAsked
	}
	return driver.RowsAffected(0), nil
}

func (s *statement) QueryContext(context.Context, []driver.NamedValue) (driver.Rows, error) {
	if s.of.fail {
		return nil, errAsked
	}
	return none{}, nil
}

type none struct{}

func (none) Columns() []string         { return []string{"a"} }
func (none) Close() error              { return nil }
func (none) Next([]driver.Value) error { return io.EOF }

func TestAStatementIsPreparedOnceAndUsedByOneAtATime(t *testing.T) {
	l := &journal{prepared: map[string]int{}, open: map[string]int{}}
	db := sql.OpenDB(keeping{l, func(*sql.Conn) error { return nil }})
	db.SetMaxOpenConns(1)
	ctx := t.Context()
	query := func(q interface {
		QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	}, text string) *sql.Rows {
		r, err := q.QueryContext(ctx, text)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for range 3 {
		query(db, "SELECT 1").Close()
		query(db, "SELECT\n2").Close()
		if _, err := db.ExecContext(ctx, "UPDATE a"); err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(ctx, "PRAGMA shrink_memory"); err != nil {
			t.Fatal(err)
		}
	}
	if l.prepared["SELECT 1"] != 1 || l.prepared["SELECT\n2"] != 1 || l.prepared["UPDATE a"] != 1 || l.prepared["PRAGMA shrink_memory"] != 3 || l.open["PRAGMA shrink_memory"] != 0 {
		t.Errorf("prepared %v, open %v", l.prepared, l.open)
	}

	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	outer, inner := query(tx, "SELECT 1"), query(tx, "SELECT 1") // while its rows are read
	if l.prepared["SELECT 1"] != 2 || l.open["SELECT 1"] != 2 {
		t.Errorf("prepared %v, open %v", l.prepared, l.open)
	}
	if err := errors.Join(inner.Close(), outer.Close(), tx.Commit()); err != nil || l.open["SELECT 1"] != 1 {
		t.Errorf("%v, open %v", err, l.open)
	}

	l.fail = true
	if _, err := db.ExecContext(ctx, "UPDATE a"); err != errAsked || l.open["UPDATE a"] != 0 {
		t.Errorf("%v, open %v", err, l.open)
	}
	if _, err := db.QueryContext(ctx, "SELECT 1"); err != errAsked || l.open["SELECT 1"] != 0 {
		t.Errorf("%v, open %v", err, l.open)
	}
	l.fail = false

	for i := range 2 * mostKept {
		query(db, fmt.Sprintf("SELECT %d", i)).Close()
	}
	sum := func() (n int) {
		for _, m := range l.open {
			n += m
		}
		return n
	}
	if sum() != mostKept {
		t.Errorf("%d statements are open, want %d", sum(), mostKept)
	}
	if err := db.Close(); err != nil || sum() != 0 || !l.closed {
		t.Errorf("%v, %d statements are open after the end", err, sum())
	}
}

// What a statement found is not what it finds after the table was changed, by its own connection
// or by another one.
func TestKeptStatementsFollowTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	open := func() *sql.DB {
		db, err := Open(path, url.Values{"_pragma": {"busy_timeout(1000)"}}, 0)
		if err != nil {
			t.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	one, other := open(), open()
	do := func(db *sql.DB, query string, args ...any) {
		t.Helper()
		if _, err := db.Exec(query, args...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	all := func(db *sql.DB) (out []string) {
		t.Helper()
		rows, err := db.Query(`SELECT * FROM a ORDER BY 1`)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var first string
			var rest any
			columns, err := rows.Columns()
			if err != nil {
				t.Fatal(err)
			}
			to := []any{&first, &rest}[:len(columns)]
			if err := rows.Scan(to...); err != nil {
				t.Fatal(err)
			}
			out = append(out, fmt.Sprint(first, rest))
		}
		return out
	}
	do(one, `CREATE TABLE a (x TEXT)`)
	do(one, `INSERT INTO a (x) VALUES ($1)`, "p")
	want := []string{"p<nil>"}
	for _, db := range []*sql.DB{one, other, one} {
		if got := all(db); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	do(other, `ALTER TABLE a ADD COLUMN y INTEGER DEFAULT 7`)
	do(other, `INSERT INTO a (x) VALUES ($1)`, "q")
	want = []string{"p7", "q7"}
	for _, db := range []*sql.DB{one, other} {
		if got := all(db); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	do(one, `DROP TABLE a`)
	for _, db := range []*sql.DB{one, other} {
		if rows, err := db.Query(`SELECT * FROM a ORDER BY 1`); err == nil {
			rows.Close()
			t.Error("a table that is gone was read")
		}
	}
}
