package ledger_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp/ledger"
)

// A view in place of a table shows what its maker wants, and a trigger writes it.
// No store that holds such a thing is read, migrated or added to.
func TestAStoreOfAnotherShapeIsRefused(t *testing.T) {
	both := map[string]string{
		"view of entries":    `ALTER TABLE ledger_entries RENAME TO kept; CREATE VIEW ledger_entries AS SELECT * FROM kept WHERE seq < 3`,
		"view of datasets":   `ALTER TABLE ledger_datasets RENAME TO kept; CREATE VIEW ledger_datasets AS SELECT * FROM kept`,
		"view of the key":    `ALTER TABLE ledger_store RENAME TO kept; CREATE VIEW ledger_store AS SELECT * FROM kept`,
		"view of a new kind": `DROP TABLE ledger_witnesses; CREATE VIEW ledger_witnesses AS SELECT id AS dataset, name AS place FROM ledger_datasets WHERE 1 = 0`,
	}
	for i, cases := range []map[string]string{
		{
			"trigger on charges":     `CREATE TRIGGER free AFTER INSERT ON ledger_charges BEGIN UPDATE ledger_datasets SET seq = 0; END`,
			"trigger on sums":        `CREATE TRIGGER free AFTER UPDATE ON ledger_analysts BEGIN DELETE FROM ledger_analysts; END`,
			"trigger under our name": `CREATE TRIGGER ledger_entries_no_update AFTER INSERT ON ledger_entries BEGIN DELETE FROM ledger_sightings; END`,
			"index":                  `CREATE INDEX more ON ledger_entries (hash)`,
			"unrelated table":        `CREATE TABLE songs (name TEXT)`,
			"other columns":          `DROP TABLE ledger_sightings; CREATE TABLE ledger_sightings (fingerprint TEXT, dataset INTEGER, more TEXT)`,
			"generated column":       `ALTER TABLE ledger_charges ADD COLUMN more TEXT AS (key || key)`,
			"table gone":             `DROP TABLE ledger_sightings`,
		}, {
			"trigger on charges":     `CREATE FUNCTION free() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE ledger_datasets SET seq = 0; RETURN NULL; END $$; CREATE TRIGGER free AFTER INSERT ON ledger_charges FOR EACH ROW EXECUTE FUNCTION free()`,
			"trigger under our name": `CREATE TRIGGER ledger_entries_append_only BEFORE INSERT ON ledger_entries FOR EACH STATEMENT EXECUTE FUNCTION ledger_append_only()`,
			"rule":                   `CREATE RULE free AS ON INSERT TO ledger_charges DO ALSO DELETE FROM ledger_charges`,
			"policy":                 `ALTER TABLE ledger_charges ENABLE ROW LEVEL SECURITY`,
			"heir":                   `CREATE TABLE more () INHERITS (ledger_entries)`,
			"materialised":           `ALTER TABLE ledger_sightings RENAME TO kept; CREATE MATERIALIZED VIEW ledger_sightings AS SELECT * FROM kept`,
		},
	} {
		for name, statements := range both {
			cases[name] = statements
		}
		for name, statements := range cases {
			t.Run(stores[i].name+"/"+name, func(t *testing.T) {
				ctx := context.Background()
				location := stores[i].make(t)
				history(t, location).Close()
				db := raw(t, location)
				open(t, location, "").Close() // without the triggers against slips it is still ours
				for _, s := range split(statements) {
					mustExec(t, db, s)
				}
				_, opened := ledger.Open(ctx, location, "trial")
				_, listed := ledger.Datasets(ctx, location)
				other := plain(someBudget)
				other.Dataset = "other"
				_, created := ledger.Create(ctx, location, other)
				for what, err := range map[string]error{"open": opened, "datasets": listed, "create": created, "migrate": ledger.Migrate(ctx, location, 1)} {
					if !errors.Is(err, ledger.ErrNotLedger) {
						t.Errorf("%s: %v; want ErrNotLedger", what, err)
					}
				}
			})
		}
	}
}

// The table of versions of a store that an earlier program made numbers its rows,
// for which SQLite keeps a table of its own, as it does once ANALYZE was run.
func TestAnOldTableOfVersionsIsOurs(t *testing.T) {
	location := stores[0].make(t)
	history(t, location).Close()
	db, err := sql.Open("sqlite", location) // with the triggers against slips
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	versions := `INSERT INTO ledger_schema (version_id, is_applied) VALUES (0, 1)`
	for v := range ledger.SchemaVersion {
		versions += fmt.Sprintf(`, (%d, 1)`, v+1)
	}
	for _, s := range []string{
		`DROP TABLE ledger_schema`,
		`CREATE TABLE ledger_schema (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL, is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now')))`,
		versions,
		`ANALYZE`,
	} {
		mustExec(t, db, s)
	}
	l := open(t, location, "")
	release(t, l, ask(little), "on")
	verified(t, l)
	l.Close()
	for _, version := range []int64{1, ledger.SchemaVersion} {
		if err := ledger.Migrate(context.Background(), location, version); err != nil {
			t.Error(err)
		}
	}
	verified(t, open(t, location, ""))
}

// split cuts at the statements' ends, but not in a body.
func split(statements string) []string {
	if strings.Contains(statements, "BEGIN") {
		if head, tail, found := strings.Cut(statements, "END $$; "); found {
			return []string{head + "END $$", tail}
		}
		return []string{statements}
	}
	return strings.Split(statements, "; ")
}

