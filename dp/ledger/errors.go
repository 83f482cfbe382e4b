package ledger

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger/internal/store"
	"github.com/discreet-rl/discreet/internal/fault"
)

// Sentinel errors. Everything this package returns wraps one of them, one of
// package dp's, or one of package account's.
var (
	// ErrBudget marks a charge that the budget or the analyst's share does not
	// cover. The error is a [RefusedError].
	ErrBudget = fault.Refused("privacy budget refused")
	// ErrShare marks, beside ErrBudget, a charge that the budget would cover and
	// the analyst's share does not.
	ErrShare = fault.Refused("analyst's share refused")
	// ErrAnalyst marks a charge by an analyst who is not on the closed list.
	ErrAnalyst = fault.Refused("analyst is not on the list")
	// ErrAdjacency marks a charge under another adjacency than the ledger's.
	ErrAdjacency = fault.Input("charge of another adjacency")
	// ErrUnit marks a charge for another unit of privacy than the ledger's.
	ErrUnit = fault.Input("charge of another unit of privacy")
	// ErrCharge marks a charge that lacks something or holds what cannot be kept.
	ErrCharge = fault.Input("invalid charge")
	// ErrPending marks a key that was charged and whose release was never
	// recorded. Its budget is spent.
	ErrPending = fault.Refused("charged and never recorded")
	// ErrKeyReused marks a key that was charged for something else.
	ErrKeyReused = fault.Input("key was used for another charge")
	// ErrRecorded marks a charge whose release is recorded already. From Charge
	// the error is a [RecordedError], which holds the release.
	ErrRecorded = errors.New("release is recorded already")
	// ErrRound marks a noisy sum that is not the next of its charge, or another than the
	// ledger has of that round: it may be a second draw, and must not be used.
	ErrRound = fault.Refused("draw is not the run's next")
	// ErrCopy marks data that the ledger knows under another dataset's name.
	ErrCopy = fault.Refused("data are charged under another name")
	// ErrConfig marks a configuration of a ledger that cannot be.
	ErrConfig = fault.Input("invalid ledger configuration")
	// ErrTampered marks a ledger, or a release, that contradicts itself. From
	// Verify the error is a [TamperError], which names the entry.
	ErrTampered = errors.New("ledger was changed")
	// ErrRelease marks a release that states another event, person, key, budget or
	// anything else of its charge than the entry that it names.
	ErrRelease = errors.New("release is not that of its charge")
	// ErrBehind marks a ledger that lacks entries which a release or a head proves
	// to have existed: it was restored from an old backup, or cut short.
	ErrBehind = errors.New("ledger is behind")
	// ErrWitness marks a witness outside the store that knows more of the ledger than
	// the store, or something else, or that cannot be asked. It comes with
	// ErrBehind or ErrTampered where it could.
	ErrWitness = fault.Refused("a witness of the ledger refuses")
	// ErrContract marks a charge for data that were read by another version of the
	// contract than the one in force, or by none; and a version that cannot be.
	ErrContract = fault.Input("contract of the dataset")
	// ErrChecks marks a dataset of which too many checks failed since the steward
	// last cleared them.
	ErrChecks = fault.Refused("failed checks are to be cleared")
	// ErrBackup marks a backup that is incomplete or damaged.
	ErrBackup = fault.Input("invalid backup")
)

// Errors of the store.
var (
	// ErrStore marks a store that cannot be reached, read or written.
	ErrStore = store.ErrStore
	// ErrUnknown marks a commit with an unknown outcome, for example because the
	// connection broke during it. Run nothing on it. Ask again with the same key: the
	// answer is ErrPending if it was committed.
	ErrUnknown = store.ErrUnknown
	// ErrNotLedger marks a location that holds something else, or nothing.
	ErrNotLedger = store.ErrNotLedger
	// ErrSchema marks a store whose schema is not this program's version.
	ErrSchema = store.ErrSchema
	// ErrNoDataset marks a dataset that the store does not hold.
	ErrNoDataset = store.ErrNoDataset
	// ErrExists marks a dataset that the store holds already.
	ErrExists = store.ErrExists
	// ErrBusy marks a lock that could not be had before the context, or a minute,
	// was over.
	ErrBusy = store.ErrBusy
)

// RefusedError says why a charge does not fit, and what would. It wraps
// [ErrBudget], and [ErrShare] where the analyst's share is what is short.
type RefusedError struct {
	Dataset string
	// Analyst is set where the share is short.
	Analyst string
	// Event is what was asked for, and Cost what it would spend.
	Event dp.Event
	Cost  account.Cost
	// Left is what is left, rounded down, of the budget or of the share.
	Left account.Allowance
	// Epsilon is the largest epsilon, at Delta, of one more charge that fits,
	// rounded down; 0 where none does. Where the rule takes the event itself it is
	// that of Gaussian noise.
	Epsilon float64
	Delta   float64
	// Fitting is the event with all its noise made larger by the factor Noise,
	// rounded up so that it is certain to fit; nil where no noise is enough.
	Fitting dp.Event
	Noise   float64
	// Method and Budget are what an evaluation asked for; empty of an event by itself.
	Method string
	Budget dp.Budget
}

