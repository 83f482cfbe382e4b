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
	"github.com/discreet-rl/discreet/internal/config"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/signature"
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
		return f, nil, fmt.Errorf("%w: %w", config.ErrSyntax, err)
	}
	if err := json.Unmarshal(text, &f); err != nil || f.Schema != schema {
		return f, nil, fmt.Errorf("%w: %s: not a file of schema %s", config.ErrSyntax, path, schema)
	}
	spec := &fleetv1.RunSpec{}
	if err := proto.Unmarshal(f.Spec, spec); err != nil {
		return f, nil, fmt.Errorf("%w: %s: %w", config.ErrSyntax, path, err)
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
func (r *rootFlags) sign(cmd *cobra.Command, asJSON bool, fresh func() (*fleetv1.RunSpec, error), like func(*fleetv1.RunSpec) error) (*fleetv1.SignedSpec, *fleetv1.RunSpec, error) {
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
	if asJSON {
		return nil, nil, printJSON(cmd.OutOrStdout(), map[string]any{"request": r.request})
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s is for `discreet fleet sign`, where the root's key is; what that makes is for --signed\n", r.request)
	return nil, nil, nil
}

func newFleetSign() *cobra.Command {
	var root, out string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "sign REQUEST.json --root root.key -o SIGNED.json", Short: "Sign a run, or its new keys, where the root's key is kept",
		Long: "Needs no network and nothing but the root's key and the request that `create --request` or `rotate --request` wrote.\nIt says what is signed: read it before the result leaves the machine.",
		Args: exactly(1, "one request"),
		RunE: func(cmd *cobra.Command, args []string) error {
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
			if asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]any{"run": fmt.Sprintf("%x", spec.GetRun()), "revision": spec.GetRevision(), "keys": len(spec.GetKeys()), "signed": out})
			}
			showSpec(cmd.OutOrStdout(), spec)
			return nil
		},
	}
	cmd.Flags().StringVar(&root, "root", "", "the root's private key")
	cmd.Flags().StringVarP(&out, "output", "o", "", "the new file for what was signed")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON and nothing else")
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
