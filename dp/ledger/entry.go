package ledger

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
)

// Entry is an entry of the chain.
type Entry struct {
	// Seq counts the entries of a dataset from 0 without gaps.
	Seq int64
	// Kind is open, charge, record, share, budget, restore, contract or round.
	Kind string
	// Time is in UTC, by the clock of the process that wrote the entry.
	Time time.Time
	// Charge is the charge that was committed, with its fingerprint sealed; nil in an entry
	// of another kind.
	Charge *Charge
	// Hash is that of Line, the canonical JSON of the whole entry (docs/ledger.md).
	Hash receipt.Hash
	Line []byte
}

// Opening is the first entry of a ledger: its identity, and its configuration, which is fixed
// for its life except for the budget.
type Opening struct {
	// Ledger is a random identity: two ledgers never share a first entry.
	Ledger    string       `json:"ledger"`
	Dataset   string       `json:"dataset"`
	Unit      string       `json:"unit"`
	Adjacency dp.Adjacency `json:"adjacency"`
	Budget    dp.Budget    `json:"budget"`
	Rule      string       `json:"rule"`
	// Reserve is the part of the budget for charges that the rule does not support, each
	// converted at ChargeDelta.
	Reserve     dp.Budget `json:"reserve"`
	ChargeDelta float64   `json:"charge_delta"`
	// Order is that of the Renyi rule, 0 under the others.
	Order        float64 `json:"order"`
	RefuseCopies bool    `json:"refuse_copies"`
	// ClosedList says that the first share closes the list of analysts.
	ClosedList bool `json:"closed_list,omitempty"`
}

// Contract is a version of the terms by which the data of a dataset are read.
type Contract struct {
	// Number counts the versions of a dataset from 1.
	Number int64 `json:"number"`
	// Terms is canonical JSON (RFC 8785), and Hash its SHA-256.
	Terms json.RawMessage `json:"terms"`
	Hash  receipt.Hash    `json:"hash"`
	// Reason says why there is a new version; empty in the first.
	Reason string `json:"reason,omitempty"`
}

// Entries yields the entries from the given one on. They are parsed and not verified; see
// [Ledger.Verify].
func (l *Ledger) Entries(ctx context.Context, from int64) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for n, err := range l.entries(ctx, from) {
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if !yield(n.public(), nil) {
				return
			}
		}
	}
}

// public is the entry without internal types.
func (n numbered) public() Entry {
	e := Entry{Seq: n.Seq, Kind: string(n.Kind), Time: n.Time, Hash: n.hash, Line: n.line}
	if n.Kind == chain.Charge {
		c := n.Entry.Charge
		e.Charge = &Charge{
			Key: c.Key, Analyst: c.Analyst, Purpose: c.Purpose, Event: c.Event, Adjacency: c.Adjacency, Unit: c.Unit,
			CodeVersion: c.CodeVersion, ConfigHash: c.ConfigHash, Fingerprint: c.Fingerprint, Contract: c.Contract,
		}
	}
	return e
}
