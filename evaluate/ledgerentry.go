package evaluate

import (
	"time"

	"github.com/discreet-rl/discreet/dp"
)

// LedgerEntry is the entry of a budget ledger that paid for a release, and the
// budget right after it. The ledger's holder can check it against the chain;
// nobody else can, but a later entry that does not follow it gives away a ledger
// that was rolled back.
type LedgerEntry struct {
	// Dataset is the curator's name for it.
	Dataset string `json:"dataset"`
	// Entry is the number of the entry, Hash its SHA-256 in hexadecimal, and Head
	// that of the newest entry when it was committed.
	Entry int64  `json:"entry"`
	Hash  string `json:"hash"`
	Head  string `json:"head"`
	// Time of the charge, in UTC.
	Time time.Time `json:"time"`
	// Key is the idempotency key of the charge: with it the ledger's holder gets
	// the recorded release again.
	Key     string `json:"key,omitempty"`
	Analyst string `json:"analyst,omitempty"`
	Purpose string `json:"purpose,omitempty"`
	// Rule is the composition theorem that the ledger goes by: basic, gaussian or
	// renyi.
	Rule   string    `json:"rule"`
	Budget dp.Budget `json:"budget"`
	// Spent is what all charges so far meet together, this one included.
	Spent  dp.Budget `json:"spent"`
	Shares Shares    `json:"shares"`
}

// Shares splits a budget, 1, into what was spent before, by this charge, and
// what is left, in the quantity that adds up under the rule: epsilon, mu^2 or a
// Renyi divergence.
type Shares struct {
	Before float64 `json:"before"`
	This   float64 `json:"this"`
	Left   float64 `json:"left"`
}
