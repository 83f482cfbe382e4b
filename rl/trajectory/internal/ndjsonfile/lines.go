package ndjsonfile

import (
	"bytes"
	"errors"
	"io"
)

// Sizes of the buffer: it starts at the first and doubles up to the second,
// which bounds one line.
const (
	startBuffer = 1 << 18
	maxBuffer   = 1 << 28
)

var errTooLong = errors.New("line longer than the buffer may grow")

// lines cuts a stream into lines that are not blank.
type lines struct {
	r      io.Reader
	data   []byte
	pos    int // of the next line
	number int // of the line given last, from 1
	err    error
}

// next gives the next line, without its end. It holds until the next call. At the
// end of the stream it returns io.EOF.
func (l *lines) next() ([]byte, error) {
	for {
		line, err := l.line(&l.pos)
		if err != nil {
			return nil, err
		}
		l.number++
		if line = l.bare(line); len(line) > 0 {
			return line, nil
		}
	}
}

// bare is the line just numbered without the spaces around it, and, if it is the
// first, without a byte order mark.
func (l *lines) bare(line []byte) []byte {
	if l.number == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	return bytes.Trim(line, " \t\r")
}

// line gives the line that starts at *at, reading on as needed, and moves *at
// behind it. Only what lies before l.pos may be thrown away.
func (l *lines) line(at *int) ([]byte, error) {
	for searched := *at; ; {
		if i := bytes.IndexByte(l.data[searched:], '\n'); i >= 0 {
			line := l.data[*at : searched+i]
			*at = searched + i + 1
			return line, nil
		}
		if l.err == io.EOF && *at < len(l.data) {
			line := l.data[*at:]
			*at = len(l.data)
			return line, nil
		}
		if l.err != nil {
			return nil, l.err
		}
		searched = len(l.data)
		shift := l.more()
		searched -= shift
		if at != &l.pos {
			*at -= shift
		}
	}
}

// more reads on. It throws away what lies before l.pos, and returns how much
// that was.
func (l *lines) more() int {
	shift := l.pos
	n := copy(l.data, l.data[shift:])
	l.data, l.pos = l.data[:n], 0
	if len(l.data) == cap(l.data) {
		if cap(l.data) >= maxBuffer {
			l.err = errTooLong
			return shift
		}
		grown := make([]byte, n, max(startBuffer, 2*cap(l.data)))
		copy(grown, l.data)
		l.data = grown
	}
	got, err := l.r.Read(l.data[n:cap(l.data)])
	l.data, l.err = l.data[:n+got], err
	return shift
}
