package simulate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/train"
)

// Progress tells where a run is.
type Progress struct {
	train.Status
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
	train.Status
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

// Run trains until all submissions are in, Progress says stop, or ctx ends; then
// the result so far comes with the context's error, and a run with a Journal can
// be taken up again. Equal settings, seeds and noise give equal results, whatever
// Threads is and however often the run was interrupted.
func Run(ctx context.Context, c Config) (*Result, error) {
	r, err := newRun(c)
	if err != nil {
		return nil, err
	}
	defer r.close()
	err = r.resume(ctx)
	for err == nil && !r.stopped && !r.agg.Status().Done {
		err = r.next(ctx)
	}
	if err == nil || errors.Is(err, ctx.Err()) || errors.Is(err, train.ErrBudget) { // otherwise the state may not be whole
		err = errors.Join(err, r.checkpoint())
	}
	return r.result(), err
}

// run is the state of Run.
type run struct {
	cfg      Config
	agg      *train.Aggregator
	inFlight []*assignment // agents at work
	free     []*assignment // to be used again
	pool     *pool
	worker   *worker // of the calling goroutine
	wallets  map[uint64]train.Wallet

	arrivals uint64 // reports that came, whatever their verdict
	clock    int    // of fastest: in steps
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

func newRun(c Config) (*run, error) {
	if err := c.prepare(); err != nil {
		return nil, err
	}
	r := &run{cfg: c, wallets: map[uint64]train.Wallet{}, paid: map[uint64][]uint64{}}
	var err error
	if r.worker, err = newWorker(&r.cfg); err != nil {
		return nil, err
	}
	theta := make([]float64, c.Terms.Dim)
	r.worker.device.Init(theta, c.Init, rand.New(rand.NewPCG(mix(c.Seed), 0x696e6974)))
	o := train.Options{}
	if c.Noise != nil {
		seed := seedBytes(c.Seed) // what is seeded is to be the same every time
		o.Secret, o.RunSeed = &seed, &seed
	}
	if c.Journal != nil {
		o.Log = c.Journal
	}
	if r.agg, err = train.NewAggregator(c.Terms, theta, o); err != nil {
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
	if len(r.inFlight) == 0 {
		return r.exhausted()
	}
	for i := range r.inFlight {
		r.begin(ctx, i)
	}
	i := r.pick()
	f := r.inFlight[i]
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
	r.retire(i)
	return r.arrive(ctx, f, f.report)
}

// arrive hands a report to the aggregator and counts what came of it.
func (r *run) arrive(ctx context.Context, f *assignment, report []byte) error {
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
	if verdict != train.Accepted {
		return nil
	}
	r.scores = append(r.scores, f.rollout.Score)
	if r.cfg.Journal != nil {
		r.cfg.Journal.score(f.rollout.Score)
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

// outOfBudget tells whether nobody seems to have budget left. Then no more tasks are
// issued, unless one of those that are out is answered.
func (r *run) outOfBudget() bool {
	agents := r.cfg.Agents
	if agents == 0 {
		agents = freshDeclines
	}
	return r.idle > agents
}

// exhausted is how a run ends for want of budget.
func (r *run) exhausted() error {
	if n := r.agg.Status().Accepted; n > 0 {
		return fmt.Errorf("after %d submissions no agent has budget left: %w; what was learned so far stands, and more takes other agents: a run of its own with more of them, or with fewer submissions", n, train.ErrBudget)
	}
	return fmt.Errorf("after 0 submissions: %w: it was spent before this run, and stays spent; let other agents take part", train.ErrBudget)
}

// tally keeps the largest epsilon that an agent has spent.
func (r *run) tally(ctx context.Context, f *assignment) error {
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
func (r *run) after(ctx context.Context, f *assignment) error {
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
	p := Progress{Status: s, Slot: f.task.Slot, Score: f.rollout.Score, Failed: f.rollout.Failed, Epsilon: r.spent}
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
	w, err := newWorker(&c)
	if err != nil {
		return nil, err
	}
	if len(theta) != c.Terms.Dim {
		return nil, fmt.Errorf("%w: %d weights; want %d", train.ErrConfig, len(theta), c.Terms.Dim)
	}
	out := make([]float64, 0, episodes)
	for n := range episodes {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		w.pcg.Seed(mix(seed), mix(^uint64(n)))
		p, err := w.player(int(mix(mix(seed)^mix(uint64(n))) % uint64(len(c.Environments))))
		if err != nil {
			return out, err
		}
		score, err := w.device.Play(theta, p, x, w.rng)
		if err != nil {
			return out, err
		}
		out = append(out, score)
	}
	return out, nil
}
