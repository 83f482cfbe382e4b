package spill

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// A pack is one file with all parts, one after another, and after them what is true of all
// of it, the ends of the parts, how many bytes and parts these are, and a mark.
const (
	packMark = "discreet"
	packTail = 8 + 8 + 8 // the mark has 8 bytes too
	// mostFacts bounds what is true of a pack, in bytes.
	mostFacts = 1 << 24
)

// Pack writes all parts, and bytes about them, in the form that [OpenPack] reads.
func (w *Writer) Pack(ctx context.Context, to io.Writer, facts []byte) error {
	ends, end := []byte{}, uint64(0)
	err := w.each(ctx, 1, func(_ int, r io.Reader) error {
		n, err := io.Copy(to, r)
		end += uint64(n)
		ends = binary.LittleEndian.AppendUint64(ends, end)
		return err
	})
	if err != nil {
		return err
	}
	tail := binary.LittleEndian.AppendUint64(append(facts[:len(facts):len(facts)], ends...), uint64(len(facts)))
	tail = append(binary.LittleEndian.AppendUint64(tail, uint64(w.parts)), packMark...)
	_, err = to.Write(tail)
	return err
}

// Packed is a pack that is open.
type Packed struct {
	// Facts are the bytes about the parts.
	Facts []byte
	file  *os.File
	ends  int64 // where the ends of parts are written
	parts int
}

// OpenPack opens a file that [Writer.Pack] wrote for a number of parts.
func OpenPack(path string, parts int) (*Packed, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	p := &Packed{file: f, parts: parts}
	if err := p.tail(); err != nil {
		return nil, fmt.Errorf("%s is cut, or no file of rows by shard: %w", path, errors.Join(err, f.Close()))
	}
	return p, nil
}

func (p *Packed) tail() error {
	info, err := p.file.Stat()
	if err != nil {
		return err
	}
	var tail [packTail]byte
	if _, err := p.file.ReadAt(tail[:], info.Size()-packTail); err != nil {
		return cut(err)
	}
	facts, parts := binary.LittleEndian.Uint64(tail[:]), binary.LittleEndian.Uint64(tail[8:])
	if string(tail[16:]) != packMark || parts != uint64(p.parts) || facts > mostFacts {
		return io.ErrUnexpectedEOF
	}
	if p.ends = info.Size() - packTail - 8*int64(parts); p.ends < int64(facts) {
		return io.ErrUnexpectedEOF
	}
	p.Facts = make([]byte, facts)
	_, err = p.file.ReadAt(p.Facts, p.ends-int64(facts))
	return cut(err)
}

// Part reads the records of a part.
func (p *Packed) Part(part int) (*Reader, error) {
	var at [2]int64
	for i := range at {
		k := part - 1 + i
		if k < 0 {
			continue
		}
		var b [8]byte
		if _, err := p.file.ReadAt(b[:], p.ends+8*int64(k)); err != nil {
			return nil, cut(err)
		}
		at[i] = int64(binary.LittleEndian.Uint64(b[:]))
	}
	if at[0] < 0 || at[1] < at[0] || at[1] > p.ends {
		return nil, io.ErrUnexpectedEOF
	}
	return NewReader(io.NewSectionReader(p.file, at[0], at[1]-at[0])), nil
}

// Close closes the file.
func (p *Packed) Close() error { return p.file.Close() }
