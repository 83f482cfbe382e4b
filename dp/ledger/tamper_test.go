package ledger_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
)

// raw opens the tables behind a ledger's back, with the append-only triggers gone.
func raw(t testing.TB, location string) *sql.DB {
	t.Helper()
	driver, source := "sqlite", "file:"+location+"?mode=rw&_pragma=busy_timeout(5000)"
	drop := []string{`DROP TRIGGER IF EXISTS ledger_entries_no_update`, `DROP TRIGGER IF EXISTS ledger_entries_no_delete`,
		`DROP TRIGGER IF EXISTS ledger_releases_no_update`, `DROP TRIGGER IF EXISTS ledger_releases_no_delete`}
	if strings.HasPrefix(location, "postgres://") {
		driver, source = "pgx", location
		drop = []string{`DROP TRIGGER IF EXISTS ledger_entries_append_only ON ledger_entries`, `DROP TRIGGER IF EXISTS ledger_releases_append_only ON ledger_releases`}
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	for _, s := range drop {
		mustExec(t, db, s)
	}
	return db
}

func mustExec(t testing.TB, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Exec(query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func body(t testing.TB, db *sql.DB, seq int) []byte {
	t.Helper()
	var b []byte
	if err := db.QueryRow(`SELECT body FROM ledger_entries WHERE seq = $1`, seq).Scan(&b); err != nil {
		t.Fatal(err)
	}
	return b
}

// rewrite replaces an entry by another with a hash that fits its bytes.
func rewrite(t testing.TB, db *sql.DB, seq int, b []byte) {
	t.Helper()
	h := chain.Sum(b)
	mustExec(t, db, `UPDATE ledger_entries SET body = $1, hash = $2 WHERE seq = $3`, b, h[:], seq)
}

func replace(t testing.TB, b []byte, old, new string) []byte {
	t.Helper()
	if !bytes.Contains(b, []byte(old)) {
		t.Fatalf("%s does not hold %s", b, old)
	}
	return bytes.Replace(b, []byte(old), []byte(new), 1)
}

// The history that is tampered with: entry 0 opens, 1 sets a share, then charge and
// record alternate (2 and 3, 4 and 5, ...), 10 is pending, 11 raises the budget and
// 12 is charged and recorded by 13.
func history(t testing.TB, location string) *ledger.Ledger {
	l := create(t, location, plain(someBudget))
	if err := l.SetShare(context.Background(), "ann", dp.Budget{Epsilon: 0.9, Delta: 1e-6}); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		c := ask(dp.Gaussian{NoiseMultiplier: 50 + float64(i)})
		c.Fingerprint = l.Fingerprint().String()
		release(t, l, c, fmt.Sprintf("release %d", i))
	}
	if _, err := l.Charge(context.Background(), ask(dp.Gaussian{NoiseMultiplier: 60})); err != nil {
		t.Fatal(err)
	}
	if err := l.SetBudget(context.Background(), dp.Budget{Epsilon: 1.5, Delta: 1e-6}, "more"); err != nil {
		t.Fatal(err)
	}
	release(t, l, ask(dp.Gaussian{NoiseMultiplier: 60}), "last")
	verified(t, l)
	return l
}

func TestTamperingIsFoundAndNamed(t *testing.T) {
	cases := map[string]struct {
		tamper func(t *testing.T, db *sql.DB)
		seq    int64
	}{
		"changed": {func(t *testing.T, db *sql.DB) {
			mustExec(t, db, `UPDATE ledger_entries SET body = $1 WHERE seq = 4`, replace(t, body(t, db, 4), `"noise_multiplier":51`, `"noise_multiplier":52`))
		}, 4},
		"changed with its hash": {func(t *testing.T, db *sql.DB) {
			rewrite(t, db, 3, replace(t, body(t, db, 3), `"size":9`, `"size":8`))
		}, 3},
		"cheaper charge with its hash": {func(t *testing.T, db *sql.DB) {
			rewrite(t, db, 4, replace(t, body(t, db, 4), `"noise_multiplier":51`, `"noise_multiplier":5100`))
		}, 4},
		"last changed with its hash and the head": {func(t *testing.T, db *sql.DB) {
			b := replace(t, body(t, db, 12), `"noise_multiplier":60`, `"noise_multiplier":6000`)
			rewrite(t, db, 12, b)
			next := replace(t, body(t, db, 13), `"prev":"`+prevOf(t, body(t, db, 13)), `"prev":"`+chain.Sum(b).String())
			rewrite(t, db, 13, next)
			h := chain.Sum(next)
			mustExec(t, db, `UPDATE ledger_datasets SET head = $1`, h[:])
		}, 12},
		"first changed": {func(t *testing.T, db *sql.DB) {
			rewrite(t, db, 0, replace(t, body(t, db, 0), `"refuse_copies":false`, `"refuse_copies":true`))
		}, 0},
		"removed": {func(t *testing.T, db *sql.DB) {
			mustExec(t, db, `DELETE FROM ledger_entries WHERE seq = 6`)
		}, 6},
		"removed and renumbered": {func(t *testing.T, db *sql.DB) {
			mustExec(t, db, `DELETE FROM ledger_entries WHERE seq = 6`)
			for seq := 7; seq <= 13; seq++ {
				mustExec(t, db, `UPDATE ledger_entries SET seq = $1 WHERE seq = $2`, seq-1, seq)
			}
		}, 6},
		"last removed": {func(t *testing.T, db *sql.DB) {
			mustExec(t, db, `DELETE FROM ledger_entries WHERE seq = 13`)
		}, 13},
		"first removed": {func(t *testing.T, db *sql.DB) {
			mustExec(t, db, `DELETE FROM ledger_entries WHERE seq = 0`)
		}, 0},
		"two exchanged": {func(t *testing.T, db *sql.DB) {
			mustExec(t, db, `UPDATE ledger_entries SET seq = 100 WHERE seq = 7`)
			mustExec(t, db, `UPDATE ledger_entries SET seq = 7 WHERE seq = 8`)
			mustExec(t, db, `UPDATE ledger_entries SET seq = 8 WHERE seq = 100`)
		}, 7},
		"appended": {func(t *testing.T, db *sql.DB) {
			e, err := chain.Parse(body(t, db, 13))
			if err != nil {
				t.Fatal(err)
			}
			last := chain.Sum(body(t, db, 13))
			e.Seq, e.Prev, e.Kind, e.Record = 14, last, chain.Share, nil
			e.Share = &chain.ShareBody{Analyst: "eve", Budget: dp.Budget{Epsilon: 1.5, Delta: 1e-6}}
			b, err := e.Encode()
			if err != nil {
				t.Fatal(err)
			}
			h := chain.Sum(b)
			mustExec(t, db, `INSERT INTO ledger_entries (dataset, seq, hash, body) SELECT id, 14, $1, $2 FROM ledger_datasets`, h[:], b)
		}, 14},
		"release changed": {func(t *testing.T, db *sql.DB) {
			mustExec(t, db, `UPDATE ledger_releases SET body = $1 WHERE seq = 4`, []byte("release 2"))
		}, 4},
		"release removed": {func(t *testing.T, db *sql.DB) {
			mustExec(t, db, `DELETE FROM ledger_releases WHERE seq = 4`)
		}, 4},
		"release forged for a pending charge": {func(t *testing.T, db *sql.DB) {
			mustExec(t, db, `INSERT INTO ledger_releases (dataset, seq, body) SELECT id, 10, $1 FROM ledger_datasets`, []byte("x"))
		}, 10},
		"pending hidden": {func(t *testing.T, db *sql.DB) {
			mustExec(t, db, `UPDATE ledger_charges SET recorded = 9 WHERE seq = 10`)
		}, 10},
		"key freed": {func(t *testing.T, db *sql.DB) {
			mustExec(t, db, `UPDATE ledger_charges SET key = 'free' WHERE seq = 4`)
		}, 4},
		"index entry removed": {func(t *testing.T, db *sql.DB) {
			mustExec(t, db, `DELETE FROM ledger_charges WHERE seq = 4`)
		}, -1},
		"analyst's sum lowered": {func(t *testing.T, db *sql.DB) {
			mustExec(t, db, `UPDATE ledger_analysts SET body = $1`, []byte(`{"spent":{"sum":0,"epsilon":0,"delta":0},"charges":0}`))
		}, -1},
		"fingerprint forgotten": {func(t *testing.T, db *sql.DB) {
			mustExec(t, db, `DELETE FROM ledger_sightings`)
		}, -1},
		"hash cut": {func(t *testing.T, db *sql.DB) {
			mustExec(t, db, `UPDATE ledger_entries SET hash = $1 WHERE seq = 5`, []byte{1, 2})
		}, 5},
		"not an entry": {func(t *testing.T, db *sql.DB) {
			rewrite(t, db, 5, []byte(`{"seq":5}`))
		}, 5},
		"spaces between": {func(t *testing.T, db *sql.DB) {
			rewrite(t, db, 5, replace(t, body(t, db, 5), `,"time"`, `, "time"`))
		}, 5},
	}
	onEach(t, func(t *testing.T, location string) {
		l := history(t, location)
		db := raw(t, location)
		mend := snapshot(t, db)
		for name, c := range cases {
			c.tamper(t, db)
			err := l.Verify(context.Background())
			var found *ledger.TamperError
			if !errors.As(err, &found) || !errors.Is(err, ledger.ErrTampered) {
				t.Fatalf("%s: verify: %v; want a TamperError", name, err)
			}
			if found.Seq != c.seq {
				t.Errorf("%s: verify names entry %d; want %d: %v", name, found.Seq, c.seq, err)
			}
			mend()
			verified(t, l)
		}
	})
}

func prevOf(t testing.TB, b []byte) string {
	e, err := chain.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return e.Prev.String()
}

func TestLedgerThatIsCutIsRefusedAtTheNextCharge(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		l := history(t, location)
		mustExec(t, raw(t, location), `DELETE FROM ledger_entries WHERE seq = 13`)
		if _, err := l.Charge(context.Background(), ask(dp.Gaussian{NoiseMultiplier: 60})); !errors.Is(err, ledger.ErrTampered) {
			t.Errorf("charge on a cut ledger: %v", err)
		}
		if _, err := l.State(context.Background()); !errors.Is(err, ledger.ErrTampered) {
			t.Errorf("state of a cut ledger: %v", err)
		}
	})
}

