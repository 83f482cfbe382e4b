package train

import (
	"context"
	"fmt"
	"time"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
)

// Agent is one participant: what it agreed to and its budget. What it reports it
// learned elsewhere, in its own world, by whatever means. Its use is
//
//	if err := agent.Accept(&task, theta); err != nil { ... } // refused: nothing is spent
//	vector := ... // train from theta
//	report, err := agent.Report(ctx, &task, vector)
//
// The budget is debited just before the noise is drawn, so that what ends while the
// agent trains costs nothing.
type Agent struct {
	// Codec makes the reports; its randomiser is what the agent agreed to.
	Codec *Codec
	// Wallet is the agent's own. It may be nil only where nothing is private.
	Wallet Wallet
	// Noise is drawn for reports; nil only where nothing is private.
	Noise *noise.Source
	// Now is the clock that deadlines are held against; time.Now if nil.
	Now func() time.Time
}

// Accept tells whether the agent takes a task that comes with the weights theta; the
// error wraps [ErrTask], and nothing was spent. The agent trusts nothing in the task
// but what cannot hurt it. It refuses every randomiser but the one it agreed to, weights
// other than those that the task names, so that two agents who compare their tasks
// know that they were given the same, and a deadline that has passed. Seeds and weights
// may be anything.
func (a *Agent) Accept(t *Task, theta []float64) error {
	if err := a.acceptable(t); err != nil {
		return err
	}
	if len(theta) != t.Dim || HashWeights(theta) != t.Weights {
		return fmt.Errorf("%w: its weights are not those that it names by their hash; fetch them again", ErrTask)
	}
	return nil
}

// acceptable is what can be told without the weights.
func (a *Agent) acceptable(t *Task) error {
	if c := a.Codec; t.Randomizer != c.Randomizer() || t.Dim != c.Dim() {
		return fmt.Errorf("%w: it asks for %+v on %d weights; this agent agreed to %+v on %d",
			ErrTask, t.Randomizer, t.Dim, c.Randomizer(), c.Dim())
	}
	if a.past(t.Deadline) {
		return fmt.Errorf("%w: its deadline has passed; nothing was paid", ErrTask)
	}
	return nil
}

// Report returns the report on a vector, of length Codec.Len, as it is to be sent.
// A slot that was answered before gets the same bytes again, whatever the vector, until its
// deadline. Nothing is spent where the task is refused ([ErrTask]) or the wallet does
// not cover it ([ErrBudget], [ErrForfeited]).
//
// Whether an agent reports must not depend on what it met: where it has nothing to
// report, because its training failed say, it reports on the zero vector.
func (a *Agent) Report(ctx context.Context, t *Task, vector []float64) ([]byte, error) {
	if err := a.acceptable(t); err != nil {
		return nil, err
	}
	if len(vector) != a.Codec.Len() {
		return nil, fmt.Errorf("%w: %d numbers to report; want %d", ErrTask, len(vector), a.Codec.Len())
	}
	paid, kept, err := a.pay(ctx, t.Slot)
	switch {
	case err != nil:
		return nil, err
	case kept != nil:
		return a.again(kept, t)
	}
	r := Report{Slot: t.Slot, Version: t.Version, Deadline: t.Deadline, Token: t.Token}
	report, err := r.AppendBinary(make([]byte, 0, reportHeader+a.Codec.Size()))
	if err != nil {
		return nil, err
	}
	if report, err = a.Codec.Encode(report, vector, t.Seed, paid, a.Noise); err != nil {
		return nil, err
	}
	if paid == nil {
		return report, nil
	}
	// What was paid for is finished.
	if err := a.Wallet.Keep(context.WithoutCancel(ctx), t.Slot, paid, report); err != nil {
		return nil, err
	}
	return report, nil
}

// past tells whether a report could not be in time.
func (a *Agent) past(deadline int64) bool {
	if deadline == 0 {
		return false
	}
	now := a.Now
	if now == nil {
		now = time.Now
	}
	return now().Unix() > deadline
}

// again gives out a report that was kept, if it was made for the task and not for
// one of the same slot, such as that of another run.
func (a *Agent) again(kept []byte, t *Task) ([]byte, error) {
	r, err := ParseReport(kept)
	if err != nil || len(r.Body) != a.Codec.Size() || r.Token != t.Token {
		return nil, fmt.Errorf("%w: slot %d of the wallet holds the report on another task; give every training run a wallet of its own name", ErrTask, t.Slot)
	}
	return kept, nil
}

// pay debits the wallet for a slot, or returns the report that it has already.
func (a *Agent) pay(ctx context.Context, slot uint64) (*receipt.Receipt, []byte, error) {
	event := a.Codec.Event()
	if event == nil {
		return nil, nil, nil
	}
	if a.Wallet == nil || a.Noise == nil {
		return nil, nil, fmt.Errorf("%w: the agent has no wallet, or no noise, for a private report", ErrTask)
	}
	return a.Wallet.Debit(ctx, slot, event)
}
