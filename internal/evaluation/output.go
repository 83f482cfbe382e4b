package evaluation

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

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/internal/boundedfile"
	"github.com/discreet-rl/discreet/internal/filelock"
	"github.com/discreet-rl/discreet/internal/signature"
	"github.com/discreet-rl/discreet/internal/spec"
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

// output is where an evaluation writes its release, if it does.
type output struct {
	dir  string // "" where it writes nothing
	spec *spec.Spec
}

func newOutput(s *spec.Spec) output { return output{s.Config.Resolve(s.Config.Output.Dir), s} }

// release is the file of the release, "" where none is written.
func (o output) release() string {
	if o.dir == "" {
		return ""
	}
	return filepath.Join(o.dir, releaseFile)
}

// lock makes sure, before anything is spent, that the release can be
// written and that no other evaluation is about to write its own there: of two that
// both found the directory free, one would lose its release. It returns what gives
// the directory free.
func (o output) lock() (func(), error) {
	if o.dir == "" {
		return func() {}, nil
	}
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return nil, fmt.Errorf("%w: output.dir: %w", config.ErrConfig, err)
	}
	lock, err := filelock.Take(filepath.Join(o.dir, lockFile))
	if errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("%w: output.dir: %s: %w, which evaluates into it; wait for it, or choose another directory", config.ErrConfig, o.dir, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: output.dir: %w", config.ErrConfig, err)
	}
	return func() { _ = lock.Release() }, nil // what is left of a lock stops nobody
}

// spareOthers refuses to write over what belongs to another question. A private
// release was paid for and cannot be made again.
func (o output) spareOthers() error {
	if o.dir == "" {
		return nil
	}
	old, path, err := o.present()
	switch {
	case err != nil:
		return err
	case old == nil:
		for _, name := range []string{pageFile, envelopeFile} {
			beside := filepath.Join(filepath.Dir(path), name)
			if _, err := os.Lstat(beside); err == nil {
				return fmt.Errorf("%w: output.dir: %s is of no release there; move it away, or choose another directory", config.ErrConfig, beside)
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
	reference := o.spec.Public.Privacy == nil // whether it is the same one shows when it is written
	if json.Unmarshal(old, &release) == nil && (reference && release.Privacy == "none" || !reference && release.Disclosure.ConfigHash == o.spec.Hash) {
		return nil
	}
	return notOurs(path)
}

func notOurs(path string) error {
	return fmt.Errorf("%w: output.dir: %s is not a release of this configuration; move it away, or choose another directory", config.ErrConfig, path)
}

// largestRelease bounds, in bytes, the file that is read as a release.
const largestRelease = 64 << 20

// present reads the release that is in the directory, nil if there is none.
func (o output) present() ([]byte, string, error) {
	path := o.release()
	text, err := boundedfile.Read(path, largestRelease)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, path, nil
	case errors.Is(err, boundedfile.ErrUnfit):
		return nil, path, fmt.Errorf("%w: output.dir: %w; move it away, or choose another directory", config.ErrConfig, err)
	case err != nil:
		return nil, path, fmt.Errorf("%w: output.dir: %w", config.ErrConfig, err)
	}
	return text, path, nil
}

// loadSigner reads the key that signs, before anything is spent.
func loadSigner(c config.Config) (ed25519.PrivateKey, error) {
	if c.Sign == "" {
		return nil, nil
	}
	key, err := signature.LoadPrivate(c.Resolve(c.Sign))
	if err != nil {
		return nil, fmt.Errorf("%w: sign: %w", config.ErrConfig, err)
	}
	return key, nil
}

// envelope is the release, byte for byte, in a DSSE envelope; nil where no key is at
// hand that signed it.
func (r *run) envelope(made *Result) ([]byte, error) {
	s := made.Release.Signature
	if r.signer == nil || s == nil || s.KeyID != signature.KeyID(r.signer.Public().(ed25519.PublicKey)) {
		return nil, nil
	}
	return indented(signature.Seal(signature.ReleaseType, made.JSON, r.signer))
}

// write puts the release into its files, if it has any.
func (r *run) write(made *Result) (*Result, error) {
	var err error
	if made.Envelope, err = r.envelope(made); err != nil {
		return nil, err
	}
	path := r.output.release()
	if path == "" {
		return made, nil
	}
	if made.Release.Privacy == nil {
		if err := r.output.spareReferences(path, made.JSON); err != nil {
			return nil, err
		}
	}
	if err = writeFiles(path, made); err == nil {
		made.Path = path
		return made, nil
	}
	if e := made.Release.Ledger; e != nil {
		return nil, fmt.Errorf("%w: entry %d of dataset %q: %w; mend that and run again with --key %s, which costs nothing", ErrNotWritten, e.Seq, e.Dataset, err, e.Key)
	}
	return nil, err
}

// spareReferences refuses to write over another reference. It names no
// configuration, so that another one shows by its numbers.
func (o output) spareReferences(path string, text []byte) error {
	old, _, err := o.present()
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
func writeFiles(path string, r *Result) error {
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
