package beam

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"

	"github.com/discreet-rl/discreet/internal/source"
	"github.com/discreet-rl/discreet/scale"
)

// Config says which runner, and who works for it.
type Config struct {
	// Jobs is the address of the runner's job service; empty stands for prism in this
	// process.
	Jobs string
	// Workers is the address of a [Pool] as the machines of the runner see it; empty has
	// this process do the work.
	Workers string
	// Parallelism is how many shards, partitions or files are worked on at a time, on prism at most 8; 0 stands for one a
	// core of this machine.
	Parallelism int
	// Attempts is how often a round is tried where the runner fails; 0 stands for 3.
	Attempts int
	// Rows, if not nil, are the data of [scale.Driver.Partitions] in place of files: it adds to the pipeline of each
	// round a bounded collection of rows, always the same ones. An element is a struct or a map that
	// [encoding/json] writes as an object, or the text of one as a []byte, and is read as a line of NDJSON (data.format).
	// The order is that of steps (data.steps), or none. Workers run this program.
	Rows func(sdk.Scope) sdk.PCollection
	// Tell, if not nil, is told in a line what goes wrong and is tried again.
	Tell func(string)
}

// Validate reports what cannot be.
func (c Config) Validate() error {
	for name, address := range map[string]string{"job service": c.Jobs, "workers": c.Workers} {
		if address == "" {
			continue
		}
		if _, port, err := net.SplitHostPort(address); err != nil || port == "" {
			return fmt.Errorf("%w: the address of the %s is %q; want HOST:PORT", ErrConfig, name, address)
		}
	}
	if c.Parallelism < 0 || c.Parallelism > math.MaxInt16 || c.Attempts < 0 {
		return fmt.Errorf("%w: parallelism %d, attempts %d; want 0 to %d, and 0 or more", ErrConfig, c.Parallelism, c.Attempts, math.MaxInt16)
	}
	return nil
}

// Engine is a runner of Beam. It implements [scale.Engine].
type Engine struct {
	config Config
	client jobpb.JobServiceClient
	close  func() error
}

// longestDial bounds how long a job service may take to answer at first.
const longestDial = 30 * time.Second

// Open connects to the runner. Without an address it starts prism, which listens on a port
// of every interface of this machine for as long as the process lives, and runs what is
// sent there.
func Open(ctx context.Context, c Config) (*Engine, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Parallelism == 0 {
		c.Parallelism = runtime.GOMAXPROCS(0)
	}
	if c.Attempts == 0 {
		c.Attempts = 3
	}
	if c.Tell == nil {
		c.Tell = func(string) {}
	}
	if c.Jobs == "" {
		client, err := prism.CreateJobServer(ctx, prism.Options{})
		if err != nil {
			return nil, fmt.Errorf("%w: prism: %w", ErrJob, err)
		}
		return &Engine{c, client, func() error { return nil }}, nil
	}
	conn, err := grpcx.Dial(ctx, c.Jobs, longestDial)
	if err != nil {
		return nil, fmt.Errorf("%w: no job service answers at %s: %w", ErrJob, c.Jobs, err)
	}
	return &Engine{c, jobpb.NewJobServiceClient(conn), conn.Close}, nil
}

// Close ends the connection.
func (e *Engine) Close() error { return e.close() }

// Round implements [scale.Engine]: one job, and another where the runner failed.
func (e *Engine) Round(ctx context.Context, r scale.Round) ([]scale.Partial, error) {
	if e.config.Rows != nil {
		if err := collectable(r); err != nil {
			return nil, err
		}
		return e.round(ctx, r, nil, collected(e.config.Rows))
	}
	if len(r.Shards) > 0 {
		return e.round(ctx, r, r.Shards, pipeline)
	}
	files, err := r.Task.Files(reaching(ctx))
	if err != nil {
		return nil, err
	}
	return e.round(ctx, r, files, grouping)
}

// round has jobs made of shards, of files or of rows, until one leaves an answer.
func (e *Engine) round(ctx context.Context, r scale.Round, names []string, make func(j job, out string) *sdk.Pipeline) (_ []scale.Partial, err error) {
	j := job{Names: slices.Clone(names), Hash: r.Hash.String(), Partitions: r.Task.Shards, Ways: e.ways()}
	if j.Task, err = filepath.Abs(r.Path); err != nil {
		return nil, err
	}
	if j.Dir, err = filepath.Abs(r.Dir); err != nil {
		return nil, err
	}
	for i, s := range names {
		if j.Names[i], err = source.Abs(s); err != nil {
			return nil, err
		}
	}
	for attempt := 1; ; attempt++ {
		out := filepath.Join(j.Dir, fmt.Sprintf("job-%d", attempt))
		err = e.run(ctx, fmt.Sprintf("discreet-round-%d-%d", r.Task.Round, attempt), make(j, out))
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		// What a job left counts, whatever became of the job after that.
		p, found := answerOf(out)
		if found == nil || errors.Is(found, ErrRefused) {
			return []scale.Partial{p}, found
		}
		if err == nil {
			err = fmt.Errorf("%w: it ended and left no answer: %w; workers and driver need the run directory under the same path", ErrJob, found)
		}
		if attempt == e.config.Attempts {
			return nil, fmt.Errorf("round %d, attempt %d of %d: %w; mend that, and start the driver again: it goes on", r.Task.Round, attempt, e.config.Attempts, err)
		}
		e.config.Tell(fmt.Sprintf("round %d, attempt %d of %d: %s; trying again", r.Task.Round, attempt, e.config.Attempts, firstLine(err)))
	}
}

// mostAtOnce is how many bundles prism has worked on at a time.
const mostAtOnce = 8

// ways is in how many branches pipelines spread work. Prism gives one worker all elements of a branch; other runners
// spread those of one over all workers.
func (e *Engine) ways() int {
	if e.config.Jobs != "" {
		return 1
	}
	return min(e.config.Parallelism, mostAtOnce)
}

// answerOf reads what a job left.
func answerOf(out string) (scale.Partial, error) {
	text, err := readRefusal(out)
	if err == nil {
		return scale.Partial{}, fmt.Errorf("%w: %s", ErrRefused, text)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return scale.Partial{}, err
	}
	return scale.ReadPartial(out + partSuffix)
}

// firstLine is what an error says before the stacks of a runner.
func firstLine(err error) string {
	text, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n\t")
	return strings.Join(strings.Fields(text), " ")
}
