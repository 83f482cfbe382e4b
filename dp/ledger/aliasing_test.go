package ledger_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/dp/receipt"
)

// meddling calls a function whenever the ledger looks at the deadline, which it
// does between its steps.
type meddling struct {
	context.Context
	meddle func()
}

func (m meddling) Deadline() (time.Time, bool) { m.meddle(); return m.Context.Deadline() }

// forged is an event that says of itself, in JSON, that it is another.
type forged struct{ dp.Gaussian }

func (forged) MarshalJSON() ([]byte, error) {
	return []byte(`{"kind":"gaussian","noise_multiplier":50}`), nil
}

// The event is a slice of the caller's. Whatever it holds later, the entry and the
// receipt are for what was measured.
func TestChargeKeepsItsEventWhateverTheCallerDoes(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		l := create(t, location, plain(someBudget))
		little, much := dp.Gaussian{NoiseMultiplier: 1000}, dp.Gaussian{NoiseMultiplier: 0.001}
		events := []dp.Event{little}
		meddled := false
		ctx := meddling{context.Background(), func() { events[0], meddled = much, true }}
		g, err := l.Charge(ctx, ask(dp.Composed{Events: events}))
		if err != nil || !meddled {
			t.Fatal(err, meddled)
		}
		verified(t, l)
		if err := g.Receipt.Redeem(dp.ReplaceOne, dp.Composed{Events: []dp.Event{much}}); !errors.Is(err, receipt.ErrInvalid) {
			t.Errorf("a million times the loss: %v; want ErrInvalid", err)
		}
		if err := g.Receipt.Redeem(dp.ReplaceOne, dp.Composed{Events: []dp.Event{little}}); err != nil {
			t.Error(err)
		}
	})
}

func TestRestoreKeepsWhatWasLostWhateverTheCallerDoes(t *testing.T) {
	l := create(t, stores[0].make(t), plain(someBudget))
	lost := []dp.Event{dp.Gaussian{NoiseMultiplier: 60}}
	ctx := meddling{context.Background(), func() { lost[0] = dp.Gaussian{NoiseMultiplier: 6000} }}
	r, err := ledger.Restore(ctx, bytes.NewReader(backup(t, l)), stores[0].make(t), ledger.RestoreOptions{Lost: dp.Composed{Events: lost}, Reason: "r"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	verified(t, r)
}

// What an event costs is what its JSON costs: an entry can be replayed from
// nothing else.
func TestEventIsWhatItsJSONSays(t *testing.T) {
	l := create(t, stores[0].make(t), plain(someBudget))
	g, err := l.Charge(context.Background(), ask(forged{dp.Gaussian{NoiseMultiplier: 1000}}))
	if err != nil {
		t.Fatal(err)
	}
	same, err := l.Charge(context.Background(), ask(&dp.Gaussian{NoiseMultiplier: 50}))
	if err != nil || g.Cost != same.Cost {
		t.Errorf("cost %v and %v, %v", g.Cost, same.Cost, err)
	}
	verified(t, l)
}

func TestNilEventsAreErrors(t *testing.T) {
	ctx := context.Background()
	l := create(t, stores[0].make(t), plain(someBudget))
	old := backup(t, l)
	null := (*dp.Gaussian)(nil)
	for name, e := range map[string]dp.Event{
		"nil": nil, "pointer": null, "composed": dp.Composed{Events: []dp.Event{null}}, "repeated": dp.SelfComposed{Count: 2, Event: null},
		"composed nil": dp.Composed{Events: []dp.Event{nil}},
	} {
		g, err := l.Charge(ctx, ask(dp.Gaussian{NoiseMultiplier: 1000}))
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Receipt.Redeem(dp.ReplaceOne, e); !errors.Is(err, receipt.ErrInvalid) {
			t.Errorf("%s: redeem: %v; want ErrInvalid", name, err)
		}
		if _, err := l.Charge(ctx, ask(e)); !errors.Is(err, dp.ErrEvent) {
			t.Errorf("%s: charge: %v; want ErrEvent", name, err)
		}
		if err := l.Fits(ctx, ask(e)); !errors.Is(err, dp.ErrEvent) {
			t.Errorf("%s: fits: %v; want ErrEvent", name, err)
		}
		if e == nil {
			continue // in RestoreOptions nil stands for none
		}
		if _, err := ledger.Restore(ctx, bytes.NewReader(old), stores[0].make(t), ledger.RestoreOptions{Lost: e, Reason: "r"}); !errors.Is(err, dp.ErrEvent) {
			t.Errorf("%s: restore: %v; want ErrEvent", name, err)
		}
	}
}
