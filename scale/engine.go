package scale

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/discreet-rl/discreet/internal/source"
)

// Local answers for every shard in this process.
type Local struct {
	// Workers is how many shards are in memory at a time; 0 stands for one a core.
	Workers int

	// worker, if not nil, remembers from round to round. [Driver.Evaluate] gives a run one.
	worker *Worker
}

// Round implements [Engine].
func (l Local) Round(ctx context.Context, r Round) ([]Partial, error) {
	workers := l.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	worker := l.worker
	if worker == nil {
		worker = new(Worker)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	parts := make([]Partial, len(r.Shards))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(workers, len(r.Shards)) {
		wg.Go(func() {
			for i := range next {
				var err error
				if parts[i], err = worker.Answer(ctx, r.Task, r.Hash, r.Shards[i], r.Key); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := range r.Shards {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return parts, nil
}

// Command runs a user-supplied shell command once per round; when it ends, all shards must
// have been answered. It reads the file of the task at $TASK and writes files *.part to $OUT;
// $SHARDS names a file with the path of one shard per line, or $PARTITIONS is how many the command
// makes of rows, and $ROUND is the number of the
// round. The driver puts the run key into its environment.
type Command struct {
	Shell string
	// Output, if not nil, gets what the command prints.
	Output io.Writer
	// Call, if not nil, is called in place of the shell.
	Call func(ctx context.Context, round Round, task, out string) error
}

// Round implements [Engine].
func (c Command) Round(ctx context.Context, r Round) ([]Partial, error) {
	task, err := filepath.Abs(r.Path)
	if err != nil {
		return nil, err
	}
	out, err := filepath.Abs(r.Dir)
	if err != nil {
		return nil, err
	}
	if c.Call != nil {
		if err := c.Call(ctx, r, task, out); err != nil {
			return nil, err
		}
		return partialsOf(r.Task.Round, out)
	}
	if err := c.run(ctx, r, task, out); err != nil {
		return nil, err
	}
	return partialsOf(r.Task.Round, out)
}

// run runs the shell.
func (c Command) run(ctx context.Context, r Round, task, out string) error {
	about, err := aboutShards(r, out)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", c.Shell)
	cmd.Env = append(os.Environ(), "TASK="+task, "OUT="+out, about, fmt.Sprintf("ROUND=%d", r.Task.Round))
	cmd.Stdout, cmd.Stderr = c.Output, c.Output
	endTogether(cmd)
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%w: round %d: %w; mend that, and start the driver again: it goes on", ErrEngine, r.Task.Round, err)
	}
	return nil
}

// aboutShards is the variable that says what is to be answered for.
func aboutShards(r Round, out string) (string, error) {
	if len(r.Shards) == 0 {
		return fmt.Sprintf("PARTITIONS=%d", r.Task.Shards), nil
	}
	list := filepath.Join(out, "shards.txt")
	var lines []byte
	for _, s := range r.Shards {
		path, err := source.Abs(s)
		if err != nil {
			return "", err
		}
		lines = append(append(lines, path...), '\n')
	}
	return "SHARDS=" + list, os.WriteFile(list, lines, 0o600)
}

// partialsOf reads what a round left.
func partialsOf(round int, out string) ([]Partial, error) {
	entries, err := os.ReadDir(out) // by name
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".part") {
			names = append(names, filepath.Join(out, e.Name()))
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%w: round %d: the command ended and left no *.part in $OUT", ErrEngine, round)
	}
	var parts []Partial
	for _, name := range names {
		p, err := ReadPartial(name)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}
