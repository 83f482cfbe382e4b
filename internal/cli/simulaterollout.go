package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/sim"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// rolloutFlags are the flags that every simulated control problem has.
type rolloutFlags struct {
	rollout              sim.Rollout
	float32              bool
	policy, policyFile   string
	epsilon, temperature float64
	out, format          string
}

// register adds the flags; limit is the customary number of steps.
func (r *rolloutFlags) register(cmd *cobra.Command, limit int) {
	f := cmd.Flags()
	f.IntVar(&r.rollout.Episodes, "episodes", 1000, "number of episodes")
	f.Uint64Var(&r.rollout.Seed, "seed", 1, "seed of the simulator")
	f.IntVar(&r.rollout.MaxSteps, "max-steps", limit, "truncate episodes after so many steps")
	f.IntVar(&r.rollout.EpisodesPerPerson, "episodes-per-person", 1, "episodes that a person owns")
	f.IntVar(&r.rollout.Workers, "workers", 0, "goroutines; 0 means one a processor; the data do not depend on it")
	f.BoolVar(&r.float32, "float32", false, "round observations to float32, as Gymnasium does")
	f.StringVar(&r.policy, "policy", "uniform", "behaviour policy: uniform, or epsilon-soft or softmax over --policy-file")
	f.StringVar(&r.policyFile, "policy-file", "", "JSON file with the features and weights of a linear Q function")
	f.Float64Var(&r.epsilon, "epsilon", 0.1, "probability of a uniform action (epsilon-soft); by default the file's")
	f.Float64Var(&r.temperature, "temperature", 1, "temperature (softmax); by default the file's")
	f.StringVarP(&r.out, "output", "o", "", "file to write; its extension says the format ("+strings.Join(file.Names(), ", ")+")")
	f.StringVar(&r.format, "format", "", "format of the file; by default the extension says it")
}

// run plays the problem that build makes and writes the data.
func (r *rolloutFlags) run(cmd *cobra.Command, build func() (sim.Env, error)) error {
	if r.out == "" {
		return usage(fmt.Errorf("simulate %s: -o is missing; name the file to write", cmd.Name()))
	}
	if r.rollout.MaxSteps < 1 {
		return usage(fmt.Errorf("simulate %s: --max-steps is %d; want at least 1", cmd.Name(), r.rollout.MaxSteps))
	}
	env, err := build()
	if err != nil {
		return usage(err)
	}
	if r.rollout.Policy, err = r.behaviour(cmd, env.Spec().Actions); err != nil {
		return err
	}
	r.rollout.New = func() (sim.Env, error) {
		env, err := build()
		if err == nil && r.float32 {
			env = sim.Float32(env)
		}
		return env, err
	}
	d, err := r.rollout.Run(cmd.Context())
	if errors.Is(err, sim.ErrOptions) {
		return usage(err)
	}
	if err != nil {
		return err
	}
	return writeSimulated(cmd, r.out, r.format, d)
}

// behaviour builds the behaviour policy.
func (r *rolloutFlags) behaviour(cmd *cobra.Command, actions int) (policy.Policy, error) {
	if err := r.check(cmd); err != nil {
		return nil, usage(fmt.Errorf("simulate %s: %w", cmd.Name(), err))
	}
	switch r.policy {
	case "uniform":
		return policy.NewUniform(actions)
	case "epsilon-soft":
		p, err := readBehaviour(r.policyFile, policy.ReadSoftGreedy)
		if err == nil && cmd.Flags().Changed("epsilon") {
			p, err = p.WithEpsilon(r.epsilon)
		}
		return p, err
	}
	p, err := readBehaviour(r.policyFile, policy.ReadSoftmax)
	if err == nil && cmd.Flags().Changed("temperature") {
		p, err = p.WithTemperature(r.temperature)
	}
	return p, err
}

// check refuses flags that do not go together.
func (r *rolloutFlags) check(cmd *cobra.Command) error {
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
		if flag != own && cmd.Flags().Changed(flag) {
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

// choice finds what a word stands for among the choices of a flag.
func choice[T any](cmd *cobra.Command, flag, word string, choices map[string]T) (T, error) {
	v, ok := choices[word]
	if ok {
		return v, nil
	}
	return v, usage(fmt.Errorf("simulate %s: --%s is %q; want %s", cmd.Name(), flag, word, strings.Join(slices.Sorted(maps.Keys(choices)), ", ")))
}
