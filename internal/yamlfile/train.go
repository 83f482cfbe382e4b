package yamlfile

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/train/ledgerwallet"
	"github.com/discreet-rl/discreet/rl/learn"
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
	// Workers is how many agents train at the same time, so that the weights may have moved while
	// one of them trained; 1 by default.
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
		// Dir is the directory for policy.json, train.json, training.svg and the journal
		// of the run.
		Dir string `yaml:"dir"`
	} `yaml:"output"`

	dir string // what relative paths are relative to
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
