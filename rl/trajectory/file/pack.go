package file

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/csvfile"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/ingest"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/spill"
)

// Format is the name of the format of the files.
func (s *Stream) Format() string { return s.in.Format() }

// packed is what is true of a file that was packed.
type packed struct {
	Frame spill.Frame
	Found ingest.Facts
}

// Pack writes all parts into one file, in a form that [Stream.Unpack] reads, with what is
// wrong with the data. It takes the place of [Spill.Each].
func (x *Spill) Pack(ctx context.Context, to io.Writer) error {
	facts, err := json.Marshal(packed{x.frame, x.in.Facts()})
	if err != nil {
		return err
	}
	return x.parts.Pack(ctx, to, facts)
}

// OpenPacks is a stream for [Stream.Unpack] alone, of files that were packed elsewhere: it
// reads none of them.
func OpenPacks(ctx context.Context, files []string, o trajectory.Options) (*Stream, error) {
	in, err := ingest.NewStream(ctx, csvfile.Format(), files, o)
	if err != nil {
		return nil, err
	}
	return &Stream{in: in}, nil
}

// Unpack gives one of count parts, from packs of each file of a stream that is itself not read, in
// the order of the files, where it holds anybody and nothing is wrong with the data. What is wrong with
// names in this part is added to what [Stream.Found] tells. Rows are kept in dir as [Stream.Spill] does.
func (s *Stream) Unpack(ctx context.Context, dir string, packs []string, count, part int, with func(write writing) error) error {
	if len(packs) != len(s.Files()) {
		return fmt.Errorf("%w: %d packs of %d files", trajectory.ErrOptions, len(packs), len(s.Files()))
	}
	x, bytes := &Spill{in: s.in, dir: dir, o: s.in.Options()}, int64(0)
	all := make([]packed, len(packs))
	for i, name := range packs {
		if err := unpacked(name, count, func(from *spill.Packed, of packed) error {
			all[i] = of
			x.faulty = x.faulty || of.Found.Faults.Total > 0
			records, err := from.Part(part)
			if err != nil {
				return err
			}
			n, err := records.Again()
			bytes += n
			return err
		}); err != nil {
			return err
		}
	}
	x.frame, x.about = joinFrames(all), all[0].Found
	return x.part(ctx, bytes, func(read func(*spill.Reader) error) error {
		for _, name := range packs {
			if err := unpacked(name, count, func(from *spill.Packed, _ packed) error {
				records, err := from.Part(part)
				if err != nil {
					return err
				}
				return read(records)
			}); err != nil {
				return err
			}
		}
		return nil
	}, func(of episodes) error { return x.shard(of, with) })
}

// unpacked opens a pack for as long as with takes.
func unpacked(name string, count int, with func(from *spill.Packed, of packed) error) error {
	from, err := spill.OpenPack(name, count)
	if err != nil {
		return err
	}
	defer from.Close()
	var of packed
	if err := json.Unmarshal(from.Facts, &of); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return with(from, of)
}

// joinFrames is the frame of all files. One without an episode says nothing of columns.
func joinFrames(all []packed) spill.Frame {
	var f spill.Frame
	for _, p := range all {
		if p.Frame.Begun && !f.Begun {
			f = p.Frame
		}
		f.Finals = f.Finals || p.Frame.Finals
	}
	return f
}

// Found is what was found, apart from episodes, in a form that [Stream.Gather] reads. It
// is as private as the data.
func (s *Stream) Found() ([]byte, error) { return json.Marshal(s.in.Facts()) }

// Gather ends the reading of a stream whose files others have packed, and returns all that
// is wrong with the data: what the packs tell, and what [Stream.Found] told of each part.
// It reports whether persons have names.
func (s *Stream) Gather(packs []string, count int, parts func(yield func(found []byte) bool)) (named bool, err error) {
	defer s.Close()
	var files []ingest.Facts
	named = true
	for _, name := range packs {
		err := unpacked(name, count, func(_ *spill.Packed, of packed) error {
			files = append(files, of.Found)
			named = named && !of.Found.Nameless
			return nil
		})
		if err != nil {
			return false, err
		}
	}
	for found := range parts {
		var of ingest.Facts
		if err := json.Unmarshal(found, &of); err != nil {
			return false, err
		}
		s.in.Note(of)
	}
	s.in.Gather(files...)
	return named, s.in.Verdict()
}