// TestLastEntryIsHeldAgainstTheHead at the next charge: an entry with other totals
// and the hash that fits them is not the one that the head names.
func TestLastEntryIsHeldAgainstTheHead(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		l := history(t, location)
		db := raw(t, location)
		rewrite(t, db, 13, replace(t, body(t, db, 13), `"restores":0`, `"restores":1`))
		if _, err := l.Charge(context.Background(), ask(dp.Gaussian{NoiseMultiplier: 60})); !errors.Is(err, ledger.ErrTampered) {
			t.Errorf("charge after the last entry was replaced: %v; want ErrTampered", err)
		}
	})
}

func TestTablesAreAppendOnly(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		history(t, location)
		driver, source := "sqlite", "file:"+location
		if strings.HasPrefix(location, "postgres://") {
			driver, source = "pgx", location
		}
		db, err := sql.Open(driver, source)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, q := range []string{`UPDATE ledger_entries SET seq = seq + 1`, `DELETE FROM ledger_entries`, `UPDATE ledger_releases SET seq = 2`, `DELETE FROM ledger_releases`} {
			if _, err := db.Exec(q); err == nil || !strings.Contains(err.Error(), "append-only") {
				t.Errorf("%s: %v; want a refusal", q, err)
			}
		}
	})
}

func TestReleaseIsHeldAgainstItsEntry(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		l := create(t, location, plain(someBudget))
		make := func(g *ledger.Grant, value int) []byte {
			b, err := json.Marshal(map[string]any{"value": value, "ledger": g.Receipt.Stamp()})
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		c := ask(dp.Gaussian{NoiseMultiplier: 60})
		g, err := l.Charge(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		good := make(g, 1)
		if err := l.VerifyRelease(ctx, good); !errors.Is(err, ledger.ErrTampered) {
			t.Errorf("a release that was not recorded: %v", err)
		}
		if err := errors.Join(g.Receipt.Redeem(c.Adjacency, c.Event), l.Record(ctx, g.Receipt, good)); err != nil {
			t.Fatal(err)
		}
		release(t, l, ask(c.Event), "another")
		if err := l.VerifyRelease(ctx, good); err != nil {
			t.Errorf("the recorded release: %v", err)
		}
		for name, bad := range map[string][]byte{
			"other value":  make(g, 2),
			"space":        append(good[:len(good):len(good)], ' '),
			"other entry":  replace(t, good, `"seq":1`, `"seq":3`),
			"other hash":   replace(t, good, `"entry":"`+g.Entry.Hash.String()[:8], `"entry":"00000000`),
			"other ledger": replace(t, good, `"ledger":"`+g.Receipt.Stamp().Ledger[:8], `"ledger":"00000000`),
		} {
			if err := l.VerifyRelease(ctx, bad); !errors.Is(err, ledger.ErrTampered) {
				t.Errorf("%s: %v; want ErrTampered", name, err)
			}
		}
		if err := l.VerifyRelease(ctx, replace(t, good, `"head":{"seq":1`, `"head":{"seq":99`)); !errors.Is(err, ledger.ErrBehind) {
			t.Errorf("a later head: %v; want ErrBehind", err)
		}
		for name, none := range map[string]string{"no stamp": `{"value":1}`, "not JSON": `value`, "null": `{"ledger":null}`} {
			if err := l.VerifyRelease(ctx, []byte(none)); !errors.Is(err, ledger.ErrCharge) {
				t.Errorf("%s: %v; want ErrCharge", name, err)
			}
		}
	})
}

