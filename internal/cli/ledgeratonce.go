package cli

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/dp/ledger/chain"
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

// atOnce is nil before the first charge.
func atOnce(ctx context.Context, l *ledger.Ledger, s *ledger.Summary) (*tight, error) {
	if s.Charges == 0 {
		return nil, nil
	}
	out := &tight{Delta: s.Budget.Delta}
	events, counts, err := distinctEvents(ctx, l)
	switch {
	case err != nil:
		return nil, err
	case events == nil:
		out.Omitted = "the ledger was restored, and what was lost is not known by its events"
	case !(out.Delta > 0):
		out.Omitted = "the budget has no delta"
	default:
		out.compose(s.Config.Adjacency, events, counts)
	}
	return out, nil
}

// compose accounts by the closed form where there is one, which takes any number
// of events, and else by New.
func (t *tight) compose(adj dp.Adjacency, events []dp.Event, counts []int64) {
	a := account.Accountant(account.NewClosedForm(adj))
	for attempt := range 2 {
		err := composeAll(a, events, counts)
		if err == nil {
			b, err := a.Epsilon(t.Delta)
			if err == nil {
				t.Epsilon, t.Accountant = &b, a.String()
				return
			}
			t.Omitted = err.Error()
		} else {
			t.Omitted = err.Error()
		}
		if attempt == 0 && len(events) > mostKinds {
			t.Omitted = fmt.Sprintf("%d different events would take long", len(events))
			return
		}
		a = account.New(adj)
	}
}

func composeAll(a account.Accountant, events []dp.Event, counts []int64) error {
	for i, e := range events {
		if err := a.Compose(e, counts[i]); err != nil {
			return err
		}
	}
	return nil
}

// distinctEvents counts the charged events by their JSON form; nil where some are
// not known.
func distinctEvents(ctx context.Context, l *ledger.Ledger) ([]dp.Event, []int64, error) {
	at := map[string]int{}
	events, counts := []dp.Event{}, []int64{}
	for n, err := range l.Entries(ctx, 0) {
		if err != nil {
			return nil, nil, err
		}
		var event dp.Event
		switch e := n.Entry; {
		case e.Charge != nil:
			event = e.Charge.Event
		case e.Restore != nil && e.Restore.Declared == chain.LostEvent:
			event = e.Restore.Lost
		case e.Restore != nil && e.Restore.Declared != chain.LostNothing:
			return nil, nil, nil
		default:
			continue
		}
		text, err := dp.MarshalEvent(event)
		if err != nil {
			return nil, nil, err
		}
		i, known := at[string(text)]
		if !known {
			i = len(events)
			at[string(text)] = i
			events, counts = append(events, event), append(counts, 0)
		}
		counts[i]++
	}
	return events, counts, nil
}
