package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// chunk is the number of episodes that a worker plays before it asks for more.
// It does not change what a seed means: every episode has a stream of its own.
const chunk = 16

// Rollout plays episodes under a behaviour policy. New, Policy and Episodes must
// be set.
type Rollout struct {
	// New makes the problem, once for each worker. It may be called by several
	// goroutines at once.
	New func() (Env, error)
	// Policy chooses the actions. It must know the distribution over actions from
	// the observation: the uniform, constant, tabular, softmax and soft greedy
	// policies do, a policy read from logged columns does not.
	Policy policy.Policy
	// Episodes is the number of episodes, at least 1.
	Episodes int
	// Seed chooses the random numbers. Equal seeds give equal data, whatever the
	// number of workers, and the first episodes of a longer rollout are those of
	// a shorter one.
	Seed uint64
	// MaxSteps truncates an episode that has not terminated after so many steps;
	// 0 stands for the problem's own limit, which there must be.
	MaxSteps int
	// EpisodesPerPerson is the number of consecutive episodes that a person owns
	// (the last person may own fewer); 0 stands for 1.
	EpisodesPerPerson int
	// Workers is the number of goroutines; 0 stands for GOMAXPROCS.
	Workers int
}

// Run plays the episodes and returns them as a dataset. Persons and episodes are
// numbered in order. Errors wrap [ErrOptions] or those of the policy, or are the
// simulator's or the context's.
func (r Rollout) Run(ctx context.Context) (*trajectory.Dataset, error) {
	if r.Workers == 0 {
		r.Workers = runtime.GOMAXPROCS(0)
	}
	first, err := r.player()
	if err != nil {
		return nil, err
	}
	chunks := make([]episodes, (r.Episodes+chunk-1)/chunk)
	var next atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, min(r.Workers, len(chunks)))
	work := func(p *player, err error) error {
		for err == nil {
			c := int(next.Add(1)) - 1
			if c >= len(chunks) {
				return nil
			}
			if err = ctx.Err(); err == nil {
				err = p.play(&chunks[c], c*chunk, min((c+1)*chunk, r.Episodes))
			}
		}
		next.Store(int64(len(chunks))) // the others need not go on
		return err
	}
	for w := range errs {
		wg.Go(func() {
			if w == 0 {
				errs[w] = work(first, nil)
				return
			}
			errs[w] = work(r.player())
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return assemble(first, chunks, max(r.EpisodesPerPerson, 1)), nil
}

// player is one worker: a problem, and the policy tied to what it shows.
type player struct {
	env   Env
	spec  Spec
	bound policy.Bound
	row   *trajectory.Dataset // one row, the observation at hand
	probs []float64
	pcg   *rand.PCG
	rng   *rand.Rand
	seed  uint64
}

func (r Rollout) player() (*player, error) {
	if r.New == nil || r.Policy == nil {
		return nil, fmt.Errorf("%w: rollout: New or Policy is missing", ErrOptions)
	}
	if r.Episodes < 1 || r.EpisodesPerPerson < 0 || r.MaxSteps < 0 || r.Workers < 0 {
		return nil, fmt.Errorf("%w: rollout: episodes is %d, episodes per person %d, step limit %d, workers %d; want at least 1 episode and no negative number",
			ErrOptions, r.Episodes, r.EpisodesPerPerson, r.MaxSteps, r.Workers)
	}
	env, err := r.New()
	if err != nil {
		return nil, err
	}
	limit := r.MaxSteps
	if limit == 0 {
		limit = env.Spec().MaxSteps
	}
	if limit < 1 {
		return nil, fmt.Errorf("%w: rollout: %s has no step limit of its own; set MaxSteps", ErrOptions, env.Spec().Name)
	}
	p := &player{env: TimeLimit(env, limit), spec: env.Spec(), pcg: &rand.PCG{}, seed: r.Seed}
	p.rng = rand.New(p.pcg)
	k := p.spec.Actions
	p.row = &trajectory.Dataset{
		Columns: p.spec.Columns, PersonStart: []int{0, 1}, EpisodeStart: []int{0, 1},
		Obs: make([]float64, len(p.spec.Columns)), Action: []int32{0}, Reward: []float64{0}, Terminated: []bool{false},
	}
	if p.bound, err = r.Policy.Bind(p.row); err != nil {
		return nil, fmt.Errorf("behaviour policy: %w", err)
	}
	if n := p.bound.Actions(); n == 0 || n > k {
		return nil, fmt.Errorf("%w: rollout: the behaviour policy knows the distribution over %d actions; want 1 to %d, as %s has", ErrOptions, n, k, p.spec.Name)
	}
	p.probs = make([]float64, k)
	return p, nil
}

// episodes are the columns of a chunk of episodes.
type episodes struct {
	obs, reward, behavior, probs, final []float64
	action                              []int32
	length                              []int
	terminated                          []bool
}

// play plays the episodes lo to hi-1.
func (p *player) play(out *episodes, lo, hi int) error {
	for e := lo; e < hi; e++ {
		p.pcg.Seed(mix(p.seed), mix(^uint64(e)))
		if err := p.episode(out); err != nil {
			return fmt.Errorf("%s: episode %d: %w", p.spec.Name, e, err)
		}
	}
	return nil
}

func (p *player) episode(out *episodes) error {
	obs := p.row.Obs
	p.env.Reset(obs, p.rng)
	for t := 0; ; t++ {
		p.row.EpisodeStart[0] = -t // so many decisions were before
		if !p.bound.Distribution(p.probs, 0) {
			return fmt.Errorf("%w: the behaviour policy has no distribution for the observation of step %d", ErrOptions, t)
		}
		action := choose(p.probs, p.rng.Float64())
		out.obs = append(out.obs, obs...)
		out.action = append(out.action, int32(action))
		out.behavior = append(out.behavior, p.probs[action])
		out.probs = append(out.probs, p.probs...)
		o, err := p.env.Step(obs, action)
		if err != nil {
			return fmt.Errorf("step %d: %w", t, err)
		}
		out.reward = append(out.reward, o.Reward)
		if o.Terminated || o.Truncated {
			out.length = append(out.length, t+1)
			out.terminated = append(out.terminated, o.Terminated)
			out.final = append(out.final, obs...)
			return nil
		}
	}
}

// choose gives the action in whose share of [0, 1) u lies. What rounding leaves
// above the sum belongs to the last action that is possible at all.
func choose(probs []float64, u float64) int {
	last := 0
	for a, p := range probs {
		if p <= 0 {
			continue
		}
		if u < p {
			return a
		}
		u -= p
		last = a
	}
	return last
}

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood 2014). It keeps the
// streams of neighbouring seeds and episodes apart.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