// Error implements error. Of an evaluation it speaks in the words of its configuration.
func (e *RefusedError) Error() string {
	whose := "the budget"
	if e.Analyst != "" {
		whose = fmt.Sprintf("the share of analyst %q", e.Analyst)
	}
	if e.Method != "" {
		return e.remedied(whose)
	}
	s := fmt.Sprintf("%v: dataset %q: %s exceeds what is left of %s; ", ErrBudget, e.Dataset, e.Event.Kind(), whose)
	if e.Epsilon > 0 {
		s += fmt.Sprintf("epsilon up to %.4g at delta %.3g would fit", roundDown(e.Epsilon), e.Delta)
	} else {
		s += "no epsilon of this kind would fit"
	}
	if g, ok := e.Fitting.(dp.Gaussian); ok {
		return s + fmt.Sprintf(", or a noise multiplier of at least %.5g", roundUp(g.NoiseMultiplier))
	}
	if e.Fitting != nil {
		s += fmt.Sprintf(", or this with at least %.5g times the noise", roundUp(e.Noise))
	}
	return s
}

// remedied says what an evaluation may ask for instead.
func (e *RefusedError) remedied(whose string) string {
	s := fmt.Sprintf("%v: dataset %q: %s at epsilon %g, delta %g exceeds what is left of %s; ", ErrBudget, e.Dataset, e.Method, e.Budget.Epsilon, e.Budget.Delta, whose)
	// A twentieth of what was asked for makes no useful answer.
	if fits := floored(e.Epsilon); e.Epsilon > e.Budget.Epsilon/20 {
		lower := "privacy.epsilon"
		if e.Delta < e.Budget.Delta {
			lower += " and privacy.delta"
			if fits >= e.Budget.Epsilon {
				fits, lower = e.Budget.Epsilon, "privacy.delta"
			}
		}
		s += fmt.Sprintf("epsilon up to %g at delta %.4g would fit: lower %s, or ", fits, e.Delta, lower)
	} else {
		s += "hardly anything like it would fit: "
	}
	if _, laplace := e.Event.(dp.DiscreteLaplace); laplace {
		s += "where the ledger's rule is not basic, Laplace noise is charged to the reserve alone and Gaussian noise (privacy.noise_family: gaussian, and a delta above 0) to the rest; choose that, or "
	}
	return s + "ask the steward for more (`discreet ledger show` prints what is spent, `discreet ledger budget` changes the budget)"
}

// floored keeps four digits of a positive number, rounded down.
func floored(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 0) {
		return 0
	}
	text := strconv.FormatFloat(x, 'e', 3, 64)
	y, err := strconv.ParseFloat(text, 64)
	if err == nil && y > x {
		y -= math.Pow(10, math.Floor(math.Log10(x))-3)
		y, err = strconv.ParseFloat(strconv.FormatFloat(y, 'e', 3, 64), 64)
	}
	if err != nil {
		return 0
	}
	return y
}

// Unwrap returns the sentinels.
func (e *RefusedError) Unwrap() []error {
	if e.Analyst != "" {
		return []error{ErrBudget, ErrShare}
	}
	return []error{ErrBudget}
}

// RecordedError says that the key was charged for the same thing before and its
// release recorded: the release is to be shown again. It wraps [ErrRecorded].
type RecordedError struct {
	// Entry is the charge.
	Entry Entry
	// Release holds the recorded bytes.
	Release []byte
}

// Error implements error.
func (e *RecordedError) Error() string {
	return fmt.Sprintf("%v: key %q was charged by entry %d; its release is returned as it was, nothing is spent", ErrRecorded, e.Entry.Charge.Key, e.Entry.Seq)
}

// Unwrap returns the sentinel.
func (e *RecordedError) Unwrap() error { return ErrRecorded }

// TamperError names the entry at which a ledger contradicts itself. It wraps
// [ErrTampered].
type TamperError struct {
	Dataset string
	// Seq is the number of the entry, -1 where the fault is beside the chain.
	Seq  int64
	What string
}

// Error implements error.
func (e *TamperError) Error() string {
	if e.Seq < 0 {
		return fmt.Sprintf("%v: dataset %q: %s", ErrTampered, e.Dataset, e.What)
	}
	return fmt.Sprintf("%v: dataset %q: entry %d: %s", ErrTampered, e.Dataset, e.Seq, e.What)
}

// Unwrap returns the sentinel.
func (e *TamperError) Unwrap() error { return ErrTampered }

// PendingError says that a charge is committed and no release came of it: the run
// failed or was interrupted. Its budget is spent and its key is never run again.
// Whatever Err is, the error counts as a failure, not as bad input.
type PendingError struct {
	Dataset string
	Seq     int64
	Key     string
	// Continues says that the run is in shards and its transcript is kept: the same
	// command goes on with it, at no further cost.
	Continues bool
	// Err is what went wrong.
	Err error
}

// Error implements error.
func (e *PendingError) Error() string {
	if e.Continues {
		return fmt.Sprintf("entry %d of dataset %q is charged and its release is not made yet: %v; the same command with --key %s, over the same run directory, goes on from its transcript and costs nothing",
			e.Seq, e.Dataset, e.Err, e.Key)
	}
	return fmt.Sprintf("entry %d of dataset %q is charged and no release was recorded: %v; its budget is spent and `discreet ledger show` lists it as pending; start again with a new key (this one was %s)",
		e.Seq, e.Dataset, e.Err, e.Key)
}

// errSpent marks an error after a charge as a failure.
var errSpent = fault.Failed("the budget is spent")

// Unwrap returns what went wrong, and a mark.
func (e *PendingError) Unwrap() []error { return []error{e.Err, errSpent} }
