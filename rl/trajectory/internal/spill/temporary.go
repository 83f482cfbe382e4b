package spill

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"slices"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/sorter"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

const (
	// held is how much of each part stays in memory until there is more of it.
	held = 1 << 13
	// together is from how many bytes on a part is divided before it is given.
	together = 1 << 22
	// mostLevels bounds how often parts are divided: the records of one number cannot be.
	mostLevels = 2
)

// Temporary keeps records, and gives those of one number together. If there are few they stay in
// memory; otherwise they are in temporary files whose names are removed as soon as they are
// open, so that nothing is left of them however the process ends. Where a system does not
// remove names of open files they go with [Temporary.Close].
type Temporary struct {
	dir    string
	level  int
	most   int64        // bytes of a part that is not divided
	room   int          // bytes that may still stay in memory
	seed   maphash.Seed // nobody can tell from the data which numbers are in one part
	parts  []partition
	noRoom bool
	next   int        // of the parts to be given
	given  *partition // being read
	text   []byte     // of its file
	below  *Temporary // the part before next, divided
}

// partition holds the records of one range of hashes.
type partition struct {
	held  [][]byte // whole records each; the last one grows
	file  *os.File // nil as long as held has all of it
	named string   // the name of the file where it could not be removed
	wrote int64    // to the file
}

// NewTemporary makes an empty one, whose files are in [os.TempDir], of more records than so many bytes.
func NewTemporary(room int) *Temporary {
	t := newTemporary(os.TempDir(), 0, fan, together)
	t.room = room
	return t
}

func newTemporary(dir string, level, parts int, most int64) *Temporary {
	return &Temporary{dir: dir, level: level, most: most, seed: maphash.MakeSeed(), parts: make([]partition, parts)}
}

// Put adds a record to those of a number.
func (t *Temporary) Put(number int, kind byte, record []byte) error {
	p := &t.parts[maphash.Comparable(t.seed, number)%uint64(len(t.parts))]
	size := mostHead + len(record)
	last := len(p.held) - 1
	if last < 0 || cap(p.held[last])-len(p.held[last]) < size {
		if last >= 0 && t.room <= 0 {
			if err := t.write(p); err != nil {
				return err
			}
		}
		if last = len(p.held) - 1; last < 0 || cap(p.held[last]) < len(p.held[last])+size {
			p.held = append(p.held, make([]byte, 0, max(size, held)))
			t.room -= max(size, held)
			last++
		}
	}
	p.held[last] = append(appendHead(p.held[last], number, kind, record), record...)
	return nil
}

// write puts what is held of a part into its file.
func (t *Temporary) write(p *partition) error {
	if p.file == nil {
		var err error
		if p.file, p.named, err = sorter.Temporary(t.dir); err != nil {
			return t.full(err)
		}
	}
	for _, text := range p.held {
		n, err := p.file.Write(text)
		if p.wrote += int64(n); err != nil {
			return t.full(err)
		}
	}
	if first := p.held[0][:0]; cap(first) > held { // of a long record
		p.held = nil
	} else {
		p.held = [][]byte{first}
	}
	return nil
}

// full says of an error of writing where there was no room, or no right to write.
func (t *Temporary) full(err error) error {
	if err == nil {
		return nil
	}
	t.noRoom = true
	return fmt.Errorf("rows could not be kept in temporary files in %s: %w; they need 8 bytes a number there: have TMPDIR name another directory, or sort the data by person, so that they need none", t.dir, err)
}

// NoRoom tells that records could not be kept on disk.
func (t *Temporary) NoRoom() bool { return t.noRoom || t.below != nil && t.below.NoRoom() }

// Dir is where files were needed, empty where all records are in memory.
func (t *Temporary) Dir() string {
	for i := range t.parts {
		if t.parts[i].file != nil {
			return t.dir
		}
	}
	return ""
}

// Next gives texts until its next call, all records of some numbers, which [Cut] takes from them, and io.EOF
// after the last of them. Records of one number are in the order in which they were put.
func (t *Temporary) Next(ctx context.Context) ([][]byte, error) {
	for {
		if err := errors.Join(ctx.Err(), t.done()); err != nil {
			return nil, err
		}
		if t.below != nil {
			texts, err := t.below.Next(ctx)
			if !errors.Is(err, io.EOF) {
				return texts, err
			}
			t.below = nil
		}
		if t.next == len(t.parts) {
			return nil, io.EOF
		}
		t.given = &t.parts[t.next]
		t.next++
		if texts, err := t.open(ctx, t.given); len(texts) > 0 || err != nil {
			return texts, err
		}
	}
}

// open gives the texts of a part, nothing where there are none, and where there are so
// many that the part was divided.
func (t *Temporary) open(ctx context.Context, p *partition) ([][]byte, error) {
	if p.file == nil {
		return p.held, nil
	}
	err := p.rewind()
	if err == nil && p.wrote > t.most && t.level < mostLevels {
		// Twice as many as would do, since some have more than others.
		return nil, t.divide(ctx, p, int(min(fan, 2*p.wrote/t.most)))
	}
	if err == nil {
		t.text = slices.Grow(t.text[:0], int(p.wrote))[:p.wrote]
		_, err = io.ReadFull(p.file, t.text)
		err = cut(err)
	}
	if err != nil {
		return nil, fmt.Errorf("rows that were kept in a temporary file in %s are gone: %w; run again", t.dir, err)
	}
	return append([][]byte{t.text}, p.held...), nil
}

// divide puts the records of a part into smaller ones.
func (t *Temporary) divide(ctx context.Context, p *partition, parts int) error {
	t.below = newTemporary(t.dir, t.level+1, parts, t.most)
	records := NewReader(io.MultiReader(p.file, bytes.NewReader(slices.Concat(p.held...))))
	for n := 0; ; n++ {
		if n%(1<<10) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		number, kind, record, err := records.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = t.below.Put(number, kind, record)
		}
		if err != nil {
			return err
		}
	}
}

// Cut takes the first record and its number from a text.
func Cut(text []byte) (number int, record, rest []byte, err error) {
	r := &table.Record{Left: text}
	r.Byte() // its kind
	number = r.Count()
	if record = r.Bytes(r.Count()); r.Short {
		err = io.ErrUnexpectedEOF
	}
	return number, record, r.Left, err
}

// done ends the reading of the part that was given.
func (t *Temporary) done() error {
	p := t.given
	if p == nil {
		return nil
	}
	t.given = nil
	return p.close()
}

// Close removes all that is kept.
func (t *Temporary) Close() error {
	var all error
	if t.below != nil {
		all = t.below.Close()
	}
	for i := range t.parts {
		all = errors.Join(all, t.parts[i].close())
	}
	return all
}

// rewind goes to the beginning of the file of a part.
func (p *partition) rewind() error {
	info, err := p.file.Stat()
	if err == nil && info.Size() != p.wrote {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		_, err = p.file.Seek(0, io.SeekStart)
	}
	return err
}

// close forgets a part.
func (p *partition) close() error {
	var err error
	if p.file != nil {
		err = p.file.Close()
	}
	if p.named != "" {
		err = errors.Join(err, os.Remove(p.named))
	}
	*p = partition{}
	return err
}
