package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/config"
	"github.com/discreet-rl/discreet/internal/fleet/aggregator"
	"github.com/discreet-rl/discreet/internal/fleet/operator"
)

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
