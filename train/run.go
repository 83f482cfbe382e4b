package train

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/discreet-rl/discreet/rl/learn"
)

// Progress tells where a run is.
type Progress struct {
	Status
	// Slot is the submission that was just counted.
	Slot uint64
	// Score is the mean score of its agent's first episodes, which nobody but the
	// simulation knows. Failed is the error by which its environment ended an
	// episode, if it did: the score is then 0 and the report says nothing.
	Score  float64
	Failed error
	// Epsilon is the largest epsilon that any one agent spent so far.
	Epsilon float64
	// Success is the last private estimate of the share of successful agents, nil
	// before there is one.
	Success *Estimate
}

// Result is what a run came to.
type Result struct {
	Status
	// Theta are the weights at the end.
	Theta []float64 `json:"theta"`
	// Epsilon is the largest epsilon that any one agent spent on training reports, in
	// earlier runs on the same wallets as well.
	Epsilon float64 `json:"epsilon"`
	// Declined counts reports that agents did not make for want of budget, Forfeited
	// those that they had paid for when a process ended and did not make any more.
	Declined  uint64 `json:"declined"`
	Forfeited uint64 `json:"forfeited,omitempty"`
	// Success holds the private estimates in order.
	Success []Estimate `json:"success,omitempty"`
	// Scores holds what the simulation alone knows: the score that each accepted
	// report's agent had in its first local step, in order of acceptance.
	Scores []float64 `json:"-"`
}

// Train runs until all submissions are in, Progress says stop, or ctx ends; then
// the result so far comes with the context's error, and a run with a Journal can
// be taken up again. Equal settings, seeds and noise give equal results, whatever
// Threads is and however often the run was interrupted.
func Train(ctx context.Context, c Config) (*Result, error) {
	r, err := newRun(c)
	if err != nil {
		return nil, err
	}
	defer r.close()
	err = r.resume(ctx)
	for err == nil && !r.stopped && !r.agg.Status().Done {
		err = r.next(ctx)
	}
	if err == nil || errors.Is(err, ctx.Err()) || errors.Is(err, ErrBudget) { // otherwise the state may not be whole
		err = errors.Join(err, r.checkpoint())
	}
	return r.result(), err
}

// run is the state of Train.
type run struct {
	cfg     Config
	agg     *Aggregator
	flights []*flight // agents at work
	free    []*flight // to be used again
	pool    *pool
	bench   *bench // of the calling goroutine
	wallets map[uint64]Wallet

	arrivals uint64 // reports that came, whatever their verdict
	clock    int    // of Fastest: in steps
	declined uint64
	idle     uint64 // declined in a row
	forfeits uint64
	spent    float64
	scores   []float64
	success  []Estimate
	stopped  bool

	settings  settings            // with a journal
	paid      map[uint64][]uint64 // slots by agent, with a journal and wallets in memory
	replaying bool
}

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

func newRun(c Config) (*run, error) {
	if err := c.prepare(); err != nil {
		return nil, err
	}
	r := &run{cfg: c, wallets: map[uint64]Wallet{}, paid: map[uint64][]uint64{}}
	var err error
	if r.bench, err = newBench(&r.cfg); err != nil {
		return nil, err
	}
	theta := make([]float64, c.Terms.Dim)
	r.bench.device.net.Init(theta, c.Init, rand.New(rand.NewPCG(mix(c.Seed), 0x696e6974)))
	o := Options{}
	if c.Noise != nil {
		seed := seedBytes(c.Seed) // what is seeded is to be the same every time
		o.Secret, o.RunSeed = &seed, &seed
	}
	if c.Journal != nil {
		o.Log = c.Journal
	}
	if r.agg, err = NewAggregator(c.Terms, theta, o); err != nil {
		return nil, err
	}
	if c.Threads > 1 && c.Workers > 1 {
		r.pool, err = newPool(&r.cfg, min(c.Threads, c.Workers))
	}
	return r, err
}

func (r *run) close() {
	if r.pool != nil {
		r.pool.close()
	}
}

