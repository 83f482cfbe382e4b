package ledger

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/internal/issue"
	"github.com/discreet-rl/discreet/dp/ledger/internal/store"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
)

// Charge asks for an event to be paid.
type Charge struct {
	// Key makes the charge idempotent: the same key is never charged twice. Make
	// it random for each invocation ([NewKey]) unless a caller retries.
	Key string
	// Analyst asks and Purpose says what for.
	Analyst, Purpose string
	// Event is what will be run, as accounted for under Adjacency for one Unit
	// ("person" if empty). Both must be the ledger's.
	Event     dp.Event
	Adjacency dp.Adjacency
	Unit      string
	// CodeVersion and ConfigHash say what will be run. A retry must have the same
	// ConfigHash.
	CodeVersion, ConfigHash string
	// Fingerprint is [Ledger.Fingerprint] of the data; empty where nothing is
	// known of them, as before data exist.
	Fingerprint string
	// Units yields the ids of the units in the data; nil where they are not known.
	// They are hashed under the store's key, and only the smallest hashes are kept,
	// beside the chain: they tell data of mostly the same units.
	Units iter.Seq[string]
	// Contract is the number of the contract's version that the data were read by
	// ([Ledger.Contract]), 0 where the dataset has none.
	Contract int64
	// Check is the number of the check of the data that this charge pays for
	// ([Ledger.BeginCheck]), 0 without one. It is taken back with the charge.
	Check int64
	// Delta is the delta at which the release will state its epsilon. It only
	// serves to say what would fit; 0 stands for that of the budget's own part.
	Delta float64
	// AsOf has [Ledger.Fits] answer from what was charged before this time; zero stands for
	// now. A charge does not look at it.
	AsOf time.Time
}

// Grant is a committed charge.
type Grant struct {
	// Receipt entitles to one run of the event.
	Receipt *receipt.Receipt
	// Entry is the charge as it stands in the chain, and Cost what it spends.
	Entry Entry
	Cost  account.Cost
	// Warnings are for the curator: data that are known under another name, or
	// that are not those of earlier charges, or a witness that could not be updated.
	Warnings []string
	// Budget is what all charges must meet, and Spent what those so far, this one
	// included, are certain to meet together.
	Budget, Spent dp.Budget
	// Before is what was spent before this charge, in the rule's own quantities;
	// Most is the largest total that the budget admits in them.
	Before, Most account.Cost
}

// Charge commits a charge and hands out its receipt. When it returns, the charge
// is durable; on any error no receipt exists.
//
// What the budget does not cover is a [RefusedError]. A key that was charged
// before gives a [RecordedError] with the recorded release, [ErrPending] if there
// is none, or [ErrKeyReused] if it was charged for something else.
func (l *Ledger) Charge(ctx context.Context, c Charge) (*Grant, error) {
	grants, err := l.ChargeAll(ctx, []Charge{c})
	if err != nil {
		return nil, err
	}
	return grants[0], nil
}

// ChargeAll commits several charges in one transaction: all of them or none.
func (l *Ledger) ChargeAll(ctx context.Context, charges []Charge) ([]*Grant, error) {
	bodies, err := l.bodies(ctx, charges)
	if err != nil {
		return nil, err
	}
	sketches := make([]sketch, len(charges))
	for i, c := range charges {
		if c.Units != nil {
			sketches[i] = sketchOf(l.key, c.Units)
		}
	}
	var grants []*Grant
	behind, err := l.extend(ctx, func(w *writer) error {
		grants = grants[:0]
		for i, body := range bodies {
			g, err := l.charge(w, body, sketches[i], charges[i].Delta)
			if err == nil && charges[i].Check != 0 {
				err = w.tx.EndCheck(charges[i].Check)
			}
			if err != nil {
				return err
			}
			grants = append(grants, g)
		}
		return nil
	})
	if err != nil {
		return nil, l.answered(ctx, err, charges)
	}
	head := chain.Head{Seq: grants[len(grants)-1].Entry.Seq, Hash: grants[len(grants)-1].Entry.Hash}
	for _, g := range grants {
		if err := l.issue(g, head); err != nil {
			return nil, err
		}
		if behind != nil {
			g.Warnings = append(g.Warnings, behind.Error())
		}
	}
	return grants, nil
}

