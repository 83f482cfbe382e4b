package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/discreet-rl/discreet/internal/sqlite"
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
	made, err := checkFile(path, create)
	if err != nil {
		return nil, err
	}
	// The text of a schema, which SQLite reads before it is asked anything, is bounded as rows are.
	db, err := sqlite.Open(path, url.Values{"_txlock": {"immediate"}, "_pragma": settings}, MostRelease+mostOther)
	if err != nil {
		return nil, failed(path, err)
	}
	// One connection: goroutines of one process queue for it, which is fair and
	// watches their contexts, instead of polling for the file's lock.
	db.SetMaxOpenConns(1)
	s := &Store{db: db, lite: true, name: path, made: made}
	if err = s.retry(ctx, s.durableSQLite); err == nil {
		s.file, err = os.Stat(path)
		err = failed(path, err)
	}
	if err != nil {
		s.Discard()
		return nil, err
	}
	return s, nil
}

// inPlace refuses a SQLite file that was removed or replaced while it is open: it reads on,
// and is not the ledger any more. Where only its bytes were replaced the pages that SQLite
// remembers have to go: it takes them for those of the file as long as two counters in it are
// the same, and another ledger may have as many changes.
func (s *Store) inPlace(ctx context.Context) error {
	if s.file == nil {
		return nil
	}
	if now, err := os.Stat(s.name); err != nil || !os.SameFile(now, s.file) {
		return fmt.Errorf("%w: %s: the file was removed or replaced while it was open; bring back the newest ledger and start again", ErrStore, s.name)
	}
	_, err := s.db.ExecContext(ctx, `PRAGMA shrink_memory`)
	return err
}

// checkFile makes the file where it is to be made, and reports that it did.
func checkFile(path string, create bool) (made bool, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && create:
		// Only the owner may read it: it holds the key of the fingerprints.
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return false, nil // another process was faster
		} else if errors.Is(err, fs.ErrNotExist) {
			return false, fmt.Errorf("%w: %s: its directory does not exist; make it first", ErrStore, path)
		} else if err != nil {
			return false, fmt.Errorf("%w: %v", ErrStore, err)
		}
		return true, f.Close()
	case errors.Is(err, fs.ErrNotExist):
		return false, fmt.Errorf("%w: %s: there is no such file; create the ledger first", ErrNotLedger, path)
	case err != nil:
		return false, fmt.Errorf("%w: %v", ErrStore, err)
	case !info.Mode().IsRegular():
		return false, fmt.Errorf("%w: %s: not a regular file; name a file inside it", ErrNotLedger, path)
	case info.Size() == 0 && !create:
		return false, fmt.Errorf("%w: %s: the file is empty; create the ledger, or restore it from a backup", ErrNotLedger, path)
	}
	return false, nil
}

// tidying is how long the removal of a file may take.
const tidying = 5 * time.Second

// Discard closes a store in which no first dataset could be written. A file that
// this store made is removed, unless another process put a dataset into it.
func (s *Store) Discard() {
	defer s.Close()
	if !s.made {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), tidying)
	defer cancel()
	// Under the write lock nobody else can begin a dataset, and who waits for it
	// finds the file gone before writing.
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return
	}
	defer tx.Rollback()
	var n int
	err = tx.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE name = 'ledger_datasets'`).Scan(&n)
	if err == nil && n > 0 {
		err = tx.QueryRowContext(ctx, `SELECT count(*) FROM ledger_datasets`).Scan(&n)
	}
	if err == nil && n == 0 {
		os.Remove(s.name) // what is left is an empty store: no dataset, no charge
	}
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

// checkSQLite has SQLite check the pages of its file. It reads every row of a table
// whole, so their lengths are asked before.
func (s *Store) checkSQLite(ctx context.Context) error {
	for _, column := range []struct {
		table, name string
		most        int
	}{
		{"ledger_entries", "body", MostEntry}, {"ledger_entries", "hash", mostName}, {"ledger_releases", "body", MostRelease},
		{"ledger_analysts", "body", mostOther}, {"ledger_analysts", "analyst", mostName}, {"ledger_charges", "key", mostName},
		{"ledger_sightings", "fingerprint", mostName}, {"ledger_datasets", "head", mostName}, {"ledger_datasets", "name", mostName},
		{"ledger_witnesses", "place", mostName}, {"ledger_sketches", "body", mostOther}, {"ledger_checks", "at", mostName}, {"ledger_checks", "analyst", mostName}, {"ledger_store", "fingerprint_key", mostName}, {"ledger_open_checks", "asked", mostName},
	} {
		if version, err := s.version(ctx, s.db); err != nil {
			return failed(s.name, err)
		} else if version < Version && column.table == "ledger_open_checks" {
			continue // a store of the first release that nobody may write
		}
		var long int
		err := s.db.QueryRowContext(ctx, fmt.Sprintf(`SELECT count(*) FROM %s WHERE octet_length(%s) > %d`, column.table, column.name, column.most)).Scan(&long)
		if err != nil {
			return failed(s.name, err)
		}
		if long > 0 {
			return s.classify(errTooLong)
		}
	}
	var verdict string
	if err := s.db.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&verdict); err != nil {
		return failed(s.name, err)
	}
	if verdict != "ok" {
		return fmt.Errorf("%w: %s: the file is damaged: %s; restore it from a backup", ErrStore, s.name, verdict)
	}
	return nil
}
