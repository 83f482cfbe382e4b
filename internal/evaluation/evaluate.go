package evaluation

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/charging"
	"github.com/discreet-rl/discreet/internal/scan"
	"github.com/discreet-rl/discreet/internal/shards"
	"github.com/discreet-rl/discreet/internal/spec"
)

// Settings are how an evaluation runs, besides what its configuration says.
type Settings struct {
	// Progress is called now and then while data are read; nil for none.
	Progress scan.Progress
	// Begun is called before data are read, and what becomes of them counts; nil for nobody.
	Begun func()
	// Source draws the noise; nil for a fresh cryptographic source.
	Source *noise.Source
	// Key is the caller's key of the charge; with Retry it may have been charged before.
	// Without Retry a call has a random key.
	Key   string
	Retry bool
	// Shards are the data where they are not read into this process; nil where they are.
	Shards shards.Source
}

// Result is a release and what only the curator may see; package discreet documents its
// fields.
type Result struct {
	Release  *evaluate.Release
	JSON     []byte
	Envelope []byte
	Repeated bool
	Notices  []string
	Path     string
}

// run is an evaluation that is ready to begin. It is not changed after it was made.
type run struct {
	spec     *spec.Spec
	account  *charging.Account // nil without a ledger
	key      string
	retry    bool
	progress scan.Progress
	begun    func()
	source   *noise.Source
	shards   shards.Source
	output   output
	signer   ed25519.PrivateKey
}

// Evaluate evaluates with the ledger that the configuration names.
func Evaluate(ctx context.Context, c config.Config, o Settings) (*Result, error) {
	return evaluateWith(ctx, c, o, func(s *spec.Spec) (*ledger.Ledger, func() error, error) {
		l, err := charging.Open(ctx, c)
		if l == nil || err != nil {
			return nil, nil, err
		}
		return l, l.Close, nil
	})
}

// EvaluateAt evaluates with the ledger of a desk instead of the one that is at its location
// by now: a ledger that lacks anything the desk's has seen is not charged.
func EvaluateAt(ctx context.Context, d *charging.Desk, c config.Config, o Settings) (*Result, error) {
	if err := d.Serves(c); err != nil {
		return nil, err
	}
	return evaluateWith(ctx, c, o, func(s *spec.Spec) (*ledger.Ledger, func() error, error) {
		l, err := d.Ledger(s)
		return l, func() error { return nil }, err
	})
}

// evaluateWith evaluates with a ledger, and with what is to be done with that afterwards.
func evaluateWith(ctx context.Context, c config.Config, o Settings, open func(*spec.Spec) (*ledger.Ledger, func() error, error)) (*Result, error) {
	s, err := spec.New(c)
	if err != nil {
		return nil, err
	}
	r := run{spec: s, key: o.Key, retry: o.Retry, progress: o.Progress, begun: o.Begun, source: o.Source, shards: o.Shards, output: newOutput(s)}
	if !o.Retry {
		r.key = ledger.NewKey()
	}
	release, err := r.output.lock()
	if err != nil {
		return nil, err
	}
	defer release()
	if r.signer, err = loadSigner(c); err != nil {
		return nil, err
	}
	l, done, err := open(s)
	if err != nil {
		return nil, err
	}
	if l != nil {
		defer done()
		r.account = &charging.Account{Ledger: l, Spec: s, Key: r.key, Retry: r.retry, Release: r.output.release(), Elsewhere: r.shards != nil && !r.shards.Files()}
	}
	var result *Result
	if r.shards != nil {
		result, err = r.sharded(ctx)
	} else {
		result, err = r.whole(ctx)
	}
	// Whether its key paid for a release before shows at the start, or, where
	// another process was just then at it, at the charge.
	var old *ledger.RecordedError
	if errors.As(err, &old) {
		return r.repeat(old)
	}
	return result, err
}

// resuming is the run under the key that an earlier process began it with.
func (r *run) resuming(key string) *run {
	again := *r
	again.key, again.retry = key, true
	if r.account != nil {
		account := *r.account
		account.Key, account.Retry = key, true
		again.account = &account
	}
	return &again
}

// noise is the source that a run draws from.
func (r *run) noise() (*noise.Source, error) {
	if r.source != nil {
		return r.source, nil
	}
	return noise.NewSource()
}

