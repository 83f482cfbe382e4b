package ledger_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/fault"
)

// by is a small charge of an analyst.
func by(name string) ledger.Charge {
	c := ask(little)
	c.Analyst = name
	return c
}

func begin(t *testing.T, l *ledger.Ledger, c ledger.Charge, most, want int) int64 {
	t.Helper()
	id, n, err := l.BeginCheck(context.Background(), c, most)
	if err != nil || n != want || id == 0 {
		t.Fatalf("check %d, %d unpaid, %v; want %d", id, n, err, want)
	}
	return id
}

// unpaid holds the analysts of the checks that count against those that should.
func unpaid(t *testing.T, l *ledger.Ledger, want ...string) {
	t.Helper()
	all, err := l.FailedChecks(context.Background())
	var names []string
	for _, c := range all {
		names = append(names, c.Analyst)
	}
	if err != nil || fmt.Sprint(names) != fmt.Sprint(want) {
		t.Errorf("unpaid checks of %v, %v; want %v", names, err, want)
	}
}

// A check counts from before it begins until it is paid for or cleared, for the steward
// alone: no entry, no export and no backup has it, and no release can show how many
// there were.
func TestFailedChecksAreTheStewardsAlone(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		l := create(t, location, plain(someBudget))
		written := func() string {
			var out bytes.Buffer
			if err := l.Export(ctx, &out); err != nil {
				t.Fatal(err)
			}
			return out.String()
		}
		before, last := written(), int64(0)
		for i := range 3 {
			if err := l.MayCheck(ctx, 3); err != nil {
				t.Errorf("after %d: %v", i, err)
			}
			last = begin(t, l, by(fmt.Sprintf("analyst%d", i)), 3, i+1)
		}
		if err := l.MayCheck(ctx, 3); err != nil {
			t.Errorf("one of three may be gone on with: %v", err)
		}
		if err := l.FailCheck(ctx, last); err != nil {
			t.Fatal(err)
		}
		_, _, err := l.BeginCheck(ctx, by("analyst4"), 3)
		for _, err := range []error{err, l.MayCheck(ctx, 3)} {
			if !errors.Is(err, ledger.ErrChecks) || fault.Of(err) != fault.RefusedFault {
				t.Errorf("%v; want ErrChecks", err)
			}
		}
		if err := l.MayCheck(ctx, 4); err != nil {
			t.Error(err)
		}
		if written() != before {
			t.Error("an export has the failed checks")
		}
		var backup bytes.Buffer
		if err := l.Backup(ctx, &backup); err != nil || strings.Contains(backup.String(), "analyst0") {
			t.Errorf("a backup has them, or %v", err)
		}
		verified(t, l)
		s, err := open(t, location, "trial").State(ctx)
		if err != nil || len(s.FailedChecks) != 3 || s.FailedChecks[1].Analyst != "analyst1" || s.FailedChecks[1].Time.IsZero() || s.Head.Seq != 0 {
			t.Errorf("%+v, %v", s.FailedChecks, err)
		}
		if text, err := json.Marshal(s.FailedChecks[0]); err != nil || strings.Count(string(text), ":") != 2+2 {
			t.Errorf("%s, %v; want a time and an analyst", text, err)
		}
		all, err := l.ClearChecks(ctx)
		if err != nil || len(all) != 3 {
			t.Errorf("%v, %v", all, err)
		}
		if err := l.MayCheck(ctx, 1); err != nil {
			t.Error(err)
		}
	})
}

// A charge takes back its own check and no other, whether it is the last or not, and
// one that was cleared is not mistaken for a later one. A charge that is refused takes
// back nothing; one that was paid for before does.
func TestAChargeTakesBackItsCheck(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		l := create(t, location, plain(someBudget))
		charge := func(c ledger.Charge, check int64) error {
			c.Check = check
			_, err := l.Charge(ctx, c)
			return err
		}
		first := begin(t, l, by("a"), 9, 1)
		second := begin(t, l, by("b"), 9, 2)
		third := begin(t, l, by("c"), 9, 3)
		if err := charge(by("b"), second); err != nil {
			t.Fatal(err)
		}
		unpaid(t, l, "a", "c")
		if err := charge(by("c"), third); err != nil {
			t.Fatal(err)
		}
		unpaid(t, l, "a")
		if again := begin(t, l, by("d"), 9, 2); again == second || again == third {
			t.Errorf("number %d comes twice", again)
		}
		if _, err := l.ClearChecks(ctx); err != nil {
			t.Fatal(err)
		}
		begin(t, l, by("e"), 9, 1)
		if err := charge(by("a"), first); err != nil {
			t.Fatal(err)
		}
		unpaid(t, l, "e")
		large := by("f")
		large.Event = dp.Gaussian{NoiseMultiplier: 0.01}
		sixth := begin(t, l, by("f"), 9, 2)
		if err := charge(large, sixth); !errors.Is(err, ledger.ErrBudget) {
			t.Fatalf("%v; want ErrBudget", err)
		}
		unpaid(t, l, "e", "f")
		known := by("g")
		release(t, l, known, "{}")
		var recorded *ledger.RecordedError
		if err := charge(known, begin(t, l, known, 9, 3)); !errors.As(err, &recorded) {
			t.Fatalf("%v; want the recorded release", err)
		}
		unpaid(t, l, "e", "f")
		if err := charge(by("h"), 0); err != nil {
			t.Fatal(err)
		}
		unpaid(t, l, "e", "f")
		verified(t, l)
	})
}

