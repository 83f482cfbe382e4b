package train

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/rl/learn"
)

// Agent is one participant: its environment, its budget and a device to compute
// with.
type Agent struct {
	// Device computes; its settings are what the agent agreed to.
	Device *Device
	// Player plays in the agent's environment; see Device.Player.
	Player *learn.Player
	// Wallet is the agent's own. It may be nil only where nothing is private.
	Wallet Wallet
	// Now is the clock that deadlines are held against; time.Now if nil.
	Now func() time.Time
	// Rand drives the environment and the choice of actions, Noise the randomiser.
	Rand  *rand.Rand
	Noise *noise.Source
}

// Answer trains from the weights theta, of the task's version, and returns the
// report as it is to be sent, in memory that lasts until the device's next use. A
// slot that was answered before gets the same bytes again, until its deadline. What the agent went
// through comes back beside the report and must not be sent; it is zero when the
// report was made before.
//
// Whether an agent reports does not depend on what it met: where its environment
// fails, the report is one on the zero vector, and the failure is in the [Outing].
//
// The agent trusts nothing in the task but numbers that cannot hurt it: it refuses,
// with [ErrTask], every randomiser but the one it agreed to. Seeds and weights may
// be anything.
func (a *Agent) Answer(ctx context.Context, t *Task, theta []float64) ([]byte, Outing, error) {
	d := a.Device
	if t.Randomizer != d.coder.agreed() || t.Dim != d.Dim() || len(theta) != d.Dim() {
		return nil, Outing{}, fmt.Errorf("%w: it asks for %+v on %d weights; this agent agreed to %+v on %d",
			ErrTask, t.Randomizer, t.Dim, d.coder.agreed(), d.Dim())
	}
	if a.past(t.Deadline) {
		return nil, Outing{}, fmt.Errorf("%w: its deadline has passed; nothing was paid", ErrTask)
	}
	paid, kept, err := a.pay(ctx, t.Slot)
	switch {
	case err != nil:
		return nil, Outing{}, err
	case kept == nil:
	case d.answers(kept, t):
		return kept, Outing{}, nil
	default:
		return nil, Outing{}, fmt.Errorf("%w: slot %d of the wallet holds the report on another task; give every training run a wallet of its own name", ErrTask, t.Slot)
	}
	ctx = context.WithoutCancel(ctx) // what was paid for is finished
	out := d.train(t, theta, a.Player, a.Rand)
	if paid != nil {
		if err := paid.Redeem(dp.ReplaceOne, d.coder.event()); err != nil {
			return nil, out, err
		}
	}
	if d.body, err = d.coder.encode(d.body[:0], d.vector, t.Seed, a.Noise); err != nil {
		return nil, out, err
	}
	r := Report{Slot: t.Slot, Version: t.Version, Deadline: t.Deadline, Token: t.Token, Body: d.body}
	if d.report, err = r.AppendBinary(d.report[:0]); err != nil {
		return nil, out, err
	}
	if paid != nil {
		if err := a.Wallet.Keep(ctx, t.Slot, paid, d.report); err != nil {
			return nil, out, err
		}
	}
	return d.report, out, nil
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

// answers tells whether a report was made for a task, and not for one of the same
// slot, such as that of another run.
func (d *Device) answers(report []byte, t *Task) bool {
	r, err := parseReport(report, d.coder.size)
	return err == nil && r.Token == t.Token
}

// pay debits the wallet for a slot, or returns the report that it has already.
func (a *Agent) pay(ctx context.Context, slot uint64) (*receipt.Receipt, []byte, error) {
	event := a.Device.coder.event()
	if event == nil {
		return nil, nil, nil
	}
	if a.Wallet == nil {
		return nil, nil, fmt.Errorf("%w: the agent has no wallet to pay for a private report", ErrTask)
	}
	return a.Wallet.Debit(ctx, slot, event)
}
