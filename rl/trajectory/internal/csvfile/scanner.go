package csvfile

import (
	"bytes"
	"errors"
	"io"
	"math"
)

// Sizes of the buffer: it starts at the first and doubles up to the second,
// which bounds one record.
const (
	startBuffer = 1 << 18
	maxBuffer   = 1 << 28
)

var (
	// errIncomplete asks for more of the file: a quoted field goes on.
	errIncomplete = errors.New("record continues beyond the buffer")
	errQuote      = errors.New("text after a closing quote")
	errBareQuote  = errors.New("a quote inside a field without quotes")
	errLineEnd    = errors.New("a line end inside a field in quotes")
	errTooLong    = errors.New("record longer than the buffer may grow")
)

// toEnd is the limit of a scanner that reads to the end of its file.
const toEnd = math.MaxInt64

// scanner holds a piece of a file that ends in a newline, so that a search for
// the end of a field always ends inside it.
type scanner struct {
	r    io.Reader
	buf  []byte // ends in a newline, or is empty
	data []byte // buf and the unfinished line after it
	pos  int    // start of the next record
	line int    // its line, from 1
	eof  bool
	sep  byte // between fields
	// stop marks the bytes at which a field without quotes ends, or is refused.
	stop [256]bool
	// multiline lets a field in quotes hold line ends. Otherwise a record is a line.
	multiline bool

	base  int64 // place of data[0] in the file
	limit int64 // a record that starts at or beyond this place is another range's
	most  int   // bytes that the buffer may grow to
}

// newScanner reads the file of r, whose first byte is at place base of the file and
// begins a line.
func newScanner(r io.Reader, sep byte, multiline bool, base int64, line int) scanner {
	s := scanner{r: r, line: line, sep: sep, multiline: multiline, base: base, limit: toEnd, most: maxBuffer}
	s.stop[sep], s.stop['\n'], s.stop['"'] = true, true, true
	return s
}

// at is the place of the next record in the file.
func (s *scanner) at() int64 { return s.base + int64(s.pos) }

// more reads on. It keeps what starts at keep, which becomes pos, and returns
// only when buf has grown by at least a line. At the end of the file it returns
// io.EOF if nothing was kept, else io.ErrUnexpectedEOF; a last line without a
// newline is given one.
func (s *scanner) more(keep int) error {
	if s.eof {
		if keep == len(s.data) {
			return io.EOF
		}
		return io.ErrUnexpectedEOF
	}
	had := len(s.buf) - keep
	n := copy(s.data, s.data[keep:])
	s.data, s.pos, s.base = s.data[:n], 0, s.base+int64(keep)
	searched := max(had, 0)
	for {
		if err := s.grow(); err != nil {
			return err
		}
		got, err := s.r.Read(s.data[len(s.data) : cap(s.data)-1])
		s.data = s.data[:len(s.data)+got]
		if i := bytes.LastIndexByte(s.data[searched:], '\n'); i >= 0 {
			s.buf = s.data[:searched+i+1]
			if err == io.EOF {
				s.end()
			} else if err != nil {
				return err
			}
			return nil
		}
		searched = len(s.data)
		if err == io.EOF {
			s.end()
			if len(s.buf) > had {
				return nil
			}
			if len(s.buf) == 0 {
				return io.EOF
			}
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
	}
}

// grow makes the buffer larger when it is full; a byte is kept free for a last
// newline.
func (s *scanner) grow() error {
	if cap(s.data)-len(s.data) > 1 {
		return nil
	}
	if cap(s.data) >= s.most {
		return errTooLong
	}
	grown := make([]byte, len(s.data), max(startBuffer, 2*cap(s.data)))
	copy(grown, s.data)
	s.data = grown
	return nil
}

// end is called when the whole file has been read.
func (s *scanner) end() {
	s.eof = true
	if n := len(s.data); n > 0 && s.data[n-1] != '\n' {
		s.data = append(s.data, '\n')
	}
	s.buf = s.data
}

// skipBlank moves to the next record that is not an empty line, reading on as
// needed. Where that is at or beyond the limit it returns io.EOF.
func (s *scanner) skipBlank() error {
	for {
		for s.pos < len(s.buf) {
			switch {
			case s.at() >= s.limit:
				return io.EOF
			case s.buf[s.pos] == '\n':
				s.pos++
			case s.buf[s.pos] == '\r' && s.buf[s.pos+1] == '\n':
				s.pos += 2
			default:
				return nil
			}
			s.line++
		}
		if s.at() >= s.limit {
			return io.EOF
		}
		if err := s.more(s.pos); err != nil {
			return err
		}
	}
}

// skip finds the end of the field that starts at p: a separator, or the first
// byte of a line's end. It counts the lines that end inside the field.
func (s *scanner) skip(p int) (next, lines int, err error) {
	if s.buf[p] == '"' {
		_, next, lines, err = s.quoted(p, nil)
		return next, lines, err
	}
	next, err = s.plainEnd(p)
	return next, 0, err
}

// plainEnd finds the end of a field without quotes, which may hold none.
func (s *scanner) plainEnd(p int) (int, error) {
	b, stop := s.buf, &s.stop
	start := p
	for !stop[b[p]] {
		p++
	}
	switch {
	case b[p] == '"':
		return 0, errBareQuote
	case b[p] == '\n' && p > start && b[p-1] == '\r':
		return p - 1, nil
	}
	return p, nil
}

// field gives the text of the field that starts at p and its end. The text of a
// quoted field with quotes in it is put into scratch.
func (s *scanner) field(p int, scratch []byte) (text []byte, next, lines int, err error) {
	if s.buf[p] == '"' {
		return s.quoted(p, scratch)
	}
	if next, err = s.plainEnd(p); err != nil {
		return nil, 0, 0, err
	}
	return s.buf[p:next], next, 0, nil
}

// quoted reads a field in quotes. It fails with errIncomplete when the quote
// does not close within the buffer, and the field may hold line ends: without leave
// to do so it ends on its line, or not at all.
func (s *scanner) quoted(p int, scratch []byte) (text []byte, next, lines int, err error) {
	p++
	doubled := false
	scratch = scratch[:0]
	for {
		i := bytes.IndexByte(s.buf[p:], '"')
		if i < 0 {
			return nil, 0, 0, s.unclosed()
		}
		piece := s.buf[p : p+i]
		if lines += bytes.Count(piece, []byte{'\n'}); lines > 0 && !s.multiline {
			return nil, 0, 0, errLineEnd
		}
		p += i + 1
		if s.buf[p] == '"' {
			doubled = true
			scratch = append(append(scratch, piece...), '"')
			p++
			continue
		}
		text = piece
		if doubled {
			text = append(scratch, piece...)
		}
		break
	}
	if c := s.buf[p]; c != s.sep && c != '\n' && (c != '\r' || s.buf[p+1] != '\n') {
		return nil, 0, 0, errQuote
	}
	return text, p, lines, nil
}

// unclosed is about a quote that does not close within the buffer, which ends in a
// line's end.
func (s *scanner) unclosed() error {
	if s.multiline {
		return errIncomplete
	}
	return errLineEnd
}

// endOfLine is the place after the line's end at p.
func (s *scanner) endOfLine(p int) int {
	if s.buf[p] == '\r' {
		p++
	}
	return p + 1
}
