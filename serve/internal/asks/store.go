package asks

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"sync/atomic"
	"time"

	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/service/database"
)

var (
	// ErrNone marks what the store does not hold.
	ErrNone = errors.New("there is none")
	// ErrKey marks a key that was used for another ask.
	ErrKey = fault.Input("key was used for another ask")
	// ErrState marks a change that the state of an ask does not admit.
	ErrState = errors.New("the ask is in another state")
	// ErrExists marks a name that stands for something else already.
	ErrExists = fault.Input("name is taken")
	// ErrAudit marks an audit log that contradicts itself.
	ErrAudit = errors.New("audit log was changed")
	// ErrMany marks an analyst who asked too often, and ErrFull one who uploaded too much.
	ErrMany = fault.Refused("too many asks in an hour")
	ErrFull = fault.Refused("too many policies")
	// ErrLost marks a lease that another process took over.
	ErrLost = errors.New("lease was taken over")
	// ErrReplaced marks a store that is not the one that was opened, or is damaged.
	ErrReplaced = database.ErrReplaced
)

//go:embed migrations
var migrations embed.FS

// Store is open and safe for concurrent use.
type Store struct {
	db   *database.DB
	seen atomic.Pointer[end] // the last line of the audit log that this process found
}

// Open opens the store at the location, a SQLite file or a postgres:// URL, and brings
// its schema up to date.
func Open(ctx context.Context, location string, o database.Options) (*Store, error) {
	db, err := database.Open(ctx, location, o)
	if err != nil {
		return nil, err
	}
	files, err := fs.Sub(migrations, "migrations")
	if err == nil {
		err = db.Migrate(ctx, database.Schema{Name: "curator", Files: files})
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s := &Store{db: db}
	if err := s.nameKeys(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// Close ends all connections.
func (s *Store) Close() error { return s.db.Close() }

// Name is the store's in messages, without a password.
func (s *Store) Name() string { return s.db.Name() }

// Ping reports whether the store can be reached.
func (s *Store) Ping(ctx context.Context) error {
	var one int
	return s.db.QueryRowContext(ctx, `SELECT 1`).Scan(&one)
}

// attempts of a transaction that met a lock or a lost connection.
const attempts = 20

// update runs f in one transaction, again where that is safe: every f finds out what
// is there before it writes.
func (s *Store) update(ctx context.Context, f func(*database.Tx) error) error {
	for try := 1; ; try++ {
		err := s.db.Update(ctx, f)
		if err == nil || !database.Transient(err) || try == attempts || ctx.Err() != nil {
			return err
		}
		wait := time.NewTimer(time.Duration(try) * 5 * time.Millisecond)
		select {
		case <-ctx.Done():
			wait.Stop()
			return err
		case <-wait.C:
		}
	}
}

// lock locks a table on PostgreSQL until the transaction ends; in SQLite it has the whole
// file. Whoever needs several locks them in the order asks or policies, audit log, notices, each
// in the strongest mode in which it will use them: one that holds the log and waits for the
// asks would meet one that holds the asks and waits for the log.
func lock(ctx context.Context, tx *database.Tx, table, mode string) error {
	if tx.Lite {
		return nil
	}
	_, err := tx.ExecContext(ctx, `LOCK TABLE `+table+` IN `+mode+` MODE`)
	return err
}

// inTime is a time of the store, in microseconds since 1970; 0 is none.
func inTime(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}
