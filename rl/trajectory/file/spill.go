package file

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/ingest"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/parquetfile"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/spill"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// Spill is data on disk, in parts by person. In memory are some MB of rows, and the names of one part.
type Spill struct {
	in    *ingest.Stream
	parts *spill.Writer
	dir   string
	frame spill.Frame
	o     trajectory.Options
	about ingest.Facts
	rows  int // of nobody

	mutex  sync.Mutex // of what is wrong with the data, and of sum
	faulty bool       // elsewhere

	runs *spill.Runs // in the order of persons, once Sort was called
	sum  Summary
}

// Spill reads the stream to its end, and puts each episode into one of a number of parts,
// on disk, in an empty directory that nobody else may read: into that which of gives for
// the id of its person. Memory does not grow with rows, persons or episodes. What is wrong
// with the data is what [Spill.Each] ends with; an error here is of the disk, or of a
// caller who gave up. Ids are compared within parts as well: those of which one is another
// spelling of the other in the part of their plain spelling.
func (s *Stream) Spill(dir string, count int, of func(id string) int) (*Spill, error) {
	o := s.in.Options()
	if o.Horizon != 0 || o.EpisodesPerPerson != 0 || o.EpisodeDecisions != 0 {
		return nil, fmt.Errorf("%w: caps on what a person contributes are for who reads the parts; leave them out", trajectory.ErrOptions)
	}
	x := &Spill{in: s.in, parts: spill.NewWriter(dir, count), dir: dir, o: o}
	var record, row []byte
	err := s.in.Told(func(person, id []byte, e *trajectory.Episode) error {
		if person == nil && id == nil { // a row, which is a unit of its own
			row = binary.BigEndian.AppendUint64(row[:0], uint64(x.rows))
			person = row
			x.rows++
		}
		record = x.frame.Append(record[:0], person, id, e)
		return x.parts.Put(of(string(person)), spill.Episode, record)
	}, func(m ingest.Mention) error {
		record = spill.AppendMention(record[:0], m)
		return x.parts.Put(of(string(m.Plain)), spill.Name, record)
	})
	if err != nil {
		return nil, cmp.Or(err, x.parts.Close())
	}
	x.about = s.in.Facts()
	return x, nil
}

// Named tells whether persons have names.
func (x *Spill) Named() bool { return !x.about.Nameless }

// writing writes the data of a part.
type writing = func(to io.Writer, marks map[string]string) error

// Each gives every part that holds persons with names, several at a time, and what writes their data
// as [WriteMarked] does, in the order of their ids. It ends with all that is wrong with
// the data, as [Read] would, and gives no further part once that is anything.
func (x *Spill) Each(ctx context.Context, with func(part int, write writing) error) error {
	err := x.each(ctx, func(part int, of episodes) error {
		return x.shard(of, func(write writing) error { return with(part, write) })
	})
	if err != nil {
		return err
	}
	return x.in.Verdict()
}

// each gives every part whose names and those before are right.
func (x *Spill) each(ctx context.Context, with func(part int, of episodes) error) error {
	return x.parts.Each(ctx, runtime.GOMAXPROCS(0), func(part int, records *spill.Reader) error {
		size, err := records.Again()
		if err != nil {
			return err
		}
		return x.part(ctx, size, func(read func(*spill.Reader) error) error { return read(records) }, func(of episodes) error { return with(part, of) })
	})
}

func (x *Spill) shard(of episodes, with func(write writing) error) error {
	if x.about.Nameless {
		return nil
	}
	return with(func(to io.Writer, marks map[string]string) error {
		return parquetfile.WriteEach(to, marks, table.Form{}, func(put func(*trajectory.Dataset, bool) error) error { return x.datasets(of, put) })
	})
}

// episodes gives records of episodes in the order of persons.
type episodes func(take func(record []byte) error) error

// part checks the names in records of a part, of so many bytes, and gives its episodes where nothing is
// wrong with the data and there are any.
func (x *Spill) part(ctx context.Context, bytes int64, records func(read func(*spill.Reader) error) error, with func(episodes) error) (err error) {
	all := newSorting(&x.frame, x.dir, bytes)
	defer func() { err = cmp.Or(err, all.close()) }()
	right, err := x.check(ctx, records, all.add)
	if err != nil || !right || len(all.records) == 0 {
		return err
	}
	return with(func(take func([]byte) error) error { return all.each(ctx, take) })
}

// check checks the names in a part, and tells whether nothing is wrong with the data. Names of one part
// at a time are in memory.
func (x *Spill) check(ctx context.Context, records func(read func(*spill.Reader) error) error, episode func(record []byte) error) (right bool, err error) {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	names := ingest.NewRegister(x.in.Files(), x.o, x.about)
	err = records(func(r *spill.Reader) error { return x.read(ctx, r, names, episode) })
	x.in.Hear(names)
	return !x.faulty && x.in.Faults() == 0, err
}

// read takes the records of a part.
func (x *Spill) read(ctx context.Context, records *spill.Reader, names *ingest.Register, episode func(record []byte) error) error {
	for n := 0; ; n++ {
		if n%(1<<10) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		kind, record, err := records.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return lost(err)
		case kind != spill.Name:
			if err := episode(record); err != nil {
				return err
			}
			continue
		}
		m, err := spill.ReadMention(record)
		if err != nil || m.File >= len(x.in.Files()) {
			return lost(err)
		}
		names.Check(m)
	}
}

// mostTold is after how many bytes of records a writer is told that a row group may end, whatever memory holds.
const mostTold = 1 << 23

// datasets makes datasets of episodes.
func (x *Spill) datasets(of episodes, put func(d *trajectory.Dataset, end bool) error) error {
	builder, size, told := spill.Builder{Frame: x.frame, Files: x.in.Files()}, 0, 0
	err := of(func(record []byte) error {
		size, told = size+len(record), told+len(record)
		if end := told > mostTold; end || size > inMemory {
			if err := put(builder.Dataset(), end); err != nil {
				return err
			}
			if size = len(record); end {
				told = size
			}
		}
		if err := builder.Add(record); err != nil {
			return lost(err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return put(builder.Dataset(), true)
}
