package store

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/service/database"
)

var (
	// ErrUnknown marks a run, a round or a version that there is not.
	ErrUnknown = fault.Input("not in the store")
	// ErrExists marks one that there is already.
	ErrExists = fault.Input("already in the store")
	// ErrFence marks what a leader does that is no longer one, or about a round that
	// others have taken further. Nothing was changed.
	ErrFence = errors.New("another process leads")
	// ErrState marks a step that the state of a round or a run does not allow.
	ErrState = fault.Input("not possible in this state")
	// ErrCode marks an enrolment code that is good for nothing.
	ErrCode = fault.Input("enrolment code refused")
	// ErrMany marks a device that has as many certificates as it may.
	ErrMany = fault.Input("no further certificate")
	// ErrRevoked marks a device that was revoked.
	ErrRevoked = fault.Input("device was revoked")
)

//go:embed migrations
var migrations embed.FS

// Store is an open store. It is safe for concurrent use.
type Store struct {
	db     *database.DB
	schema database.Schema
	rooms  *database.Rooms
}

// Options are for tests.
type Options = database.Options

// Open connects to the store at the location, a path of SQLite or a URL of PostgreSQL,
// and brings its schema up to date.
func Open(ctx context.Context, location string, o Options) (*Store, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	s := &Store{schema: database.Schema{Name: "fleet", Files: files}}
	if s.db, err = database.Open(ctx, location, o); err != nil {
		return nil, err
	}
	if err := s.db.Migrate(ctx, s.schema); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	s.rooms = database.NewRooms()
	if s.db.Lite {
		s.rooms = database.NewRooms(filepath.Dir(s.db.Name()))
	}
	return s, nil
}

// Close ends all connections.
func (s *Store) Close() error { return s.db.Close() }

// Lite says that the store is SQLite, which serves one process.
func (s *Store) Lite() bool { return s.db.Lite }

// Ready tells whether the store answers, and its disk takes what is written, unless that is
// another machine's.
func (s *Store) Ready(ctx context.Context) error {
	if err := errors.Join(s.db.Ready(ctx, s.schema), s.db.InPlace(ctx)); err != nil {
		return err
	}
	return s.rooms.Check(ctx)
}

// Now is the store's clock, in milliseconds since 1970.
func (s *Store) Now(ctx context.Context) (now int64, err error) {
	err = s.db.Update(ctx, func(tx *database.Tx) error {
		now, err = millis(ctx, tx)
		return err
	})
	return now, err
}

func millis(ctx context.Context, tx *database.Tx) (int64, error) {
	micro, err := tx.Now(ctx)
	return micro / 1000, err
}

// unknown turns no row into [ErrUnknown].
func unknown(err error) error {
	if errors.Is(err, errNoRows) {
		return ErrUnknown
	}
	return err
}

// Transient reports that what failed so may be tried again.
func Transient(err error) bool { return database.Transient(err) }
