package ledger_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp/ledger"
)

// persons are the ids from one number to another.
func persons(from, to int) []string {
	var all []string
	for i := from; i < to; i++ {
		all = append(all, fmt.Sprintf("p%d", i))
	}
	return all
}

// The case that led here: data with one more blank line were new to a ledger that
// refuses copies.
func TestMostlyTheSamePersonsAreNoticed(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		makes := func(name string, refuse bool) *ledger.Ledger {
			c := plain(someBudget)
			c.Dataset, c.RefuseCopies = name, refuse
			return create(t, location, c)
		}
		a, b, strict := makes("a", false), makes("b", false), makes("strict", true)
		charge := func(l *ledger.Ledger, data string, ids []string) ([]string, error) {
			c := ask(little)
			c.Units = slices.Values(ids)
			var err error
			if c.Fingerprint, err = l.FingerprintOf(strings.NewReader(data)); err != nil {
				t.Fatal(err)
			}
			g, err := l.Charge(ctx, c)
			if err != nil {
				return nil, err
			}
			return g.Warnings, nil
		}
		for i, step := range []struct {
			l     *ledger.Ledger
			data  string
			ids   []string
			about []string // one for each warning
		}{
			{a, "rows", persons(0, 400), nil},
			{a, "rows, later", persons(0, 420), []string{"not those of earlier charges"}}, // its own dataset is no other
			{b, "others", persons(1000, 1400), nil},
			{b, "a few of a", slices.Concat(persons(1000, 1400), persons(0, 100)), []string{"not those of earlier charges"}},
			{b, "rows\n", persons(0, 400), []string{"not those of earlier charges", `about 100% (standard error 0.0%) of the persons of these data are in dataset "a" too`}},
			{b, "rows", persons(0, 400), []string{`charged as dataset ["a"]`, "not those of earlier charges"}}, // told once
			{a, "a part", persons(0, 30), []string{"not those of earlier charges", `of these data are in dataset "b" too`}},
			{strict, "strangers", persons(5000, 5100), nil},
		} {
			got, err := charge(step.l, step.data, step.ids)
			if err != nil || len(got) != len(step.about) {
				t.Errorf("step %d: %q, %v; want %d warnings", i, got, err, len(step.about))
				continue
			}
			for j, about := range step.about {
				if !strings.Contains(got[j], about) {
					t.Errorf("step %d: %q; want it about %q", i, got[j], about)
				}
			}
		}
		before, err := strict.State(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for name, ids := range map[string][]string{"one blank line": persons(0, 400), "sorted": func() []string { p := persons(0, 400); slices.Reverse(p); return p }(), "some left out": persons(100, 400), "some added": slices.Concat(persons(0, 400), persons(9000, 9300))} {
			if _, err := charge(strict, name, ids); !errors.Is(err, ledger.ErrCopy) || !strings.Contains(err.Error(), "by their ids") {
				t.Errorf("%s: %v; want ErrCopy", name, err)
			}
		}
		if after, err := strict.State(ctx); err != nil || after.Head != before.Head {
			t.Errorf("refused and charged: %v, %v", after.Head, err)
		}
		if got, err := charge(strict, "more strangers", persons(5050, 5150)); err != nil || len(got) != 1 {
			t.Errorf("what was refused was noted: %q, %v", got, err)
		}
		for _, l := range []*ledger.Ledger{a, b, strict} {
			verified(t, l)
		}
	})
}

// A sketch stays in its store: an export, a backup and an entry have the same bytes
// whether the units are given or not, but for what is random in them. A restored
// ledger makes its sketch again.
func TestSketchesStayInTheStore(t *testing.T) {
	ctx := context.Background()
	location := stores[0].make(t)
	l := create(t, location, plain(someBudget))
	c := ask(little)
	c.Units = slices.Values(persons(0, 500))
	release(t, l, c, "x")
	var sketch []byte
	if err := raw(t, location).QueryRow(`SELECT body FROM ledger_sketches`).Scan(&sketch); err != nil || len(sketch) != 8*500 {
		t.Fatalf("a sketch of %d bytes, %v", len(sketch), err)
	}
	var export bytes.Buffer
	if err := l.Export(ctx, &export); err != nil {
		t.Fatal(err)
	}
	b := backup(t, l)
	if bytes.Contains(b, []byte("sketch")) || strings.Contains(export.String(), "sketch") || len(b) > export.Len()+1500 {
		t.Errorf("a backup of %d bytes and an export of %d of one charge hold more than it", len(b), export.Len())
	}
	to := stores[0].make(t)
	r, err := ledger.Restore(ctx, bytes.NewReader(b), to, ledger.RestoreOptions{LostNothing: true, Reason: "moved"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	count := func() (n int) {
		if err := raw(t, to).QueryRow(`SELECT count(*) FROM ledger_sketches`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := count(); n != 0 {
		t.Errorf("%d sketches were restored", n)
	}
	c.Key = ledger.NewKey()
	release(t, r, c, "y")
	if n := count(); n != 1 {
		t.Errorf("%d sketches after a charge; want 1", n)
	}
}
