package config

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/train/ledgerwallet"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/rl/sim"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
	"github.com/discreet-rl/discreet/train/simulate"
)

// Train is the YAML form of a locally private training run on simulated agents; see
// docs/training.md.
type Train struct {
	// Environment is the environment of each agent.
	Environment environment `yaml:"environment"`
	// Agents is the number of participants, who report in turn; 0: a fresh one for every report.
	Agents uint64 `yaml:"agents"`
	// Workers is how many agents train at the same time, so that a report is as many versions
	// of the weights behind; 1 by default.
	Workers int `yaml:"workers"`
	// Seed is that of the simulated world, never of the noise.
	Seed uint64 `yaml:"seed"`
	// Network is the shape of the policy.
	Network network `yaml:"network"`
	// Local is what an agent does before it reports.
	Local local `yaml:"local"`
	// Privacy is what an agent spends, and on what.
	Privacy protection `yaml:"privacy"`
	// Server is what the aggregator does with reports.
	Server server `yaml:"server"`
	// Success estimates success privately at intervals; without it there is no estimate.
	Success *success `yaml:"success"`
	// Ledger keeps the agents' budgets durably; without it they end with the process.
	Ledger *struct {
		// Path is a SQLite file or a postgres:// URL.
		Path string `yaml:"path"`
	} `yaml:"ledger"`
	// Output is where results go.
	Output struct {
		// Dir is the directory for policy.json, train.json, training.svg, training.png and the journal
		// of the run.
		Dir string `yaml:"dir"`
	} `yaml:"output"`

	dir string // what relative paths are relative to
}

type network struct {
	// Hidden are the widths of ReLU layers; none: a linear softmax policy.
	Hidden []int `yaml:"hidden"`
	// Bias adds a constant input to each layer.
	Bias bool `yaml:"bias"`
	// Scale moves each observation from its public range to [-1, 1]; the default is that of the
	// environment.
	Scale *bool `yaml:"scale"`
}

type local struct {
	// Method is policy-gradient or actor-critic; with mechanism one-bit evolution or antithetic.
	Method string `yaml:"method"`
	// Gamma is the discount.
	Gamma *float64 `yaml:"gamma"`
	// Entropy is the weight of the entropy bonus.
	Entropy float64 `yaml:"entropy"`
	// ValueWeight is the weight of the value loss; actor-critic alone.
	ValueWeight *float64 `yaml:"value_weight"`
	// Reward is own, that of the environment, or failure: 0 while alive, -1 where an episode
	// terminates, +1 where it lasts to the limit.
	Reward string `yaml:"reward"`
	// Steps is the number of local updates; above 1 the report is about the change of the weights.
	Steps int `yaml:"steps"`
	// Episodes is the number in each local step; of antithetic, for each sign.
	Episodes int `yaml:"episodes"`
	// Optimizer makes local updates, with steps above 1.
	Optimizer train.Optimizer `yaml:"optimizer"`
	// Greedy takes the most probable action instead of drawing one.
	Greedy bool `yaml:"greedy"`
	// Uniform is the probability of a uniform action at first. It falls by 1 over UniformFor
	// reports.
	Uniform float64 `yaml:"uniform"`
	// UniformFor is the number of reports over which Uniform falls by 1.
	UniformFor float64 `yaml:"uniform_for"`
	// Perturbation is that of each weight; evolution and antithetic alone.
	Perturbation float64 `yaml:"perturbation"`
	// ZeroGradient is the control run, which reports on the zero vector.
	ZeroGradient bool `yaml:"zero_gradient"`
}

type protection struct {
	// Unit is agent.
	Unit string `yaml:"unit"`
	// Epsilon is what an agent may spend on training in total.
	Epsilon float64 `yaml:"epsilon"`
	// Reports is the number of reports that share Epsilon in equal parts; 1 by default.
	Reports int `yaml:"reports"`
	// Mechanism is sign-prs, privunit, laplace, prs, ball, piecewise, hybrid, one-bit or none; the
	// default is sign-prs up to epsilon 2 a report, and privunit above.
	Mechanism train.Mechanism `yaml:"mechanism"`
	// Clip is required for mechanisms that clip; for one-bit the environment
	// gives the range of scores.
	Clip float64 `yaml:"clip"`
	// Rows is the reduced dimension of prs; 0 chooses it.
	Rows int `yaml:"rows"`
}

