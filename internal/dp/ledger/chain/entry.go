package chain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

// Sentinel errors. Everything this package returns wraps one of them.
var (
	// ErrEntry marks bytes that are no entry in canonical form.
	ErrEntry = errors.New("not a ledger entry")
	// ErrBroken marks an entry that does not follow its predecessor.
	ErrBroken = errors.New("the chain is broken")
)

// Kind says what an entry does.
type Kind string

// The kinds of entries.
const (
	Open    Kind = "open"    // begins the ledger of a dataset
	Charge  Kind = "charge"  // spends an event
	Record  Kind = "record"  // holds the hash of the release that a charge paid for
	Share   Kind = "share"   // sets an analyst's share
	Budget  Kind = "budget"  // changes the budget
	Restore Kind = "restore" // continues after a restore from a backup

	Contract Kind = "contract" // says how the data are to be read
	Round    Kind = "round"    // holds the hash of a noisy sum that a charge's run has drawn
)

// Totals is the state of the budget after an entry.
type Totals struct {
	// Budget is what all charges together must meet, as of this entry.
	Budget dp.Budget `json:"budget"`
	// Spent is the sum of all costs.
	Spent account.Cost `json:"spent"`
	// Restores counts the restores from backups.
	Restores int64 `json:"restores"`
	// Contract is the version in force; zero, and absent, where there is none.
	Contract Version `json:"contract,omitzero"`
}

// Version is a version of a contract: its number, from 1, and its entry.
type Version struct {
	Number int64 `json:"number"`
	Seq    int64 `json:"seq"`
}

// Entry is one line of the ledger. Exactly one of the pointers is set, that of
// its kind.
type Entry struct {
	// Seq counts the entries of a dataset from 0 without gaps.
	Seq int64 `json:"seq"`
	// Prev is the hash of the entry before; of the first one, all zeros.
	Prev Hash `json:"prev"`
	// Time is when the entry was written, in UTC, by the writer's clock.
	Time time.Time `json:"time"`
	Kind Kind      `json:"kind"`

	Open    *OpenBody    `json:"open,omitempty"`
	Charge  *ChargeBody  `json:"charge,omitempty"`
	Record  *RecordBody  `json:"record,omitempty"`
	Share   *ShareBody   `json:"share,omitempty"`
	Budget  *BudgetBody  `json:"budget,omitempty"`
	Restore *RestoreBody `json:"restore,omitempty"`

	Contract *ContractBody `json:"contract,omitempty"`
	Round    *RoundBody    `json:"round,omitempty"`

	// Totals is the state after the entry.
	Totals Totals `json:"totals"`
}

// OpenBody is the configuration of a ledger, fixed for its life but for the
// budget.
type OpenBody struct {
	// Ledger is a random identity: two ledgers never share a first entry.
	Ledger    string       `json:"ledger"`
	Dataset   string       `json:"dataset"`
	Unit      string       `json:"unit"`
	Adjacency dp.Adjacency `json:"adjacency"`
	Budget    dp.Budget    `json:"budget"`
	Rule      string       `json:"rule"`
	// Reserve is the part of the budget for charges that the rule cannot take.
	Reserve     dp.Budget `json:"reserve"`
	ChargeDelta float64   `json:"charge_delta"`
	// Order is that of the Renyi rule, 0 under the others.
	Order        float64 `json:"order"`
	RefuseCopies bool    `json:"refuse_copies"`
	// ClosedList says that the first share closes the list of analysts. Ledgers
	// that earlier versions began do not have it.
	ClosedList bool `json:"closed_list,omitempty"`
}

// ChargeBody is a committed charge.
type ChargeBody struct {
	Key         string       `json:"key"`
	Analyst     string       `json:"analyst"`
	Purpose     string       `json:"purpose"`
	Event       dp.Event     `json:"event"`
	Adjacency   dp.Adjacency `json:"adjacency"`
	Unit        string       `json:"unit"`
	CodeVersion string       `json:"code_version"`
	ConfigHash  string       `json:"config_hash"`
	// Fingerprint is the keyed hash of the data that were read, sealed with a salt
	// of the entry's own. It is for the curator alone.
	Fingerprint string       `json:"fingerprint"`
	Cost        account.Cost `json:"cost"`
	// Contract is the number of the version that the data were read by, 0 without one.
	Contract int64 `json:"contract,omitempty"`
}

// ContractBody is a version of the contract: how the data of the dataset are to be
// read. All versions share one budget.
type ContractBody struct {
	// Number counts the versions of a dataset from 1.
	Number int64 `json:"number"`
	// Terms is canonical JSON (RFC 8785), and Hash its SHA-256.
	Terms json.RawMessage `json:"terms"`
	Hash  Hash            `json:"hash"`
	// Reason is why there is a new version; empty of the first.
	Reason string `json:"reason,omitempty"`
}

// RecordBody ties a release to the charge that paid for it.
type RecordBody struct {
	Charge  int64 `json:"charge"`  // Seq of the charge
	Release Hash  `json:"release"` // SHA-256 of the release's bytes
	Size    int64 `json:"size"`    // in bytes
}

