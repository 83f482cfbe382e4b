package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/discreet-rl/discreet/internal/service/database"
)

// Record is what a round came to: signed, with what its hashes are of.
type Record struct {
	Signed
	Sum, Hashes, Permits []byte
}

// addRecord adds the record of a round that is applied.
func addRecord(ctx context.Context, tx *database.Tx, run RunID, round uint64, r Record) error {
	none := func(b []byte) []byte { return append([]byte{}, b...) } // nil is no value
	_, err := tx.ExecContext(ctx, `INSERT INTO fleet_record (run, round, record, sign_key, signature, sum, hashes, permits) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		run[:], int64(round), r.Spec, r.Key, r.Signature, none(r.Sum), none(r.Hashes), none(r.Permits))
	return err
}

// Record is that of a round, or [ErrUnknown].
func (s *Store) Record(ctx context.Context, run RunID, round uint64) (r Record, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT record, sign_key, signature, sum, hashes, permits FROM fleet_record WHERE run = $1 AND round = $2`, run[:], int64(round)).
		Scan(&r.Spec, &r.Key, &r.Signature, &r.Sum, &r.Hashes, &r.Permits)
	return r, unknown(err)
}

// LastRecord is the last record of a run, nil if there is none.
func (s *Store) LastRecord(ctx context.Context, run RunID) (record []byte, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT record FROM fleet_record WHERE run = $1 ORDER BY round DESC LIMIT 1`, run[:]).Scan(&record)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return record, err
}

// Places are those of the permits that were drawn for a round.
func (s *Store) Places(ctx context.Context, run RunID, round uint64) ([]Hash, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT place FROM fleet_permit WHERE run = $1 AND round = $2`, run[:], int64(round))
	if err != nil {
		return nil, err
	}
	return hashes(rows)
}