// issue makes the receipt of a charge that is committed.
func (l *Ledger) issue(g *Grant, head chain.Head) error {
	event, err := dp.MarshalEvent(g.Entry.Charge.Event)
	if err != nil {
		return err
	}
	g.Receipt = receipt.Issue(issue.New(), g.Entry.Charge.Adjacency, event, receipt.Stamp{
		Ledger: l.open.Ledger, Dataset: l.open.Dataset, Seq: g.Entry.Seq, Entry: g.Entry.Hash, Head: head,
	})
	return nil
}

// bodies checks the charges and measures them. It is done before the transaction:
// what an event costs does not depend on the ledger's state, and may take long.
func (l *Ledger) bodies(ctx context.Context, charges []Charge) ([]*chain.ChargeBody, error) {
	if len(charges) == 0 {
		return nil, fmt.Errorf("%w: no charges", ErrCharge)
	}
	bodies := make([]*chain.ChargeBody, len(charges))
	for i, c := range charges {
		body, err := l.body(ctx, c)
		if err != nil {
			return nil, err
		}
		bodies[i] = body
	}
	return bodies, nil
}

func (l *Ledger) body(ctx context.Context, c Charge) (*chain.ChargeBody, error) {
	if c.Unit == "" {
		c.Unit = "person"
	}
	for _, f := range []struct {
		name, text string
		needed     bool
	}{
		{"key", c.Key, true}, {"analyst", c.Analyst, true}, {"purpose", c.Purpose, false}, {"unit", c.Unit, true},
		{"code version", c.CodeVersion, false}, {"config hash", c.ConfigHash, false},
	} {
		if err := plainText(f.name, f.text, f.needed); err != nil {
			return nil, fmt.Errorf("%w: %v", ErrCharge, err)
		}
	}
	if c.Adjacency != l.open.Adjacency {
		return nil, fmt.Errorf("%w: %v asked, and the budget of dataset %q is kept under %v; plan the release under that", ErrAdjacency, c.Adjacency, l.open.Dataset, l.open.Adjacency)
	}
	if c.Unit != l.open.Unit {
		return nil, fmt.Errorf("%w: %q asked, and the budget of dataset %q is kept for one %q", ErrUnit, c.Unit, l.open.Dataset, l.open.Unit)
	}
	fingerprint, err := l.plainFingerprint(c.Fingerprint)
	if err != nil {
		return nil, err
	}
	event, err := ownEvent(c.Event)
	if err != nil {
		return nil, err
	}
	cost, err := l.meter.Cost(ctx, event)
	if err != nil {
		return nil, err
	}
	return &chain.ChargeBody{
		Key: c.Key, Analyst: c.Analyst, Purpose: c.Purpose, Event: event, Adjacency: c.Adjacency, Unit: c.Unit,
		CodeVersion: c.CodeVersion, ConfigHash: c.ConfigHash, Fingerprint: fingerprint, Cost: cost, Contract: c.Contract,
	}, nil
}

// ownEvent copies an event through its JSON form. What is measured, kept and bound
// to the receipt is then one value, of this module's own types, that the caller
// cannot change meanwhile.
func ownEvent(e dp.Event) (dp.Event, error) {
	text, err := issue.EventText(e)
	if err != nil {
		return nil, err
	}
	return dp.ParseEvent(text)
}

