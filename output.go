package discreet

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/internal/filelock"
	"github.com/discreet-rl/discreet/internal/signature"
)

// The files of an output directory: the release by itself and in a DSSE envelope, and
// the page that the command line puts beside it. The lock is there while an
// evaluation runs.
const (
	releaseFile  = "release.json"
	envelopeFile = "release.dsse.json"
	pageFile     = "report.html"
	lockFile     = ".discreet.lock"
)

// ReleaseType is the payload type of a release in a DSSE envelope.
const ReleaseType = "application/vnd.discreet.release.v1+json"

// prepareOutput makes sure, before anything is spent, that the release can be
// written and that no other evaluation is about to write its own there: of two that
// both found the directory free, one would lose its release. It returns what gives
// the directory free.
func (j *job) prepareOutput() (func(), error) {
	if j.config.Output.Dir == "" {
		return func() {}, nil
	}
	dir := j.config.path(j.config.Output.Dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("%w: output.dir: %w", ErrConfig, err)
	}
	lock, err := filelock.Take(filepath.Join(dir, lockFile))
	if errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("%w: output.dir: %s: %w, which evaluates into it; wait for it, or choose another directory", ErrConfig, dir, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: output.dir: %w", ErrConfig, err)
	}
	return func() { _ = lock.Release() }, nil // what is left of a lock stops nobody
}

// spareOthers refuses to write over what belongs to another question. A private
// release was paid for and cannot be made again.
func (j *job) spareOthers() error {
	if j.config.Output.Dir == "" {
		return nil
	}
	old, path, err := j.present()
	switch {
	case err != nil:
		return err
	case old == nil:
		for _, name := range []string{pageFile, envelopeFile} {
			beside := filepath.Join(filepath.Dir(path), name)
			if _, err := os.Lstat(beside); err == nil {
				return fmt.Errorf("%w: output.dir: %s is of no release there; move it away, or choose another directory", ErrConfig, beside)
			}
		}
		return nil
	}
	var release struct {
		Privacy    any `json:"privacy"`
		Disclosure struct {
			ConfigHash string `json:"config_hash"`
		} `json:"disclosure"`
	}
	reference := j.public.Privacy == nil // whether it is the same one shows when it is written
	if json.Unmarshal(old, &release) == nil && (reference && release.Privacy == "none" || !reference && release.Disclosure.ConfigHash == j.hash) {
		return nil
	}
	return notOurs(path)
}

func notOurs(path string) error {
	return fmt.Errorf("%w: output.dir: %s is not a release of this configuration; move it away, or choose another directory", ErrConfig, path)
}

// largestRelease bounds, in bytes, the file that is read as a release.
const largestRelease = 64 << 20

// present reads the release that is in the directory, nil if there is none.
func (j *job) present() ([]byte, string, error) {
	path := filepath.Join(j.config.path(j.config.Output.Dir), releaseFile)
	text, err := boundedFile(path, largestRelease)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, path, nil
	case errors.Is(err, errUnfit):
		return nil, path, fmt.Errorf("%w: output.dir: %w; move it away, or choose another directory", ErrConfig, err)
	case err != nil:
		return nil, path, fmt.Errorf("%w: output.dir: %w", ErrConfig, err)
	}
	return text, path, nil
}

// loadSigner reads the key that signs, before anything is spent.
func (j *job) loadSigner() error {
	if j.config.Sign == "" {
		return nil
	}
	key, err := signature.LoadPrivate(j.config.path(j.config.Sign))
	if err != nil {
		return fmt.Errorf("%w: sign: %w", ErrConfig, err)
	}
	j.signer = key
	return nil
}

// sharedSeries is what a release from a ledger says of others.
const sharedSeries = "One of any number of releases that share one budget. Analysts may choose each after seeing the earlier ones, and may work together; an analyst's share, if there is one, only limits what that analyst may spend."

