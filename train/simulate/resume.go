package simulate

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/train"
)

// resume takes up a run from its journal, or begins one in it. Whatever keeps it
// from going on is found before the directory is changed.
func (r *run) resume(ctx context.Context) error {
	j := r.cfg.Journal
	if j == nil {
		return nil
	}
	if j.lock == nil || j.log != nil {
		return fmt.Errorf("%w: the journal of %s is closed or was used before; open it anew for each run", train.ErrState, j.dir)
	}
	var err error
	if r.settings, err = r.cfg.settings(); err != nil {
		return err
	}
	s, err := j.load()
	if err != nil {
		return err
	}
	if s == nil {
		return r.start()
	}
	if err := r.compare(s); err != nil {
		return err
	}
	if err := r.restore(s); err != nil {
		return err
	}
	done := r.agg.Status().Accepted
	log, err := j.readLog(r.agg.RunSeed(), r.agg.ReportSize(), done)
	if err != nil {
		return err
	}
	if r.cfg.Resumed != nil {
		r.cfg.Resumed(uint64(len(log.reports)))
	}
	scores := len(r.scores)
	if err := r.replay(ctx, log.reports[done:]); err != nil {
		return err
	}
	if err := j.begin(log, scores); err != nil {
		return err
	}
	return r.evaluateIfDue(ctx)
}

// start begins a run in a directory without one. The secret is on disk before
// the first task goes out.
func (r *run) start() error {
	j := r.cfg.Journal
	if err := j.discardEmptyLog(); err != nil {
		return err
	}
	log, err := j.readLog(r.agg.RunSeed(), r.agg.ReportSize(), 0)
	if err != nil {
		return err
	}
	if err := j.begin(log, 0); err != nil {
		return err
	}
	return r.checkpoint()
}

// compare refuses a snapshot of other settings.
func (r *run) compare(s *snapshot) error {
	if s.Settings == r.settings.fingerprint() {
		return nil
	}
	differences := "" // older snapshots hold the fingerprint alone
	if d := r.settings.differences(s.Stated); len(s.Stated) > 0 && len(d) > 0 {
		const told = 8
		if more := len(d) - told; more > 0 {
			d = append(d[:told], fmt.Sprintf("and %d more", more))
		}
		differences = " (" + strings.Join(d, ", ") + ")"
	}
	return fmt.Errorf("%w: %s holds a run of other settings%s; restore them or choose another directory", train.ErrState, r.cfg.Journal.dir, differences)
}

// restore sets the state to that of a snapshot.
func (r *run) restore(s *snapshot) error {
	a, err := train.RestoreAggregator(s.Server, train.Options{Log: r.cfg.Journal, KnowsTasks: true})
	if err != nil {
		return err
	}
	dim := r.cfg.Terms.Dim
	r.agg = a
	r.arrivals, r.declined, r.idle, r.forfeits, r.spent, r.success = s.Arrivals, s.Declined, s.Idle, s.Forfeits, s.Spent, s.Success
	for _, f := range s.InFlight {
		if len(f.Theta) != dim {
			return fmt.Errorf("%w: a task in flight of the snapshot has %d weights; want %d", train.ErrState, len(f.Theta), dim)
		}
		again := &assignment{task: a.Reissue(f.Slot, f.Version, 0, f.Theta), theta: slices.Clone(f.Theta)}
		if err := r.findAgent(again); err != nil {
			return err
		}
		r.inFlight = append(r.inFlight, again)
	}
	if r.outOfBudget() && len(r.inFlight) == 0 {
		r.idle = 0 // it had ended; budgets may have been raised since
	}
	if r.paid = s.Paid; r.paid == nil {
		r.paid = map[uint64][]uint64{}
	}
	if err := r.restoreSpent(); err != nil {
		return err
	}
	r.scores, err = r.cfg.Journal.loadScores(a.Status().Accepted)
	return err
}

// restoreSpent debits wallets in memory for what their agents spent before the snapshot.
func (r *run) restoreSpent() error {
	ctx := context.Background()
	for agent, slots := range r.paid {
		w, err := r.walletOf(agent)
		if err != nil {
			return err
		}
		for _, slot := range slots {
			receipt, _, err := w.Debit(ctx, slot, r.worker.codec.Event())
			if err == nil {
				err = w.Keep(ctx, slot, receipt, []byte{})
			}
			if err != nil {
				return fmt.Errorf("%w: agent %d: %w", train.ErrState, agent, err)
			}
		}
	}
	return nil
}

