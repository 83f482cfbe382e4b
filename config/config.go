package config

import (
	"path/filepath"
	"strings"

	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/source"
	"github.com/discreet-rl/discreet/rl/feature"
)

// ErrConfig marks a configuration that is incomplete or contradicts itself.
var ErrConfig = fault.Input("invalid configuration")

// Config is one evaluation. Its fields are the keys of the YAML form.
type Config struct {
	Data     Data          `yaml:"data"`
	Problem  Problem       `yaml:"problem"`
	Features *feature.Spec `yaml:"features"`
	Target   Target        `yaml:"target"`
	// Targets are several policies, in place of Target; Levels, Contrasts and Select say
	// what is asked about them.
	Targets   []NamedTarget `yaml:"targets"`
	Levels    *Levels       `yaml:"levels"`
	Contrasts *Contrasts    `yaml:"contrasts"`
	// Select may ask which policy is best: of those in Levels, as far as the intervals
	// tell, or of all by permute-and-flip, without a value.
	Select *Select `yaml:"select"`
	// By asks for the value in each of several groups of persons, in one release.
	By *By `yaml:"by"`

	// Start is a public distribution of first states, under which a value function is
	// averaged too.
	Start *Start `yaml:"start"`

	Method  Method  `yaml:"method"`
	Privacy Privacy `yaml:"privacy"`
	Ledger  *Ledger `yaml:"ledger"`
	Output  Output  `yaml:"output"`
	// Contract says what a contract that is made from this configuration allows.
	Contract *Terms `yaml:"contract"`
	// Justification explains this question and this guarantee: free text that the
	// release repeats for its reviewers. It must say nothing about the data.
	Justification string `yaml:"justification"`
	// Sign is the file of an Ed25519 private key that signs the release; empty
	// leaves it unsigned.
	Sign string `yaml:"sign"`

	// Dir is what relative paths are relative to: the directory of the file that
	// the configuration came from. Empty means the working directory.
	Dir string `yaml:"-"`
}

// LedgerLocation is where the ledger is: a URL as it stands, or a file.
func (c Config) LedgerLocation() string {
	if strings.Contains(c.Ledger.Path, "://") {
		return c.Ledger.Path
	}
	return c.Resolve(c.Ledger.Path)
}

// Resolve resolves a path of the configuration. A name such as s3://bucket/key stays as it is.
func (c Config) Resolve(p string) string {
	if p == "" || filepath.IsAbs(p) || source.Remote(p) {
		return p
	}
	return filepath.Join(c.Dir, p)
}
