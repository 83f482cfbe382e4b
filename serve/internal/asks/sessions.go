package asks

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"time"

	"github.com/discreet-rl/discreet/internal/service/database"
)

// Session is whose a browser's session is: whoever holds the token of a hash, or, of a
// session that began without one, a person.
type Session struct {
	Token  [sha256.Size]byte
	Person string
}

// NewSession begins a browser's session under the hash of its secret. Sessions that are
// over are forgotten.
func (s *Store) NewSession(ctx context.Context, session [sha256.Size]byte, of Session, lifetime time.Duration) error {
	return s.update(ctx, func(tx *database.Tx) error {
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM curator_session WHERE expires <= $1`, now); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO curator_session (sha256, token, person, expires) VALUES ($1, $2, $3, $4)`, session[:], of.Token[:], of.Person, now+lifetime.Microseconds())
		return err
	})
}

// Session returns whose a session is; [ErrNone] if it is over.
func (s *Store) Session(ctx context.Context, session [sha256.Size]byte) (Session, error) {
	var found []byte
	var of Session
	err := s.update(ctx, func(tx *database.Tx) error {
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, `SELECT token, person FROM curator_session WHERE sha256 = $1 AND expires > $2`, session[:], now).Scan(&found, &of.Person)
	})
	if errors.Is(err, sql.ErrNoRows) || err == nil && len(found) != len(of.Token) {
		return Session{}, ErrNone
	}
	copy(of.Token[:], found)
	return of, err
}

// EndSession forgets a session.
func (s *Store) EndSession(ctx context.Context, session [sha256.Size]byte) error {
	return s.update(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM curator_session WHERE sha256 = $1`, session[:])
		return err
	})
}

// UseOnce notes that the number of a hash was used; [ErrExists] if it was before, within
// the time that is given then.
func (s *Store) UseOnce(ctx context.Context, number [sha256.Size]byte, keep time.Duration) error {
	return s.update(ctx, func(tx *database.Tx) error {
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM curator_nonce WHERE expires <= $1`, now); err != nil {
			return err
		}
		r, err := tx.ExecContext(ctx, `INSERT INTO curator_nonce (sha256, expires) VALUES ($1, $2) ON CONFLICT (sha256) DO NOTHING`, number[:], now+keep.Microseconds())
		if err != nil {
			return err
		}
		n, err := r.RowsAffected()
		if err == nil && n == 0 {
			err = ErrExists
		}
		return err
	})
}
