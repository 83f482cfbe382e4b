package ledger_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger"
)

// heterogeneous returns n events no two of which are alike.
func heterogeneous(n int) []dp.Event {
	rng := rand.New(rand.NewPCG(3, 4))
	events := make([]dp.Event, n)
	for i := range events {
		g := dp.Gaussian{NoiseMultiplier: 2000 * (1 + rng.Float64())}
		switch i % 5 {
		case 0:
			events[i] = g
		case 1:
			events[i] = dp.SelfComposed{Count: 2 + rng.Int64N(5), Event: g}
		case 2:
			events[i] = dp.Composed{Events: []dp.Event{g, dp.Gaussian{NoiseMultiplier: 3000 * (1 + rng.Float64())}}}
		case 3:
			events[i] = dp.Laplace{NoiseMultiplier: 1e5 * (1 + rng.Float64())}
		case 4:
			events[i] = dp.ApproximateDP{Epsilon: 2e-5 * rng.Float64(), Delta: 1e-12 * rng.Float64()}
		}
	}
	return events
}

// fillWith charges the events, a thousand a transaction, by ten analysts.
func fillWith(t testing.TB, l *ledger.Ledger, events []dp.Event) {
	t.Helper()
	for from := 0; from < len(events); from += 1000 {
		var batch []ledger.Charge
		for i, e := range events[from:min(from+1000, len(events))] {
			c := ask(e)
			c.Analyst = fmt.Sprintf("analyst %d", i%10)
			batch = append(batch, c)
		}
		if _, err := l.ChargeAll(context.Background(), batch); err != nil {
			t.Fatal(err)
		}
	}
}

func manyCharges(t *testing.T, location string, n int) {
	ctx := context.Background()
	c := plain(someBudget)
	c.NoReserve, c.Filter.Reserve = false, dp.Budget{Epsilon: 0.5, Delta: 5e-7}
	l := create(t, location, c)
	events := heterogeneous(n)
	start := time.Now()
	fillWith(t, l, events)
	t.Logf("%d charges in batches of 1000: %v", n, time.Since(start))
	f, err := account.NewFilter(dp.ReplaceOne, someBudget, account.GaussianDP, c.Filter)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if err := f.Charge(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	again := open(t, location, "") // another process: nothing is cached
	start = time.Now()
	s, err := again.State(ctx)
	t.Logf("state of %d charges: %v", n, time.Since(start))
	spent, err2 := f.Spent()
	if err != nil || err2 != nil || math.Abs(s.Spent.Epsilon/spent.Epsilon-1) > 1e-9 || math.Abs(s.Spent.Delta/spent.Delta-1) > 1e-9 {
		t.Errorf("spent %v; a filter that took the same charges says %v; %v, %v", s.Spent, spent, err, err2)
	}
	if s.Charges != int64(n) || len(s.Analysts) != 10 {
		t.Errorf("state of %d charges: %d charges of %d analysts", n, s.Charges, len(s.Analysts))
	}
	start = time.Now()
	const more = 20
	for range more {
		if _, err := again.Charge(ctx, ask(dp.Gaussian{NoiseMultiplier: 1e5})); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("one more charge, fee included: %v", time.Since(start)/more)
	start = time.Now()
	verified(t, again)
	t.Logf("verify, from nothing: %v", time.Since(start))
	start = time.Now()
	if points, err := again.History(ctx); err != nil || len(points) != n+more+1 {
		t.Errorf("history of %d points, %v", len(points), err)
	}
	t.Logf("history: %v", time.Since(start))
}

func TestRemainingBudgetAfterManyCharges(t *testing.T) {
	onEach(t, func(t *testing.T, location string) { manyCharges(t, location, 400) })
}

// Charging must not slow down with the number of entries: the time of a charge
// after n is compared with that after 16 n in one run.
func BenchmarkCharge(b *testing.B) {
	for _, s := range stores {
		for _, before := range []int{0, 10000} {
			b.Run(fmt.Sprintf("%s/after=%d", s.name, before), func(b *testing.B) {
				l := create(b, s.make(b), plain(someBudget))
				e := dp.Gaussian{NoiseMultiplier: 1e6}
				var events []dp.Event
				for range before {
					events = append(events, e)
				}
				fillWith(b, l, events)
				b.ResetTimer()
				for range b.N {
					if _, err := l.Charge(context.Background(), ask(e)); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "charges/s")
			})
		}
	}
}

func BenchmarkChargeBatchOf100(b *testing.B) {
	for _, s := range stores {
		b.Run(s.name, func(b *testing.B) {
			l := create(b, s.make(b), plain(someBudget))
			var events []dp.Event
			for range 100 {
				events = append(events, dp.Gaussian{NoiseMultiplier: 1e6})
			}
			b.ResetTimer()
			for range b.N {
				fillWith(b, l, events)
			}
			b.ReportMetric(100*float64(b.N)/b.Elapsed().Seconds(), "charges/s")
		})
	}
}

func BenchmarkChargeAndRecordBy64(b *testing.B) {
	for _, s := range stores {
		b.Run(s.name, func(b *testing.B) {
			l := create(b, s.make(b), plain(someBudget))
			e := dp.Gaussian{NoiseMultiplier: 1e6}
			b.SetParallelism(32) // of two processors: 64 goroutines
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					release(b, l, ask(e), "{}")
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "releases/s")
		})
	}
}
