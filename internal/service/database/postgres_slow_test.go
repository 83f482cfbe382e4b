//go:build slow

package database_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/pgtest"
	"github.com/discreet-rl/discreet/internal/service/database"
)

func postgres(t *testing.T) *pgtest.Postgres {
	t.Helper()
	p, err := pgtest.Start(pgtest.Memory())
	if errors.Is(err, pgtest.ErrUnavailable) && !pgtest.Required() {
		t.Skipf("NOT TESTED ON POSTGRESQL: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

func TestPostgres(t *testing.T) {
	p := postgres(t)
	fresh := func() string {
		url, err := p.NewSchema()
		if err != nil {
			t.Fatal(err)
		}
		return url
	}
	t.Run("versions", func(t *testing.T) { versionsAreAppliedOnce(t, fresh()) })
	t.Run("updates", func(t *testing.T) { updateIsWholeOrNothing(t, fresh()) })
	t.Run("many processes migrate at once", func(t *testing.T) { manyMigrate(t, fresh()) })
	t.Run("a frozen transaction", func(t *testing.T) { frozen(t, fresh()) })
	t.Run("not durable", func(t *testing.T) {
		url := fresh() + "&synchronous_commit=off"
		if _, err := database.Open(t.Context(), url, database.Options{}); !errors.Is(err, database.ErrNotDurable) {
			t.Errorf("opened: %v", err)
		}
	})
	t.Run("no password in errors", func(t *testing.T) {
		_, err := database.Open(t.Context(), "postgres://u:secret@127.0.0.1:1/d", database.Options{})
		if err == nil || strings.Contains(err.Error(), "secret") || !database.Transient(err) {
			t.Errorf("said %v", err)
		}
	})
}

// manyMigrate: as many replicas start on an empty database, and all of them find it
// done.
func manyMigrate(t *testing.T, url string) {
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			db, err := database.Open(context.Background(), url, database.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer db.Close()
			if err := db.Migrate(context.Background(), schema(3)); err != nil {
				t.Error(err)
			}
			var n int
			if err := db.QueryRow(`SELECT count(*) FROM shop_t3`).Scan(&n); err != nil || n != 1 {
				t.Errorf("%d rows, %v", n, err)
			}
		})
	}
	wg.Wait()
}

// frozen: who stops in the middle of a transaction does not keep its locks.
func frozen(t *testing.T, url string) {
	a, b := open(t, url), open(t, url)
	if err := a.Migrate(t.Context(), schema(1)); err != nil {
		t.Fatal(err)
	}
	locked, other := make(chan bool), make(chan bool)
	ended := make(chan error)
	go func() {
		ended <- a.Update(context.Background(), func(tx *database.Tx) error {
			_, err := tx.Exec(`UPDATE shop_t1 SET note = 'a'`)
			close(locked)
			<-other // as if stopped
			return err
		})
	}()
	<-locked
	begun := time.Now()
	err := b.Update(t.Context(), func(tx *database.Tx) error {
		_, err := tx.Exec(`UPDATE shop_t1 SET note = 'b'`)
		return err
	})
	if took := time.Since(begun); err != nil || took > database.HoldAtMost+5*time.Second {
		t.Errorf("waited %v: %v", took, err)
	}
	close(other)
	if err := <-ended; err == nil {
		t.Error("the frozen transaction was committed")
	}
	var note string
	if err := b.QueryRow(`SELECT note FROM shop_t1`).Scan(&note); err != nil || note != "b" {
		t.Errorf("the row says %q, %v", note, err)
	}
}
