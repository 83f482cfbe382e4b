package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/discreet-rl/discreet/dp/ledger/internal/store"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
	"github.com/discreet-rl/discreet/internal/jcs"
)

// SetContract appends a version of the contract: terms is JSON that says how the
// data of the dataset are to be read. From then on a charge must name this version.
// The budget and what is spent stay as they are: every version is about the persons
// of the versions before, and what they have lost is not forgotten. The first version
// has no reason and every later one has; terms that are in force already are
// [ErrContract].
func (l *Ledger) SetContract(ctx context.Context, terms []byte, reason string) (*Contract, error) {
	canonical, err := jcs.Canonical(terms)
	if err == nil && reason != "" {
		err = plainText("reason", reason, true)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrContract, err)
	}
	body := &chain.ContractBody{Terms: canonical, Hash: sha256.Sum256(canonical), Reason: reason}
	behind, err := l.extend(ctx, func(w *writer) error {
		before, err := l.contractIn(w.tx, w.last)
		if err != nil {
			return err
		}
		switch {
		case before == nil && reason != "":
			return store.Abort(fmt.Errorf("%w: dataset %q has none yet; the first version is no new version", ErrContract, l.open.Dataset))
		case before != nil && bytes.Equal(before.Terms, canonical):
			return store.Abort(fmt.Errorf("%w: version %d of dataset %q says the same", ErrContract, before.Number, l.open.Dataset))
		case before != nil && reason == "":
			return store.Abort(fmt.Errorf("%w: dataset %q has version %d, and this is another; say why there is a new version", ErrContract, l.open.Dataset, before.Number))
		}
		totals := w.last.Totals
		body.Number = totals.Contract.Number + 1
		totals.Contract = chain.Version{Number: body.Number, Seq: w.last.Seq + 1}
		_, err = w.append(&chain.Entry{Kind: chain.Contract, Contract: body, Totals: totals})
		return err
	})
	if err != nil {
		return nil, err
	}
	return (*Contract)(body), behind
}

// Contract returns the version of the contract that is in force, nil where the
// dataset has none.
func (l *Ledger) Contract(ctx context.Context) (*Contract, error) {
	var body *chain.ContractBody
	err := l.view(ctx, func(tx *store.Tx) error {
		last, err := l.lastEntry(tx)
		if err != nil {
			return err
		}
		body, err = l.contractIn(tx, last)
		return err
	})
	return (*Contract)(body), err
}

// contractIn is the version in force after an entry.
func (l *Ledger) contractIn(tx *store.Tx, last *chain.Entry) (*chain.ContractBody, error) {
	at := last.Totals.Contract
	if at.Number == 0 {
		return nil, nil
	}
	row, err := tx.Entry(at.Seq)
	if err != nil {
		return nil, err
	}
	e, err := chain.Parse(row.Body)
	if err != nil || chain.Sum(row.Body) != toHash(row.Hash) || e.Contract == nil || e.Contract.Number != at.Number || e.Contract.Hash != sha256.Sum256(e.Contract.Terms) {
		return nil, store.Abort(l.tampered(at.Seq, "it is not version %d of the contract", at.Number))
	}
	return e.Contract, nil
}