type server struct {
	// Submissions is the number of reports of the run.
	Submissions uint64 `yaml:"submissions"`
	// Optimizer moves the weights.
	Optimizer train.Optimizer `yaml:"optimizer"`
	// Buffer is the number of reports per update.
	Buffer int `yaml:"buffer"`
	// Growth is the share by which Buffer grows with every update.
	Growth float64 `yaml:"growth"`
	// Staleness is how many updates a report may be behind; -1: any.
	Staleness *int `yaml:"staleness"`
	// Influence bounds what one report can do; by default 1.25 times the norm of an honest report
	// (laplace, privunit), and none otherwise.
	Influence *train.Influence `yaml:"influence"`
}

type success struct {
	// Every is the number of reports between two estimates.
	Every int `yaml:"every"`
	// Agents is the number of agents of an estimate. They take no part in training.
	Agents int `yaml:"agents"`
	// Epsilon is what each of them spends.
	Epsilon float64 `yaml:"epsilon"`
	// Threshold is the score that counts as a success.
	Threshold float64 `yaml:"threshold"`
}

// IsTrain tells whether a file is that of a training run: only that has an environment. What is
// wrong with the file is for [LoadTrain] or [Load] to say.
func IsTrain(path string) bool {
	text, err := readText(path)
	if err != nil {
		return false
	}
	var keys map[string]any
	if yaml.Load(text, &keys) != nil {
		return false
	}
	_, ok := keys["environment"]
	return ok
}

// LoadTrain reads a training configuration from a file and applies overrides of
// the form key.key=value. Relative paths in it are relative to its directory.
func LoadTrain(path string, overrides []string) (Train, error) {
	t, err := Load[Train](path, overrides)
	t.dir = filepath.Dir(path)
	return t, err
}

// OutputDir is where results go; empty where nothing is written.
func (t Train) OutputDir() string { return t.path(t.Output.Dir) }

// Ledgers returns the store of the agents' budgets, or nil without one.
func (t Train) Ledgers() *ledgerwallet.Store {
	if t.Ledger == nil {
		return nil
	}
	return ledgerwallet.NewStore(t.path(t.Ledger.Path))
}

// Wallets returns what opens the agents' wallets in a store. Slots of different
// runs on the same store are told apart by the name of the run.
func (t Train) Wallets(s *ledgerwallet.Store, run string) func(agent uint64) (train.Wallet, error) {
	return func(agent uint64) (train.Wallet, error) {
		if agent >= simulate.FirstEvaluator {
			return s.Wallet(fmt.Sprintf("evaluator %d of %s", agent-simulate.FirstEvaluator, run), dp.Budget{Epsilon: t.Success.Epsilon}, run), nil
		}
		return s.Wallet(fmt.Sprintf("agent %d", agent), dp.Budget{Epsilon: t.Privacy.Epsilon}, run), nil
	}
}

// path resolves a path of the configuration.
func (t Train) path(p string) string {
	if p == "" || filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(t.dir, p)
}

// Config turns the configuration into the run that it describes, with the choices of [Train.Recipe].
func (t Train) Config() (simulate.Config, error) {
	environments, spec, err := t.Environment.all()
	if err != nil {
		return simulate.Config{}, err
	}
	t, _, err = t.chosen(spec)
	if err != nil {
		return simulate.Config{}, err
	}
	if err := errors.Join(t.Privacy.clipped(), t.attainable(spec)); err != nil {
		return simulate.Config{}, err
	}
	randomizer, err := t.Privacy.randomizer()
	if err != nil {
		return simulate.Config{}, err
	}
	if t.Ledger != nil && t.Ledger.Path == "" {
		return simulate.Config{}, fmt.Errorf("%w: ledger.path is missing; name the store of the agents' budgets", ErrSyntax)
	}
	l, err := t.local(spec)
	if err != nil {
		return simulate.Config{}, err
	}
	switch l.Method {
	case device.Evolution:
		r, err := t.scores(spec)
		if err != nil {
			return simulate.Config{}, err
		}
		l.ScoreLow, randomizer.Clip = r.Low, r.High-r.Low
	case device.Antithetic:
		randomizer.Clip = 1 // which of two did better: 1, 0, or a half
	}
	// What an agent would be made of, so that what is wrong is told now.
	if err := livable(l, randomizer, environments); err != nil {
		return simulate.Config{}, err
	}
	c := simulate.Config{
		Terms: train.Terms{
			Randomizer: randomizer, Submissions: t.Server.Submissions, Optimizer: t.Server.optimizer(),
			Buffer: or(t.Server.Buffer, 10), Growth: t.Server.Growth, Staleness: -1,
		},
		Local: l, Environments: environments, Seed: t.Seed,
		Agents: t.Agents, Budget: t.Privacy.Epsilon, Workers: t.Workers,
	}
	if c.Terms.Influence, err = t.influence(c); err != nil {
		return c, err
	}
	if t.Server.Staleness != nil {
		c.Terms.Staleness = *t.Server.Staleness
	}
	if s := t.Success; s != nil {
		c.Success = &simulate.Success{Every: s.Every, Agents: s.Agents, Epsilon: s.Epsilon, Threshold: s.Threshold}
	}
	return c, t.enough(c)
}

