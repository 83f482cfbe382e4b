package ledger_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/pgtest"
)

// onDisk puts the stores where a file is synced to a disk and not to memory. What is tested
// does not depend on it, but for the time that a killed process had.
var onDisk = flag.Bool("disk", false, "keep the stores on the disk")

// server is the PostgreSQL server of the tests, started when first asked for.
var server struct {
	once sync.Once
	p    *pgtest.Postgres
	err  error
}

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(helper(role))
	}
	code := m.Run()
	if server.p != nil {
		server.p.Stop()
	}
	os.Exit(code)
}

func postgres(t testing.TB) *pgtest.Postgres {
	t.Helper()
	server.once.Do(func() {
		base := ""
		if !*onDisk {
			base = pgtest.Memory()
		}
		server.p, server.err = pgtest.Start(base)
	})
	switch {
	case errors.Is(server.err, pgtest.ErrUnavailable) && !pgtest.Required():
		t.Skipf("NOT TESTED ON POSTGRESQL: %v", server.err)
	case server.err != nil:
		t.Fatal(server.err)
	}
	return server.p
}

// directory is a fresh one, in memory if that is wanted and there is room.
func directory(t testing.TB, memory bool) string {
	if base := pgtest.Memory(); memory && base != "" {
		if dir, err := os.MkdirTemp(base, "ledger"); err == nil {
			t.Cleanup(func() { os.RemoveAll(dir) })
			return dir
		}
	}
	return t.TempDir()
}

// stores are the places where a ledger can live; each returns a fresh location.
var stores = []struct {
	name string
	make func(testing.TB) string
}{
	{"sqlite", func(t testing.TB) string { return filepath.Join(directory(t, !*onDisk), "budget.db") }},
	{"postgres", func(t testing.TB) string {
		url, err := postgres(t).NewSchema()
		if err != nil {
			t.Fatal(err)
		}
		return url
	}},
}

// onEach runs a test on every store.
func onEach(t *testing.T, test func(t *testing.T, location string)) {
	for _, s := range stores {
		t.Run(s.name, func(t *testing.T) { test(t, s.make(t)) })
	}
}

// plain is a configuration whose whole budget is kept by the Gaussian rule.
func plain(budget dp.Budget) ledger.Config {
	return ledger.Config{Dataset: "trial", Adjacency: dp.ReplaceOne, Budget: budget, NoReserve: true}
}

var someBudget = dp.Budget{Epsilon: 1, Delta: 1e-6}

func create(t testing.TB, location string, c ledger.Config) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Create(context.Background(), location, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func open(t testing.TB, location, dataset string) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(context.Background(), location, dataset)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// ask is a charge with a key of its own.
func ask(event dp.Event) ledger.Charge {
	return ledger.Charge{Key: ledger.NewKey(), Analyst: "ann", Purpose: "test", Event: event, Adjacency: dp.ReplaceOne, ConfigHash: "c"}
}

// release charges, runs nothing, and records.
func release(t testing.TB, l *ledger.Ledger, c ledger.Charge, body string) *ledger.Grant {
	t.Helper()
	g, err := l.Charge(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Receipt.Redeem(c.Adjacency, c.Event); err != nil {
		t.Fatal(err)
	}
	if err := l.Record(context.Background(), g.Receipt, []byte(body)); err != nil {
		t.Fatal(err)
	}
	return g
}

func verified(t testing.TB, l *ledger.Ledger) {
	t.Helper()
	if err := l.Verify(context.Background()); err != nil {
		t.Fatalf("verify: %v", err)
	}
}
