package cli

import (
	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/internal/rl/sim/bandit"
	"github.com/discreet-rl/discreet/rl/sim"
)

func newSimulateBandit() *cobra.Command {
	var r rolloutFlags
	var o bandit.Options
	cmd := &cobra.Command{
		Use:   "contextual-bandit",
		Short: "Recommendations to a person at 20 visits: reward 1 for a click",
		Args:  exactly(0, "flags alone"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return r.run(cmd, func() (sim.Env, error) { return bandit.New(o) })
		},
	}
	r.register(cmd, bandit.Visits)
	cmd.Flags().Float64Var(&o.Taste, "taste", 0, "the person's taste, in degrees")
	return cmd
}
