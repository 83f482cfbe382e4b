package discreet

import (
	"context"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v4"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/config"
	"github.com/discreet-rl/discreet/internal/dp/hook"
	"github.com/discreet-rl/discreet/internal/shards"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// WithShards evaluates data in shards. Package scale calls it, and nobody else can.
func WithShards(s shards.Source) Option {
	return func(j *job) { j.shards = s }
}

// sharded takes data in shards through the four steps, or goes on where an earlier
// process was stopped; l may be nil.
func (j *job) sharded(ctx context.Context, l *ledger.Ledger) (*Result, error) {
	plan, err := j.plannedInParts()
	if err != nil {
		return nil, err
	}
	key := ""
	if j.retry {
		key = j.key
	}
	begun, err := j.shards.Begin(j.hash, key)
	if err != nil {
		return nil, err
	}
	if begun != nil {
		j.key, j.retry = begun.Key, true
	}
	switch {
	case l != nil:
		if err := j.charging(ctx, l, begun); err != nil {
			return nil, err
		}
	case begun != nil && begun.Entry != nil:
		return nil, fmt.Errorf("%w: the run was charged to a ledger, with key %s, and goes on with that one alone; name it under ledger, or take another run directory", ErrConfig, begun.Key)
	}
	if j.source == nil {
		if j.source, err = noise.NewSource(); err != nil {
			return nil, err
		}
	}
	if begun == nil {
		return j.commence(ctx, l, plan)
	}
	if err := j.spareOthers(); err != nil {
		return nil, err
	}
	paid := receipt.None()
	if begun.Entry != nil {
		known, err := l.ChargeOf(ctx, begun.Key)
		if err == nil && known == nil {
			err = fmt.Errorf("%w: the run directory is of key %s, which this ledger never charged", ledger.ErrBehind, begun.Key)
		}
		if err != nil {
			return nil, err
		}
		old := known.Entry.Charge
		if paid, err = l.Resume(ctx, j.charge(old.Event, old.Fingerprint)); err != nil {
			return nil, err
		}
	}
	ready, err := plan.CheckPart(ctx, begun.Nobody)
	if err != nil {
		return nil, err
	}
	return j.continued(ctx, l, ready, paid, *begun)
}

// plannedInParts plans, and refuses what cannot be in shards.
func (j *job) plannedInParts() (*evaluate.Plan, error) {
	switch {
	case j.public.Privacy == nil:
		return nil, fmt.Errorf("%w: privacy is none, and sums without noise are not made in shards; read the data in one process", ErrConfig)
	case j.public.Privacy.Unit.String() != evaluate.Person.String():
		return nil, fmt.Errorf("%w: privacy.unit is %s, and shards hold whole persons; use person, or read the data in one process", ErrConfig, j.public.Privacy.Unit)
	case j.public.Persons == 0:
		return nil, fmt.Errorf("%w: problem.persons is missing; with shards the number of persons must be known before the data are opened; give it", ErrConfig)
	}
	plan, err := j.estimator.Plan(j.public)
	if err != nil {
		return nil, err
	}
	return plan, plan.InParts()
}

// charging asks the ledger what a run with it has to ask: whether its key was charged,
// which is well where the run goes on, and whether the question is allowed.
func (j *job) charging(ctx context.Context, l *ledger.Ledger, begun *shards.Begun) error {
	err := j.recorded(ctx, l)
	switch {
	case begun != nil && begun.Entry == nil:
		return fmt.Errorf("%w: the run was begun without a ledger, and goes on without one; take another run directory", ErrConfig)
	case begun != nil && err == nil:
		return fmt.Errorf("%w: the run was charged to another ledger than this one, which does not know key %s", ErrConfig, begun.Key)
	case begun != nil && errors.Is(err, ledger.ErrPending):
		return j.witnessed(ctx, l)
	case err != nil:
		return err
	}
	if err := j.witnessed(ctx, l); err != nil {
		return err
	}
	return j.contracted(ctx, l)
}

// commence checks all shards, charges and runs.
func (j *job) commence(ctx context.Context, l *ledger.Ledger, plan *evaluate.Plan) (*Result, error) {
	if err := j.begin(ctx, l); err != nil {
		return nil, err
	}
	nobody, err := j.checkShards(ctx, plan)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, j.failed(ctx, l, err)
	}
	ready, err := plan.CheckPart(ctx, nobody)
	if err != nil {
		return nil, j.failed(ctx, l, err)
	}
	grant, err := j.pay(ctx, l, plan)
	if err != nil {
		return nil, j.failed(ctx, l, err)
	}
	begun := shards.Begun{Key: j.key, Hash: j.hash, Nobody: nobody}
	if l != nil {
		begun.Entry = entry(l.Config().Rule, grant)
	}
	if err := j.shards.Paid(begun); err != nil {
		return nil, pending(grant, err)
	}
	result, err := j.continued(ctx, l, ready, grant.Receipt, begun)
	if err == nil {
		result.Notices = append(result.Notices, grant.Warnings...)
	}
	return result, err
}

