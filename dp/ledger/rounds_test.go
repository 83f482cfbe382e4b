package ledger_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
	"github.com/discreet-rl/discreet/internal/fault"
)

// rounds charges under a key, or goes on with its charge, and reads its rounds.
func rounds(t *testing.T, l *ledger.Ledger, c ledger.Charge) (*ledger.Rounds, *receipt.Receipt) {
	t.Helper()
	paid, err := l.Resume(t.Context(), c)
	if errors.Is(err, ledger.ErrCharge) {
		var g *ledger.Grant
		if g, err = l.Charge(t.Context(), c); err == nil {
			paid = g.Receipt
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Rounds(t.Context(), paid)
	if err != nil {
		t.Fatal(err)
	}
	return r, paid
}

// TestARoundHasOneSum: rounds are added in order and once, whoever holds the charge; the
// same sum again is no error, and another one, a gap, or a round after the release is
// refused and leaves no entry. They cost nothing, are in the chain, and survive a backup.
func TestARoundHasOneSum(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		l := create(t, location, plain(someBudget))
		asked := ask(little)
		one, paid := rounds(t, l, asked)
		other := ask(little)
		beside, _ := rounds(t, l, other) // another charge, between the rounds of this one
		before, err := l.State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sum := func(n byte) chain.Hash { return chain.Hash{n} }
		good := func(r *ledger.Rounds, number int, of byte) {
			t.Helper()
			if err := r.Add(t.Context(), number, sum(of)); err != nil || r.Len() < number {
				t.Fatalf("round %d: %v, of %d", number, err, r.Len())
			}
		}
		refused := func(r *ledger.Rounds, number int, of byte) {
			t.Helper()
			if err := r.Add(t.Context(), number, sum(of)); !errors.Is(err, ledger.ErrRound) || fault.Of(err) != fault.RefusedFault {
				t.Errorf("round %d: %v; want ErrRound", number, err)
			}
		}
		good(one, 1, 1)
		good(beside, 1, 7)
		again, _ := rounds(t, l, asked) // from here on there are two runs of the charge
		if again.Len() != 1 {
			t.Fatalf("%d rounds; want 1", again.Len())
		}
		good(one, 2, 2)
		good(one, 2, 2)
		refused(again, 2, 9)
		good(again, 2, 2)
		refused(one, 1, 2)
		refused(one, 4, 4)
		refused(one, 0, 4)
		good(again, 3, 3)
		refused(one, 3, 9)
		after, err := l.State(t.Context())
		if err != nil || after.Head.Seq != before.Head.Seq+4 || after.Totals != before.Totals || after.Spent != before.Spent {
			t.Errorf("%v: the head went from %d to %d; want 4 rounds, at no cost", err, before.Head.Seq, after.Head.Seq)
		}
		if err := paid.Redeem(asked.Adjacency, asked.Event); err != nil {
			t.Fatal(err)
		}
		if err := l.Record(t.Context(), paid, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		if err := again.Add(t.Context(), 4, sum(4)); !errors.Is(err, ledger.ErrRecorded) {
			t.Errorf("a round after the release: %v; want ErrRecorded", err)
		}
		if err := l.Verify(t.Context()); err != nil {
			t.Error(err)
		}
		copied, err := ledger.Restore(t.Context(), bytes.NewReader(backup(t, l)), stores[0].make(t), ledger.RestoreOptions{LostNothing: true, Reason: "moved"})
		if err != nil {
			t.Fatal(err)
		}
		defer copied.Close()
		if r, _ := rounds(t, copied, other); r.Len() != 1 || r.Add(t.Context(), 1, sum(7)) != nil || !errors.Is(r.Add(t.Context(), 1, sum(8)), ledger.ErrRound) {
			t.Errorf("%d rounds in the restored ledger; want the one there was", r.Len())
		}
	})
}

// Of two runs of one charge that add a round at the same time, one has it.
func TestTwoRunsOfAChargeDoNotBothDraw(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		l := create(t, location, plain(someBudget))
		asked := ask(little)
		const runs, each = 4, 5
		var all [runs]*ledger.Rounds
		for i := range all {
			all[i], _ = rounds(t, l, asked)
		}
		for number := 1; number <= each; number++ {
			var wg sync.WaitGroup
			errs := make([]error, runs)
			for i := range all {
				wg.Go(func() { errs[i] = all[i].Add(t.Context(), number, chain.Hash{byte(i), byte(number)}) })
			}
			wg.Wait()
			won := 0
			for i, err := range errs {
				switch {
				case err == nil:
					won++
				case !errors.Is(err, ledger.ErrRound):
					t.Fatalf("run %d, round %d: %v", i, number, err)
				}
			}
			if won != 1 {
				t.Fatalf("round %d: %d runs have it", number, won)
			}
		}
		if err := l.Verify(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestAWitnessKnowsOfARoundBeforeItsSumIsUsedAgain: a run that was killed after a round's entry was
// committed and before its witness was updated continues only once that is done, so that a
// ledger that is put back behind that round is refused.
func TestAWitnessKnowsOfARoundBeforeItsSumIsUsedAgain(t *testing.T) {
	location := stores[0].make(t)
	l := create(t, location, plain(someBudget))
	place := filepath.Join(t.TempDir(), "head")
	if err := l.AddWitness(t.Context(), place); err != nil {
		t.Fatal(err)
	}
	asked := ask(little)
	r, _ := rounds(t, l, asked)
	earlier := filepath.Join(t.TempDir(), "ledger")
	copyFile(t, location, earlier)
	untold, err := os.ReadFile(place)
	if err == nil {
		err = r.Add(t.Context(), 1, chain.Hash{1})
	}
	if err == nil {
		err = os.WriteFile(place, untold, 0o600) // killed before it was updated
	}
	if err != nil {
		t.Fatal(err)
	}
	if r, _ := rounds(t, l, asked); r.Len() != 1 {
		t.Fatalf("%d rounds; want 1", r.Len())
	}
	state, err := l.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err := l.Witnesses(t.Context())
	if err != nil || len(all) != 1 || all[0].Head != state.Head {
		t.Fatalf("%v, %v; want the head %v", all, err, state.Head)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	copyFile(t, earlier, location)
	old := open(t, location, "")
	refusedByWitness(t, old, ledger.ErrBehind)
}

func TestRoundsAreOfAChargeOfTheLedger(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		l := create(t, location, plain(someBudget))
		if _, err := l.Rounds(t.Context(), receipt.None()); !errors.Is(err, receipt.ErrInvalid) {
			t.Errorf("nothing was charged: %v", err)
		}
		_, paid := rounds(t, create(t, stores[0].make(t), plain(someBudget)), ask(little))
		if _, err := l.Rounds(t.Context(), paid); !errors.Is(err, receipt.ErrInvalid) {
			t.Errorf("another ledger's: %v", err)
		}
	})
}