// replay submits the reports that were accepted after the snapshot. Agents in
// between who reported in vain, or had no budget left, are asked again.
func (r *run) replay(ctx context.Context, reports [][]byte) error {
	a := r.agg
	defer func() { r.replaying = false }()
	r.replaying = true
	slots := make([]uint64, len(reports))
	logged := map[uint64][]byte{}
	for i, data := range reports {
		report, err := train.ParseReport(data)
		if err != nil {
			return fmt.Errorf("%w: %w", train.ErrState, err)
		}
		slots[i], logged[report.Slot] = report.Slot, data
	}
	for len(slots) > 0 {
		if err := r.fill(ctx); err != nil {
			return err
		}
		if len(r.inFlight) == 0 {
			return fmt.Errorf("%w: the log holds more reports than the run wants", train.ErrState)
		}
		i := r.pick()
		f := r.inFlight[i]
		for _, g := range append(r.earlier(i), f) {
			if err := r.redo(ctx, g, logged); err != nil {
				return err
			}
		}
		if err := f.failure(); err != nil {
			return err
		}
		r.retire(i)
		accepted := a.Status().Accepted
		if err := r.arrive(ctx, f, f.report); err != nil {
			return err
		}
		if (a.Status().Accepted > accepted) != (slots[0] == f.task.Slot) {
			return fmt.Errorf("%w: report %d in the log is not the one that was due, on slot %d", train.ErrState, accepted, f.task.Slot)
		}
		if a.Status().Accepted > accepted {
			slots = slots[1:]
		}
	}
	return nil
}

// redo lets an agent do again what it did: the report in the log where there is
// one.
func (r *run) redo(ctx context.Context, f *assignment, logged map[uint64][]byte) error {
	report, ok := logged[f.task.Slot]
	if f.begun || !ok {
		r.work(ctx, f)
		return nil
	}
	f.begun = true
	f.report = append(f.report[:0], report...)
	return r.recall(ctx, f, report)
}

// recall puts a logged report into the wallet it came from, where that was lost
// with the process, and goes through the agent's episodes for their score.
func (r *run) recall(ctx context.Context, f *assignment, report []byte) error {
	if _, err := r.worker.learn(f); err != nil || f.wallet == nil {
		return err
	}
	receipt, kept, err := f.wallet.Debit(ctx, f.task.Slot, r.worker.codec.Event())
	switch {
	case err != nil:
		return fmt.Errorf("%w: agent %d: %w", train.ErrState, f.agent, err)
	case receipt == nil && !bytes.Equal(kept, report):
		return fmt.Errorf("%w: agent %d kept another report on slot %d than the one in the log", train.ErrState, f.agent, f.task.Slot)
	case receipt == nil:
		return nil
	}
	if err := receipt.Redeem(dp.ReplaceOne, r.worker.codec.Event()); err != nil {
		return err
	}
	return f.wallet.Keep(ctx, f.task.Slot, receipt, report)
}

// evaluateIfDue evaluates where the run stopped before or in an evaluation.
func (r *run) evaluateIfDue(ctx context.Context) error {
	e, n := r.cfg.Success, r.agg.Status().Accepted
	if e == nil || n == 0 || n%uint64(e.Every) != 0 || uint64(len(r.success)) >= n/uint64(e.Every) {
		return nil
	}
	return r.evaluate(ctx, n)
}

// checkpoint saves the run.
func (r *run) checkpoint() error {
	if j := r.cfg.Journal; j == nil || j.log == nil || r.replaying { // until it was taken up, what is there stands
		return nil
	}
	server, err := r.agg.Snapshot()
	if err != nil {
		return err
	}
	s := &snapshot{Settings: r.settings.fingerprint(), Stated: r.settings.text, Server: server, Arrivals: r.arrivals,
		Declined: r.declined, Idle: r.idle, Forfeits: r.forfeits, Spent: r.spent, Paid: r.paid, Success: r.success}
	for _, f := range r.inFlight {
		s.InFlight = append(s.InFlight, savedTask{f.task.Slot, f.task.Version, f.theta})
	}
	return r.cfg.Journal.save(s)
}