// checkShards counts persons over all shards, and makes sure from public facts that no
// sum of the run can hold fewer.
func (j *job) checkShards(ctx context.Context, plan *evaluate.Plan) (*trajectory.Dataset, error) {
	found, err := j.shards.Check(ctx)
	if err != nil {
		return nil, err
	}
	if found.Persons == 0 {
		return nil, fmt.Errorf("%w: the shards hold no person", evaluate.ErrData)
	}
	if err := plan.CheckPersons(found.Persons); err != nil {
		return nil, err
	}
	if err := plan.CheckSizes(found.Sizes); err != nil {
		return nil, err
	}
	if j.public.Episodes == 1 { // elsewhere one person's may stand for many
		if _, err := j.answerable(int(found.Episodes), int(found.Persons)); err != nil {
			return nil, err
		}
	}
	ready, err := plan.CheckPart(ctx, found.Nobody)
	if err != nil {
		return nil, err
	}
	return found.Nobody, ready.Replay(ctx, rehearsal{found.Persons})
}

// rehearsal answers every sum with zeros, to find one that cannot hold all persons
// before anything is charged.
type rehearsal struct{ persons int64 }

// Gather implements [hook.Sums].
func (r rehearsal) Gather(own hook.Sum) (hook.Sum, []int64, error) {
	if r.persons > own.Capacity {
		return own, nil, fmt.Errorf("%w: at most %d persons fit sums of %d coordinates; use fewer features", evaluate.ErrData, own.Capacity, len(own.Values))
	}
	return hook.Sum{Persons: r.persons}, make([]int64, own.Released()), nil
}

// Keep implements [hook.Sums]. A rehearsal draws nothing.
func (r rehearsal) Keep(noisy []int64) ([]int64, error) { return noisy, nil }

// continued runs from the charge on, makes the release and records it.
func (j *job) continued(ctx context.Context, l *ledger.Ledger, ready *evaluate.Ready, paid *receipt.Receipt, begun shards.Begun) (*Result, error) {
	persons := int64(0)
	if j.public.Privacy.Adjacency == dp.ReplaceOne {
		persons = j.public.Persons
	}
	var rounds *ledger.Rounds
	if begun.Entry != nil {
		var err error
		if rounds, err = l.Rounds(ctx, paid); err != nil {
			return nil, pendingIn(begun, err)
		}
	}
	j.source.Join(j.shards.Sums(ctx, persons, rounds))
	release, err := ready.Run(ctx, paid, j.source)
	if err != nil {
		return nil, pendingIn(begun, err)
	}
	j.complete(release, begun.Entry)
	result, err := j.kept(ctx, l, paid, release)
	if err != nil {
		return nil, pendingIn(begun, err)
	}
	return j.write(result)
}

// pendingIn says of an error that the charge was committed before it.
func pendingIn(b shards.Begun, err error) error {
	if b.Entry == nil {
		return err
	}
	return &PendingError{Dataset: b.Entry.Dataset, Seq: b.Entry.Seq, Key: b.Key, Continues: true, Err: err}
}

// Question is the YAML of what a configuration file asks, with its overrides applied:
// the file without ledger, output, sign and contract, which [Config.Hash] does not
// depend on either. A worker that gets it learns of no place or key but the data's.
func Question(path string, overrides ...string) ([]byte, error) {
	tree, err := config.Load[map[string]any](path, overrides)
	if err != nil {
		return nil, err
	}
	for _, key := range []string{"ledger", "output", "sign", "contract"} {
		delete(tree, key)
	}
	return yaml.Dump(tree)
}
