package ledger_test

import (
	"errors"
	"testing"

	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/dp/receipt"
)

// TestAReceiptThatIsIssuedAgainDrawsNothingAnew: a run may have drawn for the charge, so
// that only one that goes on from its draws may redeem it.
func TestAReceiptThatIsIssuedAgainDrawsNothingAnew(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		l := create(t, location, plain(someBudget))
		asked := ask(little)
		asked.Key = "run 1"
		if _, err := l.Resume(t.Context(), asked); !errors.Is(err, ledger.ErrCharge) {
			t.Errorf("what was never charged: %v; want ErrCharge", err)
		}
		g, err := l.Charge(t.Context(), asked)
		if err != nil {
			t.Fatal(err)
		}
		again, err := l.Resume(t.Context(), asked)
		if err != nil {
			t.Fatal(err)
		}
		if got := again.Stamp().Seq; got != g.Entry.Seq {
			t.Errorf("entry %d; want %d", got, g.Entry.Seq)
		}
		if err := again.Redeem(g.Entry.Charge.Adjacency, little); !errors.Is(err, receipt.ErrInvalid) {
			t.Errorf("a run that draws anew: %v; want ErrInvalid", err)
		}
		if err := again.Continue(g.Entry.Charge.Adjacency, little); err != nil {
			t.Errorf("a run that goes on: %v", err)
		}
		if err := l.Record(t.Context(), again, []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
		var recorded *ledger.RecordedError
		if _, err := l.Resume(t.Context(), asked); !errors.As(err, &recorded) {
			t.Errorf("after the release: %v; want a RecordedError", err)
		}
	})
}
