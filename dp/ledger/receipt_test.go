package ledger_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/discreet-rl/discreet/dp/ledger"
)

func TestReceiptIsUsedOnce(t *testing.T) {
	r := ledger.None()
	var granted atomic.Int64
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			if r.Redeem(0, nil) == nil {
				granted.Add(1)
			}
		})
	}
	all.Wait()
	if granted.Load() != 1 {
		t.Errorf("%d of 64 concurrent runs were granted on one receipt; want 1", granted.Load())
	}
}

func TestCopyOfAReceiptIsTheSameReceipt(t *testing.T) {
	r := ledger.None()
	copied := *r
	if err := copied.Redeem(0, nil); err != nil {
		t.Fatal(err)
	}
	if err := r.Redeem(0, nil); !errors.Is(err, ledger.ErrReceipt) {
		t.Errorf("a receipt and its copy were both redeemed: %v", err)
	}
}

func TestForgedReceiptIsRefused(t *testing.T) {
	var absent *ledger.Receipt
	for name, r := range map[string]*ledger.Receipt{"zero value": {}, "nil": absent} {
		if err := r.Redeem(0, nil); !errors.Is(err, ledger.ErrReceipt) {
			t.Errorf("%s: %v; want ErrReceipt", name, err)
		}
		if r.Charged() {
			t.Errorf("%s says that it was charged", name)
		}
	}
}

func ExampleNone() {
	r := ledger.None()
	fmt.Println(r.Charged(), r.Redeem(0, nil), r.Redeem(0, nil) != nil)
	// Output: false <nil> true
}
