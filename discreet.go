package discreet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
)

// Plan says what an evaluation would release, what it would cost and how far
// off it is expected to be. It does not open the data.
func Plan(c Config) (*evaluate.Plan, error) {
	j, err := newJob(c)
	if err != nil {
		return nil, err
	}
	return j.estimator.Plan(j.public)
}

// Funds says what the ledger of a configuration has left.
type Funds struct {
	*ledger.Summary
	// Refused is why the plan would not be charged as things stand, nil if it would.
	// Where the budget does not cover it, it is a [RefusedError].
	Refused error
}

// Budget looks up what is left for a plan that [Plan] made from the same
// configuration. It spends nothing and does not open the data. It is nil where the
// configuration names no ledger.
func Budget(ctx context.Context, c Config, p *evaluate.Plan) (*Funds, error) {
	j, err := newJob(c)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, fmt.Errorf("%w: no plan; make one with Plan", ErrConfig)
	}
	l, err := j.openLedger(ctx)
	if l == nil || err != nil {
		return nil, err
	}
	defer l.Close()
	f := &Funds{}
	if f.Summary, err = l.State(ctx); err != nil {
		return nil, err
	}
	if f.Refused = j.contracted(ctx, l); f.Refused == nil {
		f.Refused = j.fits(ctx, l, p)
	}
	return f, nil
}

// fits asks the ledger whether it would take the charge of a plan under a new key.
func (j *job) fits(ctx context.Context, l *ledger.Ledger, p *evaluate.Plan) error {
	charge := j.charge(p.Event, "")
	charge.Key, charge.AsOf = "", j.asOf
	return j.remedied(l.Fits(ctx, charge))
}

// Result is a release and what only the curator may see.
type Result struct {
	Release *evaluate.Release
	// JSON is the release as it leaves: what is written to the file and, with a
	// ledger, recorded in it, byte for byte.
	JSON []byte
	// Envelope holds JSON in a DSSE envelope of type [ReleaseType]; nil where the
	// release is not signed.
	Envelope []byte
	// Repeated says that the release was made before and came from the ledger: its
	// key was charged then, and nothing was spent now.
	Repeated bool
	// Notices are remarks on the data for its curator, those of the ledger among
	// them. They are not part of the release and must not leave with it.
	Notices []string
	// Path is the file that the release was written to; empty when the
	// configuration names no output.
	Path string
}

// Evaluate runs the whole path: it plans from public facts, reads and checks the
// data, charges the ledger, runs, records the release in the ledger and writes it
// before it returns it. With a ledger nothing of the data is opened before the ledger
// has said that the charge would be taken and has noted a check of them. Errors before
// the charge cost nothing, and from then on count as failed checks; those that concern
// the data are for its curator alone. An error after the charge is a
// [PendingError], or [ErrNotWritten] where the release is safe in the ledger. What
// the budget does not cover is a [RefusedError].
func Evaluate(ctx context.Context, c Config, options ...Option) (*Result, error) {
	return evaluateWith(ctx, c, options, func(j *job) (*ledger.Ledger, func() error, error) {
		l, err := j.openLedger(ctx)
		if l == nil || err != nil {
			return nil, nil, err
		}
		return l, l.Close, nil
	})
}

// evaluateWith evaluates with a ledger, and with what is to be done with that afterwards.
func evaluateWith(ctx context.Context, c Config, options []Option, open func(*job) (*ledger.Ledger, func() error, error)) (*Result, error) {
	j, err := newJob(c)
	if err != nil {
		return nil, err
	}
	j.set(options)
	release, err := j.prepareOutput()
	if err != nil {
		return nil, err
	}
	defer release()
	if err := j.loadSigner(); err != nil {
		return nil, err
	}
	l, done, err := open(j)
	if err != nil {
		return nil, err
	}
	if l == nil {
		if j.shards != nil {
			return j.sharded(ctx, nil)
		}
		return j.evaluate(ctx, nil)
	}
	defer done()
	way := j.charged
	if j.shards != nil {
		way = j.sharded
	}
	result, err := way(ctx, l)
	// Whether its key paid for a release before shows at the start, or, where
	// another process was just then at it, at the charge.
	var old *ledger.RecordedError
	if errors.As(err, &old) {
		return j.repeat(old)
	}
	return result, err
}

// charged evaluates with a ledger, and without the data where the ledger alone
// can answer.
func (j *job) charged(ctx context.Context, l *ledger.Ledger) (*Result, error) {
	if err := j.recorded(ctx, l); err != nil {
		return nil, err
	}
	if err := j.witnessed(ctx, l); err != nil {
		return nil, err
	}
	if err := j.contracted(ctx, l); err != nil {
		return nil, err
	}
	return j.evaluate(ctx, l)
}

// evaluate checks, charges and runs; l may be nil.
func (j *job) evaluate(ctx context.Context, l *ledger.Ledger) (*Result, error) {
	if j.source == nil {
		source, err := noise.NewSource()
		if err != nil {
			return nil, err
		}
		j.source = source
	}
	if err := j.begin(ctx, l); err != nil {
		return nil, err
	}
	// From here on the check counts as failed, unless its charge is committed.
	ready, notices, err := j.check(ctx)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, j.failed(ctx, l, err)
	}
	grant, err := j.pay(ctx, l, ready.Plan())
	if err != nil {
		return nil, j.failed(ctx, l, err)
	}
	// From here on the budget is spent, whatever happens.
	result, err := j.release(ctx, l, ready, grant)
	if err != nil {
		return nil, pending(grant, err)
	}
	result.Notices = append(notices, grant.Warnings...)
	return j.write(result)
}

// kept is a release as it leaves, recorded in the ledger where there is one.
func (j *job) kept(ctx context.Context, l *ledger.Ledger, paid *receipt.Receipt, release *evaluate.Release) (*Result, error) {
	text, err := j.encode(release)
	if err != nil {
		return nil, err
	}
	if l != nil {
		// The noise is drawn: an interrupt would now only lose the release.
		if err := l.Record(context.WithoutCancel(ctx), paid, text); err != nil {
			return nil, err
		}
	}
	return &Result{Release: release, JSON: text}, nil
}

// pending says of an error that the charge was committed before it.
func pending(g *ledger.Grant, err error) error {
	if g.Entry == nil {
		return err
	}
	return &PendingError{Dataset: g.Receipt.Stamp().Dataset, Seq: g.Entry.Seq, Key: g.Entry.Charge.Key, Err: err}
}

// repeat gives out a recorded release again.
func (j *job) repeat(old *ledger.RecordedError) (*Result, error) {
	result := &Result{Release: new(evaluate.Release), JSON: old.Release, Repeated: true}
	if err := json.Unmarshal(old.Release, result.Release); err != nil {
		return nil, fmt.Errorf("%w: entry %d: %w", ledger.ErrTampered, old.Entry.Seq, err)
	}
	// A retry gives out its own release again, and no more than evaluate writes it
	// over that of another question.
	if err := j.spareOthers(); err != nil {
		return nil, err
	}
	return j.write(result)
}