// charge writes one charge into the transaction.
func (l *Ledger) charge(w *writer, body *chain.ChargeBody, units sketch, delta float64) (*Grant, error) {
	if err := l.charged(w.tx, body); err != nil {
		return nil, err
	}
	totals := w.last.Totals
	a, limits, err := l.mayCharge(w.tx, totals, body, delta)
	if err != nil {
		return nil, err
	}
	g := &Grant{Cost: body.Cost, Budget: totals.Budget, Before: totals.Spent, Most: limits.Most}
	known, err := l.noteFingerprint(w.tx, body.Fingerprint, g)
	if err != nil {
		return nil, err
	}
	alike, err := l.recognise(w.tx, units, known)
	if err != nil {
		return nil, err
	}
	g.Warnings = append(g.Warnings, alike...)
	totals.Spent = totals.Spent.Plus(body.Cost)
	if g.Spent, err = l.meter.Spent(totals.Spent, limits); err != nil {
		return nil, store.Abort(err)
	}
	sealed := *body
	sealed.Fingerprint = seal(l.key, body.Fingerprint)
	entry := &chain.Entry{Kind: chain.Charge, Charge: &sealed, Totals: totals}
	added, err := w.append(entry)
	if err != nil {
		return nil, err
	}
	g.Entry = added.public()
	if err := w.tx.AddCharge(body.Key, g.Entry.Seq); err != nil {
		return nil, err
	}
	a.Spent = a.Spent.Plus(body.Cost)
	a.Charges++
	return g, setAnalyst(w.tx, body.Analyst, a)
}

// charged answers for a key that was charged before.
func (l *Ledger) charged(tx *store.Tx, body *chain.ChargeBody) error {
	old, found, err := tx.Charge(body.Key)
	if err != nil || !found {
		return err
	}
	row, err := tx.Entry(old.Seq)
	if err != nil {
		return err
	}
	e, err := l.chargeIn(row)
	if err != nil || e.Charge.Key != body.Key {
		return store.Abort(l.tampered(old.Seq, "it is not the charge of its key"))
	}
	fingerprint, err := l.fingerprintOf(e.Seq, e.Charge.Fingerprint)
	if err != nil {
		return err
	}
	if fingerprint != body.Fingerprint || !same(e.Charge, body) {
		return store.Abort(fmt.Errorf("%w: key %q is that of entry %d, for another event, configuration or analyst; use a new key", ErrKeyReused, body.Key, old.Seq))
	}
	if old.Recorded == 0 {
		return store.Abort(fmt.Errorf("%w: key %q was charged by entry %d on %s and has no release: its run has not ended yet, or it failed; if it may still run, try again later; if it failed, its budget is spent and it is never run again: charge a new key",
			ErrPending, body.Key, old.Seq, e.Time.Format("2006-01-02 15:04:05 MST")))
	}
	release, err := tx.Release(old.Seq)
	if err != nil {
		return err
	}
	return store.Abort(&RecordedError{Entry: numbered{Entry: e, hash: toHash(row.Hash), line: row.Body}.public(), Release: release})
}

// same reports that a charge on the same data is a retry of another: the same
// question. The version of the code and the purpose may differ.
func same(a, b *chain.ChargeBody) bool {
	x, errX := dp.MarshalEvent(a.Event)
	y, errY := dp.MarshalEvent(b.Event)
	return errX == nil && errY == nil && string(x) == string(y) &&
		a.Analyst == b.Analyst && a.ConfigHash == b.ConfigHash
}

// noteFingerprint notes the data's fingerprint, and warns of, or refuses, a renamed copy. It
// returns the other datasets that were charged for these data.
func (l *Ledger) noteFingerprint(tx *store.Tx, fingerprint string, g *Grant) (others []string, err error) {
	if fingerprint == "" {
		return nil, nil
	}
	before, err := tx.HasFingerprint(keyOf(fingerprint))
	if err != nil {
		return nil, err
	}
	seen, others, err := tx.RecordFingerprint(fingerprint)
	if err != nil {
		return nil, err
	}
	if len(others) > 0 && l.open.RefuseCopies {
		return nil, store.Abort(fmt.Errorf("%w: these data are charged as dataset %q; charge that one, or create the ledger of %q without refusing copies", ErrCopy, others, l.open.Dataset))
	}
	if len(others) > 0 {
		g.Warnings = append(g.Warnings, fmt.Sprintf("these data are also charged as dataset %q: the losses of one %s add up over both", others, l.open.Unit))
	}
	if !seen && before {
		g.Warnings = append(g.Warnings, fmt.Sprintf("these data are not those of earlier charges to dataset %q: its budget is right only if they are about the same %ss", l.open.Dataset, l.open.Unit))
	}
	return others, nil
}
