package serve

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/serve/internal/asks"
)

// facts are what store, ledger and witness of a dataset say of each other at one moment. The
// verdict follows from them alone, and is the only place that says what is wrong.
type facts struct {
	dataset string // empty at the start of a service, for all of them
	// store is why the store, or its audit log, is not what it was; nil if it is.
	store error
	// mark is the newest entry that the store saw, nil in a new one; held is why the ledger
	// does not hold it, and debited that what it lacks was declared lost when it was restored.
	mark    *asks.Mark
	held    error
	debited bool
	// unread is why the ledger could not be read.
	unread error
	// unpaid are asks that were charged, by the store, and that the ledger lacks.
	unpaid []unpaid
	// unasked are keys of charges of the service, by the ledger, whose asks the store lacks.
	unasked []string
	// witness is why the witness refuses, or could not be asked.
	witness error
}

// unpaid is an ask whose charge is not in the ledger.
type unpaid struct {
	ask  string
	lack error
}

// errLost marks records that contradict each other: with them budget would be there again.
var errLost = fault.Refused("store, ledger and witness contradict each other")

// errUncompared marks records that cannot be read or asked: nothing is charged meanwhile.
var errUncompared = fault.Refused("the ledger cannot be compared with the store")

// What a steward does about it.
const (
	remedy = "stop the service, bring back the newest ledger, or restore its newest backup and say what was charged after it (discreet serve restore, discreet ledger restore), and start again"
	// remedyStore is for the store.
	remedyStore = "stop the service, bring back the newest store or move it away, have what the ledger knows taken over (discreet serve restore), and start again"
	// remedyWitness is for the witness.
	remedyWitness = "bring the witness back, or if it is lost, forget it (discreet ledger witness --remove) and start again"
)

// The parts that may refuse.
const (
	partStore   = "store"
	partAudit   = "audit"
	partLedger  = "ledger"
	partWitness = "witness"
)

// refusal is a verdict, with the part that refuses.
type refusal struct {
	error
	part string
}

func (r refusal) Unwrap() error { return r.error }

// partOf is the part that a verdict is about; empty where nothing is wrong.
func partOf(verdict error) string {
	if r, ok := errors.AsType[refusal](verdict); ok {
		return r.part
	}
	return ""
}

// behind tells an error that contradicts what is known from one that says nothing.
func behind(err error) bool {
	return errors.Is(err, ledger.ErrBehind) || errors.Is(err, ledger.ErrTampered)
}

// contradicts tells an error of the store that it is not what it was.
func contradicts(err error) bool {
	return errors.Is(err, asks.ErrReplaced) || errors.Is(err, asks.ErrAudit)
}

// verdict says what is wrong, for the steward, and nil if nothing is. It wraps [errLost] where
// no budget may be shown either, and [errUncompared] where only nothing is charged.
func (f facts) verdict() error {
	say := func(part string, kind, cause error, remedy, format string, args ...any) error {
		what := fmt.Sprintf(format, args...)
		if f.dataset != "" {
			what = fmt.Sprintf("dataset %q: %s", f.dataset, what)
		}
		if cause != nil {
			return refusal{fmt.Errorf("%w: %s: %w; nothing is charged: %s", kind, what, cause, remedy), part}
		}
		return refusal{fmt.Errorf("%w: %s; nothing is charged: %s", kind, what, remedy), part}
	}
	stored := partStore
	if errors.Is(f.store, asks.ErrAudit) {
		stored = partAudit
	}
	switch {
	case f.store != nil && contradicts(f.store):
		return say(stored, errLost, f.store, remedyStore, "the store is not what it was")
	case f.store != nil:
		return say(stored, errUncompared, f.store, remedyStore, "the store cannot be read")
	case errors.Is(f.unread, ledger.ErrBusy):
		return say(partLedger, errUncompared, f.unread, "end the program that has the ledger locked", "the ledger is locked")
	case f.unread != nil && behind(f.unread):
		return say(partLedger, errLost, f.unread, remedy, "the ledger was changed")
	case f.unread != nil:
		return say(partLedger, errUncompared, f.unread, remedy, "the ledger is missing, was replaced or cannot be read")
	case f.held != nil && !f.debited && behind(f.held):
		return say(partLedger, errLost, f.held, remedy, "the ledger is older than the store, or another: the store saw its entry %d of ledger %s", f.mark.Seq, f.mark.Ledger)
	case f.held != nil && !f.debited:
		return say(partLedger, errUncompared, f.held, remedy, "the ledger cannot be compared with entry %d that the store saw", f.mark.Seq)
	case len(f.unpaid) > 0:
		u := f.unpaid[0]
		kind := errUncompared
		if behind(u.lack) {
			kind = errLost
		}
		return say(partLedger, kind, u.lack, remedy, "the ledger lacks the charge of ask %s", u.ask)
	case len(f.unasked) > 0:
		return say(partStore, errLost, nil, remedyStore, "the store is older than the ledger, or another: it lacks the asks of %d of its charges, the first under key %s", len(f.unasked), f.unasked[0])
	case f.witness != nil && behind(f.witness):
		return say(partWitness, errLost, f.witness, remedy, "the ledger is older than its witness knows, or another")
	case f.witness != nil:
		return say(partWitness, errUncompared, f.witness, remedyWitness, "the witness cannot be asked")
	}
	return nil
}

// lacks is why a ledger does not hold a mark by what it is; nil where its entries have to say.
func lacks(m *asks.Mark, o ledger.Opening) error {
	if m != nil && m.Ledger != o.Ledger {
		return fmt.Errorf("%w: it is ledger %s of dataset %q", ledger.ErrBehind, o.Ledger, o.Dataset)
	}
	return nil
}

// isMark tells whether an entry is the one that the store saw.
func isMark(m *asks.Mark, e ledger.Entry) bool {
	return e.Seq == m.Seq && bytes.Equal(e.Hash[:], m.Hash)
}

// ofService tells a key under which a service charges: "ask-" and 32 hexadecimal digits.
func ofService(key string) bool {
	digits, ok := strings.CutPrefix(key, "ask-")
	return ok && len(digits) == 32 && strings.Trim(digits, "0123456789abcdef") == ""
}
