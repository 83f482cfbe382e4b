package ledger_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
)

func TestWhatIsNoLedgerIsRefusedClearly(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	foreign := filepath.Join(dir, "foreign.db")
	db, err := sql.Open("sqlite", foreign)
	if err != nil {
		t.Fatal(err)
	}
	mustExec(t, db, `CREATE TABLE songs (name TEXT)`)
	db.Close()
	whole := filepath.Join(dir, "whole.db")
	history(t, whole).Close()
	content, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	truncated := file("truncated.db", string(content[:len(content)/2/4096*4096+100]))
	for name, c := range map[string]struct {
		location string
		want     error
		says     string
	}{
		"missing":        {filepath.Join(dir, "none.db"), ledger.ErrNotLedger, "no such file"},
		"directory":      {dir, ledger.ErrNotLedger, "not a regular file"},
		"empty":          {file("empty.db", ""), ledger.ErrNotLedger, "empty"},
		"text":           {file("text.db", strings.Repeat("not a database ", 100)), ledger.ErrNotLedger, "not a SQLite database"},
		"someone else's": {foreign, ledger.ErrNotLedger, "without a ledger"},
		"truncated":      {truncated, ledger.ErrStore, "damaged or cut short"},
		"bad URL":        {"postgres://user:secret@host:notaport/x", ledger.ErrStore, "does not parse"},
		"no server":      {"postgres://user:secret@127.0.0.1:1/x?connect_timeout=2", ledger.ErrStore, "127.0.0.1"},
		"capitals":       {"Postgres://user:secret@127.0.0.1:1/x?connect_timeout=2", ledger.ErrStore, "127.0.0.1"},
		"capitals, bad":  {"POSTGRESQL://user:secret@host:notaport/x", ledger.ErrStore, "does not parse"},
		"other database": {"mysql://user:secret@127.0.0.1/x", ledger.ErrNotLedger, "neither"},
		"no slashes":     {"postgres:user:secret@127.0.0.1/x", ledger.ErrNotLedger, "neither"},
		"one slash":      {"postgres:/user:secret@127.0.0.1/x", ledger.ErrNotLedger, "neither"},
		"space before":   {" postgres://user:secret@127.0.0.1/x", ledger.ErrNotLedger, "neither"},
		"keywords":       {"host=127.0.0.1 user=u password=secret", ledger.ErrNotLedger, "neither"},
	} {
		l, err := ledger.Open(ctx, c.location, "")
		if l != nil || !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want %v that says %q", name, err, c.want, c.says)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error tells the password: %v", name, err)
		}
	}
	for name, location := range map[string]string{"directory": dir, "text": filepath.Join(dir, "text.db"), "someone else's": foreign} {
		if _, err := ledger.Create(ctx, location, plain(someBudget)); !errors.Is(err, ledger.ErrNotLedger) {
			t.Errorf("created in %s: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "none.db")); err == nil {
		t.Error("opening a missing ledger made a file")
	}
	if _, err := ledger.Create(ctx, "mysql://user:secret@127.0.0.1/x", plain(someBudget)); !errors.Is(err, ledger.ErrNotLedger) || strings.Contains(err.Error(), "secret") {
		t.Errorf("created in another kind of database: %v", err)
	}
	odd := filepath.Join(dir, "odd name @home %20?mode=memory#x.db")
	create(t, odd, plain(someBudget)).Close()
	release(t, open(t, odd, ""), ask(dp.Gaussian{NoiseMultiplier: 100}), "x")
	if info, err := os.Stat(odd); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a file of an odd name: %v, %v; want it there, readable by its owner alone", info, err)
	}
}

func TestEmptyPostgresDatabaseIsNoLedger(t *testing.T) {
	location := stores[1].make(t)
	if _, err := ledger.Open(context.Background(), location, ""); !errors.Is(err, ledger.ErrNotLedger) {
		t.Errorf("an empty schema: %v; want ErrNotLedger", err)
	}
}

func TestDatasetsShareAStore(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		a := create(t, location, plain(someBudget))
		c := plain(dp.Budget{Epsilon: 3, Delta: 1e-7})
		c.Dataset = "other"
		b := create(t, location, c)
		if _, err := ledger.Create(ctx, location, c); !errors.Is(err, ledger.ErrExists) {
			t.Errorf("created twice: %v", err)
		}
		if _, err := ledger.Open(ctx, location, ""); !errors.Is(err, ledger.ErrNoDataset) || !strings.Contains(err.Error(), "other") {
			t.Errorf("opened without a name: %v; want the names", err)
		}
		if _, err := ledger.Open(ctx, location, "third"); !errors.Is(err, ledger.ErrNoDataset) {
			t.Errorf("opened an unknown name: %v", err)
		}
		charge := ask(dp.Gaussian{NoiseMultiplier: 30})
		release(t, a, charge, "x")
		release(t, b, charge, "y") // the same key, another budget
		s, err := b.State(ctx)
		if err != nil || s.Charges != 1 || s.Budget.Epsilon != 3 {
			t.Errorf("%+v, %v", s, err)
		}
		if names, err := ledger.Datasets(ctx, location); err != nil || strings.Join(names, " ") != "other trial" {
			t.Errorf("datasets %q, %v", names, err)
		}
		verified(t, a)
		verified(t, b)
	})
}

