package ledger_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
)

// lookAlikes are other spellings of ada that a reader could take for it.
var lookAlikes = []string{"Ada", "ADA", "\u0430da", "\u0430d\u0430", "ａｄａ", "ad\u0251", "\U0001d41a\U0001d41d\U0001d41a", "a\u200bda", "ada\u200d", "ada\u00a0", "ad\u00e1", "ada\u0301", "\u1d43da", "ada.", "ada\u2024"}

// The case that led here: an analyst whose share is spent asks under another name.
func TestARefusedAnalystIsNotGrantedUnderALookAlike(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		l := create(t, location, plain(someBudget))
		e := dp.Gaussian{NoiseMultiplier: 25}
		as := func(name string) error {
			c := ask(e)
			c.Analyst = name
			fits := l.Fits(ctx, c)
			_, err := l.Charge(ctx, c)
			if (fits == nil) != (err == nil) {
				t.Errorf("%+q: Fits says %v and Charge %v", name, fits, err)
			}
			return err
		}
		if err := as("early"); err != nil {
			t.Fatalf("before the first share anybody may charge: %v", err)
		}
		if err := l.SetShare(ctx, "ada", dp.Budget{Epsilon: 0.4, Delta: 1e-6}); err != nil {
			t.Fatal(err)
		}
		var err error
		for n := 0; err == nil; n++ {
			if err = as("ada"); n == 0 && err != nil {
				t.Fatal(err)
			}
		}
		if !errors.Is(err, ledger.ErrShare) {
			t.Fatalf("the share ends with %v", err)
		}
		before, _ := l.State(ctx)
		for _, name := range append(lookAlikes, "early", "unnamed") {
			if err := as(name); !errors.Is(err, ledger.ErrAnalyst) && !errors.Is(err, ledger.ErrCharge) {
				t.Errorf("%+q was granted: %v", name, err)
			}
			if err := l.SetShare(ctx, name, dp.Budget{Epsilon: 0.1, Delta: 1e-7}); name != "ada." && name != "early" && name != "unnamed" && !errors.Is(err, ledger.ErrConfig) {
				t.Errorf("%+q was listed beside ada: %v", name, err)
			}
		}
		if err := as("ada"); !errors.Is(err, ledger.ErrShare) {
			t.Errorf("ada: %v", err)
		}
		if s, err := l.State(ctx); err != nil || s.Charges != before.Charges {
			t.Errorf("%d charges, %v; want %d", s.Charges, err, before.Charges)
		}
		verified(t, l)
	})
}

// TestListedNames is the closed list's rule, name by name. The pairs are those that
// the skeletons of UTS 39 make equal within these letters.
func TestListedNames(t *testing.T) {
	for _, c := range []struct {
		names string // set one after the other; the last is refused where it should be
		want  error
	}{
		{"ada", nil}, {"a", nil}, {"7", nil}, {"ada.lovelace@example.org", nil}, {"ada bob", nil}, {"ada ada", nil}, {"user1 user2", nil},
		{"team-1 team-2", nil}, {"o_o x+y", nil},
		{"ada1 adal", ledger.ErrConfig}, {"bob b0b", ledger.ErrConfig}, {"arnold amold", ledger.ErrConfig}, {"l1l lll", ledger.ErrConfig},
		{"Ada", ledger.ErrConfig}, {".ada", ledger.ErrConfig}, {"ada|x", ledger.ErrConfig}, {"žofie", ledger.ErrConfig}, {"ada/x", ledger.ErrConfig},
	} {
		l := create(t, stores[0].make(t), plain(someBudget))
		var err error
		for _, name := range strings.Fields(c.names) {
			if err != nil {
				t.Fatalf("%s: %v before the last", c.names, err)
			}
			err = l.SetShare(context.Background(), name, dp.Budget{Epsilon: 0.1, Delta: 1e-7})
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v; want %v", c.names, err, c.want)
		}
		verified(t, l)
	}
}

// A ledger of an earlier version has no list and stays as it was: who has no share
// may charge. Its first entry has the old bytes.
func TestAnOldLedgerStaysOpen(t *testing.T) {
	ctx := context.Background()
	config := plain(someBudget)
	config.OpenList = true
	l := create(t, stores[0].make(t), config)
	for n, err := range l.Entries(ctx, 0) {
		if err != nil || bytes.Contains(n.Line, []byte("closed_list")) {
			t.Errorf("%s, %v: not the bytes of earlier versions", n.Line, err)
		}
	}
	if err := l.SetShare(ctx, "Ada Lovelace", dp.Budget{Epsilon: 0.1, Delta: 1e-7}); err != nil {
		t.Errorf("a name as earlier versions took it: %v", err)
	}
	c := ask(dp.Gaussian{NoiseMultiplier: 50})
	c.Analyst = "žofie"
	if _, err := l.Charge(ctx, c); err != nil {
		t.Errorf("no share, and the list is open: %v", err)
	}
	verified(t, l)
}

// A program that does not know of the list appends what the list refuses.
func TestVerifyHoldsChargesAgainstTheList(t *testing.T) {
	location := stores[0].make(t)
	l := history(t, location)
	db := raw(t, location)
	last := replace(t, body(t, db, 12), `"analyst":"ann"`, `"analyst":"bob"`)
	rewrite(t, db, 12, last)
	next := replace(t, body(t, db, 13), `"prev":"`+prevOf(t, body(t, db, 13)), `"prev":"`+chain.Sum(last).String())
	rewrite(t, db, 13, next)
	h := chain.Sum(next)
	mustExec(t, db, `UPDATE ledger_datasets SET head = $1`, h[:])
	var found *ledger.TamperError
	if err := l.Verify(context.Background()); !errors.As(err, &found) || found.Seq != 12 || !strings.Contains(found.What, "closed list") {
		t.Errorf("%v; want entry 12 named", err)
	}
}
