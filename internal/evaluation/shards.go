package evaluation

import (
	"context"
	"errors"
	"fmt"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/charging"
	"github.com/discreet-rl/discreet/internal/dp/hook"
	"github.com/discreet-rl/discreet/internal/scan"
	"github.com/discreet-rl/discreet/internal/shards"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// sharded takes data in shards through the steps, or goes on where an earlier process was
// stopped.
func (r *run) sharded(ctx context.Context) (*Result, error) {
	plan, err := scan.PlanShards(r.spec)
	if err != nil {
		return nil, err
	}
	key := ""
	if r.retry {
		key = r.key
	}
	begun, err := r.shards.Begin(r.spec.Hash, key)
	if err != nil {
		return nil, err
	}
	if begun != nil {
		r = r.resuming(begun.Key)
	}
	terms, err := r.admitShards(ctx, begun)
	if err != nil {
		return nil, err
	}
	source, err := r.noise()
	if err != nil {
		return nil, err
	}
	if begun == nil {
		return r.commence(ctx, terms, plan, source)
	}
	if err := r.output.spareOthers(); err != nil {
		return nil, err
	}
	paid := receipt.None()
	if begun.Entry != nil {
		if paid, err = r.account.Resume(ctx); err != nil {
			return nil, err
		}
	}
	ready, err := plan.CheckPart(ctx, begun.Nobody)
	if err != nil {
		return nil, err
	}
	return r.drawShards(ctx, ready, paid, source, *begun)
}

// admitShards checks with the ledger, where there is one, that this run may start or resume.
func (r *run) admitShards(ctx context.Context, begun *shards.Begun) (charging.Terms, error) {
	switch {
	case r.account != nil && begun == nil:
		return r.account.Admit(ctx)
	case r.account != nil && begun.Entry == nil:
		return charging.Terms{}, fmt.Errorf("%w: the run was begun without a ledger, and goes on without one; take another run directory", config.ErrConfig)
	case r.account == nil && begun != nil && begun.Entry != nil:
		return charging.Terms{}, fmt.Errorf("%w: the run was charged to a ledger, with key %s, and goes on with that one alone; name it under ledger, or take another run directory", config.ErrConfig, begun.Key)
	case r.account == nil:
		return charging.Terms{}, nil
	}
	switch err := r.account.Recorded(ctx); {
	case err == nil:
		return charging.Terms{}, fmt.Errorf("%w: the run was charged to another ledger than this one, which does not know key %s", config.ErrConfig, begun.Key)
	case errors.Is(err, ledger.ErrPending):
		return charging.Terms{}, r.account.Witnessed(ctx)
	default:
		return charging.Terms{}, err
	}
}

// commence checks all shards, charges and runs.
func (r *run) commence(ctx context.Context, terms charging.Terms, plan *evaluate.Plan, source *noise.Source) (*Result, error) {
	check, err := r.begin(ctx, terms)
	if err != nil {
		return nil, err
	}
	nobody, err := r.checkShards(ctx, plan)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, check.fail(ctx, err)
	}
	ready, err := plan.CheckPart(ctx, nobody)
	if err != nil {
		return nil, check.fail(ctx, err)
	}
	grant, err := check.pay(ctx, plan, nil)
	if err != nil {
		return nil, check.fail(ctx, err)
	}
	begun := shards.Begun{Key: r.key, Hash: r.spec.Hash, Nobody: nobody, Entry: r.entry(grant)}
	if err := r.shards.Paid(begun); err != nil {
		return nil, pending(grant, err)
	}
	result, err := r.drawShards(ctx, ready, grant.Receipt, source, begun)
	if err == nil {
		result.Notices = append(result.Notices, grant.Warnings...)
	}
	return result, err
}

// checkShards counts persons over all shards, and makes sure from public facts that no
// sum of the run can hold fewer.
func (r *run) checkShards(ctx context.Context, plan *evaluate.Plan) (*trajectory.Dataset, error) {
	found, err := r.shards.Check(ctx)
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
	if r.spec.Public.Episodes == 1 { // elsewhere one person's may stand for many
		if _, err := scan.Answerable(r.spec, int(found.Episodes), int(found.Persons)); err != nil {
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

// drawShards runs from the charge on, makes the release and records it.
func (r *run) drawShards(ctx context.Context, ready *evaluate.Ready, paid *receipt.Receipt, source *noise.Source, begun shards.Begun) (*Result, error) {
	persons := int64(0)
	if r.spec.Public.Privacy.Adjacency == dp.ReplaceOne {
		persons = r.spec.Public.Persons
	}
	var rounds *ledger.Rounds
	if begun.Entry != nil {
		var err error
		if rounds, err = r.account.Ledger.Rounds(ctx, paid); err != nil {
			return nil, pendingIn(begun, err)
		}
	}
	source.Join(r.shards.Sums(ctx, persons, rounds))
	release, err := ready.Run(ctx, paid, source)
	if err != nil {
		return nil, pendingIn(begun, err)
	}
	result, err := r.record(ctx, paid, release, begun.Entry)
	if err != nil {
		return nil, pendingIn(begun, err)
	}
	return r.write(result)
}

// pendingIn says of an error that the charge was committed before it.
func pendingIn(b shards.Begun, err error) error {
	if b.Entry == nil {
		return err
	}
	return &ledger.PendingError{Dataset: b.Entry.Dataset, Seq: b.Entry.Seq, Key: b.Key, Continues: true, Err: err}
}
