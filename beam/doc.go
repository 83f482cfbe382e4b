// Package beam has the rounds of [scale.Driver] answered by an Apache Beam runner: by prism,
// within this process, or by a cluster such as Apache Flink. It is a module of its own, so
// that the main one links neither Beam nor gRPC.
//
// Start with [Open]; an [Engine] is the driver's. A round is one job: the shards are
// elements that the runner spreads over its workers, a worker answers for a whole shard
// ([scale.Answer]), and the runner adds partials as a tree ([scale.Merge]). Without shards
// the elements are files, whose rows the runner groups by partition
// ([scale.Worker.Scatter], [scale.Worker.Gather]), or rows of a user's own collection ([Config.Rows]), which it moves as they are. What else the
// runner moves, logs and keeps are paths of files, sealed rows and masked partials; the run key comes to
// every worker by its environment. Driver and workers are one program and see the data
// and the run directory under the same absolute paths.
//
// Unit, adjacency and event are those of the method, as in one process, and so are the
// bytes of the release: docs/proofs/distributed.md.
package beam

import (
	"errors"

	"github.com/discreet-rl/discreet/internal/fault"
)

// Sentinel errors.
var (
	// ErrConfig marks an engine that cannot be.
	ErrConfig = fault.Input("invalid Beam engine")
	// ErrRefused marks a round in which a worker found that its shard, task or key is not
	// right. The runner is not asked again.
	ErrRefused = fault.Input("refused by a worker")
	// ErrJob marks a job that the runner did not bring to its end.
	ErrJob = errors.New("the job on Beam failed")
)
