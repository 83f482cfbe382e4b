package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet/operator"
)

func newFleetRound() *cobra.Command {
	var kind string
	var trainFor, uploadFor time.Duration
	var opened, closed, ended *runID
	r := &fleetv1.OpenRoundRequest{}
	cmd := &cobra.Command{
		Use: "round", Short: "Open and close rounds, and end the run", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	open := operate("open FLEET.yaml", "Open a round", "Signs and announces the next round. With --from-version it starts from an older version of the weights: a rollback, in a run without a schedule.",
		func(cmd *cobra.Command, _ fleetFile, s operator.Services, asJSON bool) error {
			switch kind {
			case "train":
				r.Kind = fleetv1.Kind_KIND_TRAIN
			case "evaluate":
				r.Kind = fleetv1.Kind_KIND_EVALUATE
			default:
				return usage(fmt.Errorf("fleet round open: --kind is %q; want train or evaluate", kind))
			}
			r.RollBack = cmd.Flags().Changed("from-version")
			r.Run, r.TrainFor, r.UploadFor = *opened, trainFor.Milliseconds(), uploadFor.Milliseconds()
			if _, err := s.Operator.OpenRound(cmd.Context(), r); err != nil {
				return err
			}
			return showStatus(cmd, s, r.Run, 1, asJSON)
		})
	opened = runFlag(open)
	flags := open.Flags()
	flags.StringVar(&kind, "kind", "train", "train, or evaluate")
	flags.DurationVar(&trainFor, "train", time.Minute, "time to train")
	flags.DurationVar(&uploadFor, "upload", 4*time.Minute, "time to send reports")
	flags.Float64Var(&r.SampleRate, "sample-rate", 1, "probability with which a device takes part")
	flags.Uint32Var(&r.MinReports, "min", 1, "reports below which the round is abandoned")
	flags.Uint32Var(&r.MaxReports, "max", 0, "reports at which the round is closed")
	flags.Float64Var(&r.Threshold, "threshold", 0, "score to reach, of an evaluation")
	flags.Uint64Var(&r.FromVersion, "from-version", 0, "version of the weights to start from, 0 for the initial ones; the current one unless set")
	closing := &fleetv1.CloseRoundRequest{}
	closeIt := operate("close FLEET.yaml --round N", "Close a round before its time", "Reports that were accepted count; devices that have not sent theirs have trained for nothing.",
		func(cmd *cobra.Command, _ fleetFile, s operator.Services, asJSON bool) error {
			closing.Run = *closed
			if _, err := s.Operator.CloseRound(cmd.Context(), closing); err != nil {
				return err
			}
			return showStatus(cmd, s, closing.Run, 1, asJSON)
		})
	closed = runFlag(closeIt)
	closeIt.Flags().Uint64Var(&closing.Round, "round", 0, "the round's number")
	end := operate("end FLEET.yaml", "Let no further round follow", "A round that is open is closed and applied at its time.",
		func(cmd *cobra.Command, _ fleetFile, s operator.Services, asJSON bool) error {
			if _, err := s.Operator.EndRun(cmd.Context(), &fleetv1.EndRunRequest{Run: *ended}); err != nil {
				return err
			}
			return showStatus(cmd, s, *ended, 1, asJSON)
		})
	ended = runFlag(end)
	cmd.AddCommand(open, closeIt, end)
	return cmd
}
