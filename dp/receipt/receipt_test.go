package receipt_test

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/receipt"
)

func TestReceiptIsUsedOnce(t *testing.T) {
	r := receipt.None()
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
	r := receipt.None()
	copied := *r
	if err := copied.Redeem(0, nil); err != nil {
		t.Fatal(err)
	}
	if err := r.Redeem(0, nil); !errors.Is(err, receipt.ErrInvalid) {
		t.Errorf("a receipt and its copy were both redeemed: %v", err)
	}
}

func TestForgedReceiptIsRefused(t *testing.T) {
	var absent *receipt.Receipt
	for name, r := range map[string]*receipt.Receipt{"zero value": {}, "nil": absent} {
		if err := r.Redeem(0, nil); !errors.Is(err, receipt.ErrInvalid) {
			t.Errorf("%s: %v; want ErrInvalid", name, err)
		}
		if r.Charged() {
			t.Errorf("%s says that it was charged", name)
		}
	}
}

// TestIssueNeedsASeal that only package ledger can make: by reflection alone one
// gets a zero one.
func TestIssueNeedsASeal(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a receipt was issued without a seal")
		}
	}()
	f := reflect.ValueOf(receipt.Issue)
	f.Call([]reflect.Value{
		reflect.Zero(f.Type().In(0)), reflect.ValueOf(dp.ReplaceOne), reflect.ValueOf([]byte("{}")), reflect.ValueOf(receipt.Stamp{}),
	})
}

func ExampleNone() {
	r := receipt.None()
	fmt.Println(r.Charged(), r.Redeem(0, nil), r.Redeem(0, nil) != nil)
	// Output: false <nil> true
}
