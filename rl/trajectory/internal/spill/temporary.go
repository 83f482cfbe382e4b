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
	below  *Temporary // the part before next, divided
}

// partition holds the records of one range of hashes.
type partition struct {
	held  []byte
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
	if t.room > 0 {
		t.room -= size
	} else if len(p.held) > 0 && len(p.held)+size > held {
		if err := t.write(p); err != nil {
			return err
		}
	}
	if cap(p.held)-len(p.held) < size {
		p.held = slices.Grow(p.held, max(len(p.held), size, held/4))
	}
	p.held = append(appendHead(p.held, number, kind, record), record...)
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
	n, err := p.file.Write(p.held)
	if p.wrote, p.held = p.wrote+int64(n), p.held[:0]; cap(p.held) > 2*held { // of a long record
		p.held = nil
	}
	return t.full(err)
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

// Next gives records until its next call, all of some numbers, and io.EOF after the last
// of them. Records of one number are in the order in which they were put.
func (t *Temporary) Next(ctx context.Context) (*Reader, error) {
	for {
		if err := errors.Join(ctx.Err(), t.done()); err != nil {
			return nil, err
		}
		if t.below != nil {
			r, err := t.below.Next(ctx)
			if !errors.Is(err, io.EOF) {
				return r, err
			}
			t.below = nil
		}
		if t.next == len(t.parts) {
			return nil, io.EOF
		}
		t.given = &t.parts[t.next]
		t.next++
		if r, err := t.open(ctx, t.given); r != nil || err != nil {
			return r, err
		}
	}
}

// open gives the records of a part, nothing where there are none, and where there are so
// many that the part was divided.
func (t *Temporary) open(ctx context.Context, p *partition) (*Reader, error) {
	if p.wrote == 0 && len(p.held) == 0 {
		return nil, nil
	}
	r, err := p.records()
	if err != nil {
		return nil, fmt.Errorf("rows that were kept in a temporary file in %s are gone: %w; run again", t.dir, err)
	}
	if p.wrote > t.most && t.level < mostLevels {
		// Twice as many as would do, since some have more than others.
		return nil, t.divide(ctx, r, int(min(fan, 2*p.wrote/t.most)))
	}
	return r, nil
}

// divide puts the records of a part into smaller ones.
func (t *Temporary) divide(ctx context.Context, records *Reader, parts int) error {
	t.below = newTemporary(t.dir, t.level+1, parts, t.most)
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

// records reads a part from its beginning.
func (p *partition) records() (*Reader, error) {
	if p.file == nil {
		return NewReader(bytes.NewReader(p.held)), nil
	}
	info, err := p.file.Stat()
	if err == nil && info.Size() != p.wrote {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		_, err = p.file.Seek(0, io.SeekStart)
	}
	return NewReader(io.MultiReader(p.file, bytes.NewReader(p.held))), err
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
