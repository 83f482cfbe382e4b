package train

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/rl/learn"
)

// fingerprint ties a journal to the settings that decide what a run comes to.
func (c *Config) fingerprint() (string, error) {
	names := make([]string, len(c.Environments))
	for i, e := range c.Environments {
		names[i] = e.Name
	}
	text, err := json.Marshal(struct {
		Terms        Terms
		Local        Local
		Init         learn.Init
		Environments []string
		Seed         uint64
		Agents       uint64
		Budget       float64
		Workers      int
		Schedule     Schedule
		Success      *Success
	}{c.Terms, c.Local, c.Init, names, c.Seed, c.Agents, c.Budget, c.Workers, c.Schedule, c.Success})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}

// resume takes up a run from its journal, or begins one in it.
func (r *run) resume(ctx context.Context) error {
	j := r.cfg.Journal
	if j == nil {
		return nil
	}
	settings, err := r.cfg.fingerprint()
	if err != nil {
		return fmt.Errorf("%w: settings cannot be written: %w", ErrConfig, err)
	}
	r.settings = settings
	s, err := j.load()
	if err != nil {
		return err
	}
	if s != nil {
		if s.Settings != settings {
			return fmt.Errorf("%w: %s holds a run of other settings; restore them or choose another directory", ErrState, j.dir)
		}
		if err := r.restore(s); err != nil {
			return err
		}
	}
	if s == nil {
		if err := j.discardEmptyLog(); err != nil {
			return err
		}
	}
	reports, err := j.openLog(r.agg.state.RunSeed, r.agg.ReportSize())
	if err != nil {
		return err
	}
	done := r.agg.state.Accepted
	if uint64(len(reports)) < done {
		return fmt.Errorf("%w: %s holds %d reports and the snapshot counts %d", ErrState, j.dir, len(reports), done)
	}
	if s == nil { // the secret is on disk before the first task goes out
		if err := r.checkpoint(); err != nil {
			return err
		}
	}
	if err := r.replay(ctx, reports[done:]); err != nil {
		return err
	}
	return r.overdue(ctx)
}

// restore sets the state to that of a snapshot.
func (r *run) restore(s *snapshot) error {
	a, err := RestoreAggregator(s.Server, Options{Log: r.cfg.Journal})
	if err != nil {
		return err
	}
	dim := r.cfg.Terms.Dim
	r.agg = a
	r.arrivals, r.declined, r.idle, r.spent, r.success = s.Arrivals, s.Declined, s.Idle, s.Spent, s.Success
	for _, f := range s.Flights {
		if len(f.Theta) != dim {
			return fmt.Errorf("%w: a flight of the snapshot has %d weights; want %d", ErrState, len(f.Theta), dim)
		}
		t := Task{Run: a.state.Run, Slot: f.Slot, Version: f.Version, Seed: taskSeed(a.state.RunSeed, f.Slot),
			Token: a.token(f.Slot, f.Version, 0), Dim: dim, Randomizer: r.cfg.Terms.Randomizer}
		flight := &flight{task: t, theta: slices.Clone(f.Theta)}
		if err := r.equip(flight); err != nil {
			return err
		}
		r.flights = append(r.flights, flight)
	}
	if r.paid = s.Paid; r.paid == nil {
		r.paid = map[uint64][]uint64{}
	}
	if err := r.repay(); err != nil {
		return err
	}
	r.scores, err = r.cfg.Journal.loadScores(a.state.Accepted)
	return err
}

// repay debits wallets in memory for what their agents spent before the snapshot.
func (r *run) repay() error {
	ctx := context.Background()
	for agent, slots := range r.paid {
		w, err := r.walletOf(agent)
		if err != nil {
			return err
		}
		for _, slot := range slots {
			receipt, _, err := w.Debit(ctx, slot, r.bench.device.coder.event())
			if err == nil {
				err = w.Keep(ctx, slot, receipt, []byte{})
			}
			if err != nil {
				return fmt.Errorf("%w: agent %d: %w", ErrState, agent, err)
			}
		}
	}
	return nil
}

// replay submits the reports that were accepted after the snapshot. Agents in
// between who reported in vain, or had no budget left, are asked again.
func (r *run) replay(ctx context.Context, reports [][]byte) error {
	a := r.agg
	log := a.log
	a.log = nil
	defer func() { a.log, r.replaying = log, false }()
	r.replaying = true
	for len(reports) > 0 {
		if err := r.fill(ctx); err != nil {
			return err
		}
		if len(r.flights) == 0 {
			return fmt.Errorf("%w: the log holds more reports than the run wants", ErrState)
		}
		i := r.pick()
		f := r.flights[i]
		logged, err := parseReport(reports[0], a.coder.size)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrState, err)
		}
		report := reports[0]
		if logged.Slot == f.task.Slot {
			err = r.recall(ctx, f, report)
		} else if r.bench.work(ctx, f); true {
			err = f.failure()
			report = f.report
		}
		if err != nil {
			return err
		}
		r.land(i)
		accepted := a.state.Accepted
		if err := r.arrive(ctx, f, report); err != nil {
			return err
		}
		if (a.state.Accepted > accepted) != (logged.Slot == f.task.Slot) {
			return fmt.Errorf("%w: report %d in the log is not the one that was due, on slot %d", ErrState, accepted, f.task.Slot)
		}
		if a.state.Accepted > accepted {
			reports = reports[1:]
		}
	}
	return nil
}

// recall puts a logged report into the wallet it came from, where that was lost
// with the process, and goes through the agent's episodes for their score.
func (r *run) recall(ctx context.Context, f *flight, report []byte) error {
	if err := r.bench.rehearse(f); err != nil || f.wallet == nil {
		return err
	}
	receipt, kept, err := f.wallet.Debit(ctx, f.task.Slot, r.bench.device.coder.event())
	switch {
	case err != nil:
		return fmt.Errorf("%w: agent %d: %w", ErrState, f.agent, err)
	case receipt == nil && !bytes.Equal(kept, report):
		return fmt.Errorf("%w: agent %d kept another report on slot %d than the one in the log", ErrState, f.agent, f.task.Slot)
	case receipt == nil:
		return nil
	}
	if err := receipt.Redeem(dp.ReplaceOne, r.bench.device.coder.event()); err != nil {
		return err
	}
	return f.wallet.Keep(ctx, f.task.Slot, receipt, report)
}

// overdue evaluates where the run stopped before or in an evaluation.
func (r *run) overdue(ctx context.Context) error {
	e, n := r.cfg.Success, r.agg.state.Accepted
	if e == nil || n == 0 || n%uint64(e.Every) != 0 || uint64(len(r.success)) >= n/uint64(e.Every) {
		return nil
	}
	return r.evaluate(ctx, n)
}

// checkpoint saves the run.
func (r *run) checkpoint() error {
	if r.cfg.Journal == nil || r.replaying {
		return nil
	}
	server, err := r.agg.Snapshot()
	if err != nil {
		return err
	}
	s := &snapshot{Settings: r.settings, Server: server, Arrivals: r.arrivals,
		Declined: r.declined, Idle: r.idle, Spent: r.spent, Paid: r.paid, Success: r.success}
	for _, f := range r.flights {
		s.Flights = append(s.Flights, savedFlight{f.task.Slot, f.task.Version, f.theta})
	}
	return r.cfg.Journal.save(s)
}
