package sqlite_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/discreet-rl/discreet/internal/sqlite"
)

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "one?two.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		panic(err)
	}
	db, err := sqlite.Open(path, url.Values{"_pragma": {"journal_mode(wal)"}}, 0)
	if err != nil {
		panic(err)
	}
	defer db.Close()
	var mode string
	fmt.Println(db.QueryRow(`PRAGMA journal_mode`).Scan(&mode), mode)
	// Output: <nil> wal
}
