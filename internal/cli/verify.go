package cli

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/report"
	"github.com/discreet-rl/discreet/internal/schema"
	"github.com/discreet-rl/discreet/internal/signature"
)

// failure marks a check that did not hold: exit code 1, whatever it wraps.
func failure(err error) error { return classed{err, fault.Failure} }

// partial marks a check that found nothing wrong and could not look at everything.
func partial(err error) error { return classed{err, fault.PartialFault} }

// shown is a location as it may be told: a URL without its password.
func shown(location string) string {
	if u, err := url.Parse(location); err == nil && u.User != nil {
		return u.Redacted()
	}
	return location
}

func failed(what string, err error) error { return failure(fmt.Errorf("%s: %w", what, err)) }

// verdict is the JSON form of what was checked. What was not is absent.
type verdict struct {
	Valid    bool   `json:"valid"`
	Release  string `json:"release,omitempty"`
	SignedBy string `json:"signed_by,omitempty"`
	// Envelope tells that the release came in a DSSE envelope, Replanned that all that
	// follows from its public facts agrees.
	Envelope  bool            `json:"envelope,omitempty"`
	Replanned bool            `json:"replanned,omitempty"`
	Ledgers   []ledgerVerdict `json:"ledgers,omitempty"`
	// NotChecked names what could be changed without being noticed: "PATH, PATH: why".
	NotChecked []string `json:"not_checked,omitempty"`
	Notes      []string `json:"notes,omitempty"`
}

func newVerify() *cobra.Command {
	var key string
	var strict bool
	cmd := command("verify RELEASE.json", "Check a release without its ledger: form, accounting, plan, signature",
		`Check what can be checked of a release with nothing else at hand: that it
follows the schema, that its event costs no more than it promises, that its
fields agree with the plan that follows from its public facts and with each other,
and, with --public-key, that the holder of that key signed it as it stands. It takes
release.dsse.json, the same in a DSSE envelope, as well. Whoever has the ledger
checks the charge too: discreet ledger verify LEDGER RELEASE.json.

Fields that nothing else in the release determines are listed as not checked: only a
signature, or the ledger, can show whether they were changed. Exit code 4 says that
nothing wrong was found and that the plan was not made again, because the release
names another version of the program, which would have written it differently, or a
method that is not of this library. With --strict this is a failure, and so is a
field that is listed, unless --public-key shows that the release was not changed.`, exactly(1, "one release"),
		func(cmd *cobra.Command, args []string) error {
			text, err := readDocument(args[0])
			if err != nil {
				return err
			}
			v := verdict{Valid: true, Release: args[0]}
			w := words(cmd)
			found, err := v.release(w, args[0], text, key, false)
			if err != nil {
				return err
			}
			if e := found.Release.Ledger; e != nil {
				v.note(w, fmt.Sprintf("it says that entry %d of the ledger of dataset %s paid for it; only the ledger can confirm this", e.Seq, e.Dataset))
			}
			err = wanting(args[0], found, strict)
			if wantsJSON(cmd) && fault.Of(err) != fault.Failure {
				err = errors.Join(printJSON(cmd.OutOrStdout(), v), err)
			}
			return err
		})
	cmd.Flags().StringVar(&key, "public-key", "", "public key of the signer (PEM)")
	cmd.Flags().BoolVar(&strict, "strict", false, "fail where anything could not be checked")
	jsonFlag(cmd, "JSON")
	return cmd
}

// wanting is the error of a release in which nothing wrong was found and not all was
// checked.
func wanting(path string, found *discreet.Verification, strict bool) error {
	switch {
	case !found.Replanned:
		err := fmt.Errorf("%s: NOT checked: the plan, and every field that follows from it; see the notes", path)
		if strict {
			return failure(err)
		}
		return partial(err)
	case strict && found.SignedBy == "" && len(found.NotChecked) > 0:
		return failure(fmt.Errorf("%s: fields are not checked (%d lines above), and no signature was checked that covers them; give --public-key", path, len(found.NotChecked)))
	}
	return nil
}

// unchecked is the first thing to know of a signature that was not held against a key.
const unchecked = "signature NOT checked: anybody can write one, and the value could be anything; give --public-key to check it"

// The same where a ledger holds the bytes: what is left to say after they were found there.
const (
	unsignedHere  = "unsigned: that these are the bytes of the release rests on this ledger alone, and on who can write it"
	uncheckedHere = "signature not checked: that these are the bytes of the release rests on this ledger alone, and on who can write it; give --public-key to check it"
)

// pickedAlone is what a release without a value has to say first.
const pickedAlone = "NO VALUE: the release names a policy that was drawn, without a value or an interval"

