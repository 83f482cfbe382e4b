package cli

import (
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/fleet/aggregator"
	"github.com/discreet-rl/discreet/internal/fleet/operator"
	"github.com/discreet-rl/discreet/internal/yamlfile"
)

// ofServer is an error of the server in its own words, without the code.
func ofServer(err error) error {
	var e *connect.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() {
	case connect.CodeInvalidArgument, connect.CodeNotFound, connect.CodeAlreadyExists, connect.CodeFailedPrecondition, connect.CodePermissionDenied, connect.CodeUnauthenticated:
		return usage(fmt.Errorf("the server refuses: %s", e.Message()))
	}
	return fmt.Errorf("the server: %s", e.Message())
}

// operate is a command that speaks to the server.
func operate(use, short, long string, run func(cmd *cobra.Command, f fleetFile, s operator.Services) error) *cobra.Command {
	return fleetCommand(use, short, long, func(cmd *cobra.Command, f fleetFile) error {
		s, err := f.dial()
		if err != nil {
			return err
		}
		return ofServer(run(cmd, f, s))
	})
}

// runID is a run's identifier in hexadecimal digits, as a flag.
type runID []byte

// String implements [pflag.Value].
func (r *runID) String() string { return hex.EncodeToString(*r) }

// Type implements [pflag.Value].
func (r *runID) Type() string { return "run" }

// Set implements [pflag.Value].
func (r *runID) Set(s string) error {
	id, err := hex.DecodeString(s)
	if err != nil || len(id) != 16 {
		return errors.New("want 32 hexadecimal digits, as `create` and `status` print them")
	}
	*r = id
	return nil
}

// ofRun is operate for a command that is about a run, which it may name.
func ofRun(use, short, long string, do func(*cobra.Command, fleetFile, operator.Services, runID) error) *cobra.Command {
	var run runID
	cmd := operate(use, short, long, func(cmd *cobra.Command, f fleetFile, s operator.Services) error { return do(cmd, f, s, run) })
	cmd.Flags().Var(&run, "run", "the run, where the server has several")
	return cmd
}

func newFleetEnrol() *cobra.Command {
	var count uint32
	var valid time.Duration
	cmd := operate("enrol FLEET.yaml --codes N", "Make codes with which devices enrol",
		"Prints one code a line, each good for one device. A device that has enrolled renews its certificate by itself.",
		func(cmd *cobra.Command, _ fleetFile, s operator.Services) error {
			answer, err := s.Operator.CreateCodes(cmd.Context(), &fleetv1.CreateCodesRequest{Count: count, ValidFor: valid.Milliseconds()})
			if err != nil {
				return err
			}
			if wantsJSON(cmd) {
				return printJSON(cmd.OutOrStdout(), map[string]any{"codes": answer.GetCodes()})
			}
			_, err = io.WriteString(cmd.OutOrStdout(), strings.Join(answer.GetCodes(), "\n")+"\n")
			return err
		})
	cmd.Flags().Uint32Var(&count, "codes", 1, "the number of codes")
	cmd.Flags().DurationVar(&valid, "valid", 24*time.Hour, "how long they are good")
	return cmd
}

func newFleetRevoke() *cobra.Command {
	var path, code string
	cmd := operate("revoke FLEET.yaml --code CODE", "Take a device out of the fleet",
		"Takes the code that the device was given, used or not, or any of its certificates. All its certificates are refused,\nat this server at once and at its replicas within 30 seconds, and its code enrols nobody. Reports that were accepted stay.",
		func(cmd *cobra.Command, _ fleetFile, s operator.Services) error {
			r := &fleetv1.RevokeRequest{Code: code}
			if (code == "") == (path == "") {
				return usage(errors.New("fleet revoke: want either --code or --certificate"))
			}
			if path != "" {
				c, err := readCertificate(path)
				if err != nil {
					return err
				}
				r.Serial = c.SerialNumber.Bytes()
			}
			if _, err := s.Operator.Revoke(cmd.Context(), r); err != nil {
				return err
			}
			return show(cmd, map[string]any{"revoked": true}, "revoked\n")
		})
	cmd.Flags().StringVar(&code, "code", "", "the device's code of enrolment")
	cmd.Flags().StringVar(&path, "certificate", "", "a certificate of the device, in PEM, in place of its code")
	return cmd
}

func readCertificate(path string) (*x509.Certificate, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%w: %s: no certificate in PEM", yamlfile.ErrSyntax, path)
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", yamlfile.ErrSyntax, path, err)
	}
	return c, nil
}

