package discreet

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
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
	charge.Key = ""
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

// Option changes how [Evaluate] runs.
type Option func(*job)

// WithProgress calls f now and then while the data is read.
func WithProgress(f func(trajectory.Progress)) Option {
	return func(j *job) { j.progress = f }
}

// WithSource draws the noise from src instead of a fresh cryptographic source.
// A seeded source serves tests alone and marks the release.
func WithSource(src *noise.Source) Option {
	return func(j *job) { j.source = src }
}

// WithKey charges the ledger under an idempotency key of the caller's, so that a
// call that is made again after a failure is not charged again: it returns the
// recorded release, or says that there is none. Without it each call has a random
// key. It does nothing without a ledger.
func WithKey(key string) Option {
	return func(j *job) { j.key, j.retry = key, true }
}

// set applies options; nil ones ask for nothing.
func (j *job) set(options []Option) {
	for _, o := range options {
		if o != nil {
			o(j)
		}
	}
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
	l, err := j.openLedger(ctx)
	if err != nil {
		return nil, err
	}
	if l == nil {
		if j.shards != nil {
			return j.sharded(ctx, nil)
		}
		return j.evaluate(ctx, nil)
	}
	defer l.Close()
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
		return nil, j.failed(l, err)
	}
	grant, err := j.pay(ctx, l, ready.Plan())
	if err != nil {
		return nil, j.failed(l, err)
	}
	// From here on the budget is spent, whatever happens.
	result, err := j.release(ctx, l, ready, grant)
	if err != nil {
		return nil, pending(grant, err)
	}
	result.Notices = append(notices, grant.Warnings...)
	return j.write(result)
}

// release runs, and records the release in the ledger before anybody sees it.
func (j *job) release(ctx context.Context, l *ledger.Ledger, ready *evaluate.Ready, grant *ledger.Grant) (*Result, error) {
	release, err := ready.Run(ctx, grant.Receipt, j.source)
	if err != nil {
		return nil, err
	}
	var charged *evaluate.LedgerEntry
	if l != nil {
		charged = entry(l.Config().Rule, grant)
	}
	j.complete(release, charged)
	return j.kept(ctx, l, grant.Receipt, release)
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

// job is one evaluation on its way through the four steps.
type job struct {
	config    Config
	method    evaluate.Method
	estimator evaluate.Estimator
	public    evaluate.Public
	behaviour policy.Policy // nil where its probabilities are a column of the data
	options   trajectory.Options
	progress  func(trajectory.Progress)
	source    *noise.Source
	unfit     trajectory.Repaired // the episodes that fit left out
	rho       []float64           // memory for ratios, see room
	version   int64               // of the contract that the data are read by, 0 without one
	mayFail   int                 // checks, before the steward has to clear them
	checkID   int64               // of the check of the data, noted in the ledger
	checks    int                 // that count so far, this one among them
	hash      string              // of the configuration
	key       string              // of the charge
	retry     bool                // the key is the caller's and may have been charged before
	signer    ed25519.PrivateKey
	shards    Shards           // nil where the data are read here
	persons   iter.Seq[string] // their ids, once the data are read; nil where they have none
}

func newJob(c Config) (*job, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	j := &job{config: c, key: ledger.NewKey()}
	var err error
	if j.method, err = evaluate.MethodNamed(c.Method.Name); err != nil {
		return nil, err
	}
	if j.estimator, err = evaluate.New(c.Method.Name, c.Method.Params); err != nil {
		return nil, err
	}
	if j.public, err = c.public(); err != nil {
		return nil, err
	}
	if j.method.NeedFeatures && j.public.Features == nil {
		return nil, fmt.Errorf("%w: method %s estimates a value function and needs features, such as {kind: tabular, states: 40, column: obs_state}", ErrConfig, j.method.Name)
	}
	// The release names it, so it must not fail once there is one.
	if j.hash, err = c.Hash(); err != nil {
		return nil, err
	}
	if j.behaviour, err = c.Data.Behavior.policy(c); err != nil {
		return nil, fmt.Errorf("data.behavior: %w", err)
	}
	if b := c.Data.Behavior; !b.recorded() {
		ended := c.Data.OneRowEpisodes || c.Problem.End == "terminated"
		j.public.Design = evaluate.NewDesign(j.behaviour, b.Source == "design", ended, policies(j.public)...)
		if j.public.Design != nil {
			j.public.Design.Complete = c.complete()
		}
	}
	for i, p := range policies(j.public) {
		if err := c.Data.covers(c.key(i), p); err != nil {
			return nil, err
		}
	}
	if err := c.Data.covers("data.behavior", j.behaviour); err != nil {
		return nil, err
	}
	j.options, err = c.reading(j.public, j.behaviour, j.method)
	return j, err
}

// check plans and checks. When the number of persons is public but was not
// given, the data is read first and counts them.
func (j *job) check(ctx context.Context) (*evaluate.Ready, []string, error) {
	count := j.public.Persons == 0 && j.public.Privacy != nil && j.public.Privacy.Adjacency == dp.ReplaceOne
	var apart []string
	if !count {
		plan, err := j.estimator.Plan(j.public)
		if err != nil {
			return nil, nil, err
		}
		ready, notices, err := j.inParts(ctx, plan)
		if ready != nil || err != nil {
			return ready, notices, err
		}
		apart = notices
	}
	data, notices, err := j.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	notices = append(notices, apart...)
	if data.PersonID != nil {
		j.persons = slices.Values(data.PersonID)
	}
	if count {
		j.public.Persons = int64(data.Persons())
	}
	plan, err := j.estimator.Plan(j.public)
	if err != nil {
		return nil, nil, err
	}
	ready, err := plan.Check(ctx, data)
	if err != nil {
		return nil, nil, err
	}
	// What makes the answer doubtful must reach the curator before it is trusted.
	told, err := j.doubts(ctx, data, plan)
	if err != nil {
		return nil, nil, err
	}
	return ready, append(notices, told...), nil
}

func (j *job) read(ctx context.Context) (*trajectory.Dataset, []string, error) {
	if err := j.readable(); err != nil {
		return nil, nil, err
	}
	o := j.options
	o.Progress = j.progress
	data, notices, err := file.Read(ctx, j.paths(), j.config.Data.Format, o)
	if err != nil {
		return data, notices, err
	}
	fit, err := j.fit(data)
	if err != nil {
		return fit, notices, err
	}
	notices = append(notices, j.unfitNotice(data.Episodes())...)
	none, err := j.ungrouped(fit)
	if none != "" {
		notices = append(notices, none)
	}
	return fit, notices, err
}

func (j *job) paths() []string {
	paths := make([]string, len(j.config.Data.Path))
	for i, p := range j.config.Data.Path {
		paths[i] = j.config.path(p)
	}
	return paths
}
