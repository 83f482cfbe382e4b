package device

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/train"
)

// Consent is what the owner of a device agreed to: Purpose, Randomizer, Reports and Dim of the run, and in Local the SHA-256 of what
// is learned, nil where that is left open. A run is taken part in only if it is equal.
type Consent struct {
	// Purpose, Randomizer, Reports and Dim are those of the run.
	Purpose    string
	Randomizer train.Randomizer
	Reports    int
	Dim        int
	// Local is the SHA-256 of the run's local_json; nil where the owner leaves open what is
	// learned on the device, which does not change what a report tells.
	Local *[sha256.Size]byte
}

// Config is what a device's owner decides.
type Config struct {
	// Dir is a directory of the device's own. What is in it must not be lost, nor an older copy put in its place.
	Dir string
	// Root is the key that signs runs, as the owner got it from the operator, not over the network.
	Root ed25519.PublicKey
	// Run is the run to take part in; nil for the server's only one.
	Run *train.RunID
	// Consent is what the owner agreed to.
	Consent Consent
	// Epsilon is what the device spends over its life, in all runs.
	Epsilon float64
	// Poll is how often the server is asked for a new round, on average. If 0 it is 10 s, and no more than a third of the time
	// that rounds give for training, of which a device begins with none that it hears of too late; 1 s at least.
	Poll time.Duration
	// Machine is what the state is bound to: the identifier of the machine unless set, and the host's name where it has none. A
	// state that was begun elsewhere is refused unless Move says that it was brought here, and that no other copy goes on.
	Machine string
	Move    bool
	// BackOff is the wait after a first failure, doubled up to MostBackOff, and drawn uniformly below that; 1 s and 5 min if 0.
	BackOff, MostBackOff time.Duration
	// Log receives what happens; nil for nothing. It never gets a number that was learned.
	Log *slog.Logger
	// Noise is the source of a round's noise. Nil stands for the operating system's; anything else is for tests and reproductions.
	Noise func(round uint64) *noise.Source
}

// The defaults.
const (
	longestPoll        = 10 * time.Second
	shortestPoll       = time.Second
	defaultBackOff     = time.Second
	defaultMostBackOff = 5 * time.Minute
	mostSkew           = 5 * time.Minute
)

// Validate tells what is missing or out of range, wrapping [ErrConfig].
func (c Config) Validate() error {
	switch {
	case c.Dir == "":
		return fmt.Errorf("%w: no directory to keep its state in", ErrConfig)
	case len(c.Root) != ed25519.PublicKeySize:
		return fmt.Errorf("%w: the root's key has %d bytes; want %d", ErrConfig, len(c.Root), ed25519.PublicKeySize)
	case !(c.Epsilon > 0) || math.IsInf(c.Epsilon, 0):
		return fmt.Errorf("%w: epsilon is %v; want a finite number above 0", ErrConfig, c.Epsilon)
	case c.Poll < 0 || c.BackOff < 0 || c.MostBackOff < 0 || c.MostBackOff > 0 && c.MostBackOff < c.BackOff:
		return fmt.Errorf("%w: it asks every %v and waits %v to %v; want none below 0, and no less at most than at least", ErrConfig, c.Poll, c.BackOff, c.MostBackOff)
	}
	return fleet.Consent(c.Consent).Validate()
}
