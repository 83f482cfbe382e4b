package device

import (
	"context"
	"errors"
	"fmt"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/service"
)

// closer is a learner that may leave: then the agent finishes its round and ends.
type closer interface {
	// Closed is closed when the learner has left.
	Closed() <-chan struct{}
}

// starter is a learner that says when it is ready; before that the agent asks for no round, and nothing is paid.
type starter interface {
	// Ready is closed when the learner takes part.
	Ready() <-chan struct{}
}

// Run takes part in the run until it has ended, the device has sent all its reports, its budget is used up, the learner has left, or ctx
// ends. It goes on where an earlier call, or process, was stopped. What only the owner or the operator can mend is returned; what
// may pass is logged, and tried again.
func (a *Agent) Run(ctx context.Context, s Services, l Learner) error {
	if _, err := a.Certificate(); err != nil {
		return err
	}
	if id, err := a.store.identity(ctx); err != nil {
		return err
	} else if id.copied {
		return fmt.Errorf("%w, and this copy sends nothing more; enrol as a new device in a new directory, which begins a new budget", errCopied)
	}
	p := &participation{Agent: a, services: s, learner: l}
	for failures := 0; ; {
		over, err := p.step(ctx)
		err = p.lasting(err)
		if isRevoked(err) {
			return fmt.Errorf("%w: its reports are taken no more, and it stops; ask the operator if it is to take part again", errRevoked)
		}
		wait := time.Duration(0)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case over || err != nil && !passing(err):
			return err
		case err != nil:
			wait = backOff(failures, a.cfg.BackOff, a.cfg.MostBackOff, err)
			failures++
			a.cfg.Log.Warn("not now", "what", p.doing, "code", connect.CodeOf(err).String(), "why", publicly(err), "wait", wait.Seconds())
		case p.waiting:
			poll := p.poll()
			wait = poll/2 + uniform(poll)
			failures = 0
		default:
			failures = 0
		}
		if err := p.sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// forkPatience is how long a server may show another chain: a replica that is about to learn of the last round does.
const forkPatience = time.Minute

// lasting makes an [fleet.ErrFork] that does not pass the end of this run for the device.
func (p *participation) lasting(err error) error {
	switch {
	case err == nil:
		p.forked = time.Time{}
	case !errors.Is(err, fleet.ErrFork):
	case p.forked.IsZero():
		p.forked = time.Now()
	case time.Since(p.forked) >= forkPatience:
		return fmt.Errorf("%w: %w; tell the operator: either the server's store was put back from an older copy, or devices are shown different rounds. "+
			"Nothing more is sent in this run. A store that was put back goes on with a new run (docs/fleet.md, \"Restoring\")", ErrRunLost, err)
	}
	return err
}

// passing tells whether an error may be gone later.
func passing(err error) bool {
	var remote *connect.Error
	if errors.Is(err, ErrRunLost) {
		return false
	}
	for _, sentinel := range []error{ErrClock, fleet.ErrSpec, fleet.ErrFork, fleet.ErrWeights} {
		if errors.Is(err, sentinel) {
			return true
		}
	}
	return errors.As(err, &remote)
}

// isRevoked tells whether a server refused the device's certificate as revoked.
func isRevoked(err error) bool {
	var remote *connect.Error
	return errors.As(err, &remote) && remote.Meta().Get(service.RefusedHeader) == service.RefusedRevoked
}

// publicly is an error as it may be logged: what the server said of itself is left out.
func publicly(err error) string {
	var remote *connect.Error
	if errors.As(err, &remote) {
		return "the server did not answer as it should"
	}
	return err.Error()
}

// participation is an agent in a run.
type participation struct {
	*Agent
	services Services
	learner  Learner
	run      *fleet.Run
	head     fleet.Head
	prepared bool
	renewAt  time.Time // not before
	forked   time.Time // since when the server shows another chain; zero while it does not
	waiting  bool      // for a new round
	doing    string    // for the log
	spent    *float64
	drawing  *drawing      // the permit that is asked for; nil for none
	usedUp   bool          // the server gives no further permits in the run
	allowed  float64       // by the wallet
	window   time.Duration // that the last round gave for training
}

// step does the next thing that there is to do: a round that has begun, or else asking for a new one.
func (p *participation) step(ctx context.Context) (over bool, err error) {
	p.waiting, p.doing = false, "renewal"
	if err := p.renewed(ctx); err != nil {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if errors.Is(err, ErrExpired) {
			return false, err
		}
		p.cfg.Log.Warn("certificate not renewed", "code", connect.CodeOf(err).String())
	}
	if p.run == nil {
		p.doing = "run"
		if err := p.fetchRun(ctx); err != nil {
			return false, err
		}
	}
	k, err := p.store.pending(ctx, p.run.ID)
	if err != nil {
		return false, err
	}
	if k != nil {
		p.doing = "round"
		return false, p.work(ctx, k)
	}
	if over, err := p.used(ctx); over || err != nil {
		return over, err
	}
	if gone, err := p.started(ctx); gone || err != nil {
		return gone, err
	}
	p.doing = "poll"
	return p.ask(ctx)
}

// poll is the time between polls, on average.
func (p *participation) poll() time.Duration {
	if p.cfg.Poll > 0 {
		return p.cfg.Poll
	}
	if p.window == 0 {
		return longestPoll
	}
	return min(longestPoll, max(shortestPoll, p.window/3))
}

// shown notes how long a round gives for training.
func (p *participation) shown(round *fleet.Round) {
	before := p.window
	p.window = round.TrainBy.Sub(round.Opens)
	if poll := p.poll(); p.window != before && 3*poll/2 > p.window {
		p.cfg.Log.Warn("rounds give less time for training than passes between polls; some will be missed", "window", p.window.Seconds(), "poll", poll.Seconds())
	}
}

// renewed renews the certificate in time. After a failure it waits, for the server's sake: an answer that is lost leaves a
// certificate there which nobody uses.
func (p *participation) renewed(ctx context.Context) error {
	if err := inTime(p.certificate.Load()); err != nil || time.Now().Before(p.renewAt) {
		return err
	}
	err := p.renew(ctx, p.services)
	if err != nil {
		p.renewAt = time.Now().Add(p.cfg.MostBackOff)
	}
	return err
}

// started waits until the learner is ready, where it says so; gone is set when it has left.
func (p *participation) started(ctx context.Context) (gone bool, err error) {
	var ready, closed <-chan struct{}
	if s, ok := p.learner.(starter); ok {
		ready = s.Ready()
	}
	if c, ok := p.learner.(closer); ok {
		closed = c.Closed()
	}
	select {
	case <-closed:
		return true, nil
	default:
	}
	if ready == nil {
		return false, nil
	}
	select {
	case <-ready:
		return false, nil
	case <-closed:
		return true, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// used tells whether nothing can be paid for any more.
func (p *participation) used(ctx context.Context) (bool, error) {
	n, err := p.store.paid(ctx, p.run.ID)
	if err != nil {
		return false, err
	}
	if p.spent == nil {
		spent, err := p.Spent(ctx)
		if err != nil {
			return false, err
		}
		p.spent = &spent.Epsilon
	}
	if n < p.run.Reports && !p.usedUp && *p.spent+p.run.Randomizer.Epsilon <= p.allowed {
		return false, nil
	}
	p.cfg.Log.Info("this device has done its part", "epsilon", *p.spent)
	return true, nil
}

// sleep waits, or until the learner leaves.
func (p *participation) sleep(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return ctx.Err()
	}
	var closed <-chan struct{}
	if c, ok := p.learner.(closer); ok && p.waiting {
		closed = c.Closed()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-closed:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}