func TestManyMayCreateAtOnce(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		var made, exists, failed atomic.Int64
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				c := plain(someBudget)
				c.Dataset = fmt.Sprintf("d%d", i%4)
				l, err := ledger.Create(context.Background(), location, c)
				switch {
				case err == nil:
					made.Add(1)
					l.Close()
				case errors.Is(err, ledger.ErrExists):
					exists.Add(1)
				default:
					failed.Add(1)
					t.Error(err)
				}
			})
		}
		all.Wait()
		if made.Load() != 4 || exists.Load() != 12 {
			t.Errorf("%d of 4 datasets were made, %d times one existed, %d failures", made.Load(), exists.Load(), failed.Load())
		}
		for i := range 4 {
			verified(t, open(t, location, fmt.Sprintf("d%d", i)))
		}
	})
}

func TestSchemaVersions(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		l := history(t, location)
		l.Close()
		for _, version := range []int64{0, ledger.SchemaVersion + 1} {
			if err := ledger.Migrate(ctx, location, version); !errors.Is(err, ledger.ErrSchema) {
				t.Errorf("migration to %d: %v", version, err)
			}
		}
		for version := int64(3); version >= 1; version-- {
			if err := ledger.Migrate(ctx, location, version); err != nil {
				t.Fatal(err)
			}
			if _, err := ledger.Open(ctx, location, ""); !errors.Is(err, ledger.ErrSchema) || !strings.Contains(err.Error(), "migrate it up") {
				t.Errorf("opened at version %d: %v", version, err)
			}
		}
		if err := ledger.Migrate(ctx, location, ledger.SchemaVersion); err != nil {
			t.Fatal(err)
		}
		again := open(t, location, "")
		verified(t, again)
		release(t, again, ask(dp.Gaussian{NoiseMultiplier: 60}), "after")
		again.Close()
		mustExec(t, raw(t, location), `INSERT INTO ledger_schema (version_id, is_applied) VALUES ($1, $2)`, ledger.SchemaVersion+1, true)
		for name, err := range map[string]error{
			"open":    func() error { _, err := ledger.Open(ctx, location, ""); return err }(),
			"create":  func() error { _, err := ledger.Create(ctx, location, plain(someBudget)); return err }(),
			"migrate": ledger.Migrate(ctx, location, 1),
		} {
			if !errors.Is(err, ledger.ErrSchema) || !strings.Contains(err.Error(), "newer program") {
				t.Errorf("%s at a newer version: %v", name, err)
			}
		}
	})
}

func TestServerThatIsNotDurableIsRefused(t *testing.T) {
	location := stores[1].make(t)
	l := create(t, location, plain(someBudget))
	release(t, l, ask(dp.Gaussian{NoiseMultiplier: 60}), "x")
	// A default of the database's own must not reach the ledger's connections.
	db := raw(t, location)
	mustExec(t, db, `ALTER ROLE discreet SET synchronous_commit = off`)
	defer mustExec(t, db, `ALTER ROLE discreet RESET synchronous_commit`)
	release(t, open(t, location, ""), ask(dp.Gaussian{NoiseMultiplier: 60}), "x")
	if _, err := ledger.Open(context.Background(), location+"&options=-c%20fsync%3Doff", ""); err == nil {
		t.Error("a server without fsync is accepted")
	}
}

func TestConfigurationsThatCannotBe(t *testing.T) {
	for name, change := range map[string]func(*ledger.Config){
		"no adjacency": func(c *ledger.Config) { c.Adjacency = 0 },
		"no budget":    func(c *ledger.Config) { c.Budget = dp.Budget{} },
		"pure":         func(c *ledger.Config) { c.Budget.Delta = 0 },
		"no name":      func(c *ledger.Config) { c.Dataset = "" },
		"line end":     func(c *ledger.Config) { c.Dataset = "a\nb" },
		"unit":         func(c *ledger.Config) { c.Unit = "\x00" },
		"rule":         func(c *ledger.Config) { c.Rule = 17 },
		"reserve":      func(c *ledger.Config) { c.Filter.Reserve = dp.Budget{Epsilon: 9} },
	} {
		location := filepath.Join(t.TempDir(), "x.db")
		c := plain(someBudget)
		change(&c)
		if _, err := ledger.Create(context.Background(), location, c); err == nil {
			t.Errorf("%s: created", name)
		}
		if _, err := os.Stat(location); err == nil {
			t.Errorf("%s: left a file", name)
		}
	}
}

// A store that the first release wrote, of version 4, is brought up to date when it is opened;
// one that may not be written is read as it is. Its failed checks count on.
func TestAStoreOfTheFirstReleaseIsOpened(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		l := history(t, location)
		begin(t, l, by("ann"), 3, 1)
		l.Close()
		if err := ledger.Migrate(ctx, location, 4); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(location, "://") && os.Getuid() != 0 {
			if err := os.Chmod(location, 0o400); err != nil {
				t.Fatal(err)
			}
			l := open(t, location, "trial")
			verified(t, l)
			if s, err := l.State(ctx); err != nil || len(s.FailedChecks) != 1 {
				t.Errorf("read as it is: %+v, %v", s, err)
			}
			l.Close()
			if err := os.Chmod(location, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		l = open(t, location, "trial")
		verified(t, l)
		begin(t, l, by("ann"), 3, 2)
		release(t, l, ask(little), "after")
		verified(t, open(t, location, "trial"))
	})
}
