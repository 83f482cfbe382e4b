package witness_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/discreet-rl/discreet/dp/ledger/internal/witness"
)

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	place, err := witness.Parse(filepath.Join(dir, "head.ndjson"))
	if err != nil {
		panic(err)
	}
	_, err = place.Tail(ctx)
	fmt.Println(errors.Is(err, witness.ErrAbsent))
	if err := place.Append(ctx, []byte("entry 1\n")); err != nil {
		panic(err)
	}
	tail, err := place.Tail(ctx)
	fmt.Printf("%q %v\n", tail, err)
	// Output:
	// true
	// "entry 1\n" <nil>
}
