package ledger

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/discreet-rl/discreet/dp/ledger/internal/store"
)

// The longest line of an export or a backup: an entry, or a release in base64,
// with what stands around it.
const (
	longestEntryLine   = store.MostEntry + 1<<10
	longestReleaseLine = store.MostRelease/3*4 + 1<<10
)

// lines reads the lines of an export or a backup, none of them longer than such a
// line can be.
type lines struct {
	in   *bufio.Reader
	line []byte
	n    int // lines so far
}

func newLines(r io.Reader) *lines { return &lines{in: bufio.NewReader(r)} }

// next returns the next line with its end, if it has one, and [io.EOF] after the
// last. It is valid until the next call.
func (l *lines) next() ([]byte, error) {
	l.line = l.line[:0]
	l.n++
	for {
		part, err := l.in.ReadSlice('\n')
		if n := len(l.line) + len(part); n > cap(l.line) && n > longestEntryLine {
			l.line = slices.Grow(l.line, longestReleaseLine+len(part)-len(l.line)) // once, and not by halves
		}
		l.line = append(l.line, part...)
		most := longestEntryLine
		if bytes.HasPrefix(l.line, []byte(`{"release":`)) {
			most = longestReleaseLine
		}
		switch {
		case len(l.line) > most:
			return nil, fmt.Errorf("%w: line %d is longer than %d bytes, which none is that was written as one", ErrBackup, l.n, most)
		case errors.Is(err, bufio.ErrBufferFull):
		case err == io.EOF && len(l.line) > 0, err == nil:
			return l.line, nil
		case err == io.EOF:
			return nil, io.EOF
		default:
			return nil, fmt.Errorf("%w: line %d: %w", ErrBackup, l.n, err)
		}
	}
}
