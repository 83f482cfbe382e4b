package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/service/database"
)

// ErrBackup marks a directory that is no whole backup.
var ErrBackup = fault.Input("backup of a fleet")

const (
	backupFormat = "discreet/fleet-backup/v1"
	manifestFile = "manifest.json"
)

// Manifest says what a backup holds.
type Manifest struct {
	Format string    `json:"format"`
	Taken  time.Time `json:"taken"` // before the copy was begun
	Store  []string  `json:"store"`
	// Files by name, with the SHA-256 of each.
	Files map[string]string `json:"files"`
}

// Backup writes the store at a location into a new directory, as it is at one moment, while servers use it. The directory has
// its name when it is whole.
func Backup(ctx context.Context, location, dir string) (m Manifest, err error) {
	if _, err := os.Lstat(dir); err == nil {
		return m, fmt.Errorf("%w: %s exists and is not overwritten; choose another name", ErrBackup, dir)
	}
	at, err := os.MkdirTemp(filepath.Dir(filepath.Clean(dir)), ".writing-*") // of mode 0700
	if err != nil {
		return m, fmt.Errorf("%w: %w", ErrBackup, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(at))
		}
	}()
	m = Manifest{Format: backupFormat, Taken: time.Now().UTC().Truncate(time.Second), Files: map[string]string{}}
	if m.Store, err = database.Copy(ctx, location, "fleet", at); err != nil {
		return m, err
	}
	for _, name := range m.Store {
		if m.Files[name], err = database.Digest(filepath.Join(at, name)); err != nil {
			return m, err
		}
	}
	err = atomicfile.Create(filepath.Join(at, manifestFile), 0o600, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(m)
	})
	if err != nil {
		return m, err
	}
	return m, os.Rename(at, dir)
}

// ReadBackup reads the manifest of a backup and holds its files against it.
func ReadBackup(dir string) (m Manifest, err error) {
	text, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if err != nil {
		return m, fmt.Errorf("%w: %s: it was not finished, or is none: %w", ErrBackup, dir, err)
	}
	if err := json.Unmarshal(text, &m); err != nil || m.Format != backupFormat || len(m.Store) == 0 {
		return m, fmt.Errorf("%w: %s: format %q; want %s: %v", ErrBackup, dir, m.Format, backupFormat, err)
	}
	for _, name := range m.Store {
		if name != filepath.Base(name) {
			return m, fmt.Errorf("%w: %s: a file outside the directory", ErrBackup, dir)
		}
		if got, err := database.Digest(filepath.Join(dir, name)); err != nil || got != m.Files[name] {
			return m, fmt.Errorf("%w: %s: %s is missing, or not what it was: take another backup: %v", ErrBackup, dir, name, err)
		}
	}
	return m, nil
}

// Restore puts a store back where there is none, and reports whether it did. What is not known of the time after the copy is counted as
// spent: every run has ended, so that nobody draws a permit or reports in it, and numbers of permits in other runs begin anew,
// so that of a device's copies one goes on at most.
func Restore(ctx context.Context, location, dir string, m Manifest, now time.Time) (bool, error) {
	return database.PutBack(ctx, location, dir, m.Store, database.Back{
		Open: func(ctx context.Context, location string) error {
			s, err := Open(ctx, location, Options{})
			if err != nil {
				return err
			}
			return s.Close()
		},
		Begun:   `SELECT EXISTS (SELECT 1 FROM fleet_run) OR EXISTS (SELECT 1 FROM fleet_code) OR EXISTS (SELECT 1 FROM fleet_certificate)`,
		First:   "fleet_run",
		Without: []string{"fleet_schema"},
		Mend: func(ctx context.Context, do database.Executor) error {
			for _, c := range []struct {
				query string
				args  []any
			}{
				{`UPDATE fleet_run SET ended = TRUE, lease_until = 0`, nil},
				{`UPDATE fleet_round SET state = 'closing' WHERE state = 'open'`, nil}, // what was accepted counts, and no more is
				{`INSERT INTO fleet_restored (at) VALUES ($1)`, []any{now.Unix()}},
			} {
				if err := do(ctx, c.query, c.args...); err != nil {
					return err
				}
			}
			return nil
		},
	})
}
