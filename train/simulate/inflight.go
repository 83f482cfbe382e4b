package simulate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
)

// assignment is a task that is in flight: an agent works on it.
type assignment struct {
	task   train.Task
	agent  uint64
	theta  []float64
	due    int // of fastest
	wallet train.Wallet
	begun  bool
	// done is closed when the answer is there; nil unless a pool works on it.
	done    chan struct{}
	report  []byte
	rollout device.Rollout
	err     error
	// forfeited tells that there is no report because the slot was paid for earlier.
	forfeited bool
}

// fill gives every idle worker a task, but no more tasks than reports that are
// still wanted.
func (r *run) fill(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	accepted := r.agg.Status().Accepted // changed by this goroutine alone
	for !r.outOfBudget() && len(r.inFlight) < r.cfg.Workers && accepted+uint64(len(r.inFlight)) < r.cfg.Terms.Submissions {
		f, err := r.assign()
		if err != nil {
			return err
		}
		r.inFlight = append(r.inFlight, f)
	}
	return nil
}

// begin lets the agent of the i-th task in flight start to work, where that is not put off until
// it is picked.
func (r *run) begin(ctx context.Context, i int) {
	f := r.inFlight[i]
	switch {
	case f.begun:
	case r.pool != nil:
		for _, g := range r.earlier(i) {
			if g.done != nil {
				<-g.done
			}
		}
		f.begun = true
		r.pool.send(ctx, f)
	case r.cfg.Schedule == fastest:
		r.work(ctx, f)
	}
}

// work lets an agent work now, unless it has begun.
func (r *run) work(ctx context.Context, f *assignment) {
	if !f.begun {
		f.begun = true
		r.worker.work(ctx, f)
	}
}

// earlier are the tasks in flight of the same agent that were issued before the i-th. An
// agent debits its wallet in that order, so that it does not depend on threads and
// interruptions for which of them its budget suffices.
func (r *run) earlier(i int) []*assignment {
	if r.cfg.Agents == 0 || r.inFlight[i].wallet == nil {
		return nil
	}
	var out []*assignment
	for _, g := range r.inFlight[:i] {
		if g.agent == r.inFlight[i].agent {
			out = append(out, g)
		}
	}
	return out
}

// retire takes a task off those in flight; its memory is used again.
func (r *run) retire(i int) {
	r.free = append(r.free, r.inFlight[i])
	r.inFlight = slices.Delete(r.inFlight, i, i+1)
}

// assign issues a task to the agent whose turn it is.
func (r *run) assign() (*assignment, error) {
	var f *assignment
	if n := len(r.free); n > 0 {
		f, r.free = r.free[n-1], r.free[:n-1]
		*f = assignment{theta: f.theta, report: f.report[:0]}
	} else {
		f = &assignment{theta: make([]float64, r.cfg.Terms.Dim)}
	}
	f.task = r.agg.Issue(0)
	r.agg.Theta(f.theta)
	return f, r.findAgent(f)
}

// findAgent finds the agent of a task and its wallet.
func (r *run) findAgent(f *assignment) error {
	f.agent = r.cfg.agentOf(f.task.Slot)
	if !r.cfg.Terms.Randomizer.Private() {
		return nil
	}
	if r.cfg.Agents == 0 { // never asked again
		var err error
		f.wallet, err = r.cfg.newWallet(f.agent)
		return err
	}
	var err error
	f.wallet, err = r.walletOf(f.agent)
	return err
}

// walletOf finds the wallet of an agent that reports more than once.
func (r *run) walletOf(agent uint64) (train.Wallet, error) {
	w, ok := r.wallets[agent]
	if !ok {
		var err error
		if w, err = r.cfg.newWallet(agent); err != nil {
			return nil, err
		}
		r.wallets[agent] = w
	}
	return w, nil
}

// pick chooses which of the tasks in flight is answered next.
func (r *run) pick() int {
	switch r.cfg.Schedule {
	case inTurn:
		return 0
	case fastest:
		first := 0
		for i, f := range r.inFlight {
			if r.pool != nil {
				<-f.done
			}
			if f.due == 0 {
				f.due = r.clock + max(1, f.rollout.Steps)
			}
			if f.due < r.inFlight[first].due {
				first = i
			}
		}
		r.clock = r.inFlight[first].due
		return first
	}
	return int(mix(mix(r.cfg.Seed^0x7363686564756c65)^mix(r.arrivals)) % uint64(len(r.inFlight)))
}

// failure is what kept an agent from reporting, but for want of budget: then it
// goes without a report.
func (f *assignment) failure() error {
	if errors.Is(f.err, train.ErrBudget) || errors.Is(f.err, train.ErrForfeited) {
		f.report, f.forfeited, f.err = f.report[:0], errors.Is(f.err, train.ErrForfeited), nil
	}
	if f.err != nil {
		return fmt.Errorf("submission %d: %w", f.task.Slot, f.err)
	}
	return nil
}
