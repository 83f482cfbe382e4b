package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// greeting is how long a server may take to accept a connection and answer the
// first questions.
const greeting = 20 * time.Second

// connectPostgres opens a PostgreSQL database. The connection is told to make
// commits durable, whatever the server's default is, and a transaction that its
// client left open gives up its locks after a minute. A server that accepts and
// stays silent is given up after the given time, or an earlier connect_timeout
// of the URL.
func connectPostgres(ctx context.Context, location string, patience time.Duration) (*Store, error) {
	_, rest, _ := strings.Cut(location, "://")
	config, err := pgx.ParseConfig("postgres://" + rest)
	if err != nil {
		return nil, fmt.Errorf("%w: the PostgreSQL URL does not parse; want postgres://user:password@host:port/database", ErrStore)
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = patience
	}
	config.RuntimeParams["application_name"] = "discreet-ledger"
	config.RuntimeParams["synchronous_commit"] = "on"
	config.RuntimeParams["idle_in_transaction_session_timeout"] = "60000"
	name := fmt.Sprintf("postgres://%s/%s", config.Host, config.Database)
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(8)
	db.SetMaxIdleConns(8)
	s := &Store{db: db, name: name}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := s.durablePostgres(ctx); err != nil {
		db.Close()
		return nil, err
	}
	return s, nil
}

// durablePostgres reads back the settings that a committed charge rests on.
func (s *Store) durablePostgres(ctx context.Context) error {
	for _, setting := range []struct{ name, want string }{
		{"fsync", "on"}, {"full_page_writes", "on"}, {"synchronous_commit", "on"},
	} {
		var got string
		if err := s.db.QueryRowContext(ctx, `SELECT current_setting($1)`, setting.name).Scan(&got); err != nil {
			return failed(s.name, err)
		}
		if got != setting.want {
			return fmt.Errorf("%w: %s: %s is %s; a charge could be lost in a power cut; set it to %s on the server", ErrNotDurable, s.name, setting.name, got, setting.want)
		}
	}
	return nil
}