// release checks a release by itself and prints what held. What it is worth without a
// signature is left to the caller where a ledger is going to tell.
func (v *verdict) release(w io.Writer, path string, text []byte, key string, ledger bool) (*discreet.Verification, error) {
	var signer ed25519.PublicKey
	if key != "" {
		var err error
		if signer, err = signature.LoadPublic(key); err != nil {
			return nil, err
		}
	}
	found, err := discreet.Verify(text, signer)
	notes := found.Notes
	if r := found.Release; r != nil {
		first := unchecked
		if unsigned(found) { // the first note says so
			first, notes = notes[0], notes[1:]
		}
		if (unsigned(found) || key == "") && !ledger {
			fmt.Fprintln(w, alarm(w, first))
			v.Notes = append(v.Notes, first)
		}
		if found.Envelope {
			fmt.Fprintf(w, "envelope    DSSE, of type %s\n", discreet.ReleaseType)
		}
		if report.Picked(r) != "" {
			v.note(w, pickedAlone)
		}
		fmt.Fprintf(w, "form        follows %s\n", r.Schema)
	}
	if b := found.Epsilon; b != nil {
		s := found.Release.Privacy
		fmt.Fprintf(w, "accounting  epsilon in %v at delta %g, %s; %g is promised\n", *b, s.Delta, s.Adjacency, s.Epsilon)
	}
	v.Replanned, v.Envelope, v.NotChecked = found.Replanned, found.Envelope, found.NotChecked
	if found.Replanned {
		fmt.Fprintln(w, "plan        recomputed from the public facts: every field that follows from it, or from other fields, agrees")
	}
	if found.Release != nil && err == nil && !found.Replanned {
		fmt.Fprintln(w, alarm(w, "plan        NOT checked"))
	}
	for _, n := range found.NotChecked {
		fmt.Fprintf(w, "not checked %s\n", n)
	}
	for _, n := range notes {
		v.note(w, n)
	}
	if errors.Is(err, signature.ErrUnsigned) {
		err = fmt.Errorf("%w; ask for a signed release, or leave out --public-key", err)
	}
	if err != nil {
		return nil, failed(path, err)
	}
	v.SignedBy = found.SignedBy
	switch g := found.Release.Signature; {
	case v.SignedBy != "":
		fmt.Fprintf(w, "signature   good, by %s\n", v.SignedBy)
	case g != nil && !found.Envelope:
		fmt.Fprintf(w, "signature   names the key %s\n", g.KeyID)
	}
	return found, nil
}

func unsigned(found *discreet.Verification) bool {
	return found.Release.Signature == nil && !found.Envelope
}

// largestRelease bounds, in bytes, the file that is read as a release.
const largestRelease = 64 << 20

// readDocument reads a release that may come from anybody: a file, of bounded size.
func readDocument(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, usage(fmt.Errorf("%w; correct the path of the release", err))
	case !info.Mode().IsRegular():
		return nil, usage(fmt.Errorf("%s is not a file", path))
	case info.Size() > largestRelease:
		return nil, usage(fmt.Errorf("%s has %d bytes, more than any release: at most %d are read", path, info.Size(), largestRelease))
	}
	text, err := readNamed(path)
	if err == nil && !json.Valid(text) {
		err = fmt.Errorf("%s is not a whole JSON document; name the release.json of an evaluation, or its envelope", path)
	}
	return text, err
}

func (v *verdict) note(w io.Writer, text string) {
	v.Notes = append(v.Notes, text)
	fmt.Fprintf(w, "note        %s\n", text)
}

func newReport() *cobra.Command {
	var out string
	cmd := command("report RELEASE.json", "Render a release as one self-contained page",
		`Render a release as one self-contained page. With --json it prints the headline
alone: whether the release answers the question (yes, in_part or no), and if not,
why.`, exactly(1, "one release"),
		func(cmd *cobra.Command, args []string) error {
			r, err := readRelease(args[0])
			if err != nil {
				return err
			}
			if wantsJSON(cmd) {
				if out != "" {
					return usage(fmt.Errorf("report: --json prints the headline and writes no page; give it or -o"))
				}
				return json.NewEncoder(cmd.OutOrStdout()).Encode(headline(r))
			}
			if out == "" {
				return usage(fmt.Errorf("report: -o is missing; name the .html file to write"))
			}
			if err := newFile(out, 0o644, func(w io.Writer) error { return report.Write(w, r) }); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "written   %s\n", out)
			return err
		})
	cmd.Flags().StringVarP(&out, "output", "o", "", "the page to write; a new file")
	jsonFlag(cmd, "the headline as JSON")
	return cmd
}

// headline says whether a release answers the question: yes, in_part or no, and then why not.
func headline(r *evaluate.Release) map[string]string {
	if why := report.Unanswered(r); why != "" {
		return map[string]string{"answered": "no", "why": why}
	}
	if why := report.InPart(r); why != "" {
		return map[string]string{"answered": "in_part", "why": why}
	}
	return map[string]string{"answered": "yes"}
}

func readRelease(path string) (*evaluate.Release, error) {
	text, err := readDocument(path)
	if err != nil {
		return nil, usage(err)
	}
	var r evaluate.Release
	if err = json.Unmarshal(text, &r); err == nil {
		return &r, nil
	}
	// Of a value of another type the schema speaks in words that are not a program's.
	var mistyped *json.UnmarshalTypeError
	if e := schema.Check(schema.Release, text); e != nil && errors.As(err, &mistyped) {
		err = e
	}
	return nil, usage(fmt.Errorf("%s: %w", path, err))
}
