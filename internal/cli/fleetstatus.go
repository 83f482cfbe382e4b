package cli

import (
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet/aggregator"
	"github.com/discreet-rl/discreet/internal/fleet/operator"
)

func newFleetStatus() *cobra.Command {
	var rounds uint32
	var run *runID
	cmd := operate("status FLEET.yaml", "Show the run and its last rounds", "",
		func(cmd *cobra.Command, _ fleetFile, s operator.Services, asJSON bool) error {
			return showStatus(cmd, s, *run, rounds, asJSON)
		})
	run = runFlag(cmd)
	cmd.Flags().Uint32Var(&rounds, "rounds", 10, "how many rounds, the last first")
	return cmd
}

// roundJSON is a round in the result of status.
type roundJSON struct {
	Round    uint64       `json:"round"`
	Kind     string       `json:"kind"`
	State    string       `json:"state"`
	Version  uint64       `json:"version"`
	Until    time.Time    `json:"upload_until"`
	Accepted uint64       `json:"accepted"`
	Success  *successJSON `json:"success,omitempty"`
}

type successJSON struct {
	Share    float64    `json:"share"`
	StdError float64    `json:"std_error"`
	Interval [2]float64 `json:"interval"`
}

func showStatus(cmd *cobra.Command, s operator.Services, run runID, rounds uint32, asJSON bool) error {
	answer, err := s.Operator.Status(cmd.Context(), &fleetv1.StatusRequest{Run: run, Rounds: rounds})
	if err != nil {
		return err
	}
	out := struct {
		Run     string      `json:"run"`
		Version uint64      `json:"version"`
		Ended   bool        `json:"ended"`
		Rounds  []roundJSON `json:"rounds"`
	}{hex.EncodeToString(answer.GetRun()), answer.GetVersion(), answer.GetEnded(), []roundJSON{}}
	for _, r := range answer.GetRounds() {
		j := roundJSON{r.GetRound(), lower(r.GetKind().String(), "KIND_"), lower(r.GetState().String(), "ROUND_STATE_"), r.GetVersion(), time.UnixMilli(r.GetUploadUntil()).UTC(), r.GetAccepted(), nil}
		if r.GetKind() == fleetv1.Kind_KIND_EVALUATE && r.GetState() == fleetv1.RoundState_ROUND_STATE_APPLIED {
			j.Success = &successJSON{r.GetShare(), r.GetStdError(), [2]float64{r.GetLow(), r.GetHigh()}}
		}
		out.Rounds = append(out.Rounds, j)
	}
	w := cmd.OutOrStdout()
	if asJSON {
		return printJSON(w, out)
	}
	state := ""
	if out.Ended {
		state = ", ended"
	}
	fmt.Fprintf(w, "run %s, version %d%s\n", out.Run, out.Version, state)
	for _, r := range out.Rounds {
		fmt.Fprintf(w, "round %d  %-8s  %-9s", r.Round, r.Kind, r.State)
		switch {
		case r.Success != nil:
			fmt.Fprintf(w, "  %d reports; success %.3f, in [%.3f, %.3f] at %g%% for all evaluations at once\n", r.Accepted, r.Success.Share, r.Success.Interval[0], r.Success.Interval[1], 100*aggregator.Confidence)
		case r.State == "open":
			fmt.Fprintf(w, "  until %s\n", r.Until.Format(time.RFC3339))
		default:
			fmt.Fprintf(w, "  %d reports\n", r.Accepted)
		}
	}
	return nil
}

func lower(name, prefix string) string { return strings.ToLower(strings.TrimPrefix(name, prefix)) }
