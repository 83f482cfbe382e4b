package evaluate

import (
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/receipt"
)

// LedgerEntry is the entry of a budget ledger that paid for a release, and the
// budget right after it. The ledger's holder can check it against the chain; and
// a ledger that lacks the entry was cut or rolled back.
type LedgerEntry struct {
	// Stamp names the entry by its number and its hash, and the head of the chain.
	receipt.Stamp
	// Time of the charge, in UTC.
	Time time.Time `json:"time"`
	// Key is the idempotency key of the charge: with it the ledger's holder gets
	// the recorded release again.
	Key     string `json:"key"`
	Analyst string `json:"analyst"`
	Purpose string `json:"purpose,omitempty"`
	// Rule is the composition theorem that the ledger goes by: basic, gaussian or
	// renyi.
	Rule   string    `json:"rule"`
	Budget dp.Budget `json:"budget"`
	// Spent is what all charges so far meet together, this one included.
	Spent  dp.Budget `json:"spent"`
	Shares Shares    `json:"shares"`
}

// Shares splits a part of the budget, 1, into what was spent before, by this
// charge, and what is left, in the quantity that adds up in it.
type Shares struct {
	// Part is "rule", the part in which mu^2 or a Renyi divergence adds up;
	// "reserve", the part for charges that the rule does not support; or "budget", all of it,
	// under the basic rule. In the latter two epsilon adds up, or delta where more
	// of that is spent.
	Part   string  `json:"part"`
	Before float64 `json:"before"`
	This   float64 `json:"this"`
	Left   float64 `json:"left"`
}
