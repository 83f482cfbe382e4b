package cli

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/schema"
	"github.com/discreet-rl/discreet/internal/signature"
)

// failure marks a check that did not hold: exit code 1, whatever it wraps.
type failure struct{ error }

func (e failure) Unwrap() error { return e.error }

// Fault implements [fault.Marked]: a check that does not hold has failed, whatever
// is wrong.
func (failure) Fault() fault.Class { return fault.Failure }

// shown is a location as it may be told: a URL without its password.
func shown(location string) string {
	if u, err := url.Parse(location); err == nil && u.User != nil {
		return u.Redacted()
	}
	return location
}

func failed(what string, err error) error { return failure{fmt.Errorf("%s: %w", what, err)} }

// unsigned is the first thing to know of a release that nobody signed.
const unsigned = "UNSIGNED: anybody could have written this file; its value could be anything"

// verdict is the JSON form of what was checked. What was not is absent.
type verdict struct {
	Valid    bool            `json:"valid"`
	Release  string          `json:"release,omitempty"`
	SignedBy string          `json:"signed_by,omitempty"`
	Ledgers  []ledgerVerdict `json:"ledgers,omitempty"`
	Notes    []string        `json:"notes,omitempty"`
}

func newVerify() *cobra.Command {
	var key string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify RELEASE.json",
		Short: "Check a release without its ledger: form, accounting, signature",
		Long: `Check what can be checked of a release with nothing else at hand: that it
follows the schema, that its event costs no more than it promises, and, with
--public-key, that the holder of that key signed it as it stands. Whoever has the
ledger checks the charge as well: discreet ledger verify LEDGER RELEASE.json.`,
		Args: exactly(1, "one release"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := readDocument(args[0])
			if err != nil {
				return err
			}
			v := verdict{Valid: true, Release: args[0]}
			w := cmd.OutOrStdout()
			if asJSON {
				w = io.Discard
			}
			r, err := v.release(w, args[0], text, key)
			if err != nil {
				return err
			}
			if e := r.Ledger; e != nil {
				v.note(w, fmt.Sprintf("it says that entry %d of the ledger of dataset %s paid for it; whoever has the ledger can tell", e.Seq, e.Dataset))
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), v)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&key, "public-key", "", "public key of the signer (PEM)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON and nothing else")
	return cmd
}

// release checks a release by itself and prints what held.
func (v *verdict) release(w io.Writer, path string, text []byte, key string) (*evaluate.Release, error) {
	if err := schema.Check(schema.Release, text); err != nil {
		return nil, failed(path, err)
	}
	r, err := parseRelease(path, text)
	if err != nil {
		return nil, failure{err}
	}
	if r.Signature == nil {
		fmt.Fprintln(w, alarm(w, unsigned))
	}
	fmt.Fprintf(w, "form        follows %s\n", r.Schema)
	if err := v.accounting(w, path, r); err != nil {
		return nil, err
	}
	return r, v.signature(w, path, text, r, key)
}

func (v *verdict) accounting(w io.Writer, path string, r *evaluate.Release) error {
	s := r.Privacy
	if s == nil {
		v.note(w, "a reference without privacy: there is no guarantee to check")
		return nil
	}
	b, err := s.Certify()
	if err != nil {
		return failed(path, err)
	}
	fmt.Fprintf(w, "accounting  epsilon in %v at delta %g, %s; %g is promised\n", b, s.Delta, s.Adjacency, s.Epsilon)
	if s.Seeded {
		v.note(w, "the noise came from a seed: this release protects nobody")
	}
	if r.Ledger == nil {
		v.note(w, s.Unit.Words("no ledger was charged: nothing says what else was released from the same persons"))
	}
	return nil
}

func (v *verdict) signature(w io.Writer, path string, text []byte, r *evaluate.Release, key string) error {
	if r.Signature == nil && key == "" {
		v.Notes = append(v.Notes, unsigned)
		return nil // said first, in release
	}
	if key == "" {
		const words = "NOT checked: anybody can write one; give --public-key to check it"
		v.Notes = append(v.Notes, "signature "+words)
		fmt.Fprintln(w, alarm(w, "signature   "+words))
		fmt.Fprintf(w, "            (it names the key %s)\n", r.Signature.KeyID)
		return nil
	}
	public, err := signature.LoadPublic(key)
	if err != nil {
		return err
	}
	if err := signature.Verify(text, public); errors.Is(err, signature.ErrUnsigned) {
		return failed(path, fmt.Errorf("%w; ask for a signed release, or leave out --public-key", err))
	} else if err != nil {
		return failed(path, err)
	}
	v.SignedBy = signature.KeyID(public)
	fmt.Fprintf(w, "signature   good, by %s\n", v.SignedBy)
	return nil
}

// largestRelease bounds, in bytes, the file that is read as a release.
const largestRelease = 64 << 20

// readDocument reads a release that may come from anybody: a file, of bounded size.
func readDocument(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, usage(err)
	case !info.Mode().IsRegular():
		return nil, usage(fmt.Errorf("%s is not a file", path))
	case info.Size() > largestRelease:
		return nil, usage(fmt.Errorf("%s has %d bytes, more than any release: at most %d are read", path, info.Size(), largestRelease))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, usage(err)
	}
	return text, nil
}

func (v *verdict) note(w io.Writer, text string) {
	v.Notes = append(v.Notes, text)
	fmt.Fprintf(w, "note        %s\n", text)
}