// complete adds to a release what its method does not know: who made it, why, and
// what paid for it; e is nil where no ledger was charged.
func (j *job) complete(r *evaluate.Release, e *evaluate.LedgerEntry) {
	if d := r.Disclosure; d != nil {
		d.ConfigHash = j.hash
		d.CodeVersion = Version()
		d.Justification = strings.TrimSpace(j.config.Justification)
	}
	if e == nil {
		return
	}
	r.Ledger = e
	r.Disclosure.Composition = composition(r)
	r.Disclosure.Series = sharedSeries
}

// composition says how a charged release is added up.
func composition(r *evaluate.Release) string {
	return fmt.Sprintf("Within the release: by the %s accountant, over the whole event, whose parts were fixed before any noise was drawn. "+
		"With other releases: by the %s rule of the ledger, which is valid even if each release is chosen after seeing the earlier ones, up to epsilon %v, delta %v for all that is charged to it.",
		r.Privacy.Accountant, r.Ledger.Rule, r.Ledger.Budget.Epsilon, r.Ledger.Budget.Delta)
}

// encode writes the release as JSON, signed where there is a key.
func (j *job) encode(r *evaluate.Release) ([]byte, error) {
	text, err := indented(r)
	if err != nil || j.signer == nil {
		return text, err
	}
	if r.Signature, err = signature.Make(text, j.signer); err != nil {
		return nil, err
	}
	return indented(r)
}

// envelope is the release, byte for byte, in a DSSE envelope; nil where no key is at
// hand that signed it.
func (j *job) envelope(r *Result) ([]byte, error) {
	s := r.Release.Signature
	if j.signer == nil || s == nil || s.KeyID != signature.KeyID(j.signer.Public().(ed25519.PublicKey)) {
		return nil, nil
	}
	return indented(signature.Seal(ReleaseType, r.JSON, j.signer))
}

func indented(v any) ([]byte, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	return append(text, '\n'), err
}

// write puts the release into its files, if it has any.
func (j *job) write(r *Result) (*Result, error) {
	var err error
	if r.Envelope, err = j.envelope(r); err != nil {
		return nil, err
	}
	if j.config.Output.Dir == "" {
		return r, nil
	}
	path := filepath.Join(j.config.path(j.config.Output.Dir), releaseFile)
	if r.Release.Privacy == nil {
		if err := j.spareReferences(path, r.JSON); err != nil {
			return nil, err
		}
	}
	if err = j.writeFiles(path, r); err == nil {
		r.Path = path
		return r, nil
	}
	if e := r.Release.Ledger; e != nil {
		return nil, fmt.Errorf("%w: entry %d of dataset %q: %w; mend that and run again with --key %s, which costs nothing", ErrNotWritten, e.Seq, e.Dataset, err, e.Key)
	}
	return nil, err
}

// spareReferences refuses to write over another reference. It names no
// configuration, so that another one shows by its numbers.
func (j *job) spareReferences(path string, text []byte) error {
	old, _, err := j.present()
	if err != nil || old == nil || slices.Equal(unsigned(old), unsigned(text)) {
		return err
	}
	return notOurs(path)
}

// unsigned is a release without its signature; nil where it is none.
func unsigned(text []byte) []byte {
	var r map[string]json.RawMessage
	if json.Unmarshal(text, &r) != nil {
		return nil
	}
	delete(r, "signature")
	out, err := json.Marshal(r)
	if err != nil {
		return nil
	}
	return out
}

// writeFiles writes the release and its envelope. An envelope of an earlier release
// does not stay beside one that has none.
func (j *job) writeFiles(path string, r *Result) error {
	beside := filepath.Join(filepath.Dir(path), envelopeFile)
	if r.Envelope == nil {
		if err := os.Remove(beside); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	} else if err := writeFile(beside, r.Envelope); err != nil {
		return err
	}
	return writeFile(path, r.JSON)
}

func writeFile(path string, text []byte) error {
	return atomicfile.Write(path, 0o644, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}
