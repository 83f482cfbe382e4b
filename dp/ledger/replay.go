package ledger

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
	"github.com/discreet-rl/discreet/internal/dp/ledger/meter"
)

// replay recomputes a ledger from its entries alone: the hashes, the order, what
// each charge costs, the totals, the budget and the shares.
type replay struct {
	dataset  string
	key      []byte // of the fingerprints; nil where it is not known
	open     *chain.OpenBody
	meter    *meter.Meter
	head     *chain.Head // nil before the first entry
	totals   chain.Totals
	analysts map[string]analyst
	shares   int // analysts who have one
	charges  map[int64]*replayed
	keys     map[string]int64
	seen     map[string]bool // fingerprints
	costs    map[string]account.Cost
	limits   map[[2]dp.Budget]meter.Limits
}

// replayed is a charge as the entries have it.
type replayed struct {
	key      string
	recorded int64
	release  chain.Hash
	rounds   int64
}

func newReplay(dataset string, key []byte) *replay {
	return &replay{
		dataset: dataset, key: key, analysts: map[string]analyst{}, charges: map[int64]*replayed{}, keys: map[string]int64{},
		seen: map[string]bool{}, costs: map[string]account.Cost{}, limits: map[[2]dp.Budget]meter.Limits{},
	}
}

// next is the number of the entry that has to come.
func (r *replay) next() int64 {
	if r.head == nil {
		return 0
	}
	return r.head.Seq + 1
}

func (r *replay) tampered(seq int64, format string, args ...any) error {
	return &TamperError{Dataset: r.dataset, Seq: seq, What: fmt.Sprintf(format, args...)}
}

// apply holds one entry, as it is stored, against all before it.
func (r *replay) apply(seq int64, hash []byte, body []byte) error {
	if want := r.next(); seq > want {
		return r.tampered(want, "it is missing; entry %d comes in its place", seq)
	}
	h := chain.Sum(body)
	if len(hash) != len(h) || toHash(hash) != h {
		return r.tampered(seq, "it was changed: its bytes are not those of its hash")
	}
	e, err := chain.Parse(body)
	if err != nil {
		return r.tampered(seq, "it was changed: %v", err)
	}
	if e.Seq != seq {
		return r.tampered(seq, "entry %d stands in its place", e.Seq)
	}
	if r.head != nil && e.Prev != r.head.Hash && e.Kind != chain.Open {
		return r.tampered(r.head.Seq, "it is not the entry that entry %d was appended to: one of the two was changed", seq)
	}
	if err := e.Follows(r.head); err != nil {
		return r.tampered(seq, "%v", err)
	}
	if err := r.means(e); err != nil {
		return err
	}
	if e.Totals != r.totals {
		return r.tampered(seq, "its totals are not the sum of all charges up to it")
	}
	r.head = &chain.Head{Seq: seq, Hash: h}
	return nil
}

// means checks what an entry says and takes over what it changes.
func (r *replay) means(e *chain.Entry) error {
	switch e.Kind {
	case chain.Open:
		return r.opened(e)
	case chain.Charge:
		return r.charge(e)
	case chain.Record:
		return r.record(e)
	case chain.Share:
		return r.applyShare(e)
	case chain.Budget:
		return r.budget(e)
	case chain.Restore:
		return r.restore(e)
	case chain.Contract:
		return r.contract(e)
	case chain.Round:
		return r.round(e)
	}
	return r.tampered(e.Seq, "it is of the unknown kind %q", e.Kind)
}

func (r *replay) opened(e *chain.Entry) error {
	m, err := newMeter(e.Open)
	if err != nil || e.Open.Dataset != r.dataset || m.Order() != e.Open.Order {
		return r.tampered(e.Seq, "it does not configure dataset %q", r.dataset)
	}
	r.open, r.meter = e.Open, m
	r.totals = chain.Totals{Budget: e.Open.Budget}
	return nil
}

func (r *replay) charge(e *chain.Entry) error {
	c := e.Charge
	if old, used := r.keys[c.Key]; used {
		return r.tampered(e.Seq, "its key is that of entry %d", old)
	}
	if c.Event == nil || c.Adjacency != r.open.Adjacency || c.Unit != r.open.Unit {
		return r.tampered(e.Seq, "it has no event under the ledger's adjacency and unit")
	}
	if c.Contract != r.totals.Contract.Number {
		return r.tampered(e.Seq, "its data were read by another version of the contract than was in force")
	}
	cost, err := r.cost(c.Event)
	if err != nil {
		return r.tampered(e.Seq, "its event cannot be accounted for: %v", err)
	}
	if !near(cost, c.Cost) {
		if ok, err := r.meter.Converted(context.Background(), c.Event, c.Cost); err != nil || !ok {
			return r.tampered(e.Seq, "it does not cost what it says")
		}
	}
	limits, err := r.limit(r.totals.Budget, r.open.Reserve)
	if err != nil {
		return err
	}
	r.totals.Spent = r.totals.Spent.Plus(c.Cost)
	if !within(r.totals.Spent, limits.Most) {
		return r.tampered(e.Seq, "it exceeds the budget")
	}
	a := r.analysts[c.Analyst]
	if a.Share == nil && r.open.ClosedList && r.shares > 0 {
		return r.tampered(e.Seq, "its analyst has no share, and those who have one are a closed list")
	}
	a.Spent = a.Spent.Plus(c.Cost)
	a.Charges++
	if a.Share != nil {
		if limits, err = r.limit(a.Share.Budget, a.Share.Reserve); err != nil {
			return err
		}
		if !within(a.Spent, limits.Most) {
			return r.tampered(e.Seq, "it exceeds the share of its analyst")
		}
	}
	r.analysts[c.Analyst] = a
	r.keys[c.Key] = e.Seq
	r.charges[e.Seq] = &replayed{key: c.Key}
	return r.see(e.Seq, c.Fingerprint)
}

