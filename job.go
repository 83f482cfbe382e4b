package discreet

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/shards"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

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
	asOf      time.Time           // of what fits, zero for now
	checkID   int64               // of the check of the data, noted in the ledger
	checks    int                 // that count so far, this one among them
	data      string              // their fingerprint when the check began
	hash      string              // of the configuration
	key       string              // of the charge
	retry     bool                // the key is the caller's and may have been charged before
	signer    ed25519.PrivateKey
	shards    shards.Source    // nil where the data are read here
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
		j.public.Design = evaluate.NewDesign(j.behaviour, b.Source == "design", policies(j.public)...)
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
	nothing, err := j.answerable(usable(data), data.Persons())
	if err != nil {
		return nil, nil, err
	}
	if nothing != "" {
		told = append(told, nothing)
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
