package ledger_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
)

// The key of the fingerprints is the store's. With that of the backup beside
// datasets of another, data could be charged under two names unnoticed.
func TestRestoreKeepsCopiesVisible(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		l := create(t, stores[0].make(t), plain(someBudget))
		old := backup(t, l)
		other := plain(someBudget)
		other.Dataset, other.RefuseCopies = "other", true
		o := create(t, location, other)
		before := o.Fingerprint().String()
		options := ledger.RestoreOptions{LostNothing: true, Reason: "r"}
		if _, err := ledger.Restore(ctx, bytes.NewReader(old), location, options); !errors.Is(err, ledger.ErrConfig) {
			t.Fatalf("beside a dataset of another key: %v; want ErrConfig", err)
		}
		if names, err := ledger.Datasets(ctx, location); err != nil || len(names) != 1 {
			t.Errorf("after a refused restore there is %q, %v", names, err)
		}
		if after := open(t, location, "other").Fingerprint().String(); after != before {
			t.Error("a refused restore changed the key")
		}
		// Beside a dataset of the same key it is welcome, and copies are refused.
		home := stores[0].make(t)
		first, err := ledger.Restore(ctx, bytes.NewReader(old), home, options)
		if err != nil {
			t.Fatal(err)
		}
		defer first.Close()
		other.Dataset = "second"
		sealed := backup(t, create(t, home, other))
		location = stores[0].make(t)
		for _, b := range [][]byte{old, sealed} {
			r, err := ledger.Restore(ctx, bytes.NewReader(b), location, options)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			c := ask(dp.Gaussian{NoiseMultiplier: 100})
			if c.Fingerprint, err = r.FingerprintOf(strings.NewReader("data")); err != nil {
				t.Fatal(err)
			}
			_, err = r.Charge(ctx, c)
			if r.Dataset() == "second" && !errors.Is(err, ledger.ErrCopy) || r.Dataset() != "second" && err != nil {
				t.Errorf("%s: %v", r.Dataset(), err)
			}
		}
	})
}

var keyInBackup = regexp.MustCompile(`"fingerprint_key":("[^"]*"|null)`)

func TestBackupWithoutAWholeKeyIsRefused(t *testing.T) {
	good := backup(t, create(t, stores[0].make(t), plain(someBudget)))
	for _, key := range []string{`""`, `null`, `"AAAA"`, `"` + strings.Repeat("AAAA", 11) + `"`} {
		lines := strings.SplitAfter(string(good), "\n")
		lines[0] = keyInBackup.ReplaceAllString(lines[0], `"fingerprint_key":`+key)
		end := len(lines) - 2
		sum := sha256.Sum256([]byte(strings.Join(lines[:end], "")))
		lines[end] = regexp.MustCompile(`"sha256":"[0-9a-f]*"`).ReplaceAllString(lines[end], fmt.Sprintf(`"sha256":"%x"`, sum))
		to := filepath.Join(t.TempDir(), "r.db")
		_, err := ledger.Restore(context.Background(), strings.NewReader(strings.Join(lines, "")), to, ledger.RestoreOptions{LostNothing: true, Reason: "r"})
		if !errors.Is(err, ledger.ErrBackup) || !strings.Contains(err.Error(), "key") {
			t.Errorf("key %s: %v; want ErrBackup that speaks of the key", key, err)
		}
	}
}

// A restore, or a creation, that is interrupted at any moment leaves no file: an
// empty store would pass for a ledger that was never charged.
func TestInterruptedRestoreLeavesNoFile(t *testing.T) {
	old := backup(t, history(t, stores[0].make(t)))
	for name, make := range map[string]func(context.Context, string) (*ledger.Ledger, error){
		"restore": func(ctx context.Context, to string) (*ledger.Ledger, error) {
			return ledger.Restore(ctx, bytes.NewReader(old), to, ledger.RestoreOptions{LostNothing: true, Reason: "r"})
		},
		"create": func(ctx context.Context, to string) (*ledger.Ledger, error) {
			return ledger.Create(ctx, to, plain(someBudget))
		},
	} {
		dir := directory(t, true)
		for looks := 1; ; looks++ {
			to := filepath.Join(dir, fmt.Sprint(name, looks, ".db"))
			ctx, cancel := context.WithCancel(context.Background())
			n := 0
			l, err := make(meddling{ctx, func() {
				if n++; n == looks {
					cancel()
				}
			}}, to)
			cancel()
			if err == nil {
				verified(t, l)
				l.Close()
				if looks < 5 {
					t.Errorf("%s: interrupted at %d moments only", name, looks-1)
				}
				break
			}
			left, globErr := filepath.Glob(to + "*")
			if globErr != nil {
				t.Fatal(globErr)
			}
			// The dataset may be there whole: the interrupt then came after its commit.
			if names, err := ledger.Datasets(context.Background(), to); len(left) > 0 && (err != nil || len(names) == 0) {
				t.Errorf("%s: interrupted at look %d: %q is left, with datasets %q, %v", name, looks, left, names, err)
			}
		}
	}
}

// A file that was there before, even an empty one, is the curator's.
func TestFailedRestoreRemovesNobodysFile(t *testing.T) {
	old := backup(t, create(t, stores[0].make(t), plain(someBudget)))
	to := filepath.Join(t.TempDir(), "b.db")
	if err := os.WriteFile(to, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := ledger.Restore(ctx, bytes.NewReader(old), to, ledger.RestoreOptions{LostNothing: true, Reason: "r"}); err == nil {
		t.Fatal("restored under a context that was over")
	}
	if _, err := os.Stat(to); err != nil {
		t.Error(err)
	}
}
