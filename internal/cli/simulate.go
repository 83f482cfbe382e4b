package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

func newSimulate() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "Write trajectories of a simulator",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSimulateChain(), newSimulateMountainCar(), newSimulateCartPole(), newSimulateAcrobot(), newSimulateBandit(), newSimulateHIV())
	return cmd
}

func newSimulateChain() *cobra.Command {
	var o chain.Options
	var out, format, start string
	cmd := &cobra.Command{
		Use:   "chain",
		Short: "The chain of 40 states: action 1 advances, reward 1 at the end",
		Args:  exactly(0, "flags alone"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out == "" {
				return usage(fmt.Errorf("simulate chain: -o is missing; name the file to write, .csv, .parquet or .ndjson"))
			}
			switch start {
			case "uniform":
			case "first":
				o.Start = chain.At(0)
			default:
				return usage(fmt.Errorf("simulate chain: --start is %q; want uniform or first", start))
			}
			d, err := chain.Simulate(o)
			if err != nil {
				return usage(err)
			}
			return writeSimulated(cmd, out, format, d)
		},
	}
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
