package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
)

// mostKept statements a connection keeps; the text of a query is fixed, so that they are few.
const mostKept = 100

// keeping makes connections that keep their statements.
type keeping struct {
	driver.Connector
	set func(*sql.Conn) error // settings of each connection
}

// Connect implements driver.Connector. The driver lets settings be made only through a pool,
// which holds the connection until it is closed.
func (k keeping) Connect(ctx context.Context) (driver.Conn, error) {
	pool := sql.OpenDB(k.Connector)
	one, err := pool.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	c := &conn{kept: map[string]driver.Stmt{}, end: func() error { return errors.Join(one.Close(), pool.Close()) }}
	if err = one.Raw(func(d any) error { c.all = d.(all); return nil }); err == nil {
		err = k.set(one)
	}
	if err != nil {
		return nil, errors.Join(err, c.end())
	}
	return c, nil
}

// all is what the driver's connections can do.
type all interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// conn is a connection, which database/sql lets one goroutine use at a time.
type conn struct {
	all
	kept map[string]driver.Stmt // those that nobody uses
	end  func() error
}

// Close implements driver.Conn.
func (c *conn) Close() error {
	var errs []error
	for _, s := range c.kept {
		errs = append(errs, s.Close())
	}
	c.kept = nil
	return errors.Join(append(errs, c.end())...)
}

// ExecContext implements driver.ExecerContext.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.take(ctx, query)
	if err != nil {
		return nil, err
	}
	r, err := s.(driver.StmtExecContext).ExecContext(ctx, args)
	return r, c.putBack(query, s, err)
}

// QueryContext implements driver.QueryerContext.
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.take(ctx, query)
	if err != nil {
		return nil, err
	}
	r, err := s.(driver.StmtQueryContext).QueryContext(ctx, args)
	if err != nil {
		return nil, c.putBack(query, s, err)
	}
	return &rows{r, c, query, s}, nil
}

// take is a statement that nobody else uses until it is put back.
func (c *conn) take(ctx context.Context, query string) (driver.Stmt, error) {
	if s, ok := c.kept[query]; ok {
		delete(c.kept, query)
		return s, nil
	}
	return c.PrepareContext(ctx, query)
}

// putBack keeps a statement, or closes it where it failed or is not to be kept, and returns why it failed.
func (c *conn) putBack(query string, s driver.Stmt, failed error) error {
	if failed != nil {
		_ = s.Close() // it says again why it failed
		return failed
	}
	if _, other := c.kept[query]; other || c.kept == nil || len(c.kept) >= mostKept || !keepable(query) {
		return s.Close()
	}
	c.kept[query] = s
	return nil
}

// keepable reports that all that a statement does it does when it is run.
func keepable(query string) bool {
	end := strings.IndexAny(query, " \n\t")
	switch query[:max(end, 0)] {
	case "SELECT", "INSERT", "UPDATE", "DELETE":
		return true
	}
	return false
}

// rows are those of a statement, which is put back when they are closed.
type rows struct {
	driver.Rows
	conn  *conn
	query string
	stmt  driver.Stmt
}

// Close implements driver.Rows.
func (r *rows) Close() error {
	return r.conn.putBack(r.query, r.stmt, r.Rows.Close())
}
