package ledger_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
)

// A charge into a file that was removed or replaced would be in no ledger.
func TestFileThatIsGoneTakesNoCharge(t *testing.T) {
	ctx := context.Background()
	e := dp.Gaussian{NoiseMultiplier: 100}
	for name, lose := range map[string]func(t *testing.T, path string){
		"removed": func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		},
		"moved": func(t *testing.T, path string) {
			if err := os.Rename(path, path+".old"); err != nil {
				t.Fatal(err)
			}
		},
		"replaced by a copy": func(t *testing.T, path string) {
			b, err := os.ReadFile(path)
			if err := errors.Join(err, os.Remove(path), os.WriteFile(path, b, 0o600)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := stores[0].make(t)
			l := create(t, path, plain(someBudget))
			g, err := l.Charge(ctx, ask(e))
			if err != nil || g.Receipt.Redeem(dp.ReplaceOne, e) != nil {
				t.Fatal(err)
			}
			lose(t, path)
			if _, err := l.Charge(ctx, ask(e)); !errors.Is(err, ledger.ErrStore) {
				t.Errorf("charge: %v; want ErrStore", err)
			}
			if err := l.Record(ctx, g.Receipt, []byte("x")); !errors.Is(err, ledger.ErrStore) {
				t.Errorf("record: %v; want ErrStore", err)
			}
			if s, err := l.State(ctx); !errors.Is(err, ledger.ErrStore) {
				t.Errorf("the state is shown: %+v, %v; want ErrStore", s, err)
			}
		})
	}
}

// An old copy put in the place of the ledger does not know the charge whose
// release is to be recorded.
func TestOldCopyIsNoticedWhenRecording(t *testing.T) {
	ctx := context.Background()
	path := stores[0].make(t)
	l := create(t, path, plain(someBudget))
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	e := dp.Gaussian{NoiseMultiplier: 100}
	g, err := l.Charge(ctx, ask(e))
	if err != nil || g.Receipt.Redeem(dp.ReplaceOne, e) != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := os.WriteFile(path, old, 0o600); err != nil {
		t.Fatal(err)
	}
	again := open(t, path, "")
	if err := again.Record(ctx, g.Receipt, []byte("x")); !errors.Is(err, ledger.ErrBehind) {
		t.Errorf("record on an old copy: %v; want ErrBehind", err)
	}
	if err := again.VerifyHead(ctx, g.Receipt.Stamp().Head); !errors.Is(err, ledger.ErrBehind) {
		t.Errorf("verify against the head that left: %v; want ErrBehind", err)
	}
}

func TestCancelledContextChargesNothing(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		l := create(t, location, plain(someBudget))
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := l.Charge(ctx, ask(dp.Gaussian{NoiseMultiplier: 100})); !errors.Is(err, context.Canceled) {
			t.Errorf("charge: %v; want the context's error", err)
		}
		s, err := l.State(context.Background())
		if err != nil || s.Charges != 0 {
			t.Errorf("%+v, %v", s, err)
		}
		release(t, l, ask(dp.Gaussian{NoiseMultiplier: 100}), "x")
	})
}

// The wait for another writer ends with the context.
func TestWaitForALockEndsWithTheContext(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		l := create(t, location, plain(someBudget))
		db := raw(t, location)
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		if _, err := tx.Exec(`UPDATE ledger_datasets SET seq = seq`); err != nil { // takes the lock
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 400*time.Millisecond)
		defer cancel()
		if _, err := l.Charge(ctx, ask(dp.Gaussian{NoiseMultiplier: 100})); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("charge beside another writer: %v; want the context's error", err)
		}
		tx.Rollback()
		release(t, l, ask(dp.Gaussian{NoiseMultiplier: 100}), "x")
		verified(t, l)
	})
}
