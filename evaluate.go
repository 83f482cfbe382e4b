package discreet

import (
	"context"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/evaluation"
	"github.com/discreet-rl/discreet/internal/signature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// ReleaseType is the payload type of a release in a DSSE envelope.
const ReleaseType = signature.ReleaseType

// ErrNotWritten marks a release that is recorded in its ledger and could not be
// written to its file. Asking again with the same key writes it.
var ErrNotWritten = evaluation.ErrNotWritten

// Result is a release and what only the curator may see.
type Result struct {
	Release *evaluate.Release
	// JSON is the release as it leaves: what is written to the file and, with a
	// ledger, recorded in it, byte for byte.
	JSON []byte
	// Envelope holds JSON in a DSSE envelope of type [ReleaseType]; nil where the
	// release is not signed.
	Envelope []byte
	// Repeated says that the release was made before and came from the ledger: its
	// key was charged then, and nothing was spent now.
	Repeated bool
	// Notices are remarks on the data for its curator, those of the ledger among
	// them. They are not part of the release and must not leave with it.
	Notices []string
	// Path is the file that the release was written to; empty when the
	// configuration names no output.
	Path string
}

// Evaluate runs the whole path: it plans from public facts, reads and checks the
// data, charges the ledger, runs, records the release in the ledger and writes it
// before it returns it. With a ledger nothing of the data is opened before the ledger
// has said that the charge would be taken and has noted a check of them. Errors before
// the charge cost nothing, and from then on count as failed checks; those that concern
// the data are for its curator alone. An error after the charge is a
// [ledger.PendingError], or [ErrNotWritten] where the release is safe in the ledger. What
// the budget does not cover is a [ledger.RefusedError].
func Evaluate(ctx context.Context, c config.Config, options ...Option) (*Result, error) {
	s := Apply(options)
	r, err := evaluation.Evaluate(ctx, c, evaluation.Settings{Progress: s.Progress, Source: s.Source, Key: s.Key, Retry: s.Retry})
	return (*Result)(r), err
}

// Settings are how a run goes, besides what its configuration says.
type Settings struct {
	// Progress is called now and then while data are read; nil for none.
	Progress func(trajectory.Progress)
	// Source draws the noise; nil for a fresh cryptographic source.
	Source *noise.Source
	// Key is the caller's idempotency key where Retry is set, see [WithKey].
	Key   string
	Retry bool
}

// Option changes how [Evaluate] runs; nil changes nothing.
type Option func(*Settings)

// Apply is what options come to.
func Apply(options []Option) Settings {
	var s Settings
	for _, o := range options {
		if o != nil {
			o(&s)
		}
	}
	return s
}

// WithProgress calls f now and then while the data is read.
func WithProgress(f func(trajectory.Progress)) Option {
	return func(s *Settings) { s.Progress = f }
}

// WithSource draws the noise from src instead of a fresh cryptographic source.
// A seeded source serves tests alone and marks the release.
func WithSource(src *noise.Source) Option {
	return func(s *Settings) { s.Source = src }
}

// WithKey charges the ledger under an idempotency key of the caller's, so that a
// call that is made again after a failure is not charged again: it returns the
// recorded release, or says that there is none. Without it each call has a random
// key. It does nothing without a ledger.
func WithKey(key string) Option {
	return func(s *Settings) { s.Key, s.Retry = key, true }
}
