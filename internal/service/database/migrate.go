package database

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"
)

// Schema is what a service keeps, and the way to it.
type Schema struct {
	// Name begins the names of all its tables, and an underscore follows.
	Name string
	// Files holds NNNNN_what.sql in the directories sqlite and postgres, numbered from
	// 1 without gaps.
	Files fs.FS
}

// Migrate applies what is missing. Several processes may do so at once: the first
// does the work, and the others find it done.
func (d *DB) Migrate(ctx context.Context, s Schema) error {
	steps, err := s.steps(d.Lite)
	if err != nil {
		return err
	}
	err = d.Update(ctx, func(tx *Tx) error { return s.migrate(ctx, d, tx, steps) })
	if err != nil {
		return fmt.Errorf("%s: %w", d.name, err)
	}
	return nil
}

type step struct{ text, hash string }

func (s Schema) steps(lite bool) ([]step, error) {
	dir := "postgres"
	if lite {
		dir = "sqlite"
	}
	var out []step
	for {
		names, err := fs.Glob(s.Files, fmt.Sprintf("%s/%05d_*.sql", dir, len(out)+1))
		if err != nil {
			return nil, err
		}
		if len(names) == 0 {
			return out, nil
		}
		text, err := fs.ReadFile(s.Files, names[0])
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(text)
		out = append(out, step{string(text), hex.EncodeToString(sum[:])})
	}
}

func (s Schema) migrate(ctx context.Context, d *DB, tx *Tx, steps []step) error {
	if tx.Lite {
		var foreign int
		err := tx.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE substr(name, 1, $1) <> $2 AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`, len(s.Name)+1, s.Name+"_").Scan(&foreign)
		if err != nil {
			return err
		}
		if foreign > 0 {
			return fmt.Errorf("%w: a database of something else; name another file", ErrLocation)
		}
	} else {
		sum := sha256.Sum256([]byte("discreet migrations 1\x00" + s.Name))
		if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(binary.BigEndian.Uint64(sum[:]))); err != nil {
			return err
		}
	}
	table := s.Name + "_schema"
	if _, err := tx.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS `+table+` (version BIGINT PRIMARY KEY, sha256 TEXT NOT NULL)`); err != nil {
		return err
	}
	applied, err := s.applied(ctx, tx)
	if err != nil {
		return err
	}
	for i, hash := range applied {
		if i >= len(steps) {
			return fmt.Errorf("%w: version %d, and this program knows up to %d; use a newer program", ErrSchema, len(applied), len(steps))
		}
		if hash != steps[i].hash {
			return fmt.Errorf("%w: its version %d was made by another program", ErrSchema, i+1)
		}
	}
	for i := len(applied); i < len(steps); i++ {
		if _, err := tx.ExecContext(ctx, steps[i].text); err != nil {
			return fmt.Errorf("version %d of the schema: %w", i+1, err)
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO `+table+` (version, sha256) VALUES ($1, $2)`, i+1, steps[i].hash); err != nil {
			return err
		}
	}
	return nil
}

// applied are the hashes of the versions that are there, in order.
func (s Schema) applied(ctx context.Context, tx *Tx) ([]string, error) {
	rows, err := tx.QueryContext(ctx, `SELECT sha256 FROM `+s.Name+`_schema ORDER BY version`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var hash string
		if err := rows.Scan(&hash); err != nil {
			return nil, err
		}
		out = append(out, strings.TrimSpace(hash))
	}
	return out, rows.Err()
}

// Ready tells whether the store answers and has the schema of this program.
func (d *DB) Ready(ctx context.Context, s Schema) error {
	steps, err := s.steps(d.Lite)
	if err != nil {
		return err
	}
	var n int
	if err := d.QueryRowContext(ctx, `SELECT count(*) FROM `+s.Name+`_schema`).Scan(&n); err != nil {
		return err
	}
	if n != len(steps) {
		return fmt.Errorf("%w: version %d; want %d", ErrSchema, n, len(steps))
	}
	return nil
}
