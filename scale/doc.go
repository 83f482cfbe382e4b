// Package scale evaluates data in shards, on one machine or many, with
// a release that equals that of one process bit for bit.
//
// Every private sum is made by the accumulator of internal/dp/mechanism, which can obtain
// it from elsewhere. A run has one round for each sum, of which the first is the check of the data too. The driver writes a [Task]:
// the question, and the transcript of noisy sums released so far. A worker replays the
// estimator on the persons of its shard with the transcript in place of releases, up to
// the next sum; its exact integers, masked, are its [Partial]. The driver adds partials,
// draws the noise once, makes the noisy sum durable, and continues. Only the driver plans, checks,
// charges, draws noise and releases; a worker has no noise and no ledger.
//
// Start with [Write], which makes shards, and [Driver.Evaluate]; a worker calls only
// [Answer]. The unit is a person, whose rows are all in one shard. The event is that of the method, as
// in one process. docs/proofs/distributed.md has the proof, docs/scale.md the manual.
//
// Partials are private data. Their words are masked modulo 2^64 under the run's key, which
// is in no task and no partial. This protects them in logs, queues and disks of an engine, but not
// from a worker, who reads the shard.
package scale

import (
	"errors"

	"github.com/discreet-rl/discreet/internal/fault"
)

// Sentinel errors. What this package says of its own files wraps one of them.
var (
	// ErrTask marks text that is no task, or one of another question or program.
	ErrTask = fault.Input("invalid task")
	// ErrPartial marks a partial that is cut, lost, foreign, stale or there twice.
	ErrPartial = fault.Input("invalid partial")
	// ErrShard marks a file that is not the shard it says it is.
	ErrShard = fault.Input("invalid shard")
	// ErrKey marks a run key that is missing or malformed.
	ErrKey = fault.Input("invalid run key")
	// ErrRun marks a run directory that is of another run, or damaged.
	ErrRun = fault.Input("invalid run directory")
	// ErrEngine marks a command that did not make the partials of a round.
	ErrEngine = errors.New("engine failed")
)
