package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/internal/rl/sim/cartpole"
	"github.com/discreet-rl/discreet/rl/sim"
)

func newSimulateCartPole() *cobra.Command {
	var r rolloutFlags
	var o cartpole.Options
	var integrator string
	cmd := &cobra.Command{
		Use:   "cart-pole",
		Short: "A pole balanced on a cart: reward 1 a step until it falls",
		Args:  exactly(0, "flags alone"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if o.Integrator, err = choice(cmd, "integrator", integrator, map[string]cartpole.Integrator{
				"euler": cartpole.Euler, "semi-implicit": cartpole.SemiImplicitEuler,
			}); err != nil {
				return err
			}
			if !(o.Gravity > 0) {
				return usage(fmt.Errorf("simulate cart-pole: --gravity is %v; want a number above 0, in m/s^2", o.Gravity))
			}
			return r.run(cmd, func() (sim.Env, error) { return cartpole.New(o) })
		},
	}
	r.register(cmd, cartpole.MaxStepsV1)
	f := cmd.Flags()
	f.Float64Var(&o.Gravity, "gravity", 9.8, "gravity, m/s^2")
	f.StringVar(&integrator, "integrator", "euler", "euler or semi-implicit")
	f.BoolVar(&o.SuttonBartoReward, "sutton-barto-reward", false, "reward 0 a step and -1 for the last, instead of 1 a step")
	return cmd
}
