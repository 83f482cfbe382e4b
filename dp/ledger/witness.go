package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/discreet-rl/discreet/dp/ledger/internal/store"
	"github.com/discreet-rl/discreet/dp/ledger/internal/witness"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
)

// Witness is a place outside the store that the steward named, and the highest head
// of the ledger that it knows.
type Witness struct {
	Place string     `json:"place"`
	Head  chain.Head `json:"head"`
}

// AddWitness names a place to which the head of the chain is appended after every
// charge; where there is nothing it is made. Before every charge
// it is read: one that is gone, ahead of the store, or knows another entry refuses
// the charge with [ErrWitness]. So does this, for one that is there already. An
// answer is waited for 30 seconds.
//
// A place is a file, best on another disk; git:REPOSITORY#REFERENCE, such as
// git:/srv/witness.git#refs/witness/trial, with the repository as the command git
// takes it; or an https URL (http on this machine). What the server has to do is in
// docs/ledger.md.
func (l *Ledger) AddWitness(ctx context.Context, name string) error {
	place, known, err := l.tail(ctx, name)
	if err != nil {
		return err
	}
	return l.store.Update(ctx, l.open.Dataset, func(tx *store.Tx) error {
		if err := l.tellNew(ctx, tx, place, known); err != nil {
			return err
		}
		return tx.AddWitness(place.String())
	})
}

// unwitnessed refuses to begin a ledger whose witness knows one.
func (c Config) unwitnessed(ctx context.Context) error {
	if c.Witness == "" {
		return nil
	}
	place, err := witnessAt(c.Witness)
	if err != nil {
		return err
	}
	switch tail, err := place.Tail(ctx); {
	case errors.Is(err, witness.ErrAbsent), err == nil && len(tail) == 0:
		return nil
	case err != nil:
		return unwritten(place, err)
	}
	return fmt.Errorf("%w: %s knows a ledger, and the one of dataset %q is yet to begin: if it was lost, a new one would give its budget back; bring back the newest copy, restore its newest backup, or name a place where there is nothing", ErrWitness, place, c.Dataset)
}

// RemoveWitness forgets a witness; what it holds stays. Who may write to the store may
// do so: a witness is against slips and old copies.
func (l *Ledger) RemoveWitness(ctx context.Context, name string) error {
	place, err := witnessAt(name)
	if err != nil {
		return err
	}
	return l.store.Update(ctx, l.open.Dataset, func(tx *store.Tx) error {
		named, err := tx.RemoveWitness(place.String())
		if err == nil && !named {
			err = store.Abort(fmt.Errorf("%w: %s is no witness of dataset %q", ErrConfig, place, l.open.Dataset))
		}
		return err
	})
}

// TellWitness appends the present head to a place that need not be named, after the
// same look at it as before a charge. Where there is nothing it is made.
func (l *Ledger) TellWitness(ctx context.Context, name string) error {
	place, known, err := l.tail(ctx, name)
	if err != nil {
		return err
	}
	return l.store.View(ctx, l.open.Dataset, func(tx *store.Tx) error { return l.tellNew(ctx, tx, place, known) })
}

// tail is the place of a name, which may be new, and what it knows: nothing, if there is nothing in it.
func (l *Ledger) tail(ctx context.Context, name string) (place witness.Place, known []Witness, err error) {
	if place, err = witnessAt(name); err != nil {
		return place, nil, err
	}
	switch tail, err := place.Tail(ctx); {
	case errors.Is(err, witness.ErrAbsent), err == nil && len(tail) == 0:
		return place, nil, nil
	case err != nil:
		return place, nil, unwritten(place, err)
	}
	known, err = l.ask(ctx, []string{place.String()})
	return place, known, err
}

// tellNew tells a place, unless it knows what the store does not hold.
func (l *Ledger) tellNew(ctx context.Context, tx *store.Tx, place witness.Place, known []Witness) error {
	if err := l.holds(tx, known); err != nil {
		return err
	}
	seq, hash := tx.Head()
	if err := place.Append(ctx, l.witnessed(chain.Head{Seq: seq, Hash: toHash(hash)})); err != nil {
		return store.Abort(unwritten(place, err))
	}
	return nil
}

func unwritten(place witness.Place, err error) error {
	return fmt.Errorf("%w: %s cannot be written: %w", ErrWitness, place, err)
}

