package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/internal/fleet/operator"
	"github.com/discreet-rl/discreet/internal/fleet/transcript"
	"github.com/discreet-rl/discreet/internal/signature"
)

func newFleetTranscript() *cobra.Command {
	var out string
	var reports bool
	cmd := ofRun("transcript FLEET.yaml -o FILE", "Write what anybody needs to check the run",
		"Signed rounds, sums, hashes of reports and places of permits, a line of JSON each, for `fleet verify`. It tells no more of a\ndevice than its epsilon covers, and may be published. --reports adds the randomised reports that the server still has (keep_rounds).",
		func(cmd *cobra.Command, _ fleetFile, s operator.Services, run runID) error {
			if out == "" {
				return usage(errors.New("fleet transcript: -o is missing; name the file"))
			}
			status, err := s.Operator.Status(cmd.Context(), &fleetv1.StatusRequest{Run: run})
			if err != nil {
				return err
			}
			specs, err := s.Runs.GetRun(cmd.Context(), &fleetv1.GetRunRequest{Run: status.GetRun()})
			if err != nil {
				return err
			}
			var rounds, whole uint64
			err = atomicfile.Create(out, 0o644, func(w io.Writer) (err error) {
				rounds, whole, err = transcript.Write(cmd.Context(), w, s.Operator, specs.GetSpecs(), status.GetRun(), reports)
				return err
			})
			if err != nil {
				return err
			}
			return show(cmd, map[string]any{"transcript": out, "rounds": rounds, "rounds_with_reports": whole},
				"%d rounds are in %s, %d of them with all their reports\n", rounds, out, whole)
		})
	cmd.Flags().StringVarP(&out, "output", "o", "", "the new file")
	cmd.Flags().BoolVar(&reports, "reports", false, "with the randomised reports")
	return cmd
}

// spentJSON is how many devices have spent an epsilon.
type spentJSON struct {
	Devices uint64  `json:"devices"`
	Reports int     `json:"reports"`
	Epsilon float64 `json:"epsilon"`
}

func newFleetVerify() *cobra.Command {
	var root, weights string
	var strict bool
	cmd := command("verify TRANSCRIPT --root root.pub", "Recompute the weights of every version, and what devices spent",
		`Needs nothing but a transcript and the public key of the operator's root. It checks
that rounds and their records are signed and follow each other to the signed end,
that no report, permit, sum or round was changed, left out or moved, and recomputes
the weights of every version from the sums, and the sums from the reports where these
are in the transcript. Exit code 1 says that something does not hold, 4 that nothing
wrong was found and that not all could be recomputed, which --strict makes a failure.`, exactly(1, "one transcript"),
		func(cmd *cobra.Command, args []string) error {
			if root == "" {
				return usage(errors.New("fleet verify: --root is missing; name the public key of the operator's root (root.pub)"))
			}
			key, err := signature.LoadPublic(root)
			if err != nil {
				return err
			}
			found, err := verifyTranscript(args[0], weights, func(f io.Reader, each func(transcript.Version) error) (transcript.Found, error) {
				return transcript.Verify(f, key, each)
			})
			if errors.Is(err, transcript.ErrWrong) {
				return failed(args[0], err)
			}
			if err != nil {
				return err
			}
			if err := showFound(cmd, found); err != nil {
				return err
			}
			switch {
			case len(found.NotChecked) == 0:
				return nil
			case strict:
				return failure(fmt.Errorf("%s: not all could be recomputed", args[0]))
			}
			return partial(fmt.Errorf("%s: nothing wrong was found, and not all could be recomputed", args[0]))
		})
	cmd.Flags().StringVar(&root, "root", "", "the public key of the operator's root")
	cmd.Flags().StringVarP(&weights, "output", "o", "", "a new file for the weights of every version, a line of JSON each")
	cmd.Flags().BoolVar(&strict, "strict", false, "fail where anything could not be recomputed")
	jsonFlag(cmd, "JSON")
	return cmd
}

// verifyTranscript checks a file, and writes the weights to another one unless it has no name.
func verifyTranscript(path, weights string, verify func(io.Reader, func(transcript.Version) error) (transcript.Found, error)) (found transcript.Found, err error) {
	f, err := os.Open(path)
	if err != nil {
		return found, err
	}
	defer f.Close()
	if weights == "" {
		return verify(f, nil)
	}
	err = atomicfile.Create(weights, 0o644, func(w io.Writer) (err error) {
		e := json.NewEncoder(w)
		found, err = verify(f, func(v transcript.Version) error { return e.Encode(v) })
		return err
	})
	return found, err
}

func showFound(cmd *cobra.Command, f transcript.Found) error {
	spent := []spentJSON{}
	for i, n := range f.Devices {
		if n > 0 {
			spent = append(spent, spentJSON{n, i + 1, float64(i+1) * f.Epsilon})
		}
	}
	out := map[string]any{
		"valid": true, "run": fmt.Sprintf("%x", f.Run), "rounds": f.Rounds, "version": f.Version, "reports": f.Reports, "ended": f.Ended, "at": f.At.UTC(),
		"epsilon_report": f.Epsilon, "spent": spent, "not_checked": append([]string{}, f.NotChecked...),
	}
	return showBy(cmd, out, func(w io.Writer) {
		state := "has not ended"
		if f.Ended {
			state = "has ended"
		}
		fmt.Fprintf(w, "run       %x: %q; %s at %s\n", f.Run, f.Purpose, state, f.At.UTC().Format(time.RFC3339))
		fmt.Fprintf(w, "rounds    %d, signed and in order, with %d reports\n", f.Rounds, f.Reports)
		fmt.Fprintf(w, "weights   versions 0 to %d follow from the sums\n", f.Version)
		for _, s := range spent {
			fmt.Fprintf(w, "devices   %d drew %d permits: epsilon %.6g each at most, delta 0, local\n", s.Devices, s.Reports, s.Epsilon)
		}
		for _, what := range f.NotChecked {
			fmt.Fprintf(w, "NOT checked: %s\n", what)
		}
	})
}
