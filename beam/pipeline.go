package beam

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/discreet-rl/discreet/beam/internal/s3"
	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/source"
	"github.com/discreet-rl/discreet/scale"
)

func init() {
	register.DoFn2x2[context.Context, string, []byte, error](&answerShard{})
	register.DoFn1x1[[]byte, error](&keepAnswer{})
	register.Combiner1[[]byte](&mergeAnswers{})
}

// An answer is what workers say of some shards, and what a runner moves between machines:
// a tag, and a merged partial in its one form, or what workers have against their shards,
// a line for each. It is bytes, which every runner takes as they are: Flink returned
// structures shifted.
const (
	tagPart    = 'p'
	tagRefused = 'r'
)

func refusal(lines []string) []byte {
	slices.Sort(lines)
	lines = slices.Compact(lines)
	return append([]byte{tagRefused}, strings.Join(lines[:min(len(lines), mostRefused)], "\n")...)
}

// job is what a round's job is about, and what its workers know.
type job struct {
	// Task is the path of the task, and Hash its hash.
	Task, Hash string
	// Dir is the directory of the round.
	Dir string
	// Names are the shards, or the files whose rows are grouped into Partitions.
	Names      []string
	Partitions int
	// Ways is in how many branches a pipeline spreads what workers do.
	Ways int
}

// pipeline is the job of a round on shards. Out is the name, without its suffix, of the file that it
// leaves.
func pipeline(j job, out string) *sdk.Pipeline {
	p, s := sdk.NewPipelineWithRoot()
	names := j.Names
	j.Names = nil
	keep(s, sdk.Flatten(s, inBranches(s, j.Ways, names, &answerShard{Job: j})...), out)
	return p
}

// inBranches has elements worked on in so many branches, whose outputs it returns. Within a branch the reshuffle has workers
// share them that are not where their list was made.
func inBranches[T any](s sdk.Scope, ways int, all []T, by any) (out []sdk.PCollection) {
	dealt := make([][]T, max(1, min(ways, len(all))))
	for i, x := range all {
		dealt[i%len(dealt)] = append(dealt[i%len(dealt)], x)
	}
	for _, some := range dealt {
		out = append(out, sdk.ParDo(s, by, sdk.Reshuffle(s, sdk.CreateList(s, some))))
	}
	return out
}

// keep leaves the sum of all answers.
func keep(s sdk.Scope, answers sdk.PCollection, out string) {
	sdk.ParDo0(s, &keepAnswer{Out: out}, sdk.Combine(s, &mergeAnswers{}, answers))
}

// here is the worker of this process, and objects what it reads s3:// by. Runners make an
// answerShard anew for every bundle.
var (
	here    scale.Worker
	objects s3.Client
)

// reaching has a worker read objects, each of one version in all of an answer.
func reaching(ctx context.Context) context.Context { return source.With(ctx, objects.Session()) }

// answerShard answers the task for a shard.
type answerShard struct {
	Job job
}

// ProcessElement is a worker's life.
func (f *answerShard) ProcessElement(ctx context.Context, shard string) ([]byte, error) {
	return answered(shard, func(task scale.Task, hash scale.Hash, key scale.RunKey) (scale.Partial, error) {
		return here.Answer(reaching(ctx), task, hash, shard, key)
	}, f.Job)
}

// answered is the answer of one who knows the task and the run key. What is the curator's to mend is an answer, which no
// runner tries again; an error is of the machine, and the runner may.
func answered(about string, by func(scale.Task, scale.Hash, scale.RunKey) (scale.Partial, error), j job) ([]byte, error) {
	task, hash, key, err := j.asked()
	var p scale.Partial
	if err == nil {
		p, err = by(task, hash, key)
	}
	if err != nil {
		return refused(about, err)
	}
	part, err := p.Encode()
	return append([]byte{tagPart}, part...), err
}

// refused is the answer of one who met an error.
func refused(about string, err error) ([]byte, error) {
	if fault.Of(err) == fault.InputFault {
		return refusal([]string{strings.ReplaceAll(fmt.Sprintf("%s: %v", about, err), "\n", " ")}), nil
	}
	return nil, err
}

// asked reads the task and the run key.
func (j job) asked() (task scale.Task, hash scale.Hash, key scale.RunKey, err error) {
	key, found, err := scale.KeyFromEnvironment()
	if err != nil {
		return task, hash, key, err
	}
	if !found {
		return task, hash, key, fmt.Errorf("%w: the worker has none; set %s, or %s to a file of mode 0600, in its environment", scale.ErrKey, scale.KeyVariable, scale.KeyFileVariable)
	}
	if task, hash, err = scale.ReadTask(j.Task); err == nil && hash.String() != j.Hash {
		err = fmt.Errorf("%w: %s is not the task that the driver wrote; workers and driver need one run directory", scale.ErrTask, j.Task)
	}
	return task, hash, key, err
}

// mostRefused bounds how many refusals are told.
const mostRefused = 8

// mergeAnswers adds partials. A runner calls it in any order and as a tree.
type mergeAnswers struct{}

// MergeAccumulators adds two answers. A refusal outweighs what others answered.
func (*mergeAnswers) MergeAccumulators(a, b []byte) ([]byte, error) {
	if len(a) == 0 || len(b) == 0 { // of nobody yet
		return append(a, b...), nil
	}
	var lines []string
	for _, x := range [][]byte{a, b} {
		if x[0] == tagRefused {
			lines = append(lines, strings.Split(string(x[1:]), "\n")...)
		}
	}
	if len(lines) > 0 {
		return refusal(lines), nil
	}
	p, err := scale.ParsePartial(a[1:])
	if err != nil {
		return nil, err
	}
	q, err := scale.ParsePartial(b[1:])
	if err != nil {
		return nil, err
	}
	sum, err := scale.Merge(p, q)
	if err != nil {
		return nil, err
	}
	text, err := sum.Encode()
	return append([]byte{tagPart}, text...), err
}

// The files that a job leaves.
const (
	partSuffix    = ".part"
	refusedSuffix = ".refused"
)

// keepAnswer leaves the answer of all shards where the driver finds it.
type keepAnswer struct {
	Out string
}

// ProcessElement writes one file, whole. A runner may do that twice: one answer is as
// good as the other.
func (f *keepAnswer) ProcessElement(all []byte) error {
	switch {
	case len(all) > 0 && all[0] == tagRefused:
		return leave(f.Out+refusedSuffix, all[1:])
	case len(all) > 0 && all[0] == tagPart:
		return leave(f.Out+partSuffix, all[1:])
	}
	return fmt.Errorf("%w: what workers answered came back as something else", ErrJob)
}

func leave(path string, text []byte) error {
	return atomicfile.Write(path, 0o600, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// longestRefusal bounds what is read of refusals.
const longestRefusal = 1 << 16

func readRefusal(out string) (string, error) {
	f, err := os.Open(out + refusedSuffix)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, longestRefusal))
	return string(text), err
}
