package device

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/fleet"
	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/ledgerwallet"
)

// Config is what a device's owner decides.
type Config struct {
	// Dir is a directory of the device's own. What is in it must not be lost, nor an older copy put in its place.
	Dir string
	// Root is the key that signs runs, as the owner got it from the operator, not over the network.
	Root ed25519.PublicKey
	// Run is the run to take part in; nil for the server's only one.
	Run *train.RunID
	// Consent is what the owner agreed to.
	Consent fleet.Consent
	// Epsilon is what the device spends over its life, in all runs.
	Epsilon float64
	// Poll is how often the server is asked for a new round, on average. If 0 it is 10 s, and no more than a third of the time
	// that rounds give for training, of which a device begins with none that it hears of too late; 1 s at least.
	Poll time.Duration
	// BackOff is the wait after a first failure, doubled up to MostBackOff, and drawn uniformly below that; 1 s and 5 min if 0.
	BackOff, MostBackOff time.Duration
	// Log receives what happens; nil for nothing. It never gets a number that was learned.
	Log *slog.Logger
	// Noise is the source of a round's noise. Nil stands for the operating system's; anything else is for tests and reproductions.
	Noise func(round uint64) *noise.Source
}

// The defaults.
const (
	longestPoll        = 10 * time.Second
	shortestPoll       = time.Second
	defaultBackOff     = time.Second
	defaultMostBackOff = 5 * time.Minute
	mostSkew           = 5 * time.Minute
)

// Validate tells what is missing or out of range, wrapping [ErrConfig].
func (c Config) Validate() error {
	switch {
	case c.Dir == "":
		return fmt.Errorf("%w: no directory to keep its state in", ErrConfig)
	case len(c.Root) != ed25519.PublicKeySize:
		return fmt.Errorf("%w: the root's key has %d bytes; want %d", ErrConfig, len(c.Root), ed25519.PublicKeySize)
	case !(c.Epsilon > 0) || math.IsInf(c.Epsilon, 0):
		return fmt.Errorf("%w: epsilon is %v; want a finite number above 0", ErrConfig, c.Epsilon)
	case c.Poll < 0 || c.BackOff < 0 || c.MostBackOff < 0 || c.MostBackOff > 0 && c.MostBackOff < c.BackOff:
		return fmt.Errorf("%w: it asks every %v and waits %v to %v; want none below 0, and no less at most than at least", ErrConfig, c.Poll, c.BackOff, c.MostBackOff)
	}
	return c.Consent.Validate()
}

// Agent is a device. Its methods are for one goroutine, but Certificate, which any may call.
type Agent struct {
	cfg         Config
	store       *store
	wallets     *ledgerwallet.Store
	source      *noise.Source // nil while noise comes from the configuration
	certificate atomic.Pointer[tls.Certificate]
	pseudonym   [32]byte
	idle        chan struct{} // of the last call of the learner; closed when it has returned
	crash       func(point string) error
}

// LogKeys are what an agent logs, for service.NewLog: no value depends on what was learned but "answer", which says whether that could be
// used.
func LogKeys() map[string]service.Kind {
	return map[string]service.Kind{
		"round": service.Number, "state": service.Word, "reason": service.Word, "answer": service.Word, "wait": service.Number, "epsilon": service.Number,
		"what": service.Word, "code": service.Word, "why": service.Text, "reports": service.Number, "asked": service.Number, "window": service.Number, "poll": service.Number,
	}
}

// walletName is the dataset of the device's ledger.
const walletName = "device"

// Open opens the device's state, or begins it. One process at a time has it.
func Open(ctx context.Context, c Config) (*Agent, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.BackOff == 0 {
		c.BackOff = defaultBackOff
	}
	if c.MostBackOff == 0 {
		c.MostBackOff = max(defaultMostBackOff, c.BackOff)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	s, err := openStore(ctx, filepath.Join(c.Dir, "state.db"))
	if err != nil {
		return nil, err
	}
	a := &Agent{cfg: c, store: s, wallets: ledgerwallet.NewStore(filepath.Join(c.Dir, "wallet.db")), crash: func(string) error { return nil }}
	if err := a.prepare(ctx); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	return a, nil
}

func (a *Agent) prepare(ctx context.Context) (err error) {
	if a.cfg.Noise == nil {
		if a.source, err = noise.NewSource(); err != nil {
			return err
		}
	}
	if err := a.load(ctx); err != nil {
		return err
	}
	return a.openWallet(ctx)
}

// openWallet makes the wallet of a new device, and finds that of an old one as it was left, or later.
func (a *Agent) openWallet(ctx context.Context) error {
	id, err := a.store.identity(ctx)
	if err != nil {
		return err
	}
	if id == nil {
		if id, err = a.newIdentity(ctx); err != nil {
			return err
		}
	}
	var w *ledgerwallet.Wallet
	if id.wallet {
		w = a.wallets.Enrolled(walletName, a.budget(), "")
	} else {
		w = a.wallets.Wallet(walletName, a.budget(), "")
	}
	spent, err := w.Spent(ctx)
	if errors.Is(err, ledgerwallet.ErrGone) {
		return fmt.Errorf("%w: %w", ErrWallet, err)
	}
	if err != nil {
		return err
	}
	if spent.Epsilon < id.debited {
		return fmt.Errorf("%w: wallet.db says that epsilon %v was spent, and it was %v at least; put the latest copy back: what was spent is not forgotten with the file", ErrWallet, spent.Epsilon, id.debited)
	}
	if !id.wallet {
		return a.store.walletMade(ctx)
	}
	return nil
}

func (a *Agent) budget() dp.Budget { return dp.Budget{Epsilon: a.cfg.Epsilon} }

func (a *Agent) wallet(run train.RunID) *ledgerwallet.Wallet {
	return a.wallets.Enrolled(walletName, a.budget(), fmt.Sprintf("run %x", run))
}

// Spent is what the device has spent, in all runs.
func (a *Agent) Spent(ctx context.Context) (dp.Budget, error) {
	return a.wallets.Enrolled(walletName, a.budget(), "").Spent(ctx)
}

// Budget is what the device may spend in all runs: what its wallet allows, which may be less than the configuration says.
func (a *Agent) Budget(ctx context.Context) (dp.Budget, error) {
	return a.wallets.Enrolled(walletName, a.budget(), "").Budget(ctx)
}

// Close ends the agent's use of its directory.
func (a *Agent) Close() error { return a.store.db.Close() }

// Closer is a learner that may leave: then the agent finishes its round and ends.
type Closer interface {
	// Closed is closed when the learner has left.
	Closed() <-chan struct{}
}

// Starter is a learner that says when it is ready; before that the agent asks for no round, and nothing is paid.
type Starter interface {
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
	p := &participation{Agent: a, services: s, learner: l}
	for failures := 0; ; {
		over, err := p.step(ctx)
		err = p.lasting(err)
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
	if s, ok := p.learner.(Starter); ok {
		ready = s.Ready()
	}
	if c, ok := p.learner.(Closer); ok {
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
	if n < p.run.Reports && *p.spent+p.run.Randomizer.Epsilon <= p.allowed {
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
	if c, ok := p.learner.(Closer); ok && p.waiting {
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
	if err := errors.Join(p.cfg.Consent.Check(run), enough(run.MinClient)); err != nil {
		return err
	}
	if !p.prepared {
		if err := p.affords(ctx, run); err != nil {
			return err
		}
		if err := p.learner.Prepare(run); err != nil {
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
