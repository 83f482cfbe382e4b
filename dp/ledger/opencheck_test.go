package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
)

// about is a charge of a key for a question about data.
func about(l *ledger.Ledger, key, question, data string) ledger.Charge {
	c := by("ann")
	c.Key, c.ConfigHash = key, question
	f := l.Fingerprint()
	_, _ = f.Write([]byte(data))
	c.Fingerprint = f.String()
	return c
}

// Checks that are cut off one after the other let somebody look at most at so many pairs of a
// question and data as checks may fail, however often, and in whatever order they come back.
// One pair may be looked at again and again: it has one answer.
func TestManyInterruptsTeachNoMoreThanFailedChecks(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		const most = 3
		l := create(t, location, plain(someBudget))
		seed := uint64(time.Now().UnixNano())
		t.Logf("seed %d", seed)
		r := rand.New(rand.NewPCG(seed, 1))
		looked := map[string]bool{}
		for range 400 {
			key, question, data := fmt.Sprintf("k%d", r.IntN(3)), fmt.Sprintf("q%d", r.IntN(3)), fmt.Sprintf("d%d", r.IntN(3))
			_, n, err := l.BeginCheck(context.Background(), about(l, key, question, data), most)
			switch {
			case err == nil:
				looked[question+data] = true
			case !errors.Is(err, ledger.ErrChecks):
				t.Fatal(err)
			}
			if n > most || len(looked) > most {
				t.Fatalf("%d checks, and %d pairs of question and data; want at most %d", n, len(looked), most)
			}
		}
		again := about(l, "one more", "q", "d")
		if _, _, err := l.BeginCheck(context.Background(), again, most+1); err != nil {
			t.Fatal(err)
		}
		for range 100 {
			if _, n, err := l.BeginCheck(context.Background(), again, most); err != nil || n != most+1 {
				t.Fatalf("the open check is %d, %v", n, err)
			}
		}
	})
}

// An open check goes on under its key, question, analyst, program and data, as the same
// count, and the charge takes it back. Whatever differs is another check, which closes it.
func TestOnlyTheSameQuestionAboutTheSameDataGoesOn(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		l := create(t, location, plain(someBudget))
		c := about(l, "k", "q", "d")
		id := begin(t, l, c, 99, 1)
		if again := begin(t, open(t, location, "trial"), c, 99, 1); again != id {
			t.Errorf("check %d goes on as %d", id, again)
		}
		n := 1
		for name, change := range map[string]func(*ledger.Charge){
			"key":      func(c *ledger.Charge) { c.Key = "other" },
			"question": func(c *ledger.Charge) { c.ConfigHash = "other" },
			"analyst":  func(c *ledger.Charge) { c.Analyst = "other" },
			"program":  func(c *ledger.Charge) { c.CodeVersion = "other" },
			"event":    func(c *ledger.Charge) { c.Event = dp.Gaussian{NoiseMultiplier: 77} },
			"data":     func(c *ledger.Charge) { c.Fingerprint = about(l, "k", "q", "other").Fingerprint },
			"no data":  func(c *ledger.Charge) { c.Fingerprint = "" },
		} {
			other := c
			change(&other)
			n++
			if id == begin(t, l, other, 99, n) {
				t.Errorf("another %s goes on", name)
			}
			n++
			if closed := begin(t, l, c, 99, n); closed == id {
				t.Errorf("another %s did not close it", name)
			} else {
				id = closed
			}
		}
		if err := l.FailCheck(ctx, id); err != nil {
			t.Fatal(err)
		}
		n++
		if begin(t, l, c, 99, n) == id {
			t.Error("a check that failed goes on")
		} else if id = begin(t, l, c, 99, n); l.MayCheck(ctx, n) != nil || l.MayCheck(ctx, n-1) == nil {
			t.Error("the open check is to be the only one that need not be cleared")
		}
		c.Check = id
		if _, err := l.Charge(ctx, c); err != nil {
			t.Fatal(err)
		}
		if all, err := l.FailedChecks(ctx); err != nil || len(all) != n-1 {
			t.Errorf("%d checks, %v; want the paid one taken back from %d", len(all), err, n)
		}
		if _, err := l.ClearChecks(ctx); err != nil {
			t.Fatal(err)
		}
		c.Check, c.Key = 0, "cleared"
		begin(t, l, c, 99, 1)
		if _, err := l.ClearChecks(ctx); err != nil {
			t.Fatal(err)
		}
		begin(t, l, c, 99, 1)
		for _, x := range []string{"\"q\"", "cleared", strings.TrimPrefix(c.Fingerprint, c.Fingerprint[:9])} {
			var n int
			if err := raw(t, location).QueryRow(`SELECT count(*) FROM ledger_open_checks WHERE asked LIKE $1`, "%"+x+"%").Scan(&n); err != nil || n != 0 {
				t.Errorf("the open check holds %s: %d, %v", x, n, err)
			}
		}
	})
}