// The hash of an entry, spelt out with the standard library alone, as a reviewer
// of an export would.
func TestExportCanBeCheckedWithoutThisPackage(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		l := history(t, location)
		var out bytes.Buffer
		if err := l.Export(context.Background(), &out); err != nil {
			t.Fatal(err)
		}
		prev := strings.Repeat("0", 64)
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		for i, line := range lines {
			var x struct {
				Hash  string
				Entry json.RawMessage
			}
			var e struct {
				Seq  int
				Prev string
			}
			if err := errors.Join(json.Unmarshal([]byte(line), &x), json.Unmarshal(x.Entry, &e)); err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256(append([]byte("discreet/ledger/entry/v1\n"), x.Entry...))
			if fmt.Sprintf("%x", sum) != x.Hash || e.Prev != prev || e.Seq != i {
				t.Fatalf("line %d does not follow", i)
			}
			prev = x.Hash
		}
		open, head, err := ledger.VerifyExport(strings.NewReader(out.String()))
		s, err2 := l.State(context.Background())
		if err != nil || err2 != nil || head != s.Head || open.Dataset != "trial" || len(lines) != 14 {
			t.Errorf("export of %d lines with head %v: %v, %v", len(lines), head, err, err2)
		}
		if strings.Contains(out.String(), "fingerprint_key") {
			t.Error("an export holds the key of the fingerprints")
		}
		for name, bad := range map[string]string{
			"empty": "", "cut within": out.String()[:out.Len()-9],
			"one left out": strings.Join(append(append([]string{}, lines[:5]...), lines[6:]...), "\n"),
			"changed":      strings.Replace(out.String(), `"noise_multiplier":51`, `"noise_multiplier":99`, 1),
		} {
			if _, _, err := ledger.VerifyExport(strings.NewReader(bad)); !errors.Is(err, ledger.ErrTampered) && !errors.Is(err, ledger.ErrBackup) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
