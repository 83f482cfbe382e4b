//go:build slow

package ledger_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/pgtest"
)

// attempt runs the protocol once on a new handle, with a hook between the steps,
// and returns the error.
func attempt(o *observed, location string, e dp.Event, between func(step string)) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	between("open")
	l, err := ledger.Open(ctx, location, "")
	if err != nil {
		return err
	}
	defer l.Close()
	c := ask(e)
	o.asked[c.Key] = true
	between("charge")
	g, err := l.Charge(ctx, c)
	if err != nil {
		return err
	}
	if err := g.Receipt.Redeem(c.Adjacency, c.Event); err != nil {
		return err
	}
	o.drawn[c.Key] = true
	release := []byte(`{"value":"` + ledger.NewKey() + `","ledger":` + stampOf(g) + `}`)
	between("record")
	if err := l.Record(ctx, g.Receipt, release); err != nil {
		return err
	}
	o.shown[c.Key] = release
	return nil
}

func stampOf(g *ledger.Grant) string {
	text, _ := json.Marshal(g.Receipt.Stamp())
	return string(text)
}

// ownServer is a server that a test may break.
func ownServer(t *testing.T) *pgtest.Postgres {
	t.Helper()
	p, err := pgtest.Start("")
	if errors.Is(err, pgtest.ErrUnavailable) && !pgtest.Required() {
		t.Skipf("NOT TESTED ON POSTGRESQL: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

// The server dies before each step and while charges are going on, and comes back; what
// its budget buys stays the same to the charge.
func TestPostgresServerIsGoneAtEachStep(t *testing.T) {
	p := ownServer(t)
	location, err := p.NewSchema()
	if err != nil {
		t.Fatal(err)
	}
	const fit = 200
	e := dp.Gaussian{NoiseMultiplier: noiseFor(t, someBudget, fit)}
	l := create(t, location, plain(someBudget))
	o := newObserved()
	for _, gone := range []string{"open", "charge", "record"} {
		err := attempt(o, location, e, func(step string) {
			if step == gone {
				if err := p.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		})
		if !errors.Is(err, ledger.ErrStore) && !errors.Is(err, ledger.ErrUnknown) {
			t.Errorf("the server is gone at %s: %v", gone, err)
		}
		if err := p.Restart(); err != nil {
			t.Fatal(err)
		}
		o.settle(t, l, e)
	}
	unknown := 0
	for death := range 12 {
		unknown += dies(t, p, location, e, o, []string{"charge", "record"}[death%2], int64(1+death/2))
		if err := p.Restart(); err != nil {
			t.Fatal(err)
		}
	}
	for err == nil {
		err = attempt(o, location, e, func(string) {})
	}
	if !errors.Is(err, ledger.ErrBudget) {
		t.Fatal(err)
	}
	charges, pending := o.settle(t, l, e)
	t.Logf("15 deaths of the server: %d charges, %d pending, %d releases shown, %d commits of unknown outcome", charges, pending, len(o.shown), unknown)
	if charges != fit || len(o.shown) == 0 {
		t.Errorf("%d charges on a budget for %d, %d shown", charges, fit, len(o.shown))
	}
}

// dies kills the server while four clients are charging, as one of them takes a step
// for the n-th time. It waits until each has met that, and counts the commits of
// unknown outcome.
func dies(t *testing.T, p *pgtest.Postgres, location string, e dp.Event, o *observed, at string, n int64) (unknown int) {
	t.Helper()
	var all sync.WaitGroup
	var mu sync.Mutex
	var steps atomic.Int64
	between := func(step string) {
		if step != at || steps.Add(1) != n {
			return
		}
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
	}
	for range 4 {
		all.Go(func() {
			for err := error(nil); err == nil; {
				mine := newObserved()
				err = attempt(mine, location, e, between)
				mu.Lock()
				merge(o, mine)
				if errors.Is(err, ledger.ErrUnknown) {
					unknown++
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if steps.Load() < n {
		t.Fatalf("the clients ended before %d steps %q, at which the server was to die", n, at)
	}
	return unknown
}

func merge(into, from *observed) {
	for k := range from.asked {
		into.asked[k] = true
	}
	for k := range from.drawn {
		into.drawn[k] = true
	}
	for k, v := range from.shown {
		into.shown[k] = v
	}
}

// The disk fills up to each of many levels: at some of them the charge fails, at
// others the record, at others neither.
func TestDiskIsFullAtEachStep(t *testing.T) {
	dir := smallDisk(t, 2<<20)
	location := filepath.Join(dir, "budget.db")
	diskFull(t, location, dir, 4096, 60)
}

func TestPostgresDiskIsFullAtEachStep(t *testing.T) {
	p := ownServer(t)
	dir := smallDisk(t, 2<<20)
	location, err := p.NewTablespace(dir)
	if err != nil {
		t.Fatal(err)
	}
	diskFull(t, location, dir, 8192, 30)
}

// diskFull fills the disk before each step, to each number of free pages from none
// on, and goes on until something fails.
func diskFull(t *testing.T, location, dir string, page, levels int) {
	l := create(t, location, plain(someBudget))
	e := dp.Gaussian{NoiseMultiplier: noiseFor(t, someBudget, 1000)}
	o := newObserved()
	failed := map[string]int{}
	for level := range levels {
		when := []string{"open", "charge", "record"}[level%3]
		fill, at := "", ""
		err := error(nil)
		for tries := 0; err == nil && tries < 4; tries++ {
			err = attempt(o, location, e, func(step string) {
				at = step
				if step == when && fill == "" {
					fill = fillDisk(t, dir, level/3*page)
				}
			})
		}
		if err != nil {
			if !errors.Is(err, ledger.ErrStore) && !errors.Is(err, ledger.ErrUnknown) {
				t.Errorf("level %d: %v", level, err)
			}
			failed[at]++
		}
		os.Remove(fill)
		verified(t, l)
	}
	charges, pending := o.settle(t, l, e)
	t.Logf("%d times a full disk, failed at %v; noise drawn %d, charges %d, pending %d, releases shown %d", levels, failed, len(o.drawn), charges, pending, len(o.shown))
	if failed["charge"] == 0 || failed["record"] == 0 || pending != failed["record"] {
		t.Error("the disk was not full at each step")
	}
}

// fillDisk leaves some bytes free.
func fillDisk(t *testing.T, dir string, free int) string {
	t.Helper()
	name := filepath.Join(dir, "fill")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n, err := io.Copy(f, zeros{})
	if err == nil {
		t.Fatal("the disk does not fill")
	}
	if err := f.Truncate(max(0, n-int64(free))); err != nil {
		t.Fatal(err)
	}
	return name
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