// livable tells whether agents can be made that live in the environments.
func livable(l device.Local, r train.Randomizer, environments []simulate.Environment) error {
	device, err := device.New(l, r)
	if err != nil {
		return err
	}
	for _, e := range environments {
		env, err := e.New()
		if err != nil {
			return fmt.Errorf("environment: %w", err)
		}
		if _, err := device.Player(env); err != nil {
			return err
		}
	}
	return nil
}

// influence is the bound on one report: by default a quarter above the norm of
// honest ones.
func (t Train) influence(c simulate.Config) (train.Influence, error) {
	if t.Server.Influence != nil {
		return *t.Server.Influence, nil
	}
	net, err := learn.NewMLP(c.Local.Network)
	if err != nil {
		return train.Influence{}, err
	}
	codec, err := train.NewCodec(c.Terms.Randomizer, net.Dim())
	if err != nil {
		return train.Influence{}, err
	}
	return train.Influence{Norm: 1.25 * codec.HonestNorm()}, nil
}

// enough warns of a run that cannot have the reports that it wants.
func (t Train) enough(c simulate.Config) error {
	if t.Privacy.Reports > 1 && t.Agents == 0 {
		return fmt.Errorf("%w: privacy.reports is %d and agents is not set, so that each would report once; say how many agents there are", ErrSyntax, t.Privacy.Reports)
	}
	most := float64(t.Agents) * float64(max(1, t.Privacy.Reports))
	if c.Terms.Randomizer.Private() && t.Agents > 0 && float64(c.Terms.Submissions) > most {
		return fmt.Errorf("%w: server.submissions is %d, and %d agents of %d reports each make %.0f; ask for fewer", ErrSyntax, c.Terms.Submissions, t.Agents, max(1, t.Privacy.Reports), most)
	}
	return nil
}

// Randomizer makes each of the agent's reports, which number Reports.
func (t Train) Randomizer() (train.Randomizer, error) {
	if err := t.Privacy.clipped(); err != nil {
		return train.Randomizer{}, err
	}
	return t.Privacy.randomizer()
}

// Reports is how often an agent reports at most.
func (t Train) Reports() int { return max(1, t.Privacy.Reports) }

// Optimizer is the server's.
func (t Train) Optimizer() train.Optimizer { return t.Server.optimizer() }

// Learns tells whether the configuration names an environment that this module
// simulates.
func (t Train) Learns() bool { return t.Environment.Name != "" }

// OfFleet refuses what belongs to a simulation in one process and not to a fleet, and
// fills in what Config asks for: of the same grammar, environment, network, local,
// privacy, seed, and the server's optimizer and influence are meant.
func (t Train) OfFleet() (Train, error) {
	foreign := map[string]bool{
		"agents": t.Agents != 0, "workers": t.Workers != 0, "success": t.Success != nil, "ledger": t.Ledger != nil, "output": t.Output.Dir != "",
		"server.submissions": t.Server.Submissions != 0, "server.buffer": t.Server.Buffer != 0, "server.growth": t.Server.Growth != 0, "server.staleness": t.Server.Staleness != nil,
	}
	for _, key := range slices.Sorted(maps.Keys(foreign)) {
		if foreign[key] {
			return t, fmt.Errorf("%w: training.%s belongs to a run in one process; a fleet's rounds are in schedule: remove it", ErrSyntax, key)
		}
	}
	t.Agents, t.Server.Submissions, t.Server.Buffer = mostFleet, 1, 1
	return t, nil
}

