package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/discreet-rl/discreet/internal/service/database"
)

var errNoRows = sql.ErrNoRows

// RunID tells runs apart.
type RunID = [16]byte

// Signed is a spec as it was signed.
type Signed struct {
	Spec, Signature []byte
	Key             uint32
}

// Run is a run as it stands.
type Run struct {
	ID       RunID
	Settings string // what the operator fixed when it was made, as JSON
	Version  uint64
	Reports  uint64 // that moved the weights
	Ended    bool
}

// Policy is the weights of one version, with the optimizer's state behind them.
type Policy struct {
	Version, Round uint64
	Weights        []byte
	Optimizer      string
}

// CreateRun adds a run with its first spec and its weights of version 0.
func (s *Store) CreateRun(ctx context.Context, r Run, spec Signed, p Policy) error {
	return s.db.Update(ctx, func(tx *database.Tx) error {
		now, err := millis(ctx, tx)
		if err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, `INSERT INTO fleet_run (id, created, settings, version, reports, ended) VALUES ($1, $2, $3, 0, 0, FALSE) ON CONFLICT DO NOTHING`, r.ID[:], now, r.Settings)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return fmt.Errorf("%w: the run", orExists(err))
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO fleet_spec (run, revision, spec, sign_key, signature) VALUES ($1, 0, $2, $3, $4)`, r.ID[:], spec.Spec, spec.Key, spec.Signature); err != nil {
			return err
		}
		return insertPolicy(ctx, tx, r.ID, Policy{0, 0, p.Weights, p.Optimizer})
	})
}

func orExists(err error) error {
	if err != nil {
		return err
	}
	return ErrExists
}

func insertPolicy(ctx context.Context, tx *database.Tx, run RunID, p Policy) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO fleet_policy (run, version, round, weights, optimizer) VALUES ($1, $2, $3, $4, $5)`,
		run[:], int64(p.Version), int64(p.Round), p.Weights, p.Optimizer)
	return err
}

// Runs lists all runs, the oldest first.
func (s *Store) Runs(ctx context.Context) ([]Run, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT id, settings, version, reports, ended FROM fleet_run ORDER BY created, id`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Run
	for rows.Next() {
		r, err := scanRun(rows.Scan)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, rows.Err()
}

// Run is one of them.
func (s *Store) Run(ctx context.Context, id RunID) (Run, error) {
	r, err := scanRun(s.db.QueryRowContext(ctx, `SELECT id, settings, version, reports, ended FROM fleet_run WHERE id = $1`, id[:]).Scan)
	return r, unknown(err)
}

func scanRun(scan func(...any) error) (r Run, err error) {
	var id []byte
	var version, reports int64
	err = scan(&id, &r.Settings, &version, &reports, &r.Ended)
	copy(r.ID[:], id)
	r.Version, r.Reports = uint64(version), uint64(reports)
	return r, err
}

// End marks a run as ended: no round follows.
func (s *Store) End(ctx context.Context, run RunID) error {
	_, err := s.db.ExecContext(ctx, `UPDATE fleet_run SET ended = TRUE WHERE id = $1`, run[:])
	return err
}

// Specs lists the revisions of a run's spec.
func (s *Store) Specs(ctx context.Context, run RunID) ([]Signed, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT spec, sign_key, signature FROM fleet_spec WHERE run = $1 ORDER BY revision`, run[:])
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Signed
	for rows.Next() {
		var g Signed
		if err := rows.Scan(&g.Spec, &g.Key, &g.Signature); err != nil {
			return nil, err
		}
		out = append(out, g)
	}
	return out, rows.Err()
}

// AddSpec adds the revision of the number. It is [ErrExists] if there is one.
func (s *Store) AddSpec(ctx context.Context, run RunID, revision uint32, g Signed) error {
	res, err := s.db.ExecContext(ctx, `INSERT INTO fleet_spec (run, revision, spec, sign_key, signature) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
		run[:], revision, g.Spec, g.Key, g.Signature)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return fmt.Errorf("%w: revision %d", orExists(err), revision)
	}
	return nil
}

// Policy reads a version of the weights.
func (s *Store) Policy(ctx context.Context, run RunID, version uint64) (p Policy, err error) {
	var v, round int64
	err = s.db.QueryRowContext(ctx, `SELECT version, round, weights, optimizer FROM fleet_policy WHERE run = $1 AND version = $2`, run[:], int64(version)).
		Scan(&v, &round, &p.Weights, &p.Optimizer)
	p.Version, p.Round = uint64(v), uint64(round)
	if err = unknown(err); err != nil {
		err = fmt.Errorf("version %d of the weights: %w", version, err)
	}
	return p, err
}
