package cli

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/fleet/aggregator"
	"github.com/discreet-rl/discreet/internal/fleet/operator"
)

func newFleetPolicy() *cobra.Command {
	var out string
	var run *runID
	version := int64(-1)
	cmd := operate("policy FLEET.yaml -o POLICY.json", "Write the policy of a version",
		"Writes what evaluate reads as a target and simulate plays. Of a learner of its own it writes the weights alone.",
		func(cmd *cobra.Command, f fleetFile, s operator.Services, asJSON bool) error {
			if out == "" {
				return usage(errors.New("fleet policy: -o is missing; name the file"))
			}
			p, err := s.Operator.GetPolicy(cmd.Context(), &fleetv1.GetPolicyRequest{Run: *run, Version: uint64(max(0, version)), Latest: version < 0})
			if err != nil {
				return err
			}
			theta, err := fleet.DecodeWeights(p.GetWeights())
			if err != nil {
				return err
			}
			l, err := f.learning()
			if err != nil {
				return err
			}
			err = atomicfile.Create(out, 0o644, func(w io.Writer) error {
				if l.fleet == nil {
					return printJSON(w, map[string]any{"schema": "discreet/weights/v1", "version": p.GetVersion(), "weights": theta})
				}
				return f.Training.WritePolicy(w, l.simulated.Local, theta)
			})
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]any{"version": p.GetVersion(), "round": p.GetRound(), "path": out})
			}
			fmt.Fprintf(cmd.OutOrStdout(), "version %d, of round %d, is in %s\n", p.GetVersion(), p.GetRound(), out)
			return nil
		})
	run = runFlag(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "the file to write")
	cmd.Flags().Int64Var(&version, "version-number", -1, "the version; the current one unless set")
	return cmd
}

// recipe is how devices learn; nil where they have a learner of their own.
func (f fleetFile) recipe() (*discreet.Recipe, error) {
	if !f.Training.Learns() {
		return nil, nil
	}
	r, err := f.Training.Recipe()
	return &r, err
}

func newFleetPlan() *cobra.Command {
	var budget float64
	cmd := fleetCommand("plan FLEET.yaml", "Tell what a run costs, before it begins",
		"Needs no server: epsilon of a device, reports that a policy has been seen to need, what travels, and how well private\nsuccess will be known.",
		func(cmd *cobra.Command, f fleetFile, asJSON bool) error {
			l, err := f.learning()
			if err != nil {
				return err
			}
			p, err := operator.NewPlan(l.run, f.Schedule, l.fleet, aggregator.Learning{Optimizer: l.optimizer, Influence: l.influence})
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("device-epsilon") && !(budget > 0) {
				return usage(fmt.Errorf("fleet plan: --device-epsilon is %v; want above 0", budget))
			}
			pays := p.Pays(budget)
			w := cmd.OutOrStdout()
			recipe, err := f.recipe()
			if err != nil {
				return err
			}
			if asJSON {
				out := struct {
					operator.Plan
					Pays   *int             `json:"reports_paid,omitempty"`
					Recipe *discreet.Recipe `json:"recipe,omitempty"`
				}{Plan: p, Recipe: recipe}
				if budget > 0 {
					out.Pays = &pays
				}
				return printJSON(w, out)
			}
			fmt.Fprintf(w, "privacy   epsilon %.6g at most for a device, delta 0, local, replace_one; each of %d reports %s at epsilon %.6g\n", p.DeviceEpsilon, l.run.Reports, l.run.Randomizer.Mechanism, p.Epsilon)
			if budget > 0 {
				fmt.Fprintf(w, "budget    a device that spends epsilon %.6g in its life pays for %d of the %d reports, if it has spent nothing yet\n", budget, pays, p.ReportsPerDevice)
			} else {
				fmt.Fprintf(w, "budget    a device that spends less than epsilon %.6g in its life pays for fewer reports, one for each %.6g (--device-epsilon)\n", p.DeviceEpsilon, p.Epsilon)
			}
			if recipe != nil {
				printRecipe(w, *recipe)
			}
			fmt.Fprintf(w, "asked     %.4g reports of a device on average\n", p.Asked)
			fmt.Fprintf(w, "reports   %.0f at most, of %.0f devices at least, in %s\n", p.Reports, p.Devices, seconds(p.Seconds).Round(time.Second))
			if p.Success != nil {
				fmt.Fprintf(w, "success   first after %.0f reports, %.0f in half of the trials and %.0f in the slowest quarter; %.0f%% of trials succeed (%s, 20 trials in one process, whose updates grow by 1%%; docs/results/training.md)\n", p.Success.Lower, p.Success.Median, p.Success.Upper, 100*p.Success.Share, p.Success.Setting)
				if b := p.Success.Between; b != nil {
					fmt.Fprintf(w, "          not measured at epsilon %.4g: on a line between %g and %g, which were\n", p.Epsilon, b[0], b[1])
				}
			} else {
				fmt.Fprintf(w, "success   not measured: %s\n", p.Unmeasured)
			}
			if p.Refused != "" {
				fmt.Fprintf(w, "refused   by create: %s\n", p.Refused)
			}
			if p.StdError > 0 {
				fmt.Fprintf(w, "evaluate  the share of successful devices within +- %.3f (one standard deviation at most) from a full round\n", p.StdError)
			}
			fmt.Fprintf(w, "network   %d bytes up and %d down a report, without TLS and HTTP\n", p.BytesUp, p.BytesDown)
			return nil
		})
	cmd.Flags().Float64Var(&budget, "device-epsilon", 0, "what a device spends in its life, as its configuration says")
	return cmd
}
