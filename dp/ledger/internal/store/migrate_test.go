package store

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// old is a store of an earlier version, and a second handle on it.
func old(t *testing.T, version int64) (location string, other *Store) {
	t.Helper()
	ctx := context.Background()
	location = filepath.Join(t.TempDir(), "budget.db")
	other, err := Create(ctx, location)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	if err := Migrate(ctx, location, version); err != nil {
		t.Fatal(err)
	}
	return location, other
}

// TestAMigrationIsWaitedFor holds a migration open and looks at the store from
// outside: it is waited for, and what is left in the end is what counts.
func TestAMigrationIsWaitedFor(t *testing.T) {
	ctx := context.Background()
	location, other := old(t, 1)
	if _, err := Open(ctx, location); !errors.Is(err, ErrSchema) {
		t.Fatalf("an old store that nobody migrates: %v; want ErrSchema", err)
	}
	done := errors.New("not to be committed")
	err := other.transact(ctx, &sql.TxOptions{}, func(tx *Tx) error {
		brief, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
		if err := tx.migrate(1, Version); err != nil {
			return err
		}
		if _, err := Open(brief, location); !errors.Is(err, ErrBusy) && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a store that is being migrated: %v; want to wait in vain", err)
		}
		return done
	})
	if !errors.Is(err, done) {
		t.Fatal(err)
	}
	if _, err := Open(ctx, location); !errors.Is(err, ErrSchema) {
		t.Fatalf("a migration that was given up: %v; want ErrSchema", err)
	}
	opened := make(chan error, 1)
	err = other.transact(ctx, &sql.TxOptions{}, func(tx *Tx) error {
		if err := tx.migrate(1, Version); err != nil {
			return err
		}
		go func() {
			s, err := Open(ctx, location)
			if err == nil {
				err = s.Close()
			}
			opened <- err
		}()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Errorf("a store that was migrated meanwhile: %v", err)
	}
}

// TestANewStoreIsThereWholeOrNotAtAll for those who open it while others make it.
func TestANewStoreIsThereWholeOrNotAtAll(t *testing.T) {
	ctx := context.Background()
	for range 10 {
		location := filepath.Join(t.TempDir(), "budget.db")
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				s, err := Create(ctx, location)
				if err != nil {
					t.Errorf("Create: %v", err)
					return
				}
				s.Close()
			})
			all.Go(func() {
				for {
					s, err := Open(ctx, location)
					if errors.Is(err, ErrNotLedger) {
						continue // it is not there yet
					} else if err != nil {
						t.Errorf("Open: %v", err)
						return
					}
					defer s.Close()
					if _, err := s.FingerprintKey(ctx); err != nil {
						t.Errorf("a store without its key: %v", err)
					}
					return
				}
			})
		}
		all.Wait()
	}
}
