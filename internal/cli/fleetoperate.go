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

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/internal/config"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/fleet/aggregator"
	"github.com/discreet-rl/discreet/internal/fleet/operator"
)

// errServer marks what a server refused because of what it was asked.
var errServer = fault.Input("the server refuses")

// ofServer is an error of the server in its own words, without the code.
func ofServer(err error) error {
	var e *connect.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() {
	case connect.CodeInvalidArgument, connect.CodeNotFound, connect.CodeAlreadyExists, connect.CodeFailedPrecondition, connect.CodePermissionDenied, connect.CodeUnauthenticated:
		return fmt.Errorf("%w: %s", errServer, e.Message())
	}
	return fmt.Errorf("the server: %s", e.Message())
}

func joined(errs ...error) error { return errors.Join(errs...) }

// operate is a command that speaks to the server.
func operate(use, short, long string, run func(cmd *cobra.Command, f fleetFile, s operator.Services, asJSON bool) error) *cobra.Command {
	return fleetCommand(use, short, long, func(cmd *cobra.Command, f fleetFile, asJSON bool) error {
		s, err := f.dial()
		if err != nil {
			return err
		}
		return ofServer(run(cmd, f, s, asJSON))
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

// runFlag lets a command name one of several runs.
func runFlag(cmd *cobra.Command) *runID {
	r := &runID{}
	cmd.Flags().Var(r, "run", "the run, where the server has several")
	return r
}

func newFleetEnrol() *cobra.Command {
	var count uint32
	var valid time.Duration
	cmd := operate("enrol FLEET.yaml --codes N", "Make codes with which devices enrol",
		"Prints one code a line, each good for one device. A device that has enrolled renews its certificate by itself.",
		func(cmd *cobra.Command, _ fleetFile, s operator.Services, asJSON bool) error {
			answer, err := s.Operator.CreateCodes(cmd.Context(), &fleetv1.CreateCodesRequest{Count: count, ValidFor: valid.Milliseconds()})
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]any{"codes": answer.GetCodes()})
			}
			_, err = io.WriteString(cmd.OutOrStdout(), strings.Join(answer.GetCodes(), "\n")+"\n")
			return err
		})
	cmd.Flags().Uint32Var(&count, "codes", 1, "the number of codes")
	cmd.Flags().DurationVar(&valid, "valid", 24*time.Hour, "how long they are good")
	return cmd
}

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

func newFleetRevoke() *cobra.Command {
	var path, code string
	cmd := operate("revoke FLEET.yaml --code CODE", "Take a device out of the fleet",
		"Takes the code that the device was given, used or not, or any of its certificates. All its certificates are refused,\nat this server at once and at its replicas within 30 seconds, and its code enrols nobody. Reports that were accepted stay.",
		func(cmd *cobra.Command, _ fleetFile, s operator.Services, asJSON bool) error {
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
			if asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]any{"revoked": true})
			}
			fmt.Fprintln(cmd.OutOrStdout(), "revoked")
			return nil
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
		return nil, fmt.Errorf("%w: %s: no certificate in PEM", config.ErrSyntax, path)
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", config.ErrSyntax, path, err)
	}
	return c, nil
}

func newFleetRotate() *cobra.Command {
	var by rootFlags
	var run *runID
	cmd := operate("rotate FLEET.yaml --root root.key", "Give the run its next keys",
		"Announces the keys in the directory that the run does not have, by a revision of the run that the root signs. Where\n"+
			"there is none, it makes the next, if the servers' private keys are there; `keys --next` makes them elsewhere. The\n"+
			"earlier keys stay good until they expire. --request and --signed are for a root's key that is on no network.",
		func(cmd *cobra.Command, f fleetFile, s operator.Services, asJSON bool) error {
			if err := by.check("rotate"); err != nil {
				return err
			}
			// The server tells an operator that there are several runs, and a device nothing of others.
			status, err := s.Operator.Status(cmd.Context(), &fleetv1.StatusRequest{Run: *run})
			if err != nil {
				return err
			}
			answer, err := s.Runs.GetRun(cmd.Context(), &fleetv1.GetRunRequest{Run: status.GetRun()})
			if err != nil {
				return err
			}
			signed, spec, err := by.sign(cmd, asJSON, func() (*fleetv1.RunSpec, error) { return f.revision(answer.GetSpecs()) }, func(spec *fleetv1.RunSpec) error {
				if string(spec.GetRun()) != string(status.GetRun()) {
					return fmt.Errorf("%w: what was signed is of run %x, and this is run %x", config.ErrSyntax, spec.GetRun(), status.GetRun())
				}
				return nil
			})
			if err != nil || signed == nil {
				return err
			}
			if _, err := s.Operator.RotateKey(cmd.Context(), &fleetv1.RotateKeyRequest{Spec: signed}); err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]any{"revision": spec.GetRevision(), "keys": len(spec.GetKeys())})
			}
			fmt.Fprintf(cmd.OutOrStdout(), "revision %d of the run, with %d keys\n", spec.GetRevision(), len(spec.GetKeys()))
			return nil
		})
	by.on(cmd)
	run = runFlag(cmd)
	return cmd
}

// revision is the next one of a run: with keys that it does not have, which are made where they can be.
func (f fleetFile) revision(specs []*fleetv1.SignedSpec) (*fleetv1.RunSpec, error) {
	dir, err := f.keysDir()
	if err != nil {
		return nil, err
	}
	revise := func() (*fleetv1.RunSpec, error) {
		keys, err := aggregator.OpenPublicKeys(dir)
		if err != nil {
			return nil, err
		}
		return operator.Revise(specs, keys, time.Now(), f.validKeys())
	}
	spec, err := revise()
	if !errors.Is(err, operator.ErrNoKeys) || !aggregator.HoldsPrivate(dir) {
		return spec, err
	}
	keys, err := aggregator.OpenKeys(dir)
	if err != nil {
		return nil, err
	}
	if _, err := keys.CreateNext(); err != nil {
		return nil, err
	}
	return revise()
}

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
