package beam

import (
	"context"
	"fmt"
	"strconv"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/discreet-rl/discreet/scale"
)

func init() {
	register.DoFn3x1[context.Context, string, func(string, []byte), error](&divideFile{})
	register.DoFn3x2[context.Context, string, func(*[]byte) bool, string, error](&joinShard{})
}

// Shard makes shards of data in files: one job, and another where the runner failed, which
// does it all again. What the runner moves are paths: of the files, of what became of each,
// and numbers of shards.
func (e *Engine) Shard(ctx context.Context, s scale.Sharding) ([]string, error) {
	return s.Spread(ctx, e.spread)
}

// spread has jobs made until one has divided every file and joined every shard.
func (e *Engine) spread(ctx context.Context, plan string, files []string, shards int) error {
	for attempt := 1; ; attempt++ {
		err := e.run(ctx, fmt.Sprintf("discreet-shard-%d", attempt), shardPipeline(plan, files, shards, e.ways()))
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			return nil
		case attempt == e.config.Attempts:
			return fmt.Errorf("attempt %d of %d: %w; mend that, and make the shards again", attempt, e.config.Attempts, err)
		}
		e.config.Tell(fmt.Sprintf("attempt %d of %d: %s; trying again", attempt, e.config.Attempts, firstLine(err)))
	}
}

// shardPipeline divides every file by shard, and joins every shard.
func shardPipeline(plan string, files []string, shards, ways int) *sdk.Pipeline {
	p, s := sdk.NewPipelineWithRoot()
	divided := inBranches(s, ways, files, &divideFile{Plan: plan, Shards: shards})
	gathered(s, ways, shards, divided, &joinShard{Plan: plan})
	return p
}

// divideFile divides one file by shard.
type divideFile struct {
	Plan   string
	Shards int
}

// ProcessElement gives the path of the rows to every shard, also to one of which the file
// has none: what is true of all data is there. What is wrong with the data stays in that
// file, which no runner reads.
func (f *divideFile) ProcessElement(ctx context.Context, path string, emit func(shard string, rows []byte)) error {
	rows, err := here.Divide(reaching(ctx), f.Plan, path)
	if err != nil {
		return err
	}
	for shard := range f.Shards {
		emit(strconv.Itoa(shard), []byte(rows))
	}
	return nil
}

// joinShard makes one shard.
type joinShard struct {
	Plan string
}

// ProcessElement joins what the files have for a shard, and says which.
func (f *joinShard) ProcessElement(ctx context.Context, shard string, rows func(*[]byte) bool) (string, error) {
	n, err := strconv.Atoi(shard)
	if err != nil {
		return "", fmt.Errorf("%w: what was to name a shard came back as something else", ErrJob)
	}
	var all []string
	for path := []byte(nil); rows(&path); path = nil {
		all = append(all, string(path))
	}
	return shard, here.Join(reaching(ctx), f.Plan, n, all)
}
