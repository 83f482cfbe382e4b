package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
)

// tight is what all charges cost together by the tightest accountant, as if all
// had been fixed before the first release. Where they were not it bounds nothing,
// so it is information and never what is left.
type tight struct {
	Epsilon    *account.Bracket `json:"epsilon,omitempty"`
	Delta      float64          `json:"delta"`
	Accountant string           `json:"accountant,omitempty"`
	// Omitted says why there is no figure.
	Omitted string `json:"omitted,omitempty"`
}

// mostKinds bounds how many different events are composed: a distribution for
// each takes a good part of a second.
const mostKinds = 8

// counted is an event and how often it was charged.
type counted struct {
	event dp.Event
	cost  account.Cost // of one
	count int64
}

// atOnce is nil before the first charge.
func atOnce(ctx context.Context, l *ledger.Ledger, s *ledger.Summary) (*tight, error) {
	if s.Charges == 0 {
		return nil, nil
	}
	out := &tight{Delta: s.Budget.Delta}
	events, known, err := distinctEvents(ctx, l)
	switch {
	case err != nil:
		return nil, err
	case !known:
		out.Omitted = "the ledger was restored, and what was lost is not known by its events"
	case !(out.Delta > 0):
		out.Omitted = "the budget has no delta"
	default:
		out.compose(ctx, s.Config.Adjacency, events)
	}
	return out, nil
}

// compose accounts by the closed form where there is one, which takes any number
// of events, and else by distributions. An event that has none counts as what it
// was charged as, and then the lower end says nothing.
func (t *tight) compose(ctx context.Context, adj dp.Adjacency, events []counted) {
	if t.account(ctx, account.NewClosedForm(adj), events) {
		return
	}
	if len(events) > mostKinds {
		t.Omitted = fmt.Sprintf("%d different events would take long", len(events))
		return
	}
	converted := false
	for i, e := range events {
		err := account.NewPLD(adj).Compose(ctx, e.event, 1)
		if errors.Is(err, account.ErrUnsupported) && e.cost.Sum == 0 {
			events[i].event = dp.ApproximateDP{Epsilon: e.cost.Epsilon, Delta: e.cost.Delta}
			converted = true
		}
	}
	if t.account(ctx, account.New(adj), events) && converted {
		t.Epsilon.Lower = 0
	}
}

// account reports whether the accountant had an answer.
func (t *tight) account(ctx context.Context, a account.Accountant, events []counted) bool {
	for _, e := range events {
		if err := a.Compose(ctx, e.event, e.count); err != nil {
			t.Omitted = err.Error()
			return false
		}
	}
	b, err := a.Epsilon(ctx, t.Delta)
	if err != nil {
		t.Omitted = err.Error()
		return false
	}
	t.Epsilon, t.Accountant, t.Omitted = &b, a.String(), ""
	return true
}

// distinctEvents counts the charged events by their JSON form; known is false
// where some are not known.
func distinctEvents(ctx context.Context, l *ledger.Ledger) (events []counted, known bool, err error) {
	at := map[string]int{}
	for n, err := range l.Entries(ctx, 0) {
		if err != nil {
			return nil, false, err
		}
		e, err := chain.Parse(n.Line)
		if err != nil {
			return nil, false, err
		}
		var event dp.Event
		var cost account.Cost
		switch {
		case e.Charge != nil:
			event, cost = e.Charge.Event, e.Charge.Cost
		case e.Restore != nil && e.Restore.Declared == chain.LostEvent:
			event, cost = e.Restore.Lost, e.Restore.Cost
		case e.Restore != nil && e.Restore.Declared != chain.LostNothing:
			return nil, false, nil
		default:
			continue
		}
		text, err := dp.MarshalEvent(event)
		if err != nil {
			return nil, false, err
		}
		i, seen := at[string(text)]
		if !seen {
			i = len(events)
			at[string(text)] = i
			events = append(events, counted{event: event, cost: cost})
		}
		events[i].count++
	}
	return events, true, nil
}
