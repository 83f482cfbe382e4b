package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/fleet/aggregator"
	"github.com/discreet-rl/discreet/internal/fleet/operator"
	"github.com/discreet-rl/discreet/internal/signature"
	"github.com/discreet-rl/discreet/internal/yamlfile"
)

// Schemas of the files that go to the root's key and come back.
const (
	requestSchema = "discreet/fleet-request/v1"
	signedSchema  = "discreet/fleet-signed/v1"
)

// specFile is the spec of a run, or of a revision of it: a request without a signature, or as the root signed it.
type specFile struct {
	Schema    string `json:"schema"`
	Spec      []byte `json:"spec"`
	Signature []byte `json:"signature,omitempty"`
}

func writeSpec(path string, f specFile) error {
	return atomicfile.Create(path, 0o644, func(w io.Writer) error { return printJSON(w, f) })
}

// readSpec reads a file of the schema, with what is in the spec.
func readSpec(path, schema string) (specFile, *fleetv1.RunSpec, error) {
	var f specFile
	text, err := os.ReadFile(path)
	if err != nil {
		return f, nil, fmt.Errorf("%w: %w", yamlfile.ErrSyntax, err)
	}
	if err := json.Unmarshal(text, &f); err != nil || f.Schema != schema {
		return f, nil, fmt.Errorf("%w: %s: not a file of schema %s", yamlfile.ErrSyntax, path, schema)
	}
	spec := &fleetv1.RunSpec{}
	if err := proto.Unmarshal(f.Spec, spec); err != nil {
		return f, nil, fmt.Errorf("%w: %s: %w", yamlfile.ErrSyntax, path, err)
	}
	return f, spec, nil
}

// rootFlags say how the root signs: here, or elsewhere by way of two files.
type rootFlags struct{ root, request, signed string }

func (r *rootFlags) on(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.root, "root", "", "the root's private key, where it is on this machine")
	cmd.Flags().StringVar(&r.request, "request", "", "write what is to be signed to this new file, and stop")
	cmd.Flags().StringVar(&r.signed, "signed", "", "what `fleet sign` made of the request")
}

func (r *rootFlags) check(name string) error {
	if !exactlyOne(r.root != "", r.request != "", r.signed != "") {
		return usage(fmt.Errorf("fleet %s: want one of --root, --request and --signed", name))
	}
	return nil
}

// sign has the root sign a fresh spec, or takes one that it signed, if it is like the one that is wanted. The result is nil where a request was written.
func (r *rootFlags) sign(cmd *cobra.Command, fresh func() (*fleetv1.RunSpec, error), like func(*fleetv1.RunSpec) error) (*fleetv1.SignedSpec, *fleetv1.RunSpec, error) {
	if r.signed != "" {
		f, spec, err := readSpec(r.signed, signedSchema)
		if err == nil {
			err = like(spec)
		}
		return &fleetv1.SignedSpec{Spec: f.Spec, Key: fleet.Root, Signature: f.Signature}, spec, err
	}
	spec, err := fresh()
	if err != nil {
		return nil, nil, err
	}
	if r.root != "" {
		key, err := signature.LoadPrivate(r.root)
		if err != nil {
			return nil, nil, err
		}
		signed, err := fleet.SignRun(key, spec)
		return signed, spec, err
	}
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(spec)
	if err != nil {
		return nil, nil, err
	}
	if err := writeSpec(r.request, specFile{Schema: requestSchema, Spec: data}); err != nil {
		return nil, nil, err
	}
	return nil, nil, show(cmd, map[string]any{"request": r.request},
		"%s is for `discreet fleet sign`, where the root's key is; what that makes is for --signed\n", r.request)
}

