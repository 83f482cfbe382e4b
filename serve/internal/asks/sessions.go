package asks

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"time"

	"github.com/discreet-rl/discreet/internal/service/database"
)

// NewSession begins a browser's session under the hash of its secret, for whoever holds
// the token of another hash. Sessions that are over are forgotten.
func (s *Store) NewSession(ctx context.Context, session, token [sha256.Size]byte, lifetime time.Duration) error {
	return s.update(ctx, func(tx *database.Tx) error {
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM curator_session WHERE expires <= $1`, now); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO curator_session (sha256, token, expires) VALUES ($1, $2, $3)`, session[:], token[:], now+lifetime.Microseconds())
		return err
	})
}

// Session returns the hash of the token that a session was begun with; [ErrNone] if it is
// over.
func (s *Store) Session(ctx context.Context, session [sha256.Size]byte) (token [sha256.Size]byte, err error) {
	var found []byte
	err = s.update(ctx, func(tx *database.Tx) error {
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, `SELECT token FROM curator_session WHERE sha256 = $1 AND expires > $2`, session[:], now).Scan(&found)
	})
	if errors.Is(err, sql.ErrNoRows) || err == nil && len(found) != len(token) {
		return token, ErrNone
	}
	copy(token[:], found)
	return token, err
}

// EndSession forgets a session.
func (s *Store) EndSession(ctx context.Context, session [sha256.Size]byte) error {
	return s.update(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM curator_session WHERE sha256 = $1`, session[:])
		return err
	})
}