// TestALongRowIsRefusedUnread on either store, wherever it stands. What it costs in
// memory is TestHostileStoresTakeLittleMemory.
func TestALongRowIsRefusedUnread(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		l := history(t, location)
		db := raw(t, location)
		mend := snapshot(t, db)
		long := func(n int) []byte { return bytes.Repeat([]byte{'x'}, n) }
		for name, tamper := range map[string]func(){
			"entry":      func() { mustExec(t, db, `UPDATE ledger_entries SET body = $1 WHERE seq = 4`, long(5<<20)) },
			"last entry": func() { mustExec(t, db, `UPDATE ledger_entries SET body = $1 WHERE seq = 13`, long(5<<20)) },
			"hash":       func() { mustExec(t, db, `UPDATE ledger_entries SET hash = $1 WHERE seq = 4`, long(1<<20)) },
			"release":    func() { mustExec(t, db, `UPDATE ledger_releases SET body = $1 WHERE seq = 4`, long(65<<20)) },
			"sums":       func() { mustExec(t, db, `UPDATE ledger_analysts SET body = $1`, long(2<<20)) },
			"head":       func() { mustExec(t, db, `UPDATE ledger_datasets SET head = $1`, long(1<<20)) },
			"fingerprint": func() {
				mustExec(t, db, `INSERT INTO ledger_sightings (fingerprint, dataset) VALUES ($1, 1)`, strings.Repeat("é", 2500))
			},
			"witness": func() {
				mustExec(t, db, `INSERT INTO ledger_witnesses (dataset, place) VALUES (1, $1)`, strings.Repeat("x", 5000))
			},
		} {
			if stores[1].name == "postgres" && strings.HasPrefix(location, "postgres") && (name == "fingerprint" || name == "witness") {
				continue // no index of it takes so long a row
			}
			tamper()
			err := l.Verify(ctx)
			if name == "witness" {
				_, err = l.State(ctx)
			}
			if !errors.Is(err, ledger.ErrStore) || !strings.Contains(err.Error(), "longer than this program writes") {
				t.Errorf("%s: %v; want ErrStore that says it is too long", name, err)
			}
			mend()
			mustExec(t, db, `DELETE FROM ledger_witnesses`)
			verified(t, l)
		}
	})
}

// TestWhatIsTooLongIsNotWritten: what could not be read again.
func TestWhatIsTooLongIsNotWritten(t *testing.T) {
	ctx := context.Background()
	l := create(t, stores[0].make(t), plain(someBudget))
	g, err := l.Charge(ctx, ask(little))
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Receipt.Redeem(g.Entry.Charge.Adjacency, little); err != nil {
		t.Fatal(err)
	}
	if err := l.Record(ctx, g.Receipt, make([]byte, 64<<20+1)); !errors.Is(err, ledger.ErrStore) {
		t.Errorf("a release of more than 64 MiB: %v; want ErrStore", err)
	}
	if err := l.Record(ctx, g.Receipt, bytes.Repeat([]byte("0123456789abcdef"), largestRelease<<16)); err != nil {
		t.Errorf("a release of %d MiB: %v", largestRelease, err)
	}
	verified(t, l)
	if _, _, err := ledger.VerifyBackup(bytes.NewReader(backup(t, l))); err != nil {
		t.Errorf("a backup of it: %v", err)
	}
}

// endless is a line without an end.
type endless struct{ start string }

func (e *endless) Read(p []byte) (int, error) {
	if n := copy(p, e.start); n > 0 {
		e.start = e.start[n:]
		return n, nil
	}
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// A line that never ends is given up, and so is a schema as long as a film.
func TestLinesWithoutAnEndAreRefused(t *testing.T) {
	for _, start := range []string{"", `{"backup":{"format":"`, `{"line":{"hash":"`, `{"release":{"charge":1,"body":"`, `{"hash":"`, "\n"} {
		if _, _, err := ledger.VerifyBackup(&endless{start}); !errors.Is(err, ledger.ErrBackup) {
			t.Errorf("backup %q: %v; want ErrBackup", start, err)
		}
	}
	for _, start := range []string{"", `{"hash":"`, "\n"} {
		if _, _, err := ledger.VerifyExport(&endless{start}); !errors.Is(err, ledger.ErrBackup) {
			t.Errorf("export %q: %v; want ErrBackup", start, err)
		}
	}
	location := stores[0].make(t)
	history(t, location).Close()
	db := raw(t, location)
	// As a statement of that length it would be parsed first, several times.
	mustExec(t, db, `CREATE TABLE songs (name TEXT); PRAGMA writable_schema = on;
		UPDATE sqlite_schema SET sql = 'CREATE TABLE songs (name TEXT DEFAULT ''' || hex(zeroblob(36 << 20)) || ''')' WHERE name = 'songs'`)
	if _, err := ledger.Open(context.Background(), location, ""); err == nil || !errors.Is(err, ledger.ErrStore) && !errors.Is(err, ledger.ErrNotLedger) {
		t.Errorf("a schema of 72 MB: %v", err)
	}
}

// TestAKilledBackupLeavesNoFileOfItsName: not even one that was written whole and
// was not yet on the disk.
func TestAKilledBackupLeavesNoFileOfItsName(t *testing.T) {
	location := filepath.Join(t.TempDir(), "budget.db")
	l := history(t, location)
	p := launch(t, "backup", location, 1)
	p.start()
	if !p.lines.Scan() || p.lines.Text() != "written" {
		t.Fatalf("helper: %q", p.lines.Text())
	}
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.rest()
	if _, err := os.Lstat(backupOf(location)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v; want no file", err)
	}
	verified(t, l)
	if err := saveBackup(l, location, func() {}); err != nil {
		t.Error(err)
	}
}

// long fills a row of a SQLite store with zeros, without having them in memory.
func long(t *testing.T, db *sql.DB, table, where string, n int) {
	mustExec(t, db, fmt.Sprintf(`UPDATE %s SET body = zeroblob(%d) WHERE %s`, table, n, where))
}
