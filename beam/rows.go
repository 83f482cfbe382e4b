package beam

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/internal/source"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/scale"
)

func init() {
	sdk.RegisterType(reflect.TypeFor[placeRows]()) // its rows are of any type
	register.DoFn2x0[int, func(string, []byte)](&awaitRows{})
	register.DoFn3x2[context.Context, string, func(*[]byte) bool, []byte, error](&answerRows{})
}

// collectable refuses a question that rows in no order, of no file, do not answer.
func collectable(r scale.Round) error {
	c, err := discreet.Parse("question", []byte(r.Task.Question))
	switch {
	case err != nil:
		return err
	case len(r.Shards) > 0:
		return fmt.Errorf("%w: shards and rows of a collection; give the driver partitions", ErrConfig)
	case c.Data.Format != "ndjson":
		return fmt.Errorf("%w: data.format is %q, and rows of a collection are read as NDJSON; set it to ndjson", ErrConfig, c.Data.Format)
	case !c.Data.OneRowEpisodes && (c.Data.Steps == nil || !c.Data.Steps.Sort):
		return fmt.Errorf("%w: a collection has no order; set data.steps: {sort: true}", ErrConfig)
	}
	return nil
}

// collected is the job of a round on rows of a collection: they go as lines of JSON to their persons' partitions, whose
// workers sort and read them. The runner moves and keeps them as they are.
func collected(rows func(sdk.Scope) sdk.PCollection) func(j job, out string) *sdk.Pipeline {
	return func(j job, out string) *sdk.Pipeline {
		p, s := sdk.NewPipelineWithRoot()
		numbers := make([]int, j.Partitions)
		for i := range numbers {
			numbers[i] = i
		}
		all := sdk.WindowInto(s, window.NewGlobalWindows(), rows(s))
		placed := []sdk.PCollection{sdk.ParDo(s, &placeRows{Job: j}, all), sdk.ParDo(s, &awaitRows{}, sdk.CreateList(s, numbers))}
		keep(s, sdk.Flatten(s, gathered(s, j.Ways, j.Partitions, placed, &answerRows{Job: j})...), out)
		return p
	}
}

// awaitRows has partitions answer that have no rows.
type awaitRows struct{}

// ProcessElement gives a partition none.
func (*awaitRows) ProcessElement(partition int, emit func(partition string, lines []byte)) {
	emit(strconv.Itoa(partition), []byte{})
}

// placeRows gives rows to partitions.
type placeRows struct {
	Job job

	lines [][]byte
	size  int
}

// linesAtOnce bounds lines whose partitions are asked for together, in bytes.
const linesAtOnce = 1 << 20

// inMemory is the directory of lines there.
const inMemory = source.MemoryScheme + "collection/rows/"

// StartBundle begins without rows, also after a bundle that failed.
func (f *placeRows) StartBundle(context.Context, func(string, []byte)) { f.lines, f.size = nil, 0 }

// ProcessElement takes a row. An error does not tell what is in it.
func (f *placeRows) ProcessElement(ctx context.Context, row sdk.X, emit func(partition string, lines []byte)) error {
	of := any(row)
	if text, ok := of.([]byte); ok {
		of = json.RawMessage(text)
	}
	line, err := json.Marshal(of)
	if err != nil {
		return refusing(fmt.Errorf("%w: one of type %T is not written as JSON; give structs, maps, or the text of objects", ErrConfig, of), emit)
	}
	f.lines, f.size = append(f.lines, line), f.size+len(line)
	if f.size < linesAtOnce {
		return nil
	}
	return f.FinishBundle(ctx, emit)
}

// FinishBundle gives away what was taken. Rows whose persons are not told go to the first partition, whose worker tells
// the curator why.
func (f *placeRows) FinishBundle(ctx context.Context, emit func(partition string, lines []byte)) error {
	if len(f.lines) == 0 {
		return nil
	}
	task, _, key, err := f.Job.asked()
	if err != nil {
		return refusing(err, emit)
	}
	places, err := here.Places(source.With(ctx, memory(f.lines)), task, inMemory, key)
	if errors.Is(err, trajectory.ErrInput) || err == nil && len(places) != len(f.lines) {
		places, err = make([]uint32, len(f.lines)), nil
	}
	if err != nil {
		return refusing(err, emit)
	}
	of := map[uint32][][]byte{}
	for i, place := range places {
		of[place] = append(of[place], f.lines[i])
	}
	for place, lines := range of {
		emit(strconv.Itoa(int(place)), joined(lines))
	}
	f.lines, f.size = nil, 0
	return nil
}

// refusing has the first partition say what is the user's to mend. No line begins as that does.
func refusing(err error, emit func(string, []byte)) error {
	why, err := refused("a row", err)
	if err == nil {
		emit("0", why)
	}
	return err
}

func memory(lines [][]byte) source.Memory {
	return source.Memory{inMemory + "lines.ndjson": joined(lines)}
}

func joined(lines [][]byte) []byte { return append(bytes.Join(lines, []byte{'\n'}), '\n') }

// answerRows answers the task for a partition.
type answerRows struct {
	Job job
}

// ProcessElement holds all rows of the partition, in an order that follows from them alone.
func (f *answerRows) ProcessElement(ctx context.Context, partition string, given func(*[]byte) bool) ([]byte, error) {
	var lines [][]byte
	for some := []byte(nil); given(&some); some = nil {
		if len(some) > 0 && some[0] == tagRefused {
			return some, nil
		}
		if len(some) > 0 {
			lines = append(lines, bytes.Split(some[:len(some)-1], []byte{'\n'})...)
		}
	}
	return answered("partition "+partition, func(task scale.Task, hash scale.Hash, key scale.RunKey) (scale.Partial, error) {
		number, err := strconv.Atoi(partition)
		if err != nil {
			return scale.Partial{}, fmt.Errorf("%w: what was to name a partition came back as something else", ErrJob)
		}
		if len(lines) == 0 {
			return scale.Partial{}, fmt.Errorf("%w: partition %d of %d holds no rows; give fewer partitions", ErrConfig, number, f.Job.Partitions)
		}
		slices.SortFunc(lines, bytes.Compare)
		ctx := source.With(ctx, memory(lines))
		return here.Partition(ctx, task, hash, number, inMemory, filepath.Join(f.Job.Dir, partition+partSuffix), key)
	}, f.Job)
}
