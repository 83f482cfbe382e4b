package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/discreet-rl/discreet/internal/service/database"
)

// Hash is SHA-256 of a name, a code, a request or a certificate's serial number: the
// store knows none of these themselves.
type Hash = [32]byte

// Certificate is one that was issued.
type Certificate struct {
	Serial, Device Hash
	Expires        int64 // milliseconds since 1970
}

// AddCodes adds enrolment codes that are good for the time, and forgets codes and
// certificates that have expired.
func (s *Store) AddCodes(ctx context.Context, codes []Hash, good time.Duration) error {
	return s.db.Update(ctx, func(tx *database.Tx) error {
		now, err := millis(ctx, tx)
		if err != nil {
			return err
		}
		for _, table := range []string{"fleet_code", "fleet_certificate"} {
			if _, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE expires < $1`, now); err != nil {
				return err
			}
		}
		for _, c := range codes {
			if _, err := tx.ExecContext(ctx, `INSERT INTO fleet_code (code, expires) VALUES ($1, $2)`, c[:], now+good.Milliseconds()); err != nil {
				return err
			}
		}
		return nil
	})
}

// Redeem spends a code on a request and adds the certificate that issue makes. The same
// code with the same request is good again, until the code expires, for an answer that
// was lost; the same code with another request, or one that there is not, is
// [ErrCode].
func (s *Store) Redeem(ctx context.Context, code, request Hash, issue func(now int64) (Certificate, error)) error {
	return s.db.Update(ctx, func(tx *database.Tx) error {
		now, err := millis(ctx, tx)
		if err != nil {
			return err
		}
		var expires int64
		var before []byte
		err = tx.QueryRowContext(ctx, `SELECT expires, request FROM fleet_code WHERE code = $1`+tx.Locking("FOR UPDATE"), code[:]).Scan(&expires, &before)
		switch {
		case errors.Is(err, sql.ErrNoRows) || err == nil && expires < now:
			return fmt.Errorf("%w: unknown or expired; ask the operator for another", ErrCode)
		case err != nil:
			return err
		case before != nil && !bytes.Equal(before, request[:]):
			return fmt.Errorf("%w: it was used; ask the operator for another", ErrCode)
		}
		c, err := issue(now)
		if err != nil {
			return err
		}
		if before != nil {
			var revoked int
			if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM fleet_certificate WHERE device = $1 AND revoked`, c.Device[:]).Scan(&revoked); err != nil {
				return err
			}
			if revoked > 0 {
				return ErrRevoked
			}
		}
		if err := addCertificate(ctx, tx, c); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE fleet_code SET request = $2 WHERE code = $1`, code[:], request[:])
		return err
	})
}

func addCertificate(ctx context.Context, tx *database.Tx, c Certificate) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO fleet_certificate (serial, device, expires, revoked) VALUES ($1, $2, $3, FALSE)`, c.Serial[:], c.Device[:], c.Expires)
	return err
}

// Reissue adds the next certificate of a device that has one which is not revoked, and
// forgets those that have expired.
func (s *Store) Reissue(ctx context.Context, device Hash, issue func(now int64) (Certificate, error)) error {
	return s.db.Update(ctx, func(tx *database.Tx) error {
		now, err := millis(ctx, tx)
		if err != nil {
			return err
		}
		rows, err := tx.QueryContext(ctx, `SELECT revoked FROM fleet_certificate WHERE device = $1`+tx.Locking("FOR UPDATE"), device[:])
		if err != nil {
			return err
		}
		known, revoked := 0, false
		for rows.Next() {
			var r bool
			if err := rows.Scan(&r); err != nil {
				return errors.Join(err, rows.Close())
			}
			known++
			revoked = revoked || r
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
		if known == 0 || revoked {
			return ErrRevoked
		}
		c, err := issue(now)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM fleet_certificate WHERE device = $1 AND expires < $2`, device[:], now); err != nil {
			return err
		}
		return addCertificate(ctx, tx, c)
	})
}

// Revoke revokes all certificates of the device to which the one with the serial
// belongs, or says [ErrUnknown].
func (s *Store) Revoke(ctx context.Context, serial Hash) error {
	return s.db.Update(ctx, func(tx *database.Tx) error {
		var device []byte
		err := tx.QueryRowContext(ctx, `SELECT device FROM fleet_certificate WHERE serial = $1`, serial[:]).Scan(&device)
		if err != nil {
			return unknown(err)
		}
		// Whoever renews at this moment holds these rows. What they added is seen by the
		// statement after this one.
		if _, err := tx.ExecContext(ctx, `SELECT serial FROM fleet_certificate WHERE device = $1`+tx.Locking("FOR UPDATE"), device); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE fleet_certificate SET revoked = TRUE WHERE device = $1`, device)
		return err
	})
}

// Revoked lists the serials of certificates that are revoked and have not expired.
func (s *Store) Revoked(ctx context.Context) ([]Hash, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := s.db.QueryContext(ctx, `SELECT serial FROM fleet_certificate WHERE revoked AND expires >= $1`, now)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Hash
	for rows.Next() {
		var b []byte
		if err := rows.Scan(&b); err != nil {
			return nil, err
		}
		out = append(out, Hash(b))
	}
	return out, rows.Err()
}
