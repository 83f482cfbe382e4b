//go:build slow

package ledger_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/pgtest"
)

// deadlocks is how many PostgreSQL has counted.
func deadlocks(t *testing.T, location string) int {
	t.Helper()
	n, err := pgtest.Deadlocks(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// inPostgres is a fresh place.
func inPostgres(t *testing.T) string { return stores[1].make(t) }

// TestAllKindsOfWritersAtOnce on PostgreSQL, in several datasets of one store that are about the same data: no two wait for each
// other in a circle, which the server counts, every dataset holds what was granted, and of two that meet the same data the later is
// warned.
func TestAllKindsOfWritersAtOnce(t *testing.T) {
	location := inPostgres(t)
	before := deadlocks(t, location)
	names := []string{"a", "b", "c"}
	type dataset struct {
		handles [2]*ledger.Ledger
		granted atomic.Int64
	}
	all := make([]*dataset, len(names))
	open := func(name string) *ledger.Ledger {
		l, err := ledger.Open(t.Context(), location, name)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for i, name := range names {
		l, err := ledger.Create(t.Context(), location, ledger.Config{Dataset: name, Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 1000, Delta: 1e-3}})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.SetShare(t.Context(), "ann", dp.Budget{Epsilon: 1000, Delta: 1e-3}); err != nil {
			t.Fatal(err)
		}
		all[i] = &dataset{handles: [2]*ledger.Ledger{l, open(name)}}
	}
	const each = 12
	is := func(err error, kinds ...error) bool {
		if err != nil && !slices.ContainsFunc(kinds, func(k error) bool { return errors.Is(err, k) }) {
			t.Error(err)
		}
		return err == nil
	}
	ctx := context.Background()
	var warned sync.Map // how often a dataset was warned of the others
	var wg sync.WaitGroup
	for i, d := range all {
		for h, l := range d.handles {
			wg.Go(func() { // charges of new data, about the same people as those of the other datasets, that are recorded
				for n := range each {
					c := ask(dp.Gaussian{NoiseMultiplier: 100})
					var err error
					if c.Fingerprint, err = l.FingerprintOf(strings.NewReader(fmt.Sprint("data ", n))); !is(err) {
						return
					}
					c.Units = func(yield func(string) bool) {
						for u := 0; u < 200 && yield(fmt.Sprint("person ", n, " ", u)); u++ {
						}
					}
					c.Check, _, err = l.BeginCheck(ctx, c, 1000)
					if !is(err) {
						return
					}
					grants, err := l.ChargeAll(ctx, []ledger.Charge{c, ask(dp.Laplace{NoiseMultiplier: 1000})})
					if !is(err) {
						return
					}
					d.granted.Add(2)
					for _, w := range grants[0].Warnings {
						if strings.Contains(w, "also charged as dataset") {
							warned.Store([2]int{i, n}, true)
						}
					}
					is(grants[0].Receipt.Redeem(c.Adjacency, c.Event))
					is(l.Record(ctx, grants[0].Receipt, []byte("release")))
				}
			})
			wg.Go(func() { // the steward
				place := filepath.Join(t.TempDir(), "witness")
				for n := range each {
					is(l.SetBudget(ctx, dp.Budget{Epsilon: float64(1000 + n), Delta: 1e-3}, "more"))
					is(l.SetShare(ctx, "bob", dp.Budget{Epsilon: 10, Delta: 1e-6}))
					_, err := l.ClearChecks(ctx)
					is(err)
					if n == 0 {
						is(l.AddWitness(ctx, place))
					}
				}
				is(l.RemoveWitness(ctx, place))
			})
			wg.Go(func() { // who begins datasets, and restores one under the key of another store
				for n := range each / 3 {
					made, err := ledger.Create(ctx, location, ledger.Config{Dataset: fmt.Sprint("new ", n), Adjacency: dp.ReplaceOne, Budget: someBudget})
					if is(err, ledger.ErrExists) {
						is(made.Close())
					}
					elsewhere := filepath.Join(t.TempDir(), "budget.db")
					made, err = ledger.Create(ctx, elsewhere, ledger.Config{Dataset: fmt.Sprint("moved ", i, h, n), Adjacency: dp.ReplaceOne, Budget: someBudget})
					if !is(err) {
						return
					}
					release := ask(dp.Gaussian{NoiseMultiplier: 100})
					release.Fingerprint, err = made.FingerprintOf(strings.NewReader("data"))
					is(err)
					_, err = made.Charge(ctx, release)
					is(err)
					var backup bytes.Buffer
					is(made.Backup(ctx, &backup))
					is(made.Close())
					if made, err = ledger.Restore(ctx, &backup, location, ledger.RestoreOptions{LostNothing: true, Reason: "moved"}); is(err, ledger.ErrConfig) {
						is(made.Close())
					}
				}
			})
			wg.Go(func() { // who looks
				for range each {
					_, err := l.State(ctx)
					is(err)
					is(l.Verify(ctx))
				}
			})
		}
	}
	wg.Wait()
	for n := range each {
		warnings := 0
		for i := range names {
			if _, is := warned.Load([2]int{i, n}); is {
				warnings++
			}
		}
		if warnings < len(names)-1 {
			t.Errorf("data %d: %d of %d datasets were warned of the others; want all but the first", n, warnings, len(names))
		}
	}
	for i, d := range all {
		s, err := d.handles[0].State(ctx)
		if err != nil || s.Charges != d.granted.Load() {
			t.Errorf("dataset %s holds %d charges, %v; granted %d", names[i], s.Charges, err, d.granted.Load())
		}
		verified(t, d.handles[1])
		for _, l := range d.handles {
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := deadlocks(t, location) - before; n != 0 {
		t.Errorf("%d deadlocks", n)
	}
}

// TestMigrationWaitsForWriters on PostgreSQL: a store that is brought to an older version and back while others charge and read is
// in nobody's circle, and a charge that was granted is there.
func TestMigrationWaitsForWriters(t *testing.T) {
	location := inPostgres(t)
	before := deadlocks(t, location)
	l, err := ledger.Create(t.Context(), location, plain(dp.Budget{Epsilon: 1000, Delta: 1e-3}))
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	var granted atomic.Int64
	over := make(chan struct{})
	var wg sync.WaitGroup
	for w := range 6 {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-over:
					return
				default:
				}
				c := ask(dp.Gaussian{NoiseMultiplier: 1000})
				c.Units = func(yield func(string) bool) { yield(fmt.Sprint(w, " ", n)) }
				// While the store is of another version a table may be missing: that is an error.
				g, err := l.Charge(ctx, c)
				if err == nil {
					granted.Add(1)
					_ = g.Receipt.Redeem(c.Adjacency, c.Event)
					_ = l.Record(ctx, g.Receipt, []byte("release"))
				}
				_, _ = l.State(ctx)
			}
		})
	}
	for range 12 {
		for _, version := range []int64{1, ledger.SchemaVersion} {
			if err := ledger.Migrate(ctx, location, version); err != nil {
				t.Error(err)
			}
		}
	}
	close(over)
	wg.Wait()
	if s, err := l.State(ctx); err != nil || s.Charges != granted.Load() || granted.Load() == 0 {
		t.Errorf("%d charges, %v; granted %d", s.Charges, err, granted.Load())
	}
	verified(t, l)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if n := deadlocks(t, location) - before; n != 0 {
		t.Errorf("%d deadlocks", n)
	}
}
