package train

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// flight is an agent at work on a task.
type flight struct {
	task   Task
	agent  uint64
	theta  []float64
	due    int // of Fastest
	wallet Wallet
	begun  bool
	// done is closed when the answer is there; nil unless a pool works on it.
	done   chan struct{}
	report []byte
	outing Outing
	err    error
	// forfeited tells that there is no report because the slot was paid for earlier.
	forfeited bool
}

// fill gives every idle worker a task, but no more tasks than reports that are
// still wanted.
func (r *run) fill(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s := &r.agg.state // read by the goroutine that alone changes it
	for !r.bankrupt() && len(r.flights) < r.cfg.Workers && s.Accepted+uint64(len(r.flights)) < r.cfg.Terms.Submissions {
		f, err := r.launch()
		if err != nil {
			return err
		}
		r.flights = append(r.flights, f)
	}
	return nil
}

// begin lets the agent of flight i start to work, where that is not put off until
// it is picked.
func (r *run) begin(ctx context.Context, i int) {
	f := r.flights[i]
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
	case r.cfg.Schedule == Fastest:
		r.work(ctx, f)
	}
}

// work lets an agent work now, unless it has begun.
func (r *run) work(ctx context.Context, f *flight) {
	if !f.begun {
		f.begun = true
		r.bench.work(ctx, f)
	}
}

// earlier are the flights of the same agent that were launched before flight i. An
// agent debits its wallet in that order, so that it does not depend on threads and
// interruptions for which of them its budget suffices.
func (r *run) earlier(i int) []*flight {
	if r.cfg.Agents == 0 || r.flights[i].wallet == nil {
		return nil
	}
	var out []*flight
	for _, g := range r.flights[:i] {
		if g.agent == r.flights[i].agent {
			out = append(out, g)
		}
	}
	return out
}

// land takes a flight off the list; its memory is used again.
func (r *run) land(i int) {
	r.free = append(r.free, r.flights[i])
	r.flights = slices.Delete(r.flights, i, i+1)
}

// launch issues a task to the agent whose turn it is.
func (r *run) launch() (*flight, error) {
	var f *flight
	if n := len(r.free); n > 0 {
		f, r.free = r.free[n-1], r.free[:n-1]
		*f = flight{theta: f.theta, report: f.report[:0]}
	} else {
		f = &flight{theta: make([]float64, r.cfg.Terms.Dim)}
	}
	f.task = r.agg.Issue(0)
	r.agg.Theta(f.theta)
	return f, r.equip(f)
}

// equip finds the agent of a flight and its wallet.
func (r *run) equip(f *flight) error {
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
func (r *run) walletOf(agent uint64) (Wallet, error) {
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

// pick chooses the flight that lands next.
func (r *run) pick() int {
	switch r.cfg.Schedule {
	case InTurn:
		return 0
	case Fastest:
		first := 0
		for i, f := range r.flights {
			if r.pool != nil {
				<-f.done
			}
			if f.due == 0 {
				f.due = r.clock + max(1, f.outing.Steps)
			}
			if f.due < r.flights[first].due {
				first = i
			}
		}
		r.clock = r.flights[first].due
		return first
	}
	return int(mix(mix(r.cfg.Seed^0x7363686564756c65)^mix(r.arrivals)) % uint64(len(r.flights)))
}

// failure is what kept an agent from reporting, but for want of budget: then it
// goes without a report.
func (f *flight) failure() error {
	if errors.Is(f.err, ErrBudget) || errors.Is(f.err, ErrForfeited) {
		f.report, f.forfeited, f.err = f.report[:0], errors.Is(f.err, ErrForfeited), nil
	}
	if f.err != nil {
		return fmt.Errorf("submission %d: %w", f.task.Slot, f.err)
	}
	return nil
}
