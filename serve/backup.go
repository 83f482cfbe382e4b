package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/service/database"
	"github.com/discreet-rl/discreet/serve/internal/asks"
)

var errBackup = fault.Input("backup of the service")

// The files of a backup.
const (
	backupFormat = "discreet/serve-backup/v1"
	manifestFile = "manifest.json"
	ledgerFile   = "ledger-%s"
	tokensFile   = "tokens"
	// writingForm begins the name of a directory that is not whole yet.
	writingForm = ".writing-"
)

// manifest says what a backup holds.
type manifest struct {
	Format string    `json:"format"`
	Taken  time.Time `json:"taken"`
	// Files by name, with the SHA-256 of each.
	Files map[string]string `json:"files"`
	// Store are the files of the store.
	Store []string `json:"store"`
	// Witnesses of each dataset, as they were after the ledgers were copied.
	Witnesses map[string][]ledger.Witness `json:"witnesses"`
}

// Backup writes what [Config.Restore] needs into a new directory, while the service runs: the
// store, with the policies that were uploaded; then the ledgers, so that they hold every charge
// that the store knows; the heads of the witnesses; and the tokens. The directory has its name
// when it is whole.
func (c Config) Backup(ctx context.Context, dir string) (err error) {
	if err := c.Validate(); err != nil {
		return err
	}
	if _, err := os.Lstat(dir); err == nil {
		return fmt.Errorf("%w: %s exists and is not overwritten; choose another name", errBackup, dir)
	}
	at, err := os.MkdirTemp(filepath.Dir(filepath.Clean(dir)), writingForm+"*") // of mode 0700
	if err != nil {
		return fmt.Errorf("%w: %w", errBackup, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(at))
		}
	}()
	m := manifest{Format: backupFormat, Taken: time.Now().UTC().Truncate(time.Microsecond), Files: map[string]string{}, Witnesses: map[string][]ledger.Witness{}}
	if m.Store, err = asks.Copy(ctx, c.place(c.Store), at); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Datasets)) {
		if err := c.backUpLedger(ctx, name, at, &m); err != nil {
			return fmt.Errorf("dataset %s: %w", name, err)
		}
	}
	if c.Tokens != inStore {
		if err := copyFile(c.path(c.Tokens), filepath.Join(at, tokensFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := m.seal(at); err != nil {
		return err
	}
	return os.Rename(at, dir)
}

// backUpLedger copies the ledger of a dataset, reads the copy back, and asks the witnesses.
func (c Config) backUpLedger(ctx context.Context, name, at string, m *manifest) (err error) {
	d, err := c.dataset(name)
	if err != nil {
		return err
	}
	l, err := ledger.Open(ctx, d.location, d.part.Ledger.Dataset)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	path := filepath.Join(at, fmt.Sprintf(ledgerFile, name))
	if err := atomicfile.Create(path, 0o600, func(w io.Writer) error { return l.Backup(ctx, w) }); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	_, _, err = ledger.VerifyBackup(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	// A ledger that its witness refuses may be an older copy, whose backup would hide that.
	m.Witnesses[name], err = l.Witnesses(ctx)
	return err
}

// seal writes the manifest over the files of a directory.
func (m *manifest) seal(at string) error {
	all, err := os.ReadDir(at)
	if err != nil {
		return err
	}
	for _, f := range all {
		if m.Files[f.Name()], err = database.Digest(filepath.Join(at, f.Name())); err != nil {
			return err
		}
	}
	return atomicfile.Create(filepath.Join(at, manifestFile), 0o600, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(m)
	})
}

// readBackup reads the manifest of a backup and holds its files against it.
func readBackup(dir string) (*manifest, error) {
	text, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if err != nil {
		return nil, fmt.Errorf("%w: %s: it was not finished, or is none: %w", errBackup, dir, err)
	}
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil || m.Format != backupFormat {
		return nil, fmt.Errorf("%w: %s: format %q; want %s: %v", errBackup, dir, m.Format, backupFormat, err)
	}
	for name, want := range m.Files {
		if name != filepath.Base(name) {
			return nil, fmt.Errorf("%w: %s: a file outside the directory", errBackup, dir)
		}
		if got, err := database.Digest(filepath.Join(dir, name)); err != nil || got != want {
			return nil, fmt.Errorf("%w: %s: %s is missing, or not what it was: take another backup: %v", errBackup, dir, name, err)
		}
	}
	for _, name := range m.Store {
		if m.Files[name] == "" {
			return nil, fmt.Errorf("%w: %s: %s has no digest", errBackup, dir, name)
		}
	}
	return &m, nil
}

// copyFile copies a file to a name that is free.
func copyFile(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	return atomicfile.Create(to, 0o600, func(w io.Writer) error {
		_, err := io.Copy(w, f)
		return err
	})
}
