//go:build slow

package ledger_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
)

// observed is what helpers reported, put together.
type observed struct {
	at    map[string]int // kills, by the last reported step
	drawn map[string]bool
	asked map[string]bool
	shown map[string][]byte
}

func newObserved() *observed {
	return &observed{at: map[string]int{}, drawn: map[string]bool{}, asked: map[string]bool{}, shown: map[string][]byte{}}
}

func (o *observed) hear(t testing.TB, lines []string) {
	last := "ready"
	for _, line := range lines {
		f := strings.Fields(line)
		last = f[0]
		switch f[0] {
		case "asked":
			o.asked[f[1]] = true
		case "drawn":
			o.drawn[f[1]] = true
		case "shown":
			release, err := base64.StdEncoding.DecodeString(f[2])
			if err != nil {
				t.Fatal(err)
			}
			o.shown[f[1]] = release
		case "failed":
			t.Errorf("a helper failed: %s", line)
		}
	}
	o.at[last]++
}

// settle compares a ledger with what helpers reported: chain intact, budget
// kept, no noise without a charge, no release without its record, every charge
// recorded or visible as pending, and retries answered accordingly. It returns the
// numbers of charges and of pending ones.
func (o *observed) settle(t testing.TB, l *ledger.Ledger, event dp.Event) (charges, pending int) {
	t.Helper()
	ctx := context.Background()
	verified(t, l)
	s, err := l.State(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if s.Spent.Epsilon > s.Budget.Epsilon || s.Spent.Delta > s.Budget.Delta {
		t.Errorf("spent %v of %v", s.Spent, s.Budget)
	}
	charged, recorded := map[string]bool{}, map[int64]bool{}
	bySeq := map[int64]string{}
	for n, err := range l.Entries(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		switch chain.Kind(n.Kind) {
		case chain.Charge:
			charged[n.Charge.Key] = true
			bySeq[n.Seq] = n.Charge.Key
		case chain.Record:
			e, err := chain.Parse(n.Line)
			if err != nil {
				t.Fatal(err)
			}
			recorded[e.Record.Charge] = true
		}
	}
	for key := range o.drawn {
		if !charged[key] {
			t.Errorf("key %s: noise was drawn and nothing charged", key)
		}
	}
	for key := range charged {
		if !o.asked[key] {
			t.Errorf("key %s: charged and never asked for", key)
		}
	}
	for key, release := range o.shown {
		if err := l.VerifyRelease(ctx, release); err != nil {
			t.Errorf("key %s: a shown release: %v", key, err)
		}
	}
	visible := map[string]bool{}
	for _, p := range s.Pending {
		visible[p.Key] = true
	}
	for seq, key := range bySeq {
		if recorded[seq] == visible[key] {
			t.Errorf("key %s: recorded is %v and pending is %v", key, recorded[seq], visible[key])
		}
		c := ask(event)
		c.Key = key
		_, err := l.Charge(ctx, c)
		var r *ledger.RecordedError
		switch {
		case visible[key] && !errors.Is(err, ledger.ErrPending):
			t.Errorf("key %s: retry of a pending charge: %v", key, err)
		case !visible[key] && !errors.As(err, &r):
			t.Errorf("key %s: retry of a recorded charge: %v", key, err)
		case o.shown[key] != nil && !bytes.Equal(o.shown[key], r.Release):
			t.Errorf("key %s: a retry shows other bytes than the first time", key)
		}
	}
	return len(charged), len(s.Pending)
}
