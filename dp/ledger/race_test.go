package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger"
)

// noiseFor is a noise multiplier of which the budget fits exactly k charges.
func noiseFor(t testing.TB, b dp.Budget, k int) float64 {
	t.Helper()
	f, err := account.NewFilter(dp.ReplaceOne, b, account.GaussianDP, account.FilterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	mu := f.Remaining().Mu
	return 2 / mu * math.Sqrt(float64(k)+0.5)
}

func TestExactlyWhatFitsIsGrantedTo64Goroutines(t *testing.T) {
	const k = 100
	onEach(t, func(t *testing.T, location string) {
		l := create(t, location, plain(someBudget))
		e := dp.Gaussian{NoiseMultiplier: noiseFor(t, someBudget, k)}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		handles := []*ledger.Ledger{l}
		for range 7 {
			handles = append(handles, open(t, location, ""))
		}
		var granted, refused atomic.Int64
		var all sync.WaitGroup
		start := time.Now()
		for i := range 64 {
			all.Go(func() {
				for {
					_, err := handles[i%len(handles)].Charge(ctx, ask(e))
					switch {
					case err == nil:
						granted.Add(1)
					case errors.Is(err, ledger.ErrBudget):
						refused.Add(1)
						return
					default:
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		t.Logf("%d granted and %d refused in %v", granted.Load(), refused.Load(), time.Since(start))
		if granted.Load() != k || refused.Load() != 64 {
			t.Errorf("%d granted of a budget for %d, %d refused", granted.Load(), k, refused.Load())
		}
		verified(t, l)
	})
}

// race lets n processes charge one budget that fits k until each is refused.
func race(t *testing.T, location string, n, k int) {
	l := create(t, location, plain(someBudget))
	noise := noiseFor(t, someBudget, k)
	var processes []*process
	for range n {
		processes = append(processes, launch(t, "race", location, noise))
	}
	start := time.Now()
	for _, p := range processes {
		p.start()
	}
	granted := 0
	for _, p := range processes {
		lines := p.rest()
		var mine int
		if len(lines) != 1 {
			t.Fatalf("a process said %q", lines)
		}
		if _, err := fmt.Sscanf(lines[0], "refused %d", &mine); err != nil {
			t.Fatalf("a process said %q", lines)
		}
		granted += mine
	}
	took := time.Since(start)
	t.Logf("%d processes: %d granted of a budget for %d in %v: %.0f charges/s", n, granted, k, took, float64(granted)/took.Seconds())
	s, err := l.State(context.Background())
	if err != nil || granted != k || s.Charges != int64(k) || s.Spent.Epsilon > someBudget.Epsilon {
		t.Errorf("%d granted of a budget for %d, the ledger holds %d: %v", granted, k, s.Charges, err)
	}
	verified(t, l)
}

func TestExactlyWhatFitsIsGrantedToProcesses(t *testing.T) {
	onEach(t, func(t *testing.T, location string) { race(t, location, 6, 40) })
}

// TestProcessesMayBeginOnOneNewStore or on one that is brought up to date at the
// same moment: each finds it whole, and none takes it for an old one.
func TestProcessesMayBeginOnOneNewStore(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		const n = 5
		var processes []*process
		for range n {
			processes = append(processes, launch(t, "make", location, 1))
		}
		for _, p := range processes {
			p.start()
		}
		for _, p := range processes {
			if lines := p.rest(); len(lines) != 1 || lines[0] != "charged" {
				t.Errorf("a process said %q", lines)
			}
		}
		l := open(t, location, "")
		if s, err := l.State(context.Background()); err != nil || s.Charges != n {
			t.Errorf("%d charges of %d: %v", s.Charges, n, err)
		}
		verified(t, l)
	})
}

// TestAStoreIsOpenedWhileItIsMigrated up and down by another: it is current or old,
// and after the last step up it is open to everybody.
func TestAStoreIsOpenedWhileItIsMigrated(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		create(t, location, plain(someBudget)).Close()
		var all sync.WaitGroup
		done := make(chan struct{})
		for range 3 {
			all.Go(func() {
				for {
					l, err := ledger.Open(ctx, location, "trial")
					if err == nil {
						err = l.Close()
					}
					if err != nil && !errors.Is(err, ledger.ErrSchema) {
						t.Error(err)
					}
					select {
					case <-done:
						return
					default:
					}
				}
			})
		}
		for range 6 {
			for _, version := range []int64{1, ledger.SchemaVersion} {
				if err := ledger.Migrate(ctx, location, version); err != nil {
					t.Error(err)
				}
			}
		}
		close(done)
		all.Wait()
		verified(t, open(t, location, "trial"))
	})
}
