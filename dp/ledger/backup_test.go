package ledger_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
)

func backup(t testing.TB, l *ledger.Ledger) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := l.Backup(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestBackupMovesBetweenStores(t *testing.T) {
	postgres(t)
	ctx := context.Background()
	for i, s := range stores {
		from, to := s.make(t), stores[1-i].make(t)
		l := history(t, from)
		c := ask(dp.Gaussian{NoiseMultiplier: 60})
		release(t, l, c, "kept\x00bytes")
		before, err := l.State(ctx)
		if err != nil {
			t.Fatal(err)
		}
		b := backup(t, l)
		if open, head, err := ledger.VerifyBackup(bytes.NewReader(b)); err != nil || head != before.Head || *open != l.Opening() {
			t.Errorf("backup of %v: %v, %v", before.Head, head, err)
		}
		moved, err := ledger.Restore(ctx, bytes.NewReader(b), to, ledger.RestoreOptions{LostNothing: true, Reason: "moved"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { moved.Close() })
		verified(t, moved)
		after, err := moved.State(ctx)
		if err != nil || after.Spent != before.Spent || after.Head.Seq != before.Head.Seq+1 || after.PendingCount != before.PendingCount || len(after.Warnings) != 1 {
			t.Errorf("restored %+v from %+v, %v", after, before, err)
		}
		if err := moved.VerifyHead(ctx, before.Head); err != nil {
			t.Error(err)
		}
		var recorded *ledger.RecordedError
		if _, err := moved.Charge(ctx, c); !errors.As(err, &recorded) || string(recorded.Release) != "kept\x00bytes" {
			t.Errorf("retry on the restored ledger: %v", err)
		}
		if l.Fingerprint().String() != moved.Fingerprint().String() {
			t.Error("fingerprints changed with the move")
		}
		release(t, moved, ask(dp.Gaussian{NoiseMultiplier: 60}), "on")
		verified(t, moved)
		if _, err := ledger.Restore(ctx, bytes.NewReader(b), to, ledger.RestoreOptions{LostNothing: true, Reason: "again"}); !errors.Is(err, ledger.ErrExists) {
			t.Errorf("restored over a ledger: %v", err)
		}
	}
}

func TestRestoreNeverRevivesBudgetSilently(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		l := create(t, location, plain(someBudget))
		e := dp.Gaussian{NoiseMultiplier: noiseFor(t, someBudget, 10)}
		for range 4 {
			release(t, l, ask(e), "x")
		}
		old := backup(t, l)
		g, err := l.Charge(ctx, ask(e))
		if err != nil {
			t.Fatal(err)
		}
		shown, _ := json.Marshal(map[string]any{"ledger": g.Receipt.Stamp()})
		if err := errors.Join(g.Receipt.Redeem(dp.ReplaceOne, e), l.Record(ctx, g.Receipt, shown)); err != nil {
			t.Fatal(err)
		}
		late, err := l.Charge(ctx, ask(e)) // in flight while the ledger is replaced
		if err != nil || late.Receipt.Redeem(dp.ReplaceOne, e) != nil {
			t.Fatal(err)
		}
		rest := func(r *ledger.Ledger) (n int) {
			for ; ; n++ {
				if _, err := r.Charge(ctx, ask(e)); err != nil {
					if !errors.Is(err, ledger.ErrBudget) {
						t.Fatal(err)
					}
					return n
				}
			}
		}
		restore := func(o ledger.RestoreOptions) (*ledger.Ledger, error) {
			r, err := ledger.Restore(ctx, bytes.NewReader(old), t.TempDir()+"/r.db", o)
			if err == nil {
				t.Cleanup(func() { r.Close() })
			}
			return r, err
		}
		for name, c := range map[string]struct {
			o    ledger.RestoreOptions
			want error
		}{
			"nothing declared": {ledger.RestoreOptions{Reason: "r"}, ledger.ErrConfig},
			"two declared":     {ledger.RestoreOptions{Reason: "r", LostNothing: true, LostEverything: true}, ledger.ErrConfig},
			"no reason":        {ledger.RestoreOptions{LostNothing: true}, ledger.ErrConfig},
			"a later release":  {ledger.RestoreOptions{Reason: "r", LostNothing: true, Releases: [][]byte{shown}}, ledger.ErrBehind},
			"no release":       {ledger.RestoreOptions{Reason: "r", LostNothing: true, Releases: [][]byte{[]byte("{}")}}, ledger.ErrCharge},
		} {
			if _, err := restore(c.o); !errors.Is(err, c.want) {
				t.Errorf("%s: %v; want %v", name, err, c.want)
			}
		}
		for name, c := range map[string]struct {
			o    ledger.RestoreOptions
			want int
		}{
			"nothing":    {ledger.RestoreOptions{LostNothing: true}, 6},
			"two":        {ledger.RestoreOptions{Lost: dp.SelfComposed{Count: 2, Event: e}, Releases: [][]byte{shown}}, 4},
			"more":       {ledger.RestoreOptions{Lost: dp.Gaussian{NoiseMultiplier: 0.01}}, 0},
			"everything": {ledger.RestoreOptions{LostEverything: true}, 0},
		} {
			c.o.Reason = "disk failed"
			r, err := restore(c.o)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := r.VerifyRelease(ctx, shown); !errors.Is(err, ledger.ErrBehind) {
				t.Errorf("%s lost: a release from after the backup: %v; want ErrBehind", name, err)
			}
			if err := r.Record(ctx, late.Receipt, []byte("x")); !errors.Is(err, ledger.ErrBehind) {
				t.Errorf("%s lost: a charge from after the backup was recorded: %v", name, err)
			}
			if n := rest(r); n != c.want {
				t.Errorf("%s lost: %d more charges; want %d", name, n, c.want)
			}
			if err := r.VerifyRelease(ctx, shown); !errors.Is(err, ledger.ErrBehind) {
				t.Errorf("%s lost, and charged on: a release from after the backup: %v; want ErrBehind", name, err)
			}
			s, err := r.State(ctx)
			if err != nil || len(s.Warnings) != 1 || s.Spent.Epsilon > someBudget.Epsilon {
				t.Errorf("%s lost: %+v, %v", name, s, err)
			}
			verified(t, r)
		}
	})
}

