package source_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/discreet-rl/discreet/internal/source"
)

// Example lists the files of a directory of partitions.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	for _, name := range []string{"year=2025/a.csv", "year=2026/b.csv", "year=2026/_SUCCESS"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			panic(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			panic(err)
		}
	}
	files, err := source.Find(context.Background(), dir)
	for _, f := range files {
		fmt.Println(filepath.Base(f))
	}
	fmt.Println(source.Partitions(files), err)
	// Output:
	// a.csv
	// b.csv
	// [year] <nil>
}