// mostFleet stands for the devices of a fleet, whose number is not known.
const mostFleet = 1 << 40

func (p protection) randomizer() (train.Randomizer, error) {
	epsilon, err := p.report()
	r := train.Randomizer{Mechanism: p.Mechanism, Epsilon: epsilon, Clip: p.Clip, Rows: p.Rows}
	if err == nil && auto(string(p.Mechanism)) {
		r.Mechanism = signal(epsilon)
	}
	return r, err
}

// report is the epsilon of one report, 0 where nothing is private.
func (p protection) report() (float64, error) {
	switch {
	case p.Unit != "" && p.Unit != "agent":
		return 0, fmt.Errorf("%w: privacy.unit is %q; the only unit of local privacy is agent", ErrSyntax, p.Unit)
	case p.Reports < 0 || p.Reports > 1<<20:
		return 0, fmt.Errorf("%w: privacy.reports is %d; want 1 at least", ErrSyntax, p.Reports)
	case p.Mechanism == train.NotPrivate && p.Epsilon != 0:
		return 0, fmt.Errorf("%w: privacy.mechanism is none and epsilon %v; leave out one of them", ErrSyntax, p.Epsilon)
	case p.Mechanism == train.NotPrivate:
		return 0, nil
	case !(p.Epsilon > 0) || math.IsInf(p.Epsilon, 0):
		return 0, fmt.Errorf("%w: privacy.epsilon is %v; give what each agent may spend in all, or say `mechanism: none`", ErrSyntax, p.Epsilon)
	}
	return train.Share(p.Epsilon, max(1, p.Reports)), nil
}

func (s server) optimizer() train.Optimizer {
	if s.Optimizer == (train.Optimizer{}) {
		return train.Optimizer{Kind: "momentum", Step: .2, Decay: 1000}
	}
	return s.Optimizer
}

func (t Train) local(spec sim.Spec) (device.Local, error) {
	y := t.Local
	if err := y.foreign(); err != nil {
		return device.Local{}, err
	}
	l := device.Local{
		Method: device.Method(y.Method), Steps: or(y.Steps, 1), Episodes: y.Episodes, Optimizer: y.Optimizer,
		Network: t.network(spec), Scale: t.scaled(), MaxSteps: t.Environment.MaxSteps, Greedy: y.Greedy, Uniform: y.Uniform, UniformFor: y.UniformFor,
		Perturbation: y.Perturbation, ZeroGradient: y.ZeroGradient,
	}
	gamma, value := .99, .5
	if t.Environment.Name == "contextual-bandit" {
		gamma = 0 // a click follows from its own visit alone
	}
	if y.Gamma != nil {
		gamma = *y.Gamma
	}
	if y.ValueWeight != nil {
		value = *y.ValueWeight
	}
	switch y.Reward {
	case "", "own":
	case "failure":
		l.Reward = learn.FailureReward
	default:
		return l, fmt.Errorf("%w: local.reward is %q; want own or failure", ErrSyntax, y.Reward)
	}
	switch l.Method {
	case device.PolicyGradient:
		l.PolicyGradient = learn.PolicyGradient{Gamma: gamma, Entropy: y.Entropy}
	case device.ActorCritic:
		l.Network.Value = true
		l.ActorCritic = learn.ActorCritic{Gamma: gamma, Entropy: y.Entropy, ValueWeight: value, Detach: true, DetachReturn: true}
	}
	return l, nil
}

// foreign refuses keys that the method has no use for.
func (y local) foreign() error {
	method := device.Method(y.Method)
	key, owner := "", "a gradient"
	switch evolution := method == device.Evolution || method == device.Antithetic; {
	case y.ValueWeight != nil && method != device.ActorCritic:
		key, owner = "value_weight", string(device.ActorCritic)
	case y.Gamma != nil && evolution:
		key = "gamma"
	case y.Entropy != 0 && evolution:
		key = "entropy"
	case y.Optimizer != (train.Optimizer{}) && evolution:
		key = "optimizer"
	default:
		return nil
	}
	return fmt.Errorf("%w: local.%s belongs to %s; remove it", ErrSyntax, key, owner)
}

// or is v, or otherwise where v was left out.
func or[T comparable](v, otherwise T) T {
	var none T
	if v == none {
		return otherwise
	}
	return v
}
