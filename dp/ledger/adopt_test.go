package ledger_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
)

// A backup that was taken between a charge and its record: the release is honest,
// and only the restored ledger does not know it.
func TestReleaseRecordedAfterTheBackupIsRecordedAgain(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		l := create(t, location, plain(someBudget))
		event := dp.Gaussian{NoiseMultiplier: 100}
		release(t, l, ask(event), "earlier")
		c := ask(event)
		g := charged(t, l, c)
		old := backup(t, l)
		shown := encoded(t, stating(t, l, g))
		if err := errors.Join(l.Record(ctx, g.Receipt, shown), l.VerifyRelease(ctx, shown)); err != nil {
			t.Fatal(err)
		}
		before, err := l.State(ctx)
		if err != nil {
			t.Fatal(err)
		}
		restore := func(o ledger.RestoreOptions) *ledger.Ledger {
			t.Helper()
			o.Reason = "r"
			r, err := ledger.Restore(ctx, bytes.NewReader(old), stores[0].make(t), o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { r.Close() })
			verified(t, r)
			return r
		}
		for name, o := range map[string]ledger.RestoreOptions{
			"nothing": {LostNothing: true}, "event": {Lost: event}, "everything": {LostEverything: true},
		} {
			o.Releases = [][]byte{shown, shown}
			r := restore(o)
			if err := r.VerifyRelease(ctx, shown); err != nil {
				t.Errorf("%s lost: the release that was shown: %v", name, err)
			}
			var recorded *ledger.RecordedError
			if _, err := r.Charge(ctx, c); !errors.As(err, &recorded) || !bytes.Equal(recorded.Release, shown) {
				t.Errorf("%s lost: a retry gets %v; want the release that was shown", name, err)
			}
			if err := r.Record(ctx, g.Receipt, []byte("other")); !errors.Is(err, ledger.ErrRecorded) {
				t.Errorf("%s lost: other bytes for the same charge: %v", name, err)
			}
			s, err := r.State(ctx)
			if err != nil || s.PendingCount != 0 || o.LostNothing && s.Spent != before.Spent {
				t.Errorf("%s lost: %+v, %v", name, s, err)
			}
			again := restore(ledger.RestoreOptions{LostNothing: true}) // the backup is as good as before
			if err := again.VerifyRelease(ctx, shown); !errors.Is(err, ledger.ErrBehind) || errors.Is(err, ledger.ErrTampered) {
				t.Errorf("restored without the release: %v; want ErrBehind", err)
			}
		}
		// A backup of the restored ledger restores as well.
		second := backup(t, restore(ledger.RestoreOptions{LostNothing: true, Releases: [][]byte{shown}}))
		r, err := ledger.Restore(ctx, bytes.NewReader(second), stores[0].make(t), ledger.RestoreOptions{LostNothing: true, Releases: [][]byte{shown}, Reason: "r"})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if err := r.VerifyRelease(ctx, shown); err != nil {
			t.Error(err)
		}
		verified(t, r)
	})
}

func TestRestoreRefusesReleasesThatContradictTheBackup(t *testing.T) {
	ctx := context.Background()
	l := create(t, stores[0].make(t), plain(someBudget))
	event := dp.Gaussian{NoiseMultiplier: 100}
	kept := charged(t, l, ask(event))
	recorded := encoded(t, stating(t, l, kept))
	if err := l.Record(ctx, kept.Receipt, recorded); err != nil {
		t.Fatal(err)
	}
	g := charged(t, l, ask(event))
	old := backup(t, l)
	good := encoded(t, stating(t, l, g))
	later := charged(t, l, ask(event)).Spent
	changed := func(g *ledger.Grant, object, field string, value any) []byte {
		r := stating(t, l, g)
		r[object].(map[string]any)[field] = value
		return encoded(t, r)
	}
	hash := func(b []byte) []byte {
		return replace(t, b, `"entry":"`+g.Entry.Hash.String()[:8], `"entry":"00000000`)
	}
	for name, c := range map[string]struct {
		releases [][]byte
		want     error
	}{
		"other bytes of a recorded one": {[][]byte{append(bytes.Clone(recorded), ' ')}, ledger.ErrTampered},
		"two of one charge":             {[][]byte{good, append(bytes.Clone(good), ' ')}, ledger.ErrTampered},
		"another event":                 {[][]byte{changed(g, "privacy", "event", dp.Composed{Events: []dp.Event{event, event}})}, ledger.ErrRelease},
		"no charge":                     {[][]byte{changed(g, "ledger", "seq", 0)}, ledger.ErrTampered},
		"another hash":                  {[][]byte{hash(good)}, ledger.ErrTampered},
		"a number below 0":              {[][]byte{changed(g, "ledger", "seq", -1)}, ledger.ErrTampered},
		"another dataset":               {[][]byte{changed(g, "ledger", "dataset", "other")}, ledger.ErrBackup},
		"spent after the backup":        {[][]byte{changed(g, "ledger", "spent", later)}, ledger.ErrBehind},
	} {
		_, err := ledger.Restore(ctx, bytes.NewReader(old), stores[0].make(t), ledger.RestoreOptions{LostNothing: true, Releases: c.releases, Reason: "r"})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v; want %v", name, err, c.want)
		}
	}
	// With the loss declared, what was spent after the backup is no contradiction;
	// the release cannot be held against this ledger, and that is what it says.
	late := changed(g, "ledger", "spent", later)
	r, err := ledger.Restore(ctx, bytes.NewReader(old), stores[0].make(t), ledger.RestoreOptions{Lost: event, Releases: [][]byte{late}, Reason: "r"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.VerifyRelease(ctx, late); !errors.Is(err, ledger.ErrBehind) {
		t.Errorf("%v; want ErrBehind", err)
	}
}
