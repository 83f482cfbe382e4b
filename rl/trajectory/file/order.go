package file

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/csvfile"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/parquetfile"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/spill"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// sortedParts bounds the parts that Sort takes.
const sortedParts = spill.MostRuns

// Sort puts all data in the order of the ids of persons, on disk: in memory are some MB of
// rows, and the names of one part. The episodes of a person stay in their own order, which
// says what comes first. It ends with all that is wrong with the data, as [Read] would, and
// gives what was counted. There must be 128 parts at most.
func (x *Spill) Sort(ctx context.Context) (Summary, error) {
	dir := filepath.Join(x.dir, "runs")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return Summary{}, err
	}
	x.runs = spill.NewRuns(dir, sortedParts, &x.frame)
	err := x.each(ctx, x.sort)
	if err == nil {
		err = x.in.Verdict()
	}
	if err != nil {
		return Summary{}, cmp.Or(err, x.runs.Close())
	}
	x.sum.Files, x.sum.Records, x.sum.Lines, x.sum.Whole, x.sum.EndUnknown = len(x.in.Files()), x.in.Rows(), x.in.Lines(), true, x.frame.EndUnknown
	x.sum.Repaired, x.sum.Notices = x.in.Repaired(), x.in.Notices()
	return x.sum, nil
}

// sort puts a part into its run.
func (x *Spill) sort(part int, of episodes) error {
	var sum Summary
	var last []byte
	err := of(func(record []byte) error {
		person, rows, err := x.frame.Head(record)
		if err != nil {
			return lost(err)
		}
		if sum.Episodes == 0 || !bytes.Equal(person, last) {
			last = append(last[:0], person...)
			sum.Persons++
		}
		sum.Episodes++
		sum.Rows += rows
		return x.runs.Put(part, record)
	})
	x.mutex.Lock()
	defer x.mutex.Unlock()
	x.sum.Persons += sum.Persons
	x.sum.Episodes += sum.Episodes
	x.sum.Rows += sum.Rows
	return err
}

func (x *Spill) form() table.Form {
	return table.Form{Nulls: x.o.Keep, Nameless: x.about.ByEpisode && !x.o.EpisodePerPerson || x.about.Nameless}
}

// WriteParquet writes the data that were sorted as [WriteMarked] does.
func (x *Spill) WriteParquet(ctx context.Context, to io.Writer, marks map[string]string) error {
	return parquetfile.WriteEach(to, marks, x.form(), x.sorted(ctx))
}

// WriteCSV writes the data that were sorted as CSV in the canonical columns.
func (x *Spill) WriteCSV(ctx context.Context, to io.Writer) error {
	return csvfile.WriteEach(to, x.form(), x.sorted(ctx))
}

// sorted gives the data in order.
func (x *Spill) sorted(ctx context.Context) func(put func(*trajectory.Dataset, bool) error) error {
	return func(put func(*trajectory.Dataset, bool) error) error {
		return x.datasets(func(take func([]byte) error) error { return x.runs.Each(ctx, take) }, put)
	}
}