func TestDamagedBackupIsRefusedWhole(t *testing.T) {
	l := history(t, stores[0].make(t))
	good := string(backup(t, l))
	lines := strings.SplitAfter(good, "\n")
	join := func(lines ...[]string) string {
		var all []string
		for _, l := range lines {
			all = append(all, l...)
		}
		return strings.Join(all, "")
	}
	for name, bad := range map[string]string{
		"empty":              "",
		"text":               "hello\n",
		"cut in a line":      good[:len(good)/2],
		"without trailer":    join(lines[:len(lines)-2]),
		"line removed":       join(lines[:5], lines[6:]),
		"lines exchanged":    join(lines[:5], lines[6:7], lines[5:6], lines[7:]),
		"last entry removed": join(lines[:14], lines[15:]),
		"release removed":    join(lines[:15], lines[16:]),
		"event changed":      strings.Replace(good, `"noise_multiplier":51`, `"noise_multiplier":52`, 1),
		"release changed":    strings.Replace(good, `"body":"cmVsZWFzZSAw"`, `"body":"cmVsZWFzZSAx"`, 1),
		"key changed":        strings.Replace(good, `"fingerprint_key":"`, `"fingerprint_key":"AAAA`, 1),
	} {
		if bad == good {
			t.Fatalf("%s: nothing changed", name)
		}
		to := t.TempDir() + "/r.db"
		if _, err := ledger.Restore(context.Background(), strings.NewReader(bad), to, ledger.RestoreOptions{LostNothing: true, Reason: "r"}); !errors.Is(err, ledger.ErrBackup) {
			t.Errorf("%s: %v; want ErrBackup", name, err)
		}
		if _, err := ledger.Open(context.Background(), to, ""); !errors.Is(err, ledger.ErrNotLedger) {
			t.Errorf("%s: something was restored: %v", name, err)
		}
	}
}

func TestRestoreEntryIsVerified(t *testing.T) {
	l := history(t, stores[0].make(t))
	to := stores[0].make(t)
	r, err := ledger.Restore(context.Background(), bytes.NewReader(backup(t, l)), to, ledger.RestoreOptions{Lost: dp.Gaussian{NoiseMultiplier: 70}, Reason: "r"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	verified(t, r)
	db := raw(t, to)
	b := replace(t, body(t, db, 14), `"lost":{"kind":"gaussian","noise_multiplier":70}`, `"lost":{"kind":"gaussian","noise_multiplier":700}`)
	rewrite(t, db, 14, b)
	h := chain.Sum(b)
	mustExec(t, db, `UPDATE ledger_datasets SET head = $1`, h[:])
	var found *ledger.TamperError
	if err := r.Verify(context.Background()); !errors.As(err, &found) || found.Seq != 14 {
		t.Errorf("a cheaper loss: %v", err)
	}
}
