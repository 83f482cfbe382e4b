package database_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/discreet-rl/discreet/internal/filelock"
	"github.com/discreet-rl/discreet/internal/service/database"
)

func Example() {
	dir, err := os.MkdirTemp("", "database")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	db, err := database.Open(ctx, filepath.Join(dir, "shop.db"), database.Options{})
	if err != nil {
		panic(err)
	}
	defer db.Close()
	schema := database.Schema{Name: "shop", Files: fstest.MapFS{
		"sqlite/00001_start.sql": {Data: []byte(`CREATE TABLE shop_item (name TEXT PRIMARY KEY)`)},
	}}
	if err := db.Migrate(ctx, schema); err != nil {
		panic(err)
	}
	fmt.Println(db.Ready(ctx, schema))
	// Output: <nil>
}

// schema is one of so many versions, in both dialects.
func schema(versions int) database.Schema {
	files := fstest.MapFS{}
	for v := 1; v <= versions; v++ {
		text := fmt.Sprintf("CREATE TABLE shop_t%d (id BIGINT PRIMARY KEY, note TEXT);\nINSERT INTO shop_t%d VALUES (1, 'x');", v, v)
		for _, dir := range []string{"sqlite", "postgres"} {
			files[fmt.Sprintf("%s/%05d_v.sql", dir, v)] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	return database.Schema{Name: "shop", Files: files}
}

func open(t testing.TB, location string) *database.DB {
	t.Helper()
	db, err := database.Open(t.Context(), location, database.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func file(t testing.TB) string { return filepath.Join(t.TempDir(), "shop.db") }

func TestVersionsAreAppliedOnceAndInOrder(t *testing.T) { versionsAreAppliedOnce(t, file(t)) }

func versionsAreAppliedOnce(t *testing.T, location string) {
	db := open(t, location)
	for _, versions := range []int{1, 1, 3, 3} {
		if err := db.Ready(t.Context(), schema(versions)); err == nil && versions == 3 {
			var n int
			if db.QueryRow(`SELECT count(*) FROM shop_t3`).Scan(&n) != nil {
				t.Error("ready before the third version was there")
			}
		}
		if err := db.Migrate(t.Context(), schema(versions)); err != nil {
			t.Fatalf("to %d: %v", versions, err)
		}
		if err := db.Ready(t.Context(), schema(versions)); err != nil {
			t.Error(err)
		}
	}
	for v := 1; v <= 3; v++ {
		var n int
		if err := db.QueryRow(fmt.Sprintf(`SELECT count(*) FROM shop_t%d`, v)).Scan(&n); err != nil || n != 1 {
			t.Errorf("version %d was applied %d times: %v", v, n, err)
		}
	}
	if err := db.Migrate(t.Context(), schema(2)); !errors.Is(err, database.ErrSchema) {
		t.Errorf("an older program found %v", err)
	}
	other := schema(3)
	for _, dir := range []string{"sqlite", "postgres"} {
		other.Files.(fstest.MapFS)[dir+"/00002_v.sql"] = &fstest.MapFile{Data: []byte(`CREATE TABLE shop_t2 (id BIGINT)`)}
	}
	if err := db.Migrate(t.Context(), other); !errors.Is(err, database.ErrSchema) {
		t.Errorf("a program with another second version found %v", err)
	}
	// A version that fails leaves nothing of itself and of those before it.
	broken := schema(5)
	for _, dir := range []string{"sqlite", "postgres"} {
		broken.Files.(fstest.MapFS)[dir+"/00005_v.sql"] = &fstest.MapFile{Data: []byte(`CREATE TABLE shop_t5 (id BIGINT); no SQL;`)}
	}
	if err := db.Migrate(t.Context(), broken); err == nil {
		t.Fatal("nonsense was applied")
	}
	if err := db.Ready(t.Context(), schema(3)); err != nil {
		t.Error(err)
	}
	var n int
	if err := db.QueryRow(`SELECT count(*) FROM shop_t4`).Scan(&n); err == nil {
		t.Error("the fourth version is there without the fifth")
	}
}

func TestFilesThatAreNoStoreOfTheService(t *testing.T) {
	path := file(t)
	db := open(t, path)
	if _, err := db.Exec(`CREATE TABLE diary (secret TEXT)`); err != nil {
		t.Fatal(err)
	}
	if err := db.Migrate(t.Context(), schema(1)); !errors.Is(err, database.ErrLocation) {
		t.Errorf("a file of something else: %v", err)
	}
	text := file(t)
	if err := os.WriteFile(text, make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(text, []byte("this is a diary and no database at all, page after page after page"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, location := range map[string]string{"a directory": t.TempDir(), "a text": text, "a URL": "postgres://user:secret@[::1"} {
		db, err := database.Open(t.Context(), location, database.Options{})
		if !errors.Is(err, database.ErrLocation) {
			t.Errorf("%s: %v", name, err)
		}
		if db != nil {
			t.Errorf("%s was opened", name)
		}
	}
}

func TestASQLiteStoreServesOneProcess(t *testing.T) {
	path := file(t)
	db := open(t, path)
	if _, err := database.Open(t.Context(), path, database.Options{}); !errors.Is(err, filelock.ErrHeld) {
		t.Errorf("a second one opened it: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, path)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v %v", info.Mode(), err)
	}
}

func TestUpdateIsWholeOrNothing(t *testing.T) { updateIsWholeOrNothing(t, file(t)) }

func updateIsWholeOrNothing(t *testing.T, location string) {
	db := open(t, location)
	if err := db.Migrate(t.Context(), schema(1)); err != nil {
		t.Fatal(err)
	}
	fail := errors.New("no")
	err := db.Update(t.Context(), func(tx *database.Tx) error {
		if _, err := tx.Exec(`INSERT INTO shop_t1 VALUES (2, 'y')`); err != nil {
			return err
		}
		return fail
	})
	var n int
	if e := db.QueryRow(`SELECT count(*) FROM shop_t1`).Scan(&n); !errors.Is(err, fail) || e != nil || n != 1 {
		t.Errorf("%v, %v: %d rows; want 1", err, e, n)
	}
	err = db.Update(t.Context(), func(tx *database.Tx) error {
		now, err := tx.Now(t.Context())
		if off := time.Since(time.UnixMicro(now)).Abs(); err != nil || off > time.Minute {
			t.Errorf("the clock is off by %v: %v", off, err)
		}
		var note string
		if err := tx.QueryRow(`SELECT note FROM shop_t1 WHERE id = 7` + tx.Locking("FOR UPDATE")).Scan(&note); !errors.Is(err, sql.ErrNoRows) {
			t.Error(err)
		}
		_, err = tx.Exec(`INSERT INTO shop_t1 VALUES (2, 'y')`)
		return err
	})
	if e := db.QueryRow(`SELECT count(*) FROM shop_t1`).Scan(&n); err != nil || e != nil || n != 2 {
		t.Errorf("%v, %v: %d rows; want 2", err, e, n)
	}
}

// A store in a directory that there is not is told as that, and not as another process that has it.
func TestAStoreWithoutADirectory(t *testing.T) {
	_, err := database.Open(t.Context(), filepath.Join(t.TempDir(), "none", "shop.db"), database.Options{})
	if !errors.Is(err, database.ErrLocation) || !strings.Contains(err.Error(), "its directory has to be there") || strings.Contains(err.Error(), "stop the other") {
		t.Errorf("%v", err)
	}
}

// A file of no bytes is no store: SQLite would begin a new one in it, where somebody may
// have lost the old. A file that is not there is begun, and is never empty afterwards.
func TestAnEmptyFileIsNoStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := database.Open(t.Context(), path, database.Options{}); !errors.Is(err, database.ErrLocation) || !strings.Contains(fmt.Sprint(err), "remove it to begin a new store") {
		t.Fatalf("%v; want the empty file refused, with the remedy", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	open(t, path)
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		t.Fatalf("%v, %v; want a file with something in it", info, err)
	}
}
