package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/discreet-rl/discreet/dp/ledger/internal/store"
)

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	s, err := store.Create(ctx, filepath.Join(dir, "budget.db"))
	if err != nil {
		panic(err)
	}
	defer s.Close()
	row := store.Row{Hash: []byte("hash"), Body: []byte("body")}
	fmt.Println(s.Add(ctx, "trial", func(tx *store.Tx) error { return tx.Append(row) }))
	fmt.Println(s.View(ctx, "trial", func(tx *store.Tx) error {
		last, err := tx.Last()
		fmt.Printf("%d %s\n", last.Seq, last.Body)
		return err
	}))
	// Output:
	// <nil>
	// 0 body
	// <nil>
}