// see notes the fingerprint of an entry. Without the store's key, as for an
// export, those that are sealed say nothing.
func (r *replay) see(seq int64, fingerprint string) error {
	if fingerprint == "" || r.key == nil {
		return nil
	}
	plain, err := unseal(r.key, fingerprint)
	if err != nil {
		return r.tampered(seq, "%v", err)
	}
	r.seen[plain] = true
	return nil
}

func (r *replay) record(e *chain.Entry) error {
	c, ok := r.charges[e.Record.Charge]
	if !ok {
		return r.tampered(e.Seq, "it records a release of entry %d, which is no charge before it", e.Record.Charge)
	}
	if c.recorded != 0 {
		return r.tampered(e.Seq, "it records a second release of entry %d", e.Record.Charge)
	}
	c.recorded, c.release = e.Seq, e.Record.Release
	return nil
}

func (r *replay) round(e *chain.Entry) error {
	c, ok := r.charges[e.Round.Charge]
	switch {
	case !ok:
		return r.tampered(e.Seq, "it is of a round of entry %d, which is no charge before it", e.Round.Charge)
	case c.recorded != 0:
		return r.tampered(e.Seq, "it is of a round of entry %d, whose release entry %d had recorded", e.Round.Charge, c.recorded)
	case e.Round.Number != c.rounds+1:
		return r.tampered(e.Seq, "it is of round %d of entry %d, after %d rounds", e.Round.Number, e.Round.Charge, c.rounds)
	}
	c.rounds++
	return nil
}

func (r *replay) applyShare(e *chain.Entry) error {
	limits, err := r.limit(e.Share.Budget, e.Share.Reserve)
	if err != nil {
		return r.tampered(e.Seq, "its share cannot be: %v", err)
	}
	a := r.analysts[e.Share.Analyst]
	if !within(a.Spent, limits.Most) {
		return r.tampered(e.Seq, "its share is below what the analyst had spent")
	}
	if a.Share == nil {
		r.shares++
	}
	a.Share = e.Share
	r.analysts[e.Share.Analyst] = a
	return nil
}

func (r *replay) budget(e *chain.Entry) error {
	limits, err := r.limit(e.Budget.To, r.open.Reserve)
	if err != nil {
		return r.tampered(e.Seq, "its budget cannot be: %v", err)
	}
	if e.Budget.From != r.totals.Budget || !within(r.totals.Spent, limits.Most) {
		return r.tampered(e.Seq, "it does not change the budget that was in force to one that covers what was spent")
	}
	r.totals.Budget = e.Budget.To
	return nil
}

func (r *replay) contract(e *chain.Entry) error {
	c := e.Contract
	if c.Number != r.totals.Contract.Number+1 || c.Hash != sha256.Sum256(c.Terms) || (c.Number > 1) != (c.Reason != "") {
		return r.tampered(e.Seq, "it is not the next version of the contract")
	}
	r.totals.Contract = chain.Version{Number: c.Number, Seq: e.Seq}
	return nil
}

func (r *replay) restore(e *chain.Entry) error {
	limits, err := r.limit(r.totals.Budget, r.open.Reserve)
	if err != nil {
		return err
	}
	want := left(r.totals.Spent, limits.Most)
	switch e.Restore.Declared {
	case chain.LostNothing:
		want = account.Cost{}
	case chain.LostEvent:
		cost, err := r.cost(e.Restore.Lost)
		if err != nil {
			return r.tampered(e.Seq, "what it debits cannot be accounted for: %v", err)
		}
		want = least(cost, want)
	}
	if *r.head != e.Restore.Backup || !near(want, e.Restore.Cost) {
		return r.tampered(e.Seq, "it does not debit what was declared lost after entry %d", r.head.Seq)
	}
	r.totals.Spent = r.totals.Spent.Plus(e.Restore.Cost)
	r.totals.Restores++
	return nil
}

// cost measures an event, equal ones once. It is measured to the end: a measurement that was broken off
// must not look like a charge that has no cost.
func (r *replay) cost(event dp.Event) (account.Cost, error) {
	text, err := dp.MarshalEvent(event)
	if err != nil {
		return account.Cost{}, err
	}
	if cost, known := r.costs[string(text)]; known {
		return cost, nil
	}
	cost, err := r.meter.Cost(context.Background(), event)
	if err == nil {
		r.costs[string(text)] = cost
	}
	return cost, err
}

func (r *replay) limit(budget, reserve dp.Budget) (meter.Limits, error) {
	at := [2]dp.Budget{budget, reserve}
	if limits, known := r.limits[at]; known {
		return limits, nil
	}
	limits, err := r.meter.Limits(budget, reserve)
	if err == nil {
		r.limits[at] = limits
	}
	return limits, err
}

// slack is the relative difference that another machine's arithmetic may make to
// what an event costs, or to what a budget admits. Sums are exact.
const slack = 0x1p-30

func near(a, b account.Cost) bool {
	close := func(x, y float64) bool { return x == y || math.Abs(x-y) <= slack*math.Max(x, y) }
	return close(a.Sum, b.Sum) && close(a.Epsilon, b.Epsilon) && close(a.Delta, b.Delta)
}

func within(spent, most account.Cost) bool {
	most.Sum, most.Epsilon, most.Delta = most.Sum*(1+slack), most.Epsilon*(1+slack), most.Delta*(1+slack)
	return spent.Within(most)
}

// asTampered turns an error of reading a row into one that names it.
func asTampered(err error) *TamperError {
	var t *TamperError
	if errors.As(err, &t) {
		return t
	}
	return nil
}
