package simulate

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"sync"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
)

// worker lets simulated agents work, one after the other: there is one for each
// goroutine.
type worker struct {
	cfg     *Config
	device  *device.Device
	codec   *train.Codec
	players []*learn.Player // by environment, made when first asked for
	pcg     *rand.PCG
	rng     *rand.Rand
	noise   *noise.Source // nil while noise comes from the configuration
}

func newWorker(c *Config) (*worker, error) {
	d, err := device.New(c.Local, c.Terms.Randomizer)
	if err != nil {
		return nil, err
	}
	w := &worker{cfg: c, device: d, players: make([]*learn.Player, len(c.Environments)), pcg: &rand.PCG{}}
	if w.codec, err = train.NewCodec(c.Terms.Randomizer, d.Dim()); err != nil {
		return nil, err
	}
	w.rng = rand.New(w.pcg)
	if c.Noise == nil {
		w.noise, err = noise.NewSource()
	}
	return w, err
}

func (w *worker) player(environment int) (*learn.Player, error) {
	if p := w.players[environment]; p != nil {
		return p, nil
	}
	env, err := w.cfg.Environments[environment].New()
	if err != nil {
		return nil, err
	}
	p, err := w.device.Player(env)
	w.players[environment] = p
	return p, err
}

// enter sets the worker up for the agent of a slot: its environment, and random numbers
// that follow from seed and slot alone.
func (w *worker) enter(a *assignment) (*learn.Player, error) {
	w.pcg.Seed(mix(w.cfg.Seed), mix(^a.task.Slot))
	return w.player(w.cfg.environmentOf(a.agent))
}

func (w *worker) source(slot uint64) *noise.Source {
	if w.noise != nil {
		return w.noise
	}
	return w.cfg.Noise(slot)
}

// work answers a task.
func (w *worker) work(ctx context.Context, a *assignment) {
	agent := train.Agent{Codec: w.codec, Wallet: a.wallet, Noise: w.source(a.task.Slot)}
	if a.err = agent.Accept(&a.task, a.theta); a.err != nil {
		return
	}
	vector, err := w.learn(a)
	if a.err = err; err != nil {
		return
	}
	report, err := agent.Report(ctx, &a.task, vector)
	a.report, a.err = append(a.report[:0], report...), err
	if err == nil && w.cfg.Attack != nil {
		w.cfg.Attack(&a.task, vector, a.report[len(a.report)-w.codec.Size():])
	}
}

// learn goes through an agent's training.
func (w *worker) learn(a *assignment) ([]float64, error) {
	p, err := w.enter(a)
	if err != nil {
		return nil, err
	}
	vector, rollout := w.device.Learn(&a.task, a.theta, p, w.rng)
	a.rollout = rollout
	return vector, nil
}

// pool lets several workers work at a time. What an agent reports does not depend on
// which of them it works on.
type pool struct {
	jobs chan job
	wg   sync.WaitGroup
}

type job struct {
	ctx context.Context
	a   *assignment
}

func newPool(c *Config, threads int) (*pool, error) {
	p := &pool{jobs: make(chan job, c.Workers)}
	for range threads {
		w, err := newWorker(c)
		if err != nil {
			p.close()
			return nil, err
		}
		p.wg.Go(func() {
			for j := range p.jobs {
				w.work(j.ctx, j.a)
				close(j.a.done)
			}
		})
	}
	return p, nil
}

// send never blocks: no more tasks are in flight than Config.Workers.
func (p *pool) send(ctx context.Context, a *assignment) {
	a.done = make(chan struct{})
	p.jobs <- job{context.WithoutCancel(ctx), a} // what an agent began it finishes
}

func (p *pool) close() {
	close(p.jobs)
	p.wg.Wait()
}

// seedBytes spreads a seed over a key, for runs whose noise is seeded as well.
func seedBytes(seed uint64) (b [32]byte) {
	binary.LittleEndian.PutUint64(b[:], seed)
	return b
}
