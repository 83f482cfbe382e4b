package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/discreet-rl/discreet/internal/service/database"
)

// Hash is SHA-256 of a name, a code, a key or a certificate's serial number: the
// store knows none of these themselves.
type Hash = [32]byte

// Certificate is one that was issued.
type Certificate struct {
	Serial, Device Hash
	Expires        int64 // milliseconds since 1970
}

// AddCodes adds enrolment codes that are good for the time, and forgets codes and
// certificates that have expired, but never that a device was revoked.
func (s *Store) AddCodes(ctx context.Context, codes []Hash, good time.Duration) error {
	return s.db.Update(ctx, func(tx *database.Tx) error {
		now, err := millis(ctx, tx)
		if err != nil {
			return err
		}
		// Rows that others hold are left to the next sweep, which waits for nobody then: what it
		// has taken itself, others may be waiting for.
		free := tx.Locking("FOR UPDATE SKIP LOCKED")
		for _, sweep := range []string{
			`DELETE FROM fleet_code WHERE code IN (SELECT code FROM fleet_code WHERE expires < $1 AND device IS NULL` + free + `)`,
			`DELETE FROM fleet_certificate WHERE serial IN (SELECT serial FROM fleet_certificate WHERE expires < $1` + free + `)`,
		} {
			if _, err := tx.ExecContext(ctx, sweep, now); err != nil {
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

// Redeem spends a code on a device's key and adds the certificate that issue makes: of the
// device that the code begins, begun, or of one that comes back with it. The
// same code with the same key is good again, until the code expires, for an answer that
// was lost; the same code with another key, or one that there is not, is [ErrCode]. A code
// that was revoked is good for nobody.
func (s *Store) Redeem(ctx context.Context, code, begun, key Hash, issue func(now int64) (Certificate, error)) error {
	return s.db.Update(ctx, func(tx *database.Tx) error {
		now, err := millis(ctx, tx)
		if err != nil {
			return err
		}
		var expires int64
		var before, was []byte // the key and, unless it began one, the device that the code was used for
		err = tx.QueryRowContext(ctx, `SELECT expires, request, device FROM fleet_code WHERE code = $1`+tx.Locking("FOR UPDATE"), code[:]).Scan(&expires, &before, &was)
		switch {
		case errors.Is(err, sql.ErrNoRows) || err == nil && expires < now:
			return fmt.Errorf("%w: unknown or expired; ask the operator for another", ErrCode)
		case err != nil:
			return err
		case before != nil && !bytes.Equal(before, key[:]):
			return fmt.Errorf("%w: it was used; ask the operator for another", ErrCode)
		}
		c, err := issue(now)
		if err != nil {
			return err
		}
		if err := admit(ctx, tx, begun, c.Device); err != nil {
			return err
		}
		var back []byte
		if c.Device != begun {
			back = c.Device[:]
		}
		if before != nil && !bytes.Equal(was, back) {
			return fmt.Errorf("%w: it was used for another device; ask the operator for another", ErrCode)
		}
		if err := addCertificate(ctx, tx, c, now); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE fleet_code SET request = $2, device = $3 WHERE code = $1`, code[:], key[:], back)
		return err
	})
}

// MostCertificates is how many certificates of one device are good at the same time.
const MostCertificates = 32

// addCertificate adds one, or says [ErrMany]. The device is locked.
func addCertificate(ctx context.Context, tx *database.Tx, c Certificate, now int64) error {
	var n int
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM fleet_certificate WHERE device = $1 AND expires >= $2`, c.Device[:], now).Scan(&n); err != nil {
		return err
	}
	if n >= MostCertificates {
		return fmt.Errorf("%w: the device has %d that are good, as many as it may; there is another when one of them has ended", ErrMany, n)
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO fleet_certificate (serial, device, expires, revoked) VALUES ($1, $2, $3, FALSE)`, c.Serial[:], c.Device[:], c.Expires)
	return err
}

// admit locks the devices, the lesser first, so that two who lock the same ones do not wait
// for each other; or it says [ErrRevoked]. Whether they were revoked is asked after the lock
// was had.
func admit(ctx context.Context, tx *database.Tx, devices ...Hash) error {
	slices.SortFunc(devices, func(a, b Hash) int { return bytes.Compare(a[:], b[:]) })
	for _, device := range slices.Compact(devices) {
		if err := lock(ctx, tx, device[:]); err != nil {
			return err
		}
		var revoked int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM fleet_revoked WHERE device = $1`, device[:]).Scan(&revoked); err != nil {
			return err
		}
		if revoked > 0 {
			return ErrRevoked
		}
	}
	return nil
}

// lock keeps others from the device until the transaction ends. SQLite has one writer in any case.
func lock(ctx context.Context, tx *database.Tx, device []byte) error {
	if tx.Lite {
		return nil
	}
	_, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(binary.BigEndian.Uint64(device)))
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
		if err := admit(ctx, tx, device); err != nil {
			return err
		}
		var known int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM fleet_certificate WHERE device = $1`, device[:]).Scan(&known); err != nil {
			return err
		}
		if known == 0 {
			return ErrRevoked
		}
		c, err := issue(now)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM fleet_certificate WHERE device = $1 AND expires < $2`, device[:], now); err != nil {
			return err
		}
		return addCertificate(ctx, tx, c, now)
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
		return revoke(ctx, tx, device)
	})
}

// RevokeCode revokes all certificates of the device that the code is for, or that came back
// with it, or the code if it was not used, or says [ErrUnknown].
func (s *Store) RevokeCode(ctx context.Context, code, device Hash) error {
	return s.db.Update(ctx, func(tx *database.Tx) error {
		// Whoever enrols at this moment holds the code.
		var known, back []byte
		err := tx.QueryRowContext(ctx, `SELECT code, device FROM fleet_code WHERE code = $1`+tx.Locking("FOR UPDATE"), code[:]).Scan(&known, &back)
		if errors.Is(err, sql.ErrNoRows) { // it expired; the device may have renewed since
			err = tx.QueryRowContext(ctx, `SELECT serial FROM fleet_certificate WHERE device = $1 LIMIT 1`, device[:]).Scan(&known)
		}
		if err != nil {
			return unknown(err)
		}
		if back != nil {
			return revoke(ctx, tx, back)
		}
		return revoke(ctx, tx, device[:])
	})
}

func revoke(ctx context.Context, tx *database.Tx, device []byte) error {
	// Whoever renews at this moment holds the lock. What they added is seen by the
	// statements after this one.
	if err := lock(ctx, tx, device); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO fleet_revoked (device) VALUES ($1) ON CONFLICT DO NOTHING`, device); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `UPDATE fleet_certificate SET revoked = TRUE WHERE device = $1`, device)
	return err
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
	return hashes(rows)
}

// hashes reads rows of one hash each, and closes them.
func hashes(rows *sql.Rows) ([]Hash, error) {
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
