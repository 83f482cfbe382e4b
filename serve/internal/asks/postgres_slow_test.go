//go:build slow

package asks_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/pgtest"
	"github.com/discreet-rl/discreet/internal/service/database"
	"github.com/discreet-rl/discreet/serve/internal/asks"
)

var server = sync.OnceValues(func() (*pgtest.Postgres, error) { return pgtest.Start(pgtest.Memory()) })

func TestMain(m *testing.M) {
	m.Run()
	if p, err := server(); err == nil {
		p.Stop()
	}
}

func postgres(t *testing.T) string {
	t.Helper()
	p, err := server()
	if errors.Is(err, pgtest.ErrUnavailable) && !pgtest.Required() {
		t.Skipf("NOT TESTED ON POSTGRESQL: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	url, err := p.NewSchema()
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// locations are both kinds of stores.
func locations(t *testing.T) map[string]string {
	return map[string]string{"sqlite": filepath.Join(t.TempDir(), "curator.db"), "postgres": postgres(t)}
}

// Eight workers of two processes, as it were, on one queue: each ask is taken once, and the
// audit log is one chain. Of one dataset one ask runs at a time.
func TestReplicasShareAQueue(t *testing.T) {
	url := postgres(t)
	var stores []*asks.Store
	for range 2 {
		s, err := asks.Open(t.Context(), url, database.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		stores = append(stores, s)
	}
	const all = 60
	datasets := []string{"a", "b", "c", "d"}
	for i := range all {
		a := ask(fmt.Sprint(i))
		a.Dataset = datasets[i%len(datasets)]
		if _, err := stores[i%2].Add(t.Context(), ann, a, 100); err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	taken := map[string]int{}
	running := map[string]int{}
	var workers sync.WaitGroup
	for i := range 8 {
		workers.Go(func() {
			s := stores[i%2]
			for {
				l, err := s.Take(t.Context(), datasets, time.Minute)
				if errors.Is(err, asks.ErrNone) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				taken[l.ID]++
				if running[l.Dataset]++; running[l.Dataset] > 1 {
					t.Errorf("two asks of dataset %s run at once", l.Dataset)
				}
				mu.Unlock()
				mu.Lock()
				running[l.Dataset]--
				mu.Unlock()
				if err := s.Finish(t.Context(), l, asks.Outcome{State: asks.Released}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	workers.Wait()
	// A worker may have found nothing while each dataset had an ask that ran.
	for {
		l, err := stores[0].Take(t.Context(), datasets, time.Minute)
		if errors.Is(err, asks.ErrNone) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		taken[l.ID]++
		if err := stores[0].Finish(t.Context(), l, asks.Outcome{State: asks.Released}); err != nil {
			t.Fatal(err)
		}
	}
	for id, n := range taken {
		if n != 1 {
			t.Errorf("%s was taken %d times", id, n)
		}
	}
	if len(taken) != all {
		t.Errorf("%d of %d were taken", len(taken), all)
	}
	if n, _, err := stores[1].VerifyAudit(t.Context()); n != 3*all || err != nil {
		t.Errorf("%d lines, %v; want %d", n, err, 3*all)
	}
}

// Writers of every kind, from two replicas at once: no two wait for each other in a circle,
// which PostgreSQL counts, and nothing is lost or counted twice.
func TestReplicasWriteAtOnce(t *testing.T) {
	url := postgres(t)
	before, err := pgtest.Deadlocks(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	var stores [2]*asks.Store
	for i := range stores {
		s, err := asks.Open(t.Context(), url, database.Options{})
		if err != nil {
			t.Fatal(err)
		}
		stores[i] = s
	}
	const each, workers = 20, 4
	var all sync.WaitGroup
	var uploads atomic.Int64
	for w := range workers {
		all.Go(func() {
			s, dataset := stores[w%2], fmt.Sprint("d", w)
			for i := range each {
				a := ask(fmt.Sprint(w, " ", i))
				a.Dataset = dataset
				added, err := s.Add(t.Context(), ann, a, 1000)
				if err != nil {
					t.Error(err)
					return
				}
				if i%2 == 0 {
					if _, err := s.Move(t.Context(), ann, added.ID, []asks.State{asks.Queued}, asks.Withdrawn, ""); err != nil {
						t.Error(err)
					}
				} else if l, err := s.Take(t.Context(), []string{dataset}, time.Minute); err != nil {
					t.Error(err)
				} else if err := s.Finish(t.Context(), l, asks.Outcome{State: asks.Refused, Notices: []string{"a", "b"}}); err != nil {
					t.Error(err)
				}
				// A third of what an analyst may keep: of all that are uploaded at once two fit.
				if i == 0 {
					_, err := s.PutPolicy(t.Context(), ann, "d", fmt.Sprint(w), make([]byte, 22<<20))
					if err == nil {
						uploads.Add(1)
					} else if !errors.Is(err, asks.ErrFull) {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	if n := uploads.Load(); n != 2 {
		t.Errorf("%d policies were kept; want 2", n)
	}
	for w := range workers {
		if n, err := stores[0].Notices(t.Context(), fmt.Sprint("d", w), 1<<40, 1000); err != nil || len(n) != each {
			t.Errorf("%d notices, %v; want %d", len(n), err, each)
		}
	}
	if n, _, err := stores[0].VerifyAudit(t.Context()); err != nil || n != workers*each*5/2+2 {
		t.Errorf("%d lines, %v; want %d", n, err, workers*each*5/2+2)
	}
	for _, s := range stores {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := pgtest.Deadlocks(t.Context(), url); err != nil || n != before {
		t.Errorf("%d deadlocks, %v", n-before, err)
	}
}