// whole evaluates data that are read here.
func (r *run) whole(ctx context.Context) (*Result, error) {
	terms, err := r.admit(ctx)
	if err != nil {
		return nil, err
	}
	source, err := r.noise()
	if err != nil {
		return nil, err
	}
	check, err := r.begin(ctx, terms)
	if err != nil {
		return nil, err
	}
	// From here on the check counts as failed, unless its charge is committed.
	if r.begun != nil {
		r.begun()
	}
	found, err := scan.Check(ctx, r.spec, r.progress)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, check.fail(ctx, err)
	}
	grant, err := check.pay(ctx, found.Ready.Plan(), found.Persons)
	if err != nil {
		return nil, check.fail(ctx, err)
	}
	// From here on the budget is spent, whatever happens.
	release, err := found.Ready.Run(ctx, grant.Receipt, source)
	if err != nil {
		return nil, pending(grant, err)
	}
	result, err := r.record(ctx, grant.Receipt, release, r.entry(grant))
	if err != nil {
		return nil, pending(grant, err)
	}
	result.Notices = append(found.Notices, grant.Warnings...)
	return r.write(result)
}

// admit checks with the ledger, where there is one, that the run may start.
func (r *run) admit(ctx context.Context) (charging.Terms, error) {
	if r.account == nil {
		return charging.Terms{}, nil
	}
	return r.account.Admit(ctx)
}

// check is a check of the data, noted where there is a ledger.
type check struct{ *charging.Check }

// begin begins the check of the data. Without a ledger, what is wrong with the plan comes
// before what is in its way; a number of persons that is yet to be counted leaves the plan
// for later.
func (r *run) begin(ctx context.Context, terms charging.Terms) (check, error) {
	if r.account != nil {
		c, err := r.account.Begin(ctx, terms, r.output.spareOthers)
		return check{c}, err
	}
	blocked := r.output.spareOthers()
	if blocked == nil || r.spec.Public.Persons == 0 {
		return check{}, blocked
	}
	_, err := r.spec.Plan()
	return check{}, cmp.Or(err, blocked)
}

func (c check) fail(ctx context.Context, err error) error {
	if c.Check == nil {
		return err
	}
	return c.Fail(ctx, err)
}

// pay charges the plan; without a ledger the receipt is that of an uncharged run.
func (c check) pay(ctx context.Context, plan *evaluate.Plan, persons iter.Seq[string]) (*ledger.Grant, error) {
	if c.Check == nil {
		return &ledger.Grant{Receipt: receipt.None()}, nil
	}
	return c.Pay(ctx, plan, persons)
}

// entry is what the release says of its charge; nil without a ledger.
func (r *run) entry(g *ledger.Grant) *evaluate.LedgerEntry {
	if r.account == nil {
		return nil
	}
	return charging.Entry(r.account.Ledger.Opening().Rule, g)
}

// record completes a release, and records it in the ledger before anybody sees it.
func (r *run) record(ctx context.Context, paid *receipt.Receipt, release *evaluate.Release, e *evaluate.LedgerEntry) (*Result, error) {
	complete(release, r.spec, e)
	text, err := encode(release, r.signer)
	if err != nil {
		return nil, err
	}
	if r.account != nil {
		// The noise is drawn: an interrupt would now only lose the release.
		if err := r.account.Ledger.Record(context.WithoutCancel(ctx), paid, text); err != nil {
			return nil, err
		}
	}
	return &Result{Release: release, JSON: text}, nil
}

// pending says of an error that the charge was committed before it.
func pending(g *ledger.Grant, err error) error {
	if g.Entry.Charge == nil {
		return err
	}
	return &ledger.PendingError{Dataset: g.Receipt.Stamp().Dataset, Seq: g.Entry.Seq, Key: g.Entry.Charge.Key, Err: err}
}

// repeat gives out a recorded release again.
func (r *run) repeat(old *ledger.RecordedError) (*Result, error) {
	result := &Result{Release: new(evaluate.Release), JSON: old.Release, Repeated: true}
	if err := json.Unmarshal(old.Release, result.Release); err != nil {
		return nil, fmt.Errorf("%w: entry %d: %w", ledger.ErrTampered, old.Entry.Seq, err)
	}
	// A retry gives out its own release again, and no more than evaluate writes it
	// over that of another question.
	if err := r.output.spareOthers(); err != nil {
		return nil, err
	}
	return r.write(result)
}
