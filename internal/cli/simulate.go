package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/discreet-rl/discreet/internal/rl/sim/acrobot"
	"github.com/discreet-rl/discreet/internal/rl/sim/bandit"
	"github.com/discreet-rl/discreet/internal/rl/sim/cartpole"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/internal/rl/sim/hiv"
	"github.com/discreet-rl/discreet/internal/rl/sim/mountaincar"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/sim"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

func newSimulate() *cobra.Command {
	cmd := family("simulate", "Write trajectories of a simulator", "", newSimulateChain())
	for _, p := range problems {
		cmd.AddCommand(newSimulateProblem(p))
	}
	return cmd
}

func newSimulateChain() *cobra.Command {
	var o chain.Options
	var out, format, start string
	cmd := command("chain", "The chain of 40 states: action 1 advances, reward 1 at the end", "", exactly(0, "flags alone"),
		func(cmd *cobra.Command, _ []string) error {
			if out == "" {
				return usage(fmt.Errorf("simulate chain: -o is missing; name the file to write, .csv, .parquet or .ndjson"))
			}
			if start == "first" {
				o.Start = chain.At(0)
			} else if start != "uniform" {
				return usage(fmt.Errorf("simulate chain: --start is %q; want uniform or first", start))
			}
			d, err := chain.Simulate(o)
			if err != nil {
				return usage(err)
			}
			return writeSimulated(cmd, out, format, d)
		})
	f := cmd.Flags()
	f.IntVar(&o.Episodes, "episodes", 1000, "number of episodes")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the simulator")
	f.Float64Var(&o.Advance, "advance", 0.5, "behaviour probability of advancing")
	f.StringVar(&start, "start", "uniform", "first state: uniform or first")
	f.IntVar(&o.MaxSteps, "max-steps", 0, "truncate episodes after so many steps; 0 means no limit")
	f.IntVar(&o.EpisodesPerPerson, "episodes-per-person", 1, "episodes that a person owns")
	f.StringVarP(&out, "output", "o", "", "file to write, .csv, .parquet or .ndjson")
	f.StringVar(&format, "format", "", "csv, parquet, ndjson, minari or minari-arrow (directories); by default the extension says it")
	return cmd
}

func writeSimulated(cmd *cobra.Command, out, format string, d *trajectory.Dataset) error {
	if err := file.Write(out, format, d); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s: %d persons, %d episodes, %d rows\n", out, d.Persons(), d.Episodes(), d.Rows())
	return nil
}

// problem is a simulated control problem: what help says of it, the customary number of steps,
// and its own flags with what they build.
type problem struct {
	name, short, long string
	steps             int
	flags             func(*rollout) func() (sim.Env, error)
}

var problems = []problem{
	{"mountain-car", "An underpowered car in a valley: reward -1 a step until the goal", "", mountaincar.MaxSteps, mountainCar},
	{"cart-pole", "A pole balanced on a cart: reward 1 a step until it falls", "", cartpole.MaxStepsV1, cartPole},
	{"acrobot", "Two links to be swung up: reward -1 a step until the height is reached", "", acrobot.MaxSteps, twoLinks},
	{"contextual-bandit", "Recommendations to a person at 20 visits: reward 1 for a click", "", bandit.Visits, recommendations},
	{"hiv", "Treatment of HIV by two drugs, decided every five days", `Treatment of HIV by two drugs, decided every five days (Adams et al. 2004,
Ernst et al. 2006). Published implementations differ; the defaults are those of
Ernst et al., and the flags choose the others.`, hiv.MaxSteps, treatment},
}

func newSimulateProblem(p problem) *cobra.Command {
	r := &rollout{name: p.name}
	cmd := command(p.name, p.short, p.long, exactly(0, "flags alone"), func(cmd *cobra.Command, _ []string) error { return r.run(cmd) })
	r.register(cmd.Flags(), p.steps)
	r.build = p.flags(r)
	return cmd
}

// choose adds a flag that is one of some words, each of which stands for a value.
func choose[T any](r *rollout, into *T, flag, word, about string, choices map[string]T) {
	chosen := r.String(flag, word, about)
	r.checks = append(r.checks, func() (err error) {
		var known bool
		if *into, known = choices[*chosen]; !known {
			err = fmt.Errorf("simulate %s: --%s is %q; want %s", r.name, flag, *chosen, strings.Join(slices.Sorted(maps.Keys(choices)), ", "))
		}
		return err
	})
}