// next lets one agent report.
func (r *run) next(ctx context.Context) error {
	if err := r.fill(ctx); err != nil {
		return err
	}
	if len(r.flights) == 0 {
		return r.exhausted()
	}
	for i := range r.flights {
		r.begin(ctx, i)
	}
	i := r.pick()
	f := r.flights[i]
	if f.done != nil {
		<-f.done
	}
	for _, g := range r.earlier(i) {
		r.work(ctx, g)
	}
	r.work(ctx, f)
	if err := f.failure(); err != nil {
		return err
	}
	r.land(i)
	return r.arrive(ctx, f, f.report)
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

// arrive hands a report to the aggregator and counts what came of it.
func (r *run) arrive(ctx context.Context, f *flight, report []byte) error {
	r.arrivals++
	switch {
	case f.forfeited:
		r.forfeits++
		return nil
	case len(report) == 0:
		r.decline()
		return nil
	}
	r.idle = 0
	submit := r.agg.Submit
	if r.replaying {
		submit = r.agg.Replay
	}
	verdict, err := submit(report)
	if err != nil {
		return err
	}
	if err := r.tally(ctx, f); err != nil {
		return err
	}
	if verdict != Accepted {
		return nil
	}
	r.scores = append(r.scores, f.outing.Score)
	if r.cfg.Journal != nil {
		r.cfg.Journal.score(f.outing.Score)
	}
	return r.after(ctx, f)
}

// freshDeclines is how many fresh agents in a row may turn out to have no budget
// before a run gives up: those of an earlier run on the same ledgers are not fresh.
const freshDeclines = 100

// decline counts a report that was not made.
func (r *run) decline() {
	r.declined++
	r.idle++
}

// bankrupt tells whether nobody seems to have budget left. Then no more tasks are
// issued, unless one of those that are out is answered.
func (r *run) bankrupt() bool {
	agents := r.cfg.Agents
	if agents == 0 {
		agents = freshDeclines
	}
	return r.idle > agents
}

// exhausted is how a run ends for want of budget.
func (r *run) exhausted() error {
	if n := r.agg.Status().Accepted; n > 0 {
		return fmt.Errorf("after %d submissions no agent has budget left: %w; what was learned so far stands, and more takes other agents: a run of its own with more of them, or with fewer submissions", n, ErrBudget)
	}
	return fmt.Errorf("after 0 submissions: %w: it was spent before this run, and stays spent; let other agents take part", ErrBudget)
}

// tally keeps the largest epsilon that an agent has spent.
func (r *run) tally(ctx context.Context, f *flight) error {
	if f.wallet == nil {
		return nil
	}
	if r.cfg.Agents == 0 && r.cfg.Wallet == nil { // one report each
		r.spent = r.cfg.Terms.Randomizer.Epsilon
		return nil
	}
	if r.cfg.Wallet == nil && r.cfg.Journal != nil {
		r.paid[f.agent] = append(r.paid[f.agent], f.task.Slot)
	}
	b, err := f.wallet.Spent(context.WithoutCancel(ctx))
	r.spent = max(r.spent, b.Epsilon)
	return err
}

// after evaluates, saves and tells where a submission asks for it.
func (r *run) after(ctx context.Context, f *flight) error {
	s := r.agg.Status()
	if e := r.cfg.Success; e != nil && s.Accepted%uint64(e.Every) == 0 {
		if err := r.evaluate(ctx, s.Accepted); err != nil {
			return err
		}
		if err := r.checkpoint(); err != nil {
			return err
		}
	}
	if j := r.cfg.Journal; j != nil && j.due() {
		if err := r.checkpoint(); err != nil {
			return err
		}
	}
	if r.cfg.Progress == nil {
		return nil
	}
	p := Progress{Status: s, Slot: f.task.Slot, Score: f.outing.Score, Failed: f.outing.Failed, Epsilon: r.spent}
	if n := len(r.success); n > 0 {
		p.Success = &r.success[n-1]
	}
	r.stopped = !r.cfg.Progress(p) && !r.replaying
	return nil
}

func (r *run) result() *Result {
	theta := make([]float64, r.cfg.Terms.Dim)
	r.agg.Theta(theta)
	return &Result{Status: r.agg.Status(), Theta: theta, Epsilon: r.spent, Declined: r.declined, Forfeited: r.forfeits,
		Success: r.success, Scores: r.scores}
}

// Scores plays episodes with the given weights, in environments drawn uniformly,
// and returns their scores. It is for simulations: real agents do not tell.
func Scores(ctx context.Context, c Config, theta []float64, episodes int, x learn.Explore, seed uint64) ([]float64, error) {
	if err := c.prepare(); err != nil {
		return nil, err
	}
	b, err := newBench(&c)
	if err != nil {
		return nil, err
	}
	if len(theta) != c.Terms.Dim {
		return nil, fmt.Errorf("%w: %d weights; want %d", ErrConfig, len(theta), c.Terms.Dim)
	}
	out := make([]float64, 0, episodes)
	for n := range episodes {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		b.pcg.Seed(mix(seed), mix(^uint64(n)))
		p, err := b.player(int(mix(mix(seed)^mix(uint64(n))) % uint64(len(c.Environments))))
		if err != nil {
			return out, err
		}
		e := &b.device.episodes[0]
		if err := p.Play(e, theta, x, b.rng); err != nil {
			return out, err
		}
		out = append(out, e.Score)
	}
	return out, nil
}
