package file

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/ingest"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/parquetfile"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/spill"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// Spill is data on disk, in parts by person, of which one at a time is in memory.
type Spill struct {
	in    *ingest.Stream
	parts *spill.Writer
	dir   string
	frame spill.Frame
	o     trajectory.Options
	about ingest.Facts
	rows  int // of nobody

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
		return nil, errors.Join(err, x.parts.Close())
	}
	x.about = s.in.Facts()
	return x, nil
}

// Named tells whether persons have names.
func (x *Spill) Named() bool { return !x.about.Nameless }

// Each gives every part, in order: how many persons it has, which may be none, and what
// writes their data as [WriteMarked] does, in the order of their ids. Of a part with many
// rows some of the persons are in memory at a time. It ends with all that is wrong with
// the data, as [Read] would, and gives no further part once that is anything.
func (x *Spill) Each(ctx context.Context, with func(part, persons int, write func(to io.Writer, marks map[string]string) error) error) error {
	err := x.parts.Each(ctx, func(part int, records *spill.Reader) error {
		size, err := records.Again()
		if err != nil {
			return err
		}
		p := x.begin(x.in.Faults() == 0)
		if size > inMemory {
			p.persons = map[string]int64{}
		}
		if err := p.read(records); err != nil {
			return err
		}
		if p.persons == nil {
			d := p.end()
			if x.in.Faults() > 0 {
				return nil
			}
			return with(part, d.Persons(), func(to io.Writer, marks map[string]string) error {
				return parquetfile.WriteMarked(to, sorted(d), marks)
			})
		}
		x.in.Hear(p.names)
		if x.in.Faults() > 0 {
			return nil
		}
		return with(part, len(p.persons), func(to io.Writer, marks map[string]string) error {
			return parquetfile.WriteEach(to, marks, table.Form{}, func(put func(*trajectory.Dataset) error) error {
				return x.inRanges(ctx, records, p.persons, put)
			})
		})
	})
	if err != nil {
		return err
	}
	return x.in.Verdict()
}

// reading puts a part together.
type reading struct {
	of       *Spill
	builder  spill.Builder
	names    *ingest.Register
	episodes bool // are wanted: nothing is wrong with the data so far
	// persons, where they are too many for memory at one time, and the bytes of each; else
	// nil.
	persons map[string]int64
	// put, if not nil, takes the records of episodes in place of the builder.
	put func(record []byte)
}

func (x *Spill) begin(episodes bool) *reading {
	files := x.in.Files()
	return &reading{of: x, builder: spill.Builder{Frame: x.frame, Files: files}, names: ingest.NewRegister(files, x.o, x.about), episodes: episodes}
}

// read takes the records of a part.
func (p *reading) read(records *spill.Reader) error {
	for {
		kind, record, err := records.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
		case kind == spill.Name:
			var m ingest.Mention
			if m, err = spill.ReadMention(record); err == nil && m.File >= len(p.builder.Files) {
				err = io.ErrUnexpectedEOF
			}
			if err == nil {
				p.names.Check(m)
			}
		case p.persons != nil:
			err = p.weigh(record)
		case p.put != nil:
			p.put(record)
		case p.episodes:
			err = p.builder.Add(record)
		}
		if err != nil {
			return fmt.Errorf("rows that were kept on disk cannot be read again: %w", err)
		}
	}
}

// end gives the data of the part.
func (p *reading) end() *trajectory.Dataset {
	p.of.in.Hear(p.names)
	return p.builder.Dataset()
}