func mountainCar(r *rollout) func() (sim.Env, error) {
	var o mountaincar.Options
	r.Float64Var(&o.GoalVelocity, "goal-velocity", 0, "least velocity at the goal")
	return func() (sim.Env, error) { return mountaincar.New(o) }
}

func cartPole(r *rollout) func() (sim.Env, error) {
	var o cartpole.Options
	choose(r, &o.Integrator, "integrator", "euler", "euler or semi-implicit",
		map[string]cartpole.Integrator{"euler": cartpole.Euler, "semi-implicit": cartpole.SemiImplicitEuler})
	r.Float64Var(&o.Gravity, "gravity", 9.8, "gravity, m/s^2")
	r.BoolVar(&o.SuttonBartoReward, "sutton-barto-reward", false, "reward 0 a step and -1 for the last, instead of 1 a step")
	r.checks = append(r.checks, func() error {
		if !(o.Gravity > 0) {
			return fmt.Errorf("simulate cart-pole: --gravity is %v; want a number above 0, in m/s^2", o.Gravity)
		}
		return nil
	})
	return func() (sim.Env, error) { return cartpole.New(o) }
}

func twoLinks(r *rollout) func() (sim.Env, error) {
	var o acrobot.Options
	choose(r, &o.Equation, "equation", "book", "equation of motion: book (Sutton and Barto 1998) or nips (Sutton 1996)",
		map[string]acrobot.Equation{"book": acrobot.Book, "nips": acrobot.NIPS})
	return func() (sim.Env, error) { return acrobot.New(o) }
}

func recommendations(r *rollout) func() (sim.Env, error) {
	var o bandit.Options
	r.Float64Var(&o.Taste, "taste", 0, "the person's taste, in degrees")
	return func() (sim.Env, error) { return bandit.New(o) }
}

func treatment(r *rollout) func() (sim.Env, error) {
	var o hiv.Options
	var perturbed hiv.Population
	spread := r.Float64("spread", 0.1, "spread of perturbed patients, relative, below 1")
	r.checks = append(r.checks, func() (err error) {
		perturbed, err = hiv.Perturbed(*spread)
		return err
	})
	choose(r, &o.ActionOrder, "action-order", "rti-first", "drug of action 1: rti-first or pi-first",
		map[string]hiv.ActionOrder{"rti-first": hiv.RTIFirst, "pi-first": hiv.PIFirst})
	choose(r, &o.RewardTime, "reward-state", "decision", "state at which the reward is taken: decision or next",
		map[string]hiv.RewardTime{"decision": hiv.AtDecision, "next": hiv.AfterStep})
	choose(r, &o.Start, "start", "unhealthy", "unhealthy, healthy, uninfected or early-infection", map[string]hiv.State{
		"unhealthy": hiv.Unhealthy(), "healthy": hiv.Healthy(), "uninfected": hiv.Uninfected(), "early-infection": hiv.EarlyInfection(),
	})
	choose(r, &o.Population, "patients", "same", "same, randomised (k1, k2, f) or perturbed (twelve parameters by --spread)", map[string]hiv.Population{
		"same": nil, "randomised": hiv.Randomised,
		"perturbed": func(p hiv.Parameters, rng *rand.Rand) hiv.Parameters { return perturbed(p, rng) },
	})
	choose(r, &o.Method, "method", "adaptive", "integration: adaptive, runge-kutta or euler",
		map[string]hiv.Method{"adaptive": hiv.Adaptive, "runge-kutta": hiv.RungeKutta, "euler": hiv.ExplicitEuler})
	r.Float64Var(&o.PIWeight, "pi-weight", 2000, "price of the protease inhibitor in the reward; some use 20000")
	r.Float64Var(&o.StartSpread, "start-spread", 0, "spread of the start, relative, 0 to 1")
	r.Float64Var(&o.Days, "days", 5, "days between decisions")
	r.BoolVar(&o.Log10, "log10", false, "observe decimal logarithms, at least -5")
	r.BoolVar(&o.UninfectedFirst, "uninfected-first", false, "order observations T1, T2, T1*, T2*, V, E")
	r.Float64Var(&o.Tolerance, "tolerance", 1e-8, "relative tolerance of the adaptive method")
	r.IntVar(&o.Substeps, "substeps", 0, "steps between decisions, for runge-kutta and euler")
	return func() (sim.Env, error) { return hiv.New(o) }
}

// rollout is what every simulated control problem is played by: the flags that all have, and the
// problem's own.
type rollout struct {
	*pflag.FlagSet
	name   string
	checks []func() error // of the problem's own flags
	build  func() (sim.Env, error)

	options              sim.Rollout
	float32              bool
	policy, policyFile   string
	epsilon, temperature float64
	out, format          string
}

