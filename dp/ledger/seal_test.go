package ledger_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
)

// An export must not show which charges read equal data, and the store must still
// know.
func TestEqualDataDoNotShowInAnExport(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		l := create(t, location, plain(someBudget))
		fingerprint, err := l.FingerprintOf(strings.NewReader("rows"))
		if err != nil {
			t.Fatal(err)
		}
		c := ask(dp.Gaussian{NoiseMultiplier: 100})
		c.Fingerprint = fingerprint
		first := release(t, l, c, "x")
		for range 2 {
			d := ask(c.Event)
			d.Fingerprint = fingerprint
			if g := release(t, l, d, "y"); len(g.Warnings) > 0 {
				t.Errorf("the same data: %q", g.Warnings)
			}
		}
		// A retry with the fingerprint, or with what the entry holds, is a retry.
		for _, f := range []string{fingerprint, first.Entry.Charge.Fingerprint} {
			c.Fingerprint = f
			if _, err := l.Charge(ctx, c); !errors.Is(err, ledger.ErrRecorded) {
				t.Errorf("a retry on the same data: %v", err)
			}
		}
		var export bytes.Buffer
		if err := l.Export(ctx, &export); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for line := range strings.Lines(export.String()) {
			var x struct {
				Entry struct{ Charge *chain.ChargeBody }
			}
			if err := json.Unmarshal([]byte(line), &x); err != nil {
				t.Fatal(err)
			}
			if x.Entry.Charge != nil {
				parts := strings.Split(x.Entry.Charge.Fingerprint, ":")
				seen[parts[len(parts)-1]] = true
			}
		}
		if len(seen) != 3 {
			t.Errorf("three charges for equal data show %d fingerprints: %v", len(seen), seen)
		}
		if strings.Contains(export.String(), fingerprint[9:]) {
			t.Error("the export holds the fingerprint itself")
		}
		if _, _, err := ledger.VerifyExport(&export); err != nil {
			t.Error(err)
		}
		verified(t, l)
		// The key is in a backup, and with it the fingerprints.
		r, err := ledger.Restore(ctx, bytes.NewReader(backup(t, l)), stores[0].make(t), ledger.RestoreOptions{LostNothing: true, Reason: "moved"})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		verified(t, r)
		d := ask(c.Event)
		if d.Fingerprint, err = r.FingerprintOf(strings.NewReader("rows")); err != nil {
			t.Fatal(err)
		}
		if g := release(t, r, d, "z"); len(g.Warnings) > 0 {
			t.Errorf("the same data after a restore: %q", g.Warnings)
		}
		d = ask(c.Event)
		if d.Fingerprint, err = r.FingerprintOf(strings.NewReader("other rows")); err != nil {
			t.Fatal(err)
		}
		if g := release(t, r, d, "z"); len(g.Warnings) != 1 {
			t.Errorf("other data after a restore: %q", g.Warnings)
		}
	})
}

func TestAForeignFingerprintIsRefused(t *testing.T) {
	l, other := create(t, stores[0].make(t), plain(someBudget)), create(t, stores[0].make(t), plain(someBudget))
	sealed := release(t, other, func() ledger.Charge {
		c := ask(dp.Gaussian{NoiseMultiplier: 100})
		c.Fingerprint = other.Fingerprint().String()
		return c
	}(), "x").Entry.Charge.Fingerprint
	for _, f := range []string{"k:1", other.Fingerprint().String(), sealed, l.Fingerprint().String() + "0", "sealed:", strings.ToUpper(l.Fingerprint().String())} {
		c := ask(dp.Gaussian{NoiseMultiplier: 100})
		c.Fingerprint = f
		if _, err := l.Charge(context.Background(), c); !errors.Is(err, ledger.ErrCharge) {
			t.Errorf("%s: %v; want ErrCharge", f, err)
		}
	}
}

// TestOpenFingerprintsOfOldEntriesAreKnown turns the fingerprints of a ledger into
// those of earlier versions, which were not sealed.
func TestOpenFingerprintsOfOldEntriesAreKnown(t *testing.T) {
	ctx := context.Background()
	location := stores[0].make(t)
	l := history(t, location)
	db := raw(t, location)
	sealed := regexp.MustCompile(`"fingerprint":"sealed:[^"]*"`)
	prev := regexp.MustCompile(`"prev":"[0-9a-f]*"`)
	var last chain.Hash
	for seq := range 14 {
		b := body(t, db, seq)
		if seq > 0 {
			b = prev.ReplaceAll(b, []byte(`"prev":"`+last.String()+`"`))
		}
		b = sealed.ReplaceAll(b, []byte(`"fingerprint":"`+l.Fingerprint().String()+`"`))
		rewrite(t, db, seq, b)
		last = chain.Sum(b)
	}
	mustExec(t, db, `UPDATE ledger_datasets SET head = $1`, last[:])
	l = open(t, location, "trial") // the one above has seen another chain
	verified(t, l)
	if !bytes.Contains(body(t, db, 2), []byte(l.Fingerprint().String())) {
		t.Fatal("no entry has an open fingerprint; this test says nothing")
	}
	c := ask(dp.Gaussian{NoiseMultiplier: 60})
	c.Fingerprint = l.Fingerprint().String()
	if g := release(t, l, c, "on"); len(g.Warnings) > 0 {
		t.Errorf("the same data: %q", g.Warnings)
	}
	verified(t, l)
	r, err := ledger.Restore(ctx, bytes.NewReader(backup(t, l)), stores[0].make(t), ledger.RestoreOptions{LostNothing: true, Reason: "moved"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	verified(t, r)
}