func newFleetSign() *cobra.Command {
	var root, out string
	cmd := command("sign REQUEST.json --root root.key -o SIGNED.json", "Sign a run, or its new keys, where the root's key is kept",
		"Needs no network and nothing but the root's key and the request that `create --request` or `rotate --request` wrote.\nIt says what is signed: read it before the result leaves the machine.", exactly(1, "one request"),
		func(cmd *cobra.Command, args []string) error {
			if root == "" || out == "" {
				return usage(errors.New("fleet sign: want --root and -o"))
			}
			_, spec, err := readSpec(args[0], requestSchema)
			if err != nil {
				return err
			}
			key, err := signature.LoadPrivate(root)
			if err != nil {
				return err
			}
			signed, err := fleet.SignRun(key, spec)
			if err != nil {
				return err
			}
			if err := writeSpec(out, specFile{signedSchema, signed.GetSpec(), signed.GetSignature()}); err != nil {
				return err
			}
			found := map[string]any{"run": fmt.Sprintf("%x", spec.GetRun()), "revision": spec.GetRevision(), "keys": len(spec.GetKeys()), "signed": out}
			return showBy(cmd, found, func(w io.Writer) { showSpec(w, spec) })
		})
	cmd.Flags().StringVar(&root, "root", "", "the root's private key")
	cmd.Flags().StringVarP(&out, "output", "o", "", "the new file for what was signed")
	jsonFlag(cmd, "the result as JSON")
	return cmd
}

// showSpec tells what a root signs.
func showSpec(w io.Writer, s *fleetv1.RunSpec) {
	r := s.GetRandomizer()
	fmt.Fprintf(w, "run %x, revision %d: %q\n%d reports a device at most of %d weights, each %s at epsilon %.6g: epsilon %.6g a device\nlearning %s\n",
		s.GetRun(), s.GetRevision(), s.GetPurpose(), s.GetReportsPerDevice(), s.GetDim(), r.GetMechanism(), r.GetEpsilon(), float64(s.GetReportsPerDevice())*r.GetEpsilon(), s.GetLocalJson())
	for _, k := range s.GetKeys() {
		fmt.Fprintf(w, "key %d %s %x, good from %s until %s\n", k.GetId(), lower(k.GetUse().String(), "USE_"), k.GetPublic(),
			time.UnixMilli(k.GetValidFrom()).UTC().Format(time.RFC3339), time.UnixMilli(k.GetValidUntil()).UTC().Format(time.RFC3339))
	}
}

func newFleetRotate() *cobra.Command {
	var by rootFlags
	cmd := ofRun("rotate FLEET.yaml --root root.key", "Give the run its next keys",
		"Announces the keys in the directory that the run does not have, by a revision of the run that the root signs. Where\n"+
			"there is none, it makes the next, if the servers' private keys are there; `keys --next` makes them elsewhere. The\n"+
			"earlier keys stay good until they expire. --request and --signed are for a root's key that is on no network.",
		func(cmd *cobra.Command, f fleetFile, s operator.Services, run runID) error {
			if err := by.check("rotate"); err != nil {
				return err
			}
			// The server tells an operator that there are several runs, and a device nothing of others.
			status, err := s.Operator.Status(cmd.Context(), &fleetv1.StatusRequest{Run: run})
			if err != nil {
				return err
			}
			answer, err := s.Runs.GetRun(cmd.Context(), &fleetv1.GetRunRequest{Run: status.GetRun()})
			if err != nil {
				return err
			}
			signed, spec, err := by.sign(cmd, func() (*fleetv1.RunSpec, error) { return f.revision(answer.GetSpecs()) }, func(spec *fleetv1.RunSpec) error {
				if string(spec.GetRun()) != string(status.GetRun()) {
					return fmt.Errorf("%w: what was signed is of run %x, and this is run %x", yamlfile.ErrSyntax, spec.GetRun(), status.GetRun())
				}
				return nil
			})
			if err != nil || signed == nil {
				return err
			}
			if _, err := s.Operator.RotateKey(cmd.Context(), &fleetv1.RotateKeyRequest{Spec: signed}); err != nil {
				return err
			}
			return show(cmd, map[string]any{"revision": spec.GetRevision(), "keys": len(spec.GetKeys())},
				"revision %d of the run, with %d keys\n", spec.GetRevision(), len(spec.GetKeys()))
		})
	by.on(cmd)
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
	if _, err := createNext(dir); err != nil {
		return nil, err
	}
	return revise()
}
