package discreet

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/internal/signature"
)

// releaseFile is what a release is called in its directory.
const releaseFile = "release.json"

// prepareOutput makes sure that the release can be written, before anything is
// spent on it.
func (j *job) prepareOutput() error {
	if j.config.Output.Dir == "" {
		return nil
	}
	dir := j.config.path(j.config.Output.Dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("%w: output.dir: %w", ErrConfig, err)
	}
	probe, err := os.CreateTemp(dir, ".release-*")
	if err != nil {
		return fmt.Errorf("%w: output.dir: %w", ErrConfig, err)
	}
	if err := probe.Close(); err != nil {
		return err
	}
	return os.Remove(probe.Name())
}

// spareOthers refuses to write over the private release of another question: it
// was paid for and cannot be made again. A reference can.
func (j *job) spareOthers() error {
	if j.config.Output.Dir == "" {
		return nil
	}
	path := filepath.Join(j.config.path(j.config.Output.Dir), releaseFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: output.dir: %w", ErrConfig, err)
	}
	var old struct {
		Privacy    any `json:"privacy"`
		Disclosure struct {
			ConfigHash string `json:"config_hash"`
		} `json:"disclosure"`
	}
	if json.Unmarshal(text, &old) == nil && (old.Privacy == "none" || old.Disclosure.ConfigHash == j.hash) {
		return nil
	}
	return fmt.Errorf("%w: output.dir: %s is not a release of this configuration; move it away, or choose another directory", ErrConfig, path)
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

// complete adds to a release what its method does not know: who made it, why, and
// what paid for it.
func (j *job) complete(l *ledger.Ledger, grant *ledger.Grant, r *evaluate.Release) {
	if d := r.Disclosure; d != nil {
		d.ConfigHash = j.hash
		d.CodeVersion = Version()
		d.Justification = strings.TrimSpace(j.config.Justification)
	}
	if l == nil {
		return
	}
	r.Ledger = entry(l.Config().Rule, grant)
	r.Disclosure.Composition = composition(r)
	r.Disclosure.Series = "One of any number of releases that share one budget. Analysts may choose each after seeing the earlier ones, and may work together; a share, where one has an analyst, only limits that analyst's part."
}

// composition says how a charged release is added up.
func composition(r *evaluate.Release) string {
	return fmt.Sprintf("Within the release: by the %s accountant, over the whole event, whose parts were fixed before the first draw. "+
		"With other releases: by the %s rule of the ledger, which holds where each is chosen after seeing the earlier ones, up to epsilon %v, delta %v for all that is charged to it.",
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

func indented(v any) ([]byte, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	return append(text, '\n'), err
}

// write puts the release into its file, if it has one.
func (j *job) write(r *Result) (*Result, error) {
	if j.config.Output.Dir == "" {
		return r, nil
	}
	path := filepath.Join(j.config.path(j.config.Output.Dir), releaseFile)
	err := atomicfile.Write(path, 0o644, func(w io.Writer) error {
		_, err := w.Write(r.JSON)
		return err
	})
	if err == nil {
		r.Path = path
		return r, nil
	}
	if e := r.Release.Ledger; e != nil {
		return nil, fmt.Errorf("%w: entry %d of dataset %q: %w; mend that and run again with --key %s, which costs nothing", ErrNotWritten, e.Seq, e.Dataset, err, e.Key)
	}
	return nil, err
}
