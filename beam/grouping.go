package beam

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/discreet-rl/discreet/scale"
)

func init() {
	register.DoFn3x1[context.Context, int, func(string, []byte), error](&scatterFile{})
	register.DoFn3x2[context.Context, string, func(*[]byte) bool, []byte, error](&gatherPartition{})
	register.DoFn3x1[string, []byte, func(string, []byte), error](&ofBranch{})
	register.Emitter2[string, []byte]()
	register.Iter1[[]byte]()
}

// grouping is the job of a round on rows: workers read the files, large ones in parts, and give every row to its
// person's partition, the runner brings those of a partition to one worker, who answers for it. The runner moves
// sealed pieces, by number of partition.
func grouping(j job, out string) *sdk.Pipeline { return grouped(j, out, &gatherPartition{Job: j}) }

func grouped(j job, out string, gather any) *sdk.Pipeline {
	p, s := sdk.NewPipelineWithRoot()
	numbers := make([]int, len(j.Names))
	for i := range numbers {
		numbers[i] = i
	}
	placed := inBranches(s, j.Ways, numbers, &scatterFile{Job: j})
	keep(s, sdk.Flatten(s, gathered(s, j.Ways, j.Partitions, placed, gather)...), out)
	return p
}

// gathered groups by partition, of so many, what was placed, and has that worked on in branches, as [inBranches] has it.
func gathered(s sdk.Scope, ways, partitions int, placed []sdk.PCollection, by any) (out []sdk.PCollection) {
	ways = max(1, min(ways, partitions))
	for way := range ways {
		of := placed
		if ways > 1 {
			of = nil
			for _, all := range placed {
				of = append(of, sdk.ParDo(s, &ofBranch{Way: way, Ways: ways}, all))
			}
		}
		out = append(out, sdk.ParDo(s, by, sdk.GroupByKey(s, sdk.Flatten(s, of...))))
	}
	return out
}

// ofBranch leaves of what is given to partitions what is one branch's.
type ofBranch struct {
	Way, Ways int
}

// ProcessElement passes on what is given to the partitions of its branch.
func (f *ofBranch) ProcessElement(partition string, given []byte, emit func(partition string, given []byte)) error {
	number, err := strconv.Atoi(partition)
	if err == nil && number%f.Ways == f.Way {
		emit(partition, given)
	}
	return err
}

// What is given to a partition: a piece of a file's rows, or why a file cannot be read.
const tagPiece = 'p'

// scatterFile reads one file, or a part of one.
type scatterFile struct {
	Job job
}

// ProcessElement gives rows to partitions. What is the curator's to mend goes to all of them.
func (f *scatterFile) ProcessElement(ctx context.Context, file int, emit func(partition string, piece []byte)) error {
	task, hash, key, err := f.Job.asked()
	if err == nil {
		beside := filepath.Join(f.Job.Dir, fmt.Sprintf("file-%d", slices.Index(f.Job.Names, f.Job.Names[file])))
		err = here.Scatter(reaching(ctx), task, hash, f.Job.Names, file, beside, key, func(partition int, piece []byte) error {
			emit(strconv.Itoa(partition), append([]byte{tagPiece}, piece...))
			return nil
		})
	}
	if err == nil {
		return nil
	}
	why, err := refused(f.Job.Names[file], err)
	for partition := 0; err == nil && partition < f.Job.Partitions; partition++ {
		emit(strconv.Itoa(partition), why)
	}
	return err
}

// gatherPartition answers the task for a partition.
type gatherPartition struct {
	Job job
}

// ProcessElement holds all rows of the partition.
func (f *gatherPartition) ProcessElement(ctx context.Context, partition string, given func(*[]byte) bool) ([]byte, error) {
	var pieces [][]byte
	for piece := []byte(nil); given(&piece); piece = nil {
		if len(piece) == 0 || piece[0] != tagPiece {
			return piece, nil
		}
		pieces = append(pieces, piece[1:])
	}
	return answered("partition "+partition, func(task scale.Task, hash scale.Hash, key scale.RunKey) (scale.Partial, error) {
		number, err := strconv.Atoi(partition)
		if err != nil {
			return scale.Partial{}, fmt.Errorf("%w: what was to name a partition came back as something else", ErrJob)
		}
		return here.Gather(ctx, task, hash, number, pieces, filepath.Join(f.Job.Dir, partition+partSuffix), key)
	}, f.Job)
}
