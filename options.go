package discreet

import (
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Option changes how [Evaluate] runs.
type Option func(*job)

// WithProgress calls f now and then while the data is read.
func WithProgress(f func(trajectory.Progress)) Option {
	return func(j *job) { j.progress = f }
}

// WithSource draws the noise from src instead of a fresh cryptographic source.
// A seeded source serves tests alone and marks the release.
func WithSource(src *noise.Source) Option {
	return func(j *job) { j.source = src }
}

// WithKey charges the ledger under an idempotency key of the caller's, so that a
// call that is made again after a failure is not charged again: it returns the
// recorded release, or says that there is none. Without it each call has a random
// key. It does nothing without a ledger.
func WithKey(key string) Option {
	return func(j *job) { j.key, j.retry = key, true }
}

// set applies options; nil ones ask for nothing.
func (j *job) set(options []Option) {
	for _, o := range options {
		if o != nil {
			o(j)
		}
	}
}