// witnessAt reads the name of a witness.
func witnessAt(name string) (witness.Place, error) {
	place, err := witness.Parse(name)
	if err == nil {
		err = plainText("its name", place.String(), true)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: a witness: %v", ErrConfig, err)
	}
	return place, nil
}

// Witnesses asks the witnesses of the ledger, as before a charge. Charges may go on meanwhile.
func (l *Ledger) Witnesses(ctx context.Context) (all []Witness, err error) {
	var names []string
	err = l.store.View(ctx, l.open.Dataset, func(tx *store.Tx) (err error) {
		names, err = tx.Witnesses()
		return err
	})
	if err != nil {
		return nil, err
	}
	// They are asked first: every entry that a witness knows was committed earlier, and is in every
	// state that begins after that.
	if all, err = l.ask(ctx, names); err != nil {
		return nil, err
	}
	err = l.store.View(ctx, l.open.Dataset, func(tx *store.Tx) error { return l.holds(tx, all) })
	if err != nil {
		return nil, err
	}
	return all, nil
}

// consult asks every witness whether the store is what it was. The transaction has the write lock
// of the dataset, so that nobody tells a witness meanwhile.
func (l *Ledger) consult(ctx context.Context, tx *store.Tx) ([]Witness, error) {
	names, err := tx.Witnesses()
	if err != nil {
		return nil, err
	}
	all, err := l.ask(ctx, names)
	if err != nil {
		return nil, store.Abort(err)
	}
	return all, l.holds(tx, all)
}

// ask asks witnesses for what they know.
func (l *Ledger) ask(ctx context.Context, names []string) ([]Witness, error) {
	var all []Witness
	for _, name := range names {
		place, err := witnessAt(name)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrWitness, err)
		}
		head, err := highest(ctx, place, l.open.Ledger)
		if err != nil {
			return nil, fmt.Errorf("%w: %s cannot be asked: %w; bring it back, or name another (discreet ledger witness --remove, --add)", ErrWitness, place, err)
		}
		all = append(all, Witness{Place: name, Head: head})
	}
	return all, nil
}

// holds holds the store against what witnesses know. One that is behind is what a crash
// between a charge and its note leaves.
func (l *Ledger) holds(tx *store.Tx, all []Witness) error {
	for _, w := range all {
		if err := l.verifyHead(tx, w.Head); err != nil {
			if !errors.Is(err, ErrBehind) && !errors.Is(err, ErrTampered) {
				return err
			}
			return store.Abort(fmt.Errorf("%w: %s knows entry %d: %w; nothing is charged: bring back the newest copy of the ledger, or restore its newest backup%s", ErrWitness, w.Place, w.Head.Seq, err, afterRestore(tx)))
		}
	}
	return nil
}

// afterRestore is what else may be done about an old witness of a ledger that was restored; of any
// other it would be what a steward with an older copy must not do.
func afterRestore(tx *store.Tx) string {
	seq, _ := tx.Head()
	row, err := tx.Entry(seq)
	if err != nil {
		return ""
	}
	if e, err := chain.Parse(row.Body); err != nil || e.Totals.Restores == 0 {
		return ""
	}
	return "; if the last restore booked what was charged since its backup, name a new witness"
}

func (l *Ledger) witnessed(head chain.Head) []byte {
	return witnessLine{Ledger: l.open.Ledger, Dataset: l.open.Dataset, Head: head}.text()
}

// extend is update for what a rollback must not undo: witnesses are asked before,
// and updated after the commit. A crash in between leaves them behind, never ahead.
// behind is the error of witnesses that could not be updated; the entries stand.
func (l *Ledger) extend(ctx context.Context, f func(*writer) error) (behind, err error) {
	var asked []Witness
	var head chain.Head
	err = l.update(ctx, func(w *writer) error {
		if asked, err = l.consult(ctx, w.tx); err != nil {
			return err
		}
		if err := f(w); err != nil {
			return err
		}
		seq, hash := w.tx.Head()
		head = chain.Head{Seq: seq, Hash: toHash(hash)}
		return nil
	})
	if err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx) // who gives up now has been charged
	for _, w := range asked {
		place, err := witnessAt(w.Place)
		if err == nil {
			err = place.Append(ctx, l.witnessed(head))
		}
		if err != nil {
			behind = errors.Join(behind, fmt.Errorf("%w: entry %d is committed and %s could not be updated: %w", ErrWitness, head.Seq, w.Place, err))
		}
	}
	return behind, nil
}
