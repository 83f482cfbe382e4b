package device

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/train"
)

// affords tells, before anything is spent, how many reports of the run the wallet pays for.
func (p *participation) affords(ctx context.Context, run *fleet.Run) error {
	budget, err := p.Budget(ctx)
	if err != nil {
		return err
	}
	spent, err := p.Spent(ctx)
	if err != nil {
		return err
	}
	made, err := p.store.paid(ctx, run.ID)
	if err != nil {
		return err
	}
	p.allowed = budget.Epsilon
	if budget.Epsilon < p.cfg.Epsilon {
		p.cfg.Log.Warn("the wallet allows less than the configuration says, and keeps to it", "epsilon", budget.Epsilon)
	}
	reports, asked := int(max(0, math.Floor((budget.Epsilon-spent.Epsilon)/run.Randomizer.Epsilon))), run.Reports-made
	tell := p.cfg.Log.Info
	if reports < asked {
		tell = p.cfg.Log.Warn
	}
	tell("what is left of the lifetime budget pays for so many of the reports that the run may still ask for", "reports", min(reports, asked), "asked", asked, "epsilon", budget.Epsilon-spent.Epsilon)
	return nil
}

// fetchRun gets the run and holds it against everything that the owner said.
func (p *participation) fetchRun(ctx context.Context) error {
	request := &fleetv1.GetRunRequest{}
	if p.cfg.Run != nil {
		request.Run = p.cfg.Run[:]
	}
	answer, err := p.services.Runs.GetRun(ctx, request)
	if err != nil {
		return p.unknown(ctx, p.cfg.Run, err)
	}
	if err := near(answer.GetNow()); err != nil {
		return err
	}
	run, err := fleet.VerifyRun(p.cfg.Root, answer.GetSpecs())
	if err != nil {
		return err
	}
	if p.cfg.Run != nil && run.ID != *p.cfg.Run {
		return fmt.Errorf("%w: the server gave another run than was asked for", fleet.ErrSpec)
	}
	if err := errors.Join(fleet.Consent(p.cfg.Consent).Check(run), enough(run.MinClient)); err != nil {
		return err
	}
	if !p.prepared {
		if err := p.affords(ctx, run); err != nil {
			return err
		}
		if err := p.learner.Prepare(runOf(run)); err != nil {
			return err
		}
		p.prepared = true
	}
	head, err := p.store.follow(ctx, run)
	if err != nil {
		return err
	}
	p.run, p.head = run, head
	return nil
}

// unknown makes a server that does not know a run in which the device has been one of another chain.
func (p *participation) unknown(ctx context.Context, run *train.RunID, err error) error {
	if run == nil || connect.CodeOf(err) != connect.CodeNotFound {
		return err
	}
	known, failed := p.store.follows(ctx, *run)
	if failed != nil || !known {
		return errors.Join(err, failed)
	}
	return fmt.Errorf("%w: the server does not know run %x, in which this device has been", fleet.ErrFork, *run)
}

// near holds the server's clock against this one.
func near(millis int64) error {
	if d := time.Since(time.UnixMilli(millis)); d > mostSkew || d < -mostSkew {
		return fmt.Errorf("%w: the server's is %v from this one; set the clock", ErrClock, d.Round(time.Second))
	}
	return nil
}
