package arrowfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/flatbuffer"
)

// The kinds of messages, as numbered in Arrow's Message.fbs.
const (
	messageSchema     = 1
	messageDictionary = 2
	messageBatch      = 3
)

// The largest metadata and body of a message.
const (
	mostMetadata = 1 << 24
	mostBody     = 1 << 31
	// atOnce is how much memory grows before the bytes that fill it are there.
	atOnce = 1 << 20
)

// message is the metadata of a part of the stream, and its bytes, which hold until the next.
type message struct {
	kind   int
	header flatbuffer.Table
	body   []byte
}

// messages are those of a stream, one after another.
type messages struct {
	r              *bufio.Reader
	read           int64
	metadata, body []byte
	footed         bool // a file, whose footer follows
}

// begin passes over the mark at the beginning of a file. Its schema and rows follow as in a
// stream, and are read as one.
func (m *messages) begin() error {
	const mark = "ARROW1\x00\x00"
	head, err := m.r.Peek(len(mark))
	if err == nil && string(head) == mark {
		m.footed = true
		_, err = m.r.Discard(len(mark))
	}
	return err
}

// bare reads the schema of a file that begins with it as it is, without its length, as Polars writes files: readers of files
// are to go by the footer. What follows it is found by its form, a message whose length is a multiple of 8 after the mark of
// one. ok is false of every other file.
func (m *messages) bare() (schema message, ok bool, err error) {
	head, _ := m.r.Peek(m.r.Size())
	const least = 64 // of a schema that has its length before it
	if !m.footed || len(head) < 8 || binary.LittleEndian.Uint32(head) >= least {
		return message{}, false, nil
	}
	for at := 8; at+8 <= len(head); at += 8 {
		if !follows(head[at:]) {
			continue
		}
		m.metadata = append(m.metadata[:0], head[:at]...)
		root := flatbuffer.Root(m.metadata)
		header, ok := root.Sub(2)
		if !ok {
			break
		}
		n, err := m.r.Discard(at)
		m.read += int64(n)
		return message{kind: root.Byte(1), header: header}, true, err
	}
	return message{}, true, errors.New("its schema has no length before it, and no end is found; write a stream (write_ipc_stream), or Parquet")
}

// follows tells that a message begins here, or the mark of the end.
func follows(b []byte) bool {
	size := binary.LittleEndian.Uint32(b[4:])
	if binary.LittleEndian.Uint32(b) != math.MaxUint32 || size%8 != 0 || size > mostMetadata {
		return false
	}
	if size == 0 || len(b) < 8+int(size) {
		return true
	}
	defer func() { _ = recover() }() // of bytes that are no message an offset leads outside
	root := flatbuffer.Root(b[8 : 8+size])
	_, ok := root.Sub(2)
	kind := root.Byte(1)
	return ok && root.Long(3) >= 0 && (kind == messageDictionary || kind == messageBatch)
}

// next reads a message; io.EOF is the mark of the end. A stream that stops without it was
// cut, and nobody knows how many rows it has lost.
func (m *messages) next() (message, error) {
	size, err := m.word()
	if err == nil && size == math.MaxUint32 { // before lengths, since Arrow 0.15
		size, err = m.word()
	}
	switch {
	case errors.Is(err, io.EOF):
		return message{}, errors.New("it stops without the mark of its end, and may have lost rows")
	case err != nil:
		return message{}, err
	case size == 0:
		return message{}, m.ends()
	case size > mostMetadata:
		return message{}, fmt.Errorf("metadata of %d bytes", size)
	}
	if m.metadata, err = m.fill(m.metadata[:0], int(size)); err != nil {
		return message{}, err
	}
	root := flatbuffer.Root(m.metadata)
	n := root.Long(3)
	if n < 0 || n > mostBody {
		return message{}, fmt.Errorf("a part of %d bytes; the most is %d: write batches of fewer rows", n, mostBody)
	}
	if m.body, err = m.fill(m.body[:0], n); err != nil {
		return message{}, err
	}
	header, ok := root.Sub(2)
	if !ok {
		return message{}, errors.New("a message without a header")
	}
	return message{kind: root.Byte(1), header: header, body: m.body}, nil
}

// ends is io.EOF where nothing follows the mark of the end but the footer of a file: rows of a
// second stream or file, joined to the first, are not lost in silence.
func (m *messages) ends() error {
	const tail, padding = 4 + len("ARROW1"), 64
	rest, err := io.ReadAll(io.LimitReader(m.r, mostMetadata))
	switch n := len(rest); {
	case err != nil:
		return err
	case !m.footed && n == 0:
		return io.EOF
	case !m.footed, n >= tail && n > tail+padding+int(binary.LittleEndian.Uint32(rest[n-tail:])):
		return errors.New("more follows the mark of its end, as where streams were joined, which are files of their own")
	case n < tail || string(rest[n-len("ARROW1"):]) != "ARROW1":
		return errors.New("it stops without its footer")
	}
	return io.EOF
}

func (m *messages) word() (uint32, error) {
	var b [4]byte
	n, err := io.ReadFull(m.r, b[:])
	m.read += int64(n)
	return binary.LittleEndian.Uint32(b[:]), err
}

// fill reads n bytes. Memory grows with what there is.
func (m *messages) fill(b []byte, n int) ([]byte, error) {
	for n > 0 {
		at, next := len(b), min(n, max(cap(b)-len(b), atOnce))
		b = slices.Grow(b, next)[:at+next]
		got, err := io.ReadFull(m.r, b[at:])
		m.read += int64(got)
		if err != nil {
			return b[:at], io.ErrUnexpectedEOF
		}
		n -= next
	}
	return b, nil
}
