//go:build slow && measure

package store_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/fleet/store"
	"github.com/discreet-rl/discreet/internal/pgtest"
)

// TestCommitRates measures reports a second that are durable, in commits of one and of 256
// and with one committer and two, for three seconds each, on the disk of temporary
// files.
func TestCommitRates(t *testing.T) {
	p, err := pgtest.Start("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	url, err := p.NewSchema()
	if err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]place{"sqlite": lite(t), "postgres": {location: url}} {
		s := begun(t, at)
		var next atomic.Uint64
		for _, c := range []struct{ batch, committers int }{{1, 1}, {256, 1}, {256, 2}} {
			if at.location != url && c.committers > 1 {
				continue // SQLite has one writer
			}
			var count atomic.Int64
			begun := time.Now()
			var wg sync.WaitGroup
			for range c.committers {
				wg.Go(func() {
					for time.Since(begun) < 3*time.Second {
						batch := make([]store.Report, c.batch)
						for i := range batch {
							batch[i] = store.Report{Nullifier: nullifier(next.Add(1)), Body: make([]byte, 16)}
						}
						if _, err := s.Commit(context.Background(), run, 1, batch, time.Hour); err != nil {
							t.Error(err)
							return
						}
						count.Add(int64(c.batch))
					}
				})
			}
			wg.Wait()
			t.Logf("%s, %d a commit, %d at once: %.0f reports/s", name, c.batch, c.committers, float64(count.Load())/time.Since(begun).Seconds())
		}
	}
}
