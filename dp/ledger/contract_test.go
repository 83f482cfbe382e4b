package ledger_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/fault"
)

func agree(t *testing.T, l *ledger.Ledger, terms, reason string) int64 {
	t.Helper()
	body, err := l.SetContract(context.Background(), []byte(terms), reason)
	if err != nil {
		t.Fatal(err)
	}
	return body.Number
}

// A charge names the version by which its data were read, and that is the one in
// force. What is spent carries over from version to version, of every analyst.
func TestAChargeIsOfTheVersionInForce(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		l := create(t, location, plain(someBudget))
		version := func(n int64) ledger.Charge {
			c := ask(little)
			c.Contract = n
			return c
		}
		refused := func(n int64) {
			t.Helper()
			if _, err := l.Charge(ctx, version(n)); !errors.Is(err, ledger.ErrContract) || fault.Of(err) != fault.InputFault {
				t.Errorf("a charge of version %d: %v; want ErrContract", n, err)
			}
		}
		refused(1)
		first := version(0)
		release(t, l, first, "{}")
		if n := agree(t, l, `{"b": 1.0, "a": [1]}`, ""); n != 1 {
			t.Fatalf("version %d", n)
		}
		refused(0)
		refused(2)
		release(t, l, version(1), "{}")
		before, err := l.State(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if n := agree(t, l, `{"a":[2],"b":1}`, "more months"); n != 2 {
			t.Fatalf("version %d", n)
		}
		after, err := l.State(ctx)
		if err != nil || after.Spent != before.Spent || after.Totals != before.Totals || after.Left != before.Left || after.Analysts[0].Totals != before.Analysts[0].Totals {
			t.Errorf("a new version changed what is spent: %+v, then %+v, %v", before, after, err)
		}
		if c := after.Contract; c == nil || c.Number != 2 || string(c.Terms) != `{"a":[2],"b":1}` || c.Reason != "more months" {
			t.Errorf("contract %+v", after.Contract)
		}
		refused(1)
		release(t, l, version(2), "{}")
		// A retry of what an earlier version paid for is answered as ever.
		var old *ledger.RecordedError
		if _, err := l.Charge(ctx, first); !errors.As(err, &old) {
			t.Errorf("%v; want the recorded release", err)
		}
		verified(t, l)
		another := open(t, location, "trial")
		verified(t, another)
		if c, err := another.Contract(ctx); err != nil || c.Number != 2 {
			t.Errorf("%+v, %v", c, err)
		}
	})
}

func TestVersionsThatCannotBe(t *testing.T) {
	ctx := context.Background()
	l := create(t, stores[0].make(t), plain(someBudget))
	refuse := func(name, terms, reason string) {
		t.Helper()
		if _, err := l.SetContract(ctx, []byte(terms), reason); !errors.Is(err, ledger.ErrContract) {
			t.Errorf("%s: %v; want ErrContract", name, err)
		}
	}
	refuse("no JSON", `{`, "")
	refuse("two values of a key", `{"a":1,"a":2}`, "")
	refuse("a first version that is new", `{}`, "why")
	agree(t, l, `{"a":1}`, "")
	refuse("no reason", `{"a":2}`, "")
	refuse("two lines", `{"a":2}`, "one\ntwo")
	refuse("the same", `{ "a": 1.0 }`, "why")
	if s, err := l.State(ctx); err != nil || s.Head.Seq != 1 {
		t.Errorf("head %+v, %v", s.Head, err)
	}
}

// Of a new version and many charges of the old one that race, each charge is
// committed before the version or refused, and none after.
func TestAVersionRacesWithCharges(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		l := create(t, location, plain(dp.Budget{Epsilon: 9, Delta: 1e-5}))
		agree(t, l, `{"a":1}`, "")
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				c := ask(little)
				c.Contract = 1
				if _, err := l.Charge(ctx, c); err != nil && !errors.Is(err, ledger.ErrContract) {
					t.Error(err)
				}
			})
		}
		all.Go(func() {
			if _, err := l.SetContract(ctx, []byte(`{"a":2}`), "new"); err != nil {
				t.Error(err)
			}
		})
		all.Wait()
		verified(t, l)
		since := false
		for n, err := range l.Entries(ctx, 0) {
			if err != nil {
				t.Fatal(err)
			}
			since = since || n.Kind == "contract" && bytes.Contains(n.Line, []byte(`"number":2`))
			if since && n.Charge != nil {
				t.Errorf("entry %d is a charge of version %d after version 2", n.Seq, n.Charge.Contract)
			}
		}
	})
}

// Versions are of the chain: what is changed in one, or left out, is found, and a
// backup brings them back.
func TestVersionsAreVerified(t *testing.T) {
	ctx := context.Background()
	l := create(t, stores[0].make(t), plain(someBudget))
	agree(t, l, `{"a":1}`, "")
	c := ask(little)
	c.Contract = 1
	release(t, l, c, "{}")
	agree(t, l, `{"a":2}`, "erased persons")
	var export, backup bytes.Buffer
	if err := errors.Join(l.Export(ctx, &export), l.Backup(ctx, &backup)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ledger.VerifyExport(bytes.NewReader(export.Bytes())); err != nil {
		t.Error(err)
	}
	for name, edit := range map[string][2]string{
		"terms": {`"terms":{"a":2}`, `"terms":{"a":3}`}, "number": {`"contract":{"number":2,`, `"contract":{"number":3,`},
		"reason": {"erased persons", "more persons"}, "version of a charge": {`"contract":1}`, `"contract":2}`}, "no version": {`,"contract":1}`, `}`},
	} {
		if strings.Count(export.String(), edit[0]) == 0 {
			t.Errorf("%s: nothing to change in\n%s", name, export.String())
		}
		if _, _, err := ledger.VerifyExport(strings.NewReader(strings.ReplaceAll(export.String(), edit[0], edit[1]))); !errors.Is(err, ledger.ErrTampered) {
			t.Errorf("%s: %v; want ErrTampered", name, err)
		}
	}
	restored, err := ledger.Restore(ctx, &backup, stores[0].make(t), ledger.RestoreOptions{LostNothing: true, Reason: "moved"})
	if err != nil {
		t.Fatal(err)
	}
	defer restored.Close()
	verified(t, restored)
	if c, err := restored.Contract(ctx); err != nil || c == nil || c.Number != 2 || string(c.Terms) != `{"a":2}` {
		t.Errorf("%+v, %v", c, err)
	}
}