// RoundBody ties a noisy sum to the charge that paid for it. A run of several rounds has
// one a round; no round of a charge has two.
type RoundBody struct {
	Charge int64 `json:"charge"` // Seq of the charge
	Number int64 `json:"number"` // of the round, from 1 without gaps
	Sum    Hash  `json:"sum"`    // the run's hash of the noisy sum
}

// ShareBody is what one analyst may spend of the budget.
type ShareBody struct {
	Analyst string    `json:"analyst"`
	Budget  dp.Budget `json:"budget"`
	Reserve dp.Budget `json:"reserve"`
}

// BudgetBody is a change of the budget.
type BudgetBody struct {
	From   dp.Budget `json:"from"`
	To     dp.Budget `json:"to"`
	Reason string    `json:"reason"`
}

// RestoreBody says that the ledger was restored from a backup, what the steward
// declared about charges that the backup does not hold, and what they are
// debited as.
type RestoreBody struct {
	// Backup is the head of the chain in the backup.
	Backup Head      `json:"backup"`
	Taken  time.Time `json:"taken"`
	// Declared is what the steward declared of them.
	Declared Loss `json:"declared"`
	// Lost is the event that stands for them where that is an event.
	Lost dp.Event `json:"lost"`
	// Cost is what they are debited as, never more than was left.
	Cost   account.Cost `json:"cost"`
	Reason string       `json:"reason"`
}

// Loss says what became of the charges after a backup.
type Loss string

// What a steward may declare of the charges that a backup does not hold.
const (
	LostNothing    Loss = "nothing"    // there were none
	LostEvent      Loss = "event"      // at most an event
	LostEverything Loss = "everything" // it is not known: all that was left is gone
)

// Encode returns the canonical bytes of the entry, without a line end.
func (e *Entry) Encode() ([]byte, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w := json.NewEncoder(&b)
	w.SetEscapeHTML(false)
	if err := w.Encode(e); err != nil {
		return nil, fmt.Errorf("%w: entry %d: %v", ErrEntry, e.Seq, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Parse reads the canonical bytes of an entry. It is strict: what Encode would
// not write is ErrEntry.
func Parse(line []byte) (*Entry, error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	e := new(Entry)
	if err := d.Decode(e); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrEntry, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("%w: text after entry %d", ErrEntry, e.Seq)
	}
	again, err := e.Encode()
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(again, line) {
		return nil, fmt.Errorf("%w: entry %d is not in canonical form", ErrEntry, e.Seq)
	}
	return e, nil
}

func (e *Entry) check() error {
	set := map[Kind]bool{
		Open: e.Open != nil, Charge: e.Charge != nil, Record: e.Record != nil,
		Share: e.Share != nil, Budget: e.Budget != nil, Restore: e.Restore != nil,
		Contract: e.Contract != nil, Round: e.Round != nil,
	}
	n := 0
	for _, is := range set {
		if is {
			n++
		}
	}
	if n != 1 || !set[e.Kind] {
		return fmt.Errorf("%w: entry %d of kind %q does not hold exactly that", ErrEntry, e.Seq, e.Kind)
	}
	if e.Seq < 0 || e.Time.Location() != time.UTC {
		return fmt.Errorf("%w: entry %d: want a number from 0 and a time in UTC", ErrEntry, e.Seq)
	}
	return nil
}

// Follows checks that the entry comes right after the given head; the first
// entry follows none.
func (e *Entry) Follows(prev *Head) error {
	switch {
	case prev == nil && (e.Seq != 0 || e.Prev != Hash{} || e.Kind != Open):
		return fmt.Errorf("%w: entry %d stands first; want entry 0 of kind %q", ErrBroken, e.Seq, Open)
	case prev == nil:
		return nil
	case e.Seq != prev.Seq+1:
		return fmt.Errorf("%w: entry %d stands after entry %d; want entry %d", ErrBroken, e.Seq, prev.Seq, prev.Seq+1)
	case e.Prev != prev.Hash:
		return fmt.Errorf("%w: entry %d names another predecessor than entry %d as it is", ErrBroken, e.Seq, prev.Seq)
	case e.Kind == Open:
		return fmt.Errorf("%w: entry %d begins a ledger; only entry 0 may", ErrBroken, e.Seq)
	}
	return nil
}

// UnmarshalJSON implements [json.Unmarshaler]; the event is parsed strictly.
func (c *ChargeBody) UnmarshalJSON(text []byte) error {
	type plain ChargeBody
	return withEvent(text, "event", (*plain)(c), &c.Event)
}

// UnmarshalJSON implements [json.Unmarshaler]; the event is parsed strictly.
func (r *RestoreBody) UnmarshalJSON(text []byte) error {
	type plain RestoreBody
	return withEvent(text, "lost", (*plain)(r), &r.Lost)
}

// withEvent reads a struct one of whose fields is an event. The field is taken
// out, parsed on its own and put into place.
func withEvent(text []byte, name string, into any, event *dp.Event) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	raw := fields[name]
	delete(fields, name)
	rest, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(rest))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	*event = nil
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	*event, err = dp.ParseEvent(raw)
	return err
}