func newFleetRound() *cobra.Command {
	var kind string
	var trainFor, uploadFor time.Duration
	r := &fleetv1.OpenRoundRequest{}
	open := ofRun("open FLEET.yaml", "Open a round", "Signs and announces the next round. With --from-version it starts from an older version of the weights: a rollback, in a run without a schedule.",
		func(cmd *cobra.Command, _ fleetFile, s operator.Services, run runID) error {
			switch kind {
			case "train":
				r.Kind = fleetv1.Kind_KIND_TRAIN
			case "evaluate":
				r.Kind = fleetv1.Kind_KIND_EVALUATE
			default:
				return usage(fmt.Errorf("fleet round open: --kind is %q; want train or evaluate", kind))
			}
			r.RollBack = cmd.Flags().Changed("from-version")
			r.Run, r.TrainFor, r.UploadFor = run, trainFor.Milliseconds(), uploadFor.Milliseconds()
			if _, err := s.Operator.OpenRound(cmd.Context(), r); err != nil {
				return err
			}
			return showStatus(cmd, s, r.Run, 1)
		})
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
	closeIt := ofRun("close FLEET.yaml --round N", "Close a round before its time", "Reports that were accepted count; devices that have not sent theirs have trained for nothing.",
		func(cmd *cobra.Command, _ fleetFile, s operator.Services, run runID) error {
			closing.Run = run
			if _, err := s.Operator.CloseRound(cmd.Context(), closing); err != nil {
				return err
			}
			return showStatus(cmd, s, closing.Run, 1)
		})
	closeIt.Flags().Uint64Var(&closing.Round, "round", 0, "the round's number")
	end := ofRun("end FLEET.yaml", "Let no further round follow", "A round that is open is closed and applied at its time.",
		func(cmd *cobra.Command, _ fleetFile, s operator.Services, run runID) error {
			if _, err := s.Operator.EndRun(cmd.Context(), &fleetv1.EndRunRequest{Run: run}); err != nil {
				return err
			}
			return showStatus(cmd, s, run, 1)
		})
	return family("round", "Open and close rounds, and end the run", "", open, closeIt, end)
}

func newFleetStatus() *cobra.Command {
	var rounds uint32
	cmd := ofRun("status FLEET.yaml", "Show the run and its last rounds", "",
		func(cmd *cobra.Command, _ fleetFile, s operator.Services, run runID) error {
			return showStatus(cmd, s, run, rounds)
		})
	cmd.Flags().Uint32Var(&rounds, "rounds", 10, "how many rounds, the last first")
	return cmd
}

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
	// Needed is the number of answers below which the interval tells nothing of a policy that works.
	Needed uint64 `json:"needed"`
}

func showStatus(cmd *cobra.Command, s operator.Services, run runID, rounds uint32) error {
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
			j.Success = &successJSON{r.GetShare(), r.GetStdError(), [2]float64{r.GetLow(), r.GetHigh()}, r.GetNeeded()}
		}
		out.Rounds = append(out.Rounds, j)
	}
	return showBy(cmd, out, func(w io.Writer) {
		state := ""
		if out.Ended {
			state = ", ended"
		}
		fmt.Fprintf(w, "run %s, version %d%s\n", out.Run, out.Version, state)
		for _, r := range out.Rounds {
			fmt.Fprintf(w, "round %d  %-8s  %-9s", r.Round, r.Kind, r.State)
			switch {
			case r.Success != nil && (r.Accepted < r.Success.Needed || r.Success.Needed == 0):
				fmt.Fprintf(w, "  %d reports; success not known: %s (in [%.3f, %.3f])\n", r.Accepted, needs(r.Success.Needed), r.Success.Interval[0], r.Success.Interval[1])
			case r.Success != nil:
				fmt.Fprintf(w, "  %d reports; success %.3f, in [%.3f, %.3f] at %g%% for all evaluations at once\n",
					r.Accepted, r.Success.Share, r.Success.Interval[0], r.Success.Interval[1], 100*aggregator.Confidence)
			case r.State == "open":
				fmt.Fprintf(w, "  until %s\n", r.Until.Format(time.RFC3339))
			default:
				fmt.Fprintf(w, "  %d reports\n", r.Accepted)
			}
		}
	})
}

// needs says how many answers an evaluation needs.
func needs(n uint64) string {
	if n == 0 {
		return "a million answers do not tell it"
	}
	return fmt.Sprintf("it takes %d answers", n)
}

func lower(name, prefix string) string { return strings.ToLower(strings.TrimPrefix(name, prefix)) }

func newFleetPolicy() *cobra.Command {
	var out string
	version := int64(-1)
	cmd := ofRun("policy FLEET.yaml -o POLICY.json", "Write the policy of a version",
		"Writes what evaluate reads as a target and simulate plays. Of a learner of its own it writes the weights alone.",
		func(cmd *cobra.Command, f fleetFile, s operator.Services, run runID) error {
			if out == "" {
				return usage(errors.New("fleet policy: -o is missing; name the file"))
			}
			p, err := s.Operator.GetPolicy(cmd.Context(), &fleetv1.GetPolicyRequest{Run: run, Version: uint64(max(0, version)), Latest: version < 0})
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
			return show(cmd, map[string]any{"version": p.GetVersion(), "round": p.GetRound(), "path": out},
				"version %d, of round %d, is in %s\n", p.GetVersion(), p.GetRound(), out)
		})
	cmd.Flags().StringVarP(&out, "output", "o", "", "the file to write")
	cmd.Flags().Int64Var(&version, "version-number", -1, "the version; the current one unless set")
	return cmd
}
