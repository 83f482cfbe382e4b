package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
)

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	l, err := ledger.Create(ctx, filepath.Join(dir, "budget.db"), ledger.Config{
		Dataset: "trial", Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6}, NoReserve: true,
	})
	if err != nil {
		panic(err)
	}
	defer l.Close()

	// Charge first. The receipt entitles to one run of this event.
	ask := ledger.Charge{Key: "survey-2026-05", Analyst: "ann", Event: dp.Gaussian{NoiseMultiplier: 10}, Adjacency: dp.ReplaceOne}
	grant, err := l.Charge(ctx, ask)
	if err != nil {
		panic(err)
	}
	fmt.Println(grant.Receipt.Redeem(dp.ReplaceOne, ask.Event))

	// Record before anybody sees it.
	fmt.Println(l.Record(ctx, grant.Receipt, []byte("42.1")))

	// A retry with the same key costs nothing and shows the same bytes.
	var recorded *ledger.RecordedError
	_, err = l.Charge(ctx, ask)
	fmt.Println(errors.As(err, &recorded), string(recorded.Release))

	// What does not fit is refused, with what would.
	ask.Key = "survey-2026-06"
	_, err = l.Charge(ctx, ask)
	fmt.Println(err)
	fmt.Println(l.Verify(ctx))
	// Output:
	// <nil>
	// <nil>
	// true 42.1
	// privacy budget refused: dataset "trial": gaussian exceeds what is left of the budget; epsilon up to 0.5107 at delta 1e-06 would fit, or a noise multiplier of at least 15.8
	// <nil>
}
