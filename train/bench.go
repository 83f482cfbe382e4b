package train

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"sync"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/rl/learn"
)

// bench is where simulated agents take turns to work: one for each goroutine.
type bench struct {
	cfg     *Config
	device  *Device
	players []*learn.Player // by environment, made when first asked for
	pcg     *rand.PCG
	rng     *rand.Rand
	noise   *noise.Source // nil while noise comes from the configuration
}

func newBench(c *Config) (*bench, error) {
	d, err := NewDevice(c.Local, c.Terms.Randomizer)
	if err != nil {
		return nil, err
	}
	b := &bench{cfg: c, device: d, players: make([]*learn.Player, len(c.Environments)), pcg: &rand.PCG{}}
	b.rng = rand.New(b.pcg)
	if c.Noise == nil {
		b.noise, err = noise.NewSource()
	}
	return b, err
}

func (b *bench) player(environment int) (*learn.Player, error) {
	if p := b.players[environment]; p != nil {
		return p, nil
	}
	env, err := b.cfg.Environments[environment].New()
	if err != nil {
		return nil, err
	}
	p, err := b.device.Player(env)
	b.players[environment] = p
	return p, err
}

// seat sets the bench up for the agent of a slot: its environment, and random
// numbers that follow from seed and slot alone.
func (b *bench) seat(f *flight) (Agent, error) {
	p, err := b.player(b.cfg.environmentOf(f.agent))
	b.pcg.Seed(mix(b.cfg.Seed), mix(^f.task.Slot))
	return Agent{Device: b.device, Player: p, Wallet: f.wallet, Rand: b.rng, Noise: b.source(f.task.Slot)}, err
}

func (b *bench) source(slot uint64) *noise.Source {
	if b.noise != nil {
		return b.noise
	}
	return b.cfg.Noise(slot)
}

// work answers the task of a flight.
func (b *bench) work(ctx context.Context, f *flight) {
	a, err := b.seat(f)
	if err != nil {
		f.err = err
		return
	}
	report, out, err := a.Answer(ctx, &f.task, f.theta)
	f.report, f.outing, f.err = append(f.report[:0], report...), out, err
	if err == nil && b.cfg.Attack != nil {
		b.cfg.Attack(&f.task, b.device.vector, f.report[reportHeader:])
	}
	if err == nil && out == (Outing{}) { // it was kept from an earlier process
		f.err = b.rehearse(f)
	}
}

// rehearse goes through an agent's training without reporting, for the score.
func (b *bench) rehearse(f *flight) error {
	a, err := b.seat(f)
	if err != nil {
		return err
	}
	f.outing = b.device.train(&f.task, f.theta, a.Player, a.Rand)
	return nil
}

// pool lets several benches work at a time. What a flight comes to does not depend
// on where it is worked on.
type pool struct {
	jobs chan job
	wg   sync.WaitGroup
}

type job struct {
	ctx context.Context
	f   *flight
}

func newPool(c *Config, threads int) (*pool, error) {
	p := &pool{jobs: make(chan job, c.Workers)}
	for range threads {
		b, err := newBench(c)
		if err != nil {
			p.close()
			return nil, err
		}
		p.wg.Go(func() {
			for j := range p.jobs {
				b.work(j.ctx, j.f)
				close(j.f.done)
			}
		})
	}
	return p, nil
}

// send never blocks: there are no more flights than workers.
func (p *pool) send(ctx context.Context, f *flight) {
	f.done = make(chan struct{})
	p.jobs <- job{context.WithoutCancel(ctx), f} // what an agent began it finishes
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
