package serve

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/serve/internal/asks"
)

// Each fact has its verdict, with the remedy: what contradicts hides the budget, what cannot be
// asked only stops charges, and nothing is wrong where nothing is known to be.
func TestEachFactHasItsVerdict(t *testing.T) {
	mark := &asks.Mark{Ledger: "abc", Seq: 7}
	other := errors.New("no such file")
	for words, c := range map[string]struct {
		facts  facts
		kind   error
		remedy string
	}{
		"the store is not what it was": {facts{store: asks.ErrAudit}, errLost, remedyStore},
		"the store cannot be read":     {facts{store: other}, errUncompared, remedyStore},
		"the ledger is locked":         {facts{unread: ledger.ErrBusy}, errUncompared, "end the program"},
		"the ledger was changed":       {facts{unread: ledger.ErrTampered}, errLost, remedy},
		"the ledger is missing":        {facts{unread: ledger.ErrStore}, errUncompared, remedy},
		"the store saw its entry 7":    {facts{mark: mark, held: ledger.ErrBehind}, errLost, remedy},
		"lacks the charge of ask x":    {facts{unpaid: []unpaid{{"x", ledger.ErrBehind}}}, errLost, remedy},
		"the store is older":           {facts{unasked: []string{"ask-1"}}, errLost, remedyStore},
		"than its witness knows":       {facts{witness: fmt.Errorf("%w: %w", ledger.ErrWitness, ledger.ErrBehind)}, errLost, remedy},
		"the witness cannot be asked":  {facts{witness: ledger.ErrWitness}, errUncompared, remedyWitness},
	} {
		c.facts.dataset = "trial"
		err := c.facts.verdict()
		if !errors.Is(err, c.kind) || errors.Is(err, errLost) != (c.kind == errLost) {
			t.Errorf("%s: %v", words, err)
			continue
		}
		for _, want := range []string{words, c.remedy, `"trial"`, "nothing is charged"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v lacks %q", err, want)
			}
		}
	}
	for name, f := range map[string]facts{"nothing": {}, "a mark": {mark: mark}, "a loss that was debited": {mark: mark, held: ledger.ErrBehind, debited: true}} {
		if err := f.verdict(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Keys of a service's charges are told from those that people give.
func TestKeysOfTheService(t *testing.T) {
	if key := (asks.Ask{Dataset: "d", Analyst: "a", Key: "k"}).LedgerKey(); !ofService(key) {
		t.Errorf("%s is not one", key)
	}
	for _, key := range []string{"", "ask-", "ask-1", "2026-03-returns", "ask-" + strings.Repeat("g", 32), strings.Repeat("a", 36)} {
		if ofService(key) {
			t.Errorf("%s is one", key)
		}
	}
}
