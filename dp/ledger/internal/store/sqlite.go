package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// settings hold for every connection. busy_timeout covers the short locks of
// readers; the wait for another writer is a loop that watches the context.
var settings = []string{
	"busy_timeout(250)", "journal_mode(delete)", "synchronous(extra)", "fullfsync(1)",
	"foreign_keys(1)", "trusted_schema(0)", "cell_size_check(1)",
}

func connectSQLite(ctx context.Context, path string, create bool) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrStore, err)
	}
	if err := checkFile(path, create); err != nil {
		return nil, err
	}
	q := url.Values{"mode": {"rw"}, "_txlock": {"immediate"}, "_pragma": settings}
	escaped := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(filepath.ToSlash(path))
	db, err := sql.Open("sqlite", "file:"+escaped+"?"+q.Encode())
	if err != nil {
		return nil, failed(path, err)
	}
	// One connection: goroutines of one process queue for it, which is fair and
	// watches their contexts, instead of polling for the file's lock.
	db.SetMaxOpenConns(1)
	s := &Store{db: db, lite: true, name: path}
	if err := s.retry(ctx, s.durableSQLite); err != nil {
		db.Close()
		return nil, err
	}
	return s, nil
}

func checkFile(path string, create bool) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && create:
		// Only the owner may read it: it holds the key of the fingerprints.
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("%w: %v", ErrStore, err)
		}
		return f.Close()
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s: there is no such file; create the ledger first", ErrNotLedger, path)
	case err != nil:
		return fmt.Errorf("%w: %v", ErrStore, err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: %s: not a regular file; name a file inside it", ErrNotLedger, path)
	case info.Size() == 0 && !create:
		return fmt.Errorf("%w: %s: the file is empty; create the ledger, or restore it from a backup", ErrNotLedger, path)
	}
	return nil
}

// durableSQLite reads back the settings that a committed charge rests on.
func (s *Store) durableSQLite(ctx context.Context) error {
	var journal string
	var synchronous int
	if err := s.db.QueryRowContext(ctx, `PRAGMA journal_mode`).Scan(&journal); err != nil {
		return err
	}
	if err := s.db.QueryRowContext(ctx, `PRAGMA synchronous`).Scan(&synchronous); err != nil {
		return err
	}
	if journal != "delete" || synchronous != 3 {
		return Abort(fmt.Errorf("%w: %s: journal_mode is %s and synchronous is %d; want delete and 3 (extra)", ErrNotDurable, s.name, journal, synchronous))
	}
	return nil
}

// checkSQLite has SQLite check the pages of its file.
func (s *Store) checkSQLite(ctx context.Context) error {
	var verdict string
	if err := s.db.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&verdict); err != nil {
		return failed(s.name, err)
	}
	if verdict != "ok" {
		return fmt.Errorf("%w: %s: the file is damaged: %s; restore it from a backup", ErrStore, s.name, verdict)
	}
	return nil
}