// register adds the flags; limit is the customary number of steps.
func (r *rollout) register(f *pflag.FlagSet, limit int) {
	r.FlagSet = f
	f.IntVar(&r.options.Episodes, "episodes", 1000, "number of episodes")
	f.Uint64Var(&r.options.Seed, "seed", 1, "seed of the simulator")
	f.IntVar(&r.options.MaxSteps, "max-steps", limit, "truncate episodes after so many steps")
	f.IntVar(&r.options.EpisodesPerPerson, "episodes-per-person", 1, "episodes that a person owns")
	f.IntVar(&r.options.Workers, "workers", 0, "goroutines; 0 means one a processor; the data do not depend on it")
	f.BoolVar(&r.float32, "float32", false, "round observations to float32, as Gymnasium does")
	f.StringVar(&r.policy, "policy", "uniform", "behaviour policy: uniform, or epsilon-soft or softmax over --policy-file")
	f.StringVar(&r.policyFile, "policy-file", "", "JSON file with the features and weights of a linear Q function")
	f.Float64Var(&r.epsilon, "epsilon", 0.1, "probability of a uniform action (epsilon-soft); by default the file's")
	f.Float64Var(&r.temperature, "temperature", 1, "temperature (softmax); by default the file's")
	f.StringVarP(&r.out, "output", "o", "", "file to write; its extension says the format ("+strings.Join(file.Names(), ", ")+")")
	f.StringVar(&r.format, "format", "", "format of the file; by default the extension says it")
}

// run plays the problem and writes the data.
func (r *rollout) run(cmd *cobra.Command) error {
	for _, check := range r.checks {
		if err := check(); err != nil {
			return usage(err)
		}
	}
	if r.out == "" {
		return usage(fmt.Errorf("simulate %s: -o is missing; name the file to write", r.name))
	}
	if r.options.MaxSteps < 1 {
		return usage(fmt.Errorf("simulate %s: --max-steps is %d; want at least 1", r.name, r.options.MaxSteps))
	}
	env, err := r.build()
	if err != nil {
		return usage(err)
	}
	if r.options.Policy, err = r.behaviour(env.Spec().Actions); err != nil {
		return err
	}
	r.options.New = func() (sim.Env, error) {
		env, err := r.build()
		if err == nil && r.float32 {
			env = sim.Float32(env)
		}
		return env, err
	}
	d, err := r.options.Run(cmd.Context())
	if err != nil {
		return err
	}
	return writeSimulated(cmd, r.out, r.format, d)
}

func (r *rollout) behaviour(actions int) (policy.Policy, error) {
	if err := r.checkPolicy(); err != nil {
		return nil, usage(fmt.Errorf("simulate %s: %w", r.name, err))
	}
	switch r.policy {
	case "uniform":
		return policy.NewUniform(actions)
	case "epsilon-soft":
		p, err := readBehaviour(r.policyFile, policy.ReadSoftGreedy)
		if err == nil && r.Changed("epsilon") {
			p, err = p.WithEpsilon(r.epsilon)
		}
		return p, err
	}
	p, err := readBehaviour(r.policyFile, policy.ReadSoftmax)
	if err == nil && r.Changed("temperature") {
		p, err = p.WithTemperature(r.temperature)
	}
	return p, err
}

// checkPolicy refuses flags that do not go together.
func (r *rollout) checkPolicy() error {
	uses := map[string]string{"uniform": "", "epsilon-soft": "epsilon", "softmax": "temperature"}
	own, known := uses[r.policy]
	switch {
	case !known:
		return fmt.Errorf("--policy is %q; want uniform, epsilon-soft or softmax", r.policy)
	case r.policy == "uniform" && r.policyFile != "":
		return errors.New("--policy-file is given and --policy is uniform; choose epsilon-soft or softmax, or leave the file out")
	case r.policy != "uniform" && r.policyFile == "":
		return fmt.Errorf("--policy is %s and --policy-file is missing; name the file with the weights", r.policy)
	}
	for _, flag := range []string{"epsilon", "temperature"} {
		if flag != own && r.Changed(flag) {
			return fmt.Errorf("--policy %s does not use --%s; leave it out", r.policy, flag)
		}
	}
	return nil
}

func readBehaviour[P policy.Policy](path string, read func(io.Reader, string) (P, error)) (P, error) {
	f, err := os.Open(path)
	if err != nil {
		var none P
		return none, usage(fmt.Errorf("--policy-file: %w", err))
	}
	p, err := read(f, path)
	return p, errors.Join(err, f.Close())
}
