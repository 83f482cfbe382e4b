package cli

import (
	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/internal/rl/sim/acrobot"
	"github.com/discreet-rl/discreet/rl/sim"
)

func newSimulateAcrobot() *cobra.Command {
	var r rolloutFlags
	var o acrobot.Options
	var equation string
	cmd := &cobra.Command{
		Use:   "acrobot",
		Short: "Two links to be swung up: reward -1 a step until the height is reached",
		Args:  exactly(0, "flags alone"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if o.Equation, err = choice(cmd, "equation", equation, map[string]acrobot.Equation{"book": acrobot.Book, "nips": acrobot.NIPS}); err != nil {
				return err
			}
			return r.run(cmd, func() (sim.Env, error) { return acrobot.New(o) })
		},
	}
	r.register(cmd, acrobot.MaxSteps)
	cmd.Flags().StringVar(&equation, "equation", "book", "equation of motion: book (Sutton and Barto 1998) or nips (Sutton 1996)")
	return cmd
}
