package cli

import (
	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/internal/rl/sim/mountaincar"
	"github.com/discreet-rl/discreet/rl/sim"
)

func newSimulateMountainCar() *cobra.Command {
	var r rolloutFlags
	var o mountaincar.Options
	cmd := &cobra.Command{
		Use:   "mountain-car",
		Short: "An underpowered car in a valley: reward -1 a step until the goal",
		Args:  exactly(0, "flags alone"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return r.run(cmd, func() (sim.Env, error) { return mountaincar.New(o) })
		},
	}
	r.register(cmd, mountaincar.MaxSteps)
	cmd.Flags().Float64Var(&o.GoalVelocity, "goal-velocity", 0, "least velocity at the goal")
	return cmd
}
