package ledgerwallet_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/train/ledgerwallet"
	"github.com/discreet-rl/discreet/train"
)

// A budget of epsilon 2 covers two reports of epsilon 1, in whatever runs.
func Example() {
	dir, err := os.MkdirTemp("", "agents")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	store := ledgerwallet.NewStore(filepath.Join(dir, "agents.db"))
	report := dp.ApproximateDP{Epsilon: 1}
	for _, run := range []string{"run 1", "run 2", "run 3"} {
		wallet := store.Wallet("agent 7", dp.Budget{Epsilon: 2}, run)
		receipt, _, err := wallet.Debit(context.Background(), 0, report)
		if errors.Is(err, train.ErrBudget) {
			fmt.Println(run, "is refused")
			continue
		} else if err != nil {
			fmt.Println(err)
			return
		}
		// Noise is drawn under the receipt, and the report is kept before it is sent.
		if err := receipt.Redeem(dp.ReplaceOne, report); err != nil {
			fmt.Println(err)
			return
		}
		if err := wallet.Keep(context.Background(), 0, receipt, []byte("report")); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(run, "is paid for")
	}
	// Output:
	// run 1 is paid for
	// run 2 is paid for
	// run 3 is refused
}
