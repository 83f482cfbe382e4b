package file

import (
	"context"
	"errors"
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
	err := x.parts.Each(ctx, func(part int, records *spill.Reader) error { return x.sortPart(ctx, part, records) })
	if err == nil {
		err = x.in.Verdict()
	}
	if err != nil {
		return Summary{}, errors.Join(err, x.runs.Close())
	}
	x.sum = Summary{Files: len(x.in.Files()), Records: x.in.Rows(), Lines: x.in.Lines(), Whole: true, EndUnknown: x.frame.EndUnknown,
		Repaired: x.in.Repaired(), Notices: x.in.Notices()}
	before := ""
	err = x.runs.Each(ctx, func(record []byte) error {
		person, err := x.frame.Person(record)
		if err != nil {
			return err
		}
		rows, err := x.frame.Rows(record)
		if x.sum.Persons == 0 || string(person) != before {
			before = string(person)
			x.sum.Persons++
		}
		x.sum.Episodes++
		x.sum.Rows += rows
		return err
	})
	return x.sum, err
}

// sortPart puts a part into its run.
func (x *Spill) sortPart(ctx context.Context, part int, records *spill.Reader) error {
	size, err := records.Again()
	if err != nil {
		return err
	}
	p, held := x.begin(false), kept{}
	if p.put = held.add; size > inMemory {
		p.persons = map[string]int64{}
	}
	if err := p.read(records); err != nil {
		return err
	}
	if x.in.Hear(p.names); x.in.Faults() > 0 {
		return nil
	}
	if p.persons == nil {
		return x.runs.Put(part, held.records)
	}
	return x.ranges(ctx, records, p.persons, func(records *spill.Reader) error {
		p, held := x.begin(false), kept{}
		p.put = held.add
		if err := p.read(records); err != nil {
			return err
		}
		return x.runs.Put(part, held.records)
	})
}

// kept are records in memory.
type kept struct {
	records [][]byte
	free    []byte
}

func (k *kept) add(record []byte) {
	if len(record) > cap(k.free)-len(k.free) {
		k.free = make([]byte, 0, max(1<<20, len(record)))
	}
	at := len(k.free)
	k.free = append(k.free, record...)
	k.records = append(k.records, k.free[at:len(k.free):len(k.free)])
}

func (x *Spill) form() table.Form {
	return table.Form{Nulls: x.o.Keep, Nameless: x.about.ByEpisode && !x.o.EpisodePerPerson || x.about.Nameless}
}

// WriteParquet writes the data that were sorted as [WriteMarked] does.
func (x *Spill) WriteParquet(ctx context.Context, to io.Writer, marks map[string]string) error {
	return parquetfile.WriteEach(to, marks, x.form(), func(put func(*trajectory.Dataset) error) error { return x.each(ctx, put) })
}

// WriteCSV writes the data that were sorted as CSV in the canonical columns.
func (x *Spill) WriteCSV(ctx context.Context, to io.Writer) error {
	return csvfile.WriteEach(to, x.form(), func(put func(*trajectory.Dataset) error) error { return x.each(ctx, put) })
}

// each gives the data in order, some MB at a time.
func (x *Spill) each(ctx context.Context, put func(*trajectory.Dataset) error) error {
	builder, size := spill.Builder{Frame: x.frame, Files: x.in.Files()}, 0
	err := x.runs.Each(ctx, func(record []byte) error {
		if size += len(record); size > inMemory {
			size = len(record)
			if err := put(builder.Dataset()); err != nil {
				return err
			}
		}
		return builder.Add(record)
	})
	if err != nil {
		return err
	}
	return put(builder.Dataset())
}
