package simulate

import (
	"fmt"
	"math"
	"runtime"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/rl/sim"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
)

// Environment is one of the worlds that agents live in.
type Environment struct {
	// Name is what a person calls it.
	Name string
	// New makes it. It may be called by several goroutines at once.
	New func() (sim.Env, error)
}

// The schedules.
const (
	// uniform draws the next one, by the seed alone: when agents send at fixed
	// deadlines, the order says nothing of what they did. The default.
	uniform = "uniform"
	// inTurn takes the one that has waited longest.
	inTurn = "in-turn"
	// fastest takes the one whose episodes end first, counted in steps, as threads
	// that send at once would. It gives away how long episodes were: for comparison
	// with published experiments only.
	fastest = "fastest"
)

// Config is a whole run in one process: the terms, the agents and the world that
// they live in.
type Config struct {
	// Terms are the aggregator's; Dim is filled in.
	Terms train.Terms
	// Local is what agents do.
	Local device.Local
	// Init draws the initial weights.
	Init learn.Init
	// Environments are what agents live in; each agent is given one, uniformly.
	Environments []Environment
	// Seed chooses the simulated world: environments, episodes, initial weights, the
	// order of reports. Not the noise.
	Seed uint64

	// Agents is the number of participants, who report in turn; 0 stands for a fresh
	// one for every submission.
	Agents uint64
	// Budget is the total epsilon of each agent; 0 stands for that of one report. A
	// report for which it does not suffice is not made.
	Budget float64
	// Wallet opens an agent's wallet; nil stands for wallets in memory. Evaluating
	// agents have numbers from [FirstEvaluator] on.
	Wallet func(agent uint64) (train.Wallet, error)
	// Wallets names where Wallet keeps budgets, such as the path of a ledger; a run
	// with a Journal is taken up again with the same only. Leave secrets out of it.
	Wallets string
	// Workers is the number of agents that work at the same time, 1 unless set.
	Workers int
	// Schedule says which of the agents at work reports next, deterministically: "uniform",
	// the default, draws the next one; "in-turn" takes the one that has waited longest;
	// "fastest" the one whose episodes end first, which gives away how long they were, and
	// is for comparison with published experiments only.
	Schedule string
	// Success asks separate agents how good the policy is; nil for never.
	Success *Success

	// Threads is the number of goroutines that compute; 0 stands for GOMAXPROCS. The
	// result does not depend on it.
	Threads int
	// Noise returns the source of a slot's noise. Nil stands for the operating
	// system's; anything else is for tests and reproductions.
	Noise func(slot uint64) *noise.Source
	// Journal keeps the run on disk; nil for a run in memory.
	Journal *Journal
	// Resumed, if set, is called where Journal holds a run, before that goes on, with
	// the number of its accepted reports.
	Resumed func(reports uint64)
	// Attack, if set, is for experiments with dishonest agents: it may change the body
	// of a report, in place, knowing what the agent learned. It is called by several
	// goroutines at once.
	Attack func(t *train.Task, vector []float64, body []byte)
	// Progress, if set, is called after every report and every evaluation, and stops
	// the run, without an error, when it returns false.
	Progress func(Progress) bool
}

// FirstEvaluator is the number of the first agent that evaluates only.
const FirstEvaluator = 1 << 63

func (c *Config) prepare() error {
	if c.Workers == 0 {
		c.Workers = 1
	}
	if c.Threads == 0 {
		c.Threads = runtime.GOMAXPROCS(0)
	}
	if c.Schedule == "" {
		c.Schedule = uniform
	}
	if c.Budget == 0 {
		c.Budget = c.Terms.Randomizer.Epsilon
	}
	switch {
	case len(c.Environments) == 0:
		return fmt.Errorf("%w: no environment for agents to live in", train.ErrConfig)
	case c.Workers < 1 || c.Workers > 1<<20 || c.Threads < 1:
		return fmt.Errorf("%w: %d workers, %d threads; want at least 1 of each", train.ErrConfig, c.Workers, c.Threads)
	case c.Schedule != uniform && c.Schedule != inTurn && c.Schedule != fastest:
		return fmt.Errorf("%w: schedule is %q; want %s, %s or %s", train.ErrConfig, c.Schedule, uniform, inTurn, fastest)
	case c.Attack != nil && c.Journal != nil:
		return fmt.Errorf("%w: a run with dishonest agents is not kept in a journal", train.ErrConfig)
	case c.Schedule == fastest && c.Journal != nil:
		return fmt.Errorf("%w: a run with a journal needs an order of reports that does not depend on how long episodes were; choose %s or %s", train.ErrConfig, uniform, inTurn)
	case c.Terms.Randomizer.Private() && c.Budget < c.Terms.Randomizer.Epsilon:
		return fmt.Errorf("%w: each agent's budget is epsilon %v and a report costs %v", train.ErrConfig, c.Budget, c.Terms.Randomizer.Epsilon)
	case c.Terms.Randomizer.Private() && !(c.Budget < 1e6):
		return fmt.Errorf("%w: each agent's budget is epsilon %v; want a finite number", train.ErrConfig, c.Budget)
	case !(c.Init.Normal >= 0) || math.IsInf(c.Init.Normal, 0):
		return fmt.Errorf("%w: initial weights have standard deviation %v; want a finite number, 0 or above", train.ErrConfig, c.Init.Normal)
	}
	net, err := learn.NewMLP(c.Local.Network)
	if err != nil {
		return fmt.Errorf("%w: %w", train.ErrConfig, err)
	}
	c.Terms.Dim = net.Dim()
	if c.Success != nil {
		return c.Success.check()
	}
	return nil
}

// agentOf is the agent that answers a slot.
func (c *Config) agentOf(slot uint64) uint64 {
	if c.Agents == 0 || slot >= FirstEvaluator {
		return slot
	}
	return slot % c.Agents
}

// environmentOf is the environment of an agent.
func (c *Config) environmentOf(agent uint64) int {
	return int(mix(mix(c.Seed)^mix(agent)) % uint64(len(c.Environments)))
}

// newWallet makes an agent's wallet in memory.
func (c *Config) newWallet(agent uint64) (train.Wallet, error) {
	if c.Wallet != nil {
		return c.Wallet(agent)
	}
	epsilon := c.Budget
	if agent >= FirstEvaluator && c.Success != nil {
		epsilon = c.Success.Epsilon
	}
	return train.NewMemoryWallet(dp.Budget{Epsilon: epsilon})
}

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood 2014). It keeps the
// streams of neighbouring seeds, slots and agents apart.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