// Of many checks at once no more begin than may fail, whatever becomes of them.
func TestChecksAtOnceAreNoMoreThanMayFail(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		l := create(t, location, plain(someBudget))
		m := open(t, location, "trial")
		const most = 3
		var begun atomic.Int64
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() {
				_, _, err := []*ledger.Ledger{l, m}[i%2].BeginCheck(context.Background(), by("ann"), most)
				if err == nil {
					begun.Add(1)
				} else if !errors.Is(err, ledger.ErrChecks) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if begun.Load() != most {
			t.Errorf("%d checks began; want %d", begun.Load(), most)
		}
		unpaid(t, l, "ann", "ann", "ann")
	})
}

// Who may not charge may not have the data looked at, and uses up no check of others.
func TestWhoMayNotChargeBeginsNoCheck(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		l := create(t, location, ledger.Config{Dataset: "trial", Adjacency: dp.ReplaceOne, Budget: someBudget})
		if err := l.SetShare(ctx, "ada", dp.Budget{Epsilon: someBudget.Epsilon / 2, Delta: someBudget.Delta / 2}); err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			change func(*ledger.Charge)
			want   error
		}{
			"not on the list":   {func(c *ledger.Charge) { c.Analyst = "eve" }, ledger.ErrAnalyst},
			"an invisible mark": {func(c *ledger.Charge) { c.Analyst = "ada\u0001" }, ledger.ErrCharge},
			"a long name":       {func(c *ledger.Charge) { c.Analyst = strings.Repeat("a", 5000) }, ledger.ErrCharge},
			"no name":           {func(c *ledger.Charge) { c.Analyst = "" }, ledger.ErrCharge},
			"a purpose":         {func(c *ledger.Charge) { c.Purpose = "two\nlines" }, ledger.ErrCharge},
			"a key":             {func(c *ledger.Charge) { c.Key = "two\nlines" }, ledger.ErrCharge},
			"a hash":            {func(c *ledger.Charge) { c.ConfigHash = "\xff" }, ledger.ErrCharge},
			"adjacency":         {func(c *ledger.Charge) { c.Adjacency = dp.AddRemoveOne }, ledger.ErrAdjacency},
			"unit":              {func(c *ledger.Charge) { c.Unit = "row" }, ledger.ErrUnit},
			"contract":          {func(c *ledger.Charge) { c.Contract = 1 }, ledger.ErrContract},
			"budget":            {func(c *ledger.Charge) { c.Event = dp.Gaussian{NoiseMultiplier: 0.01} }, ledger.ErrBudget},
		} {
			asked := by("ada")
			c.change(&asked)
			if _, _, err := l.BeginCheck(ctx, asked, 9); !errors.Is(err, c.want) {
				t.Errorf("%s: %v; want %v", name, err, c.want)
			}
		}
		unpaid(t, l)
		place := filepath.Join(t.TempDir(), "witness")
		if err := l.AddWitness(ctx, place); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(place); err != nil {
			t.Fatal(err)
		}
		if _, _, err := l.BeginCheck(ctx, by("ada"), 9); !errors.Is(err, ledger.ErrWitness) {
			t.Errorf("a witness that is gone: %v; want ErrWitness", err)
		}
		if err := l.RemoveWitness(ctx, place); err != nil {
			t.Fatal(err)
		}
		begin(t, l, by("ada"), 9, 1)
	})
}

// Another dataset of the store has checks of its own.
func TestChecksAreOfADataset(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		ctx := context.Background()
		l := create(t, location, plain(someBudget))
		other := plain(someBudget)
		other.Dataset = "other"
		m := create(t, location, other)
		var all sync.WaitGroup
		for i := range 6 {
			all.Go(func() {
				if _, _, err := []*ledger.Ledger{l, m}[i%2].BeginCheck(ctx, by("ann"), 9); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if _, err := m.ClearChecks(ctx); err != nil {
			t.Fatal(err)
		}
		unpaid(t, l, "ann", "ann", "ann")
		unpaid(t, m)
	})
}
