package yamlfile

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"path/filepath"

	"github.com/discreet-rl/discreet/rl/sim"
	"github.com/discreet-rl/discreet/train"
)

// FleetAgent is the YAML form of a device that trains over a network; see docs/fleet.md.
type FleetAgent struct {
	// Server is the server's URL.
	Server string `yaml:"server"`
	// Authority is a file of certificates (PEM) of the server's certificate authority.
	Authority string `yaml:"authority"`
	// Root is the public key that signs runs.
	Root string `yaml:"root"`
	// State is a directory for this device alone, with its rounds, certificate and wallet.
	State string `yaml:"state"`
	// Machine is what the state is bound to; by default /etc/machine-id or what the system has in its
	// place, or else the host's name.
	Machine string `yaml:"machine"`
	// Code is the enrolment code, for the first start.
	Code string `yaml:"code"`
	// Run is the run to take part in, 32 hexadecimal digits; without it the server's oldest.
	Run string `yaml:"run"`
	// Epsilon is the device's lifetime budget over all runs. The first value stays in force.
	Epsilon float64 `yaml:"epsilon"`
	// Poll is the mean time between requests for a round; 10 by default, and less where rounds are
	// short.
	Poll *float64 `yaml:"poll_seconds"`
	// Consent is what the owner agrees to. A run that is not equal to it is refused.
	Consent fleetConsent `yaml:"consent"`
	// Learner says which program trains.
	Learner fleetAgentLearns `yaml:"learner"`

	dir string // what relative paths are relative to
}

type fleetConsent struct {
	// Purpose is the run's purpose, word for word.
	Purpose string `yaml:"purpose"`
	// Randomizer is that of the run, as discreet fleet create prints it.
	Randomizer train.Randomizer `yaml:"randomizer"`
	// Reports is the largest number that the run may ask of the device.
	Reports int `yaml:"reports"`
	// Weights is the number of weights.
	Weights int `yaml:"weights"`
	// LocalSHA256 is the SHA-256 of the run's local_json; without it the owner does
	// not restrict local training.
	LocalSHA256 string `yaml:"local_sha256"`
}

type fleetAgentLearns struct {
	// Stdio says that another program learns, which speaks over standard input and output.
	Stdio bool `yaml:"stdio"`
	// Environment is one that this program simulates.
	Environment *environment `yaml:"environment"`
	// Seed makes the simulated environments reproducible.
	Seed *uint64 `yaml:"seed"`
}

// LoadFleetAgent reads a device's configuration and applies overrides of the form key.key=value. Relative paths in it are
// relative to its directory.
func LoadFleetAgent(path string, overrides []string) (FleetAgent, error) {
	f, err := Load[FleetAgent](path, overrides)
	f.dir = filepath.Dir(path)
	if err != nil {
		return f, err
	}
	for _, needed := range []struct{ key, value string }{{"server", f.Server}, {"authority", f.Authority}, {"root", f.Root}, {"state", f.State}} {
		if needed.value == "" {
			return f, fmt.Errorf("%w: %s is missing", ErrSyntax, needed.key)
		}
	}
	if f.Learner.Stdio == (f.Learner.Environment != nil) {
		return f, fmt.Errorf("%w: learner has to be either stdio: true or an environment", ErrSyntax)
	}
	if f.Learner.Stdio && f.Learner.Seed != nil {
		return f, fmt.Errorf("%w: learner.seed is for an environment of this program; remove it", ErrSyntax)
	}
	if f.Poll != nil && !(*f.Poll > 0 && *f.Poll < 1e6) {
		return f, fmt.Errorf("%w: poll_seconds is %v; want above 0", ErrSyntax, *f.Poll)
	}
	return f, nil
}

// Path resolves a path of the configuration.
func (f FleetAgent) Path(p string) string {
	if p == "" || filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(f.dir, p)
}

// RunID is the run to take part in; nil for the server's only one.
func (f FleetAgent) RunID() (*train.RunID, error) {
	if f.Run == "" {
		return nil, nil
	}
	var id train.RunID
	b, err := hex.DecodeString(f.Run)
	if err != nil || len(b) != len(id) {
		return nil, fmt.Errorf("%w: run is %q; want %d hexadecimal digits", ErrSyntax, f.Run, 2*len(id))
	}
	copy(id[:], b)
	return &id, nil
}

// Local is the SHA-256 of local_json that the owner agreed to; nil where it is left open.
func (f FleetAgent) Local() (*[32]byte, error) {
	if f.Consent.LocalSHA256 == "" {
		return nil, nil
	}
	b, err := hex.DecodeString(f.Consent.LocalSHA256)
	if err != nil || len(b) != 32 {
		return nil, fmt.Errorf("%w: consent.local_sha256 is %q; want 64 hexadecimal digits", ErrSyntax, f.Consent.LocalSHA256)
	}
	return (*[32]byte)(b), nil
}

// Environment is the one that this device lives in, with its name and the generator that drives it.
func (f FleetAgent) Environment() (name string, env sim.Env, rng *rand.Rand, err error) {
	all, _, err := f.Learner.Environment.all()
	if err != nil {
		return "", nil, nil, fmt.Errorf("learner: %w", err)
	}
	if len(all) != 1 || f.Learner.Environment.MaxSteps != 0 {
		return "", nil, nil, fmt.Errorf("%w: learner.environment describes %d environments, or max_steps, which the run says; a device lives in one", ErrSyntax, len(all))
	}
	if env, err = all[0].New(); err != nil {
		return "", nil, nil, fmt.Errorf("learner: %w", err)
	}
	rng = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	if s := f.Learner.Seed; s != nil {
		rng = rand.New(rand.NewPCG(*s, 0x666c656574))
	}
	return f.Learner.Environment.Name, env, rng, nil
}
