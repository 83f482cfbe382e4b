package file

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/ingest"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/spill"
)

// Spill is data on disk, in parts by person, of which one at a time is in memory.
type Spill struct {
	in    *ingest.Stream
	parts *spill.Writer
	frame spill.Frame
	o     trajectory.Options
	about ingest.Facts
}

// Spill reads the stream to its end, and puts each episode into one of a number of parts,
// on disk, in an empty directory that nobody else may read: into that which of gives for
// the id of its person. Memory does not grow with rows, persons or episodes. What is wrong
// with the data is what [Spill.Each] ends with; an error here is of the disk, or of a
// caller who gave up. Ids are compared within parts as well: those of which one is another
// spelling of the other in the part of their plain spelling.
func (s *Stream) Spill(dir string, count int, of func(id string) int) (*Spill, error) {
	o := s.in.Options()
	if o.Horizon != 0 || o.EpisodesPerPerson != 0 {
		return nil, fmt.Errorf("%w: caps on what a person contributes are for who reads the parts; leave them out", trajectory.ErrOptions)
	}
	x := &Spill{in: s.in, parts: spill.NewWriter(dir, count), o: o}
	var record []byte
	err := s.in.Told(func(person, id []byte, e *trajectory.Episode) error {
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

// Each gives the data of every part, in order: all of its persons, in the order in which
// they come first in the data, which may be none. It ends with all that is wrong with the
// data, as [Read] would, and gives no further part once that is anything.
func (x *Spill) Each(ctx context.Context, with func(part int, d *trajectory.Dataset) error) error {
	err := x.parts.Each(ctx, func(part int, records *spill.Reader) error {
		p := x.begin(x.in.Faults() == 0)
		if err := p.read(records); err != nil {
			return err
		}
		d := p.end()
		if x.in.Faults() > 0 {
			return nil
		}
		return with(part, d)
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
}

func (x *Spill) begin(episodes bool) *reading {
	files := x.in.Files()
	return &reading{x, spill.Builder{Frame: x.frame, Files: files}, ingest.NewRegister(files, x.o, x.about), episodes}
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
