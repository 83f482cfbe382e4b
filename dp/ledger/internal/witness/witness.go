package witness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
)

// Most is how much of the end of a place is read, in bytes: hundreds of lines.
const Most = 1 << 16

// patience is how long one look at a place, or one line to it, may take.
const patience = 30 * time.Second

// ErrAbsent marks a place at which there is nothing yet.
var ErrAbsent = errors.New("there is nothing yet")

// Place holds lines, the newest last. No line that was there is ever taken away by
// the methods, whoever calls them at the same time.
type Place interface {
	// String is the name that [Parse] takes, the same from every directory.
	String() string
	// Tail returns the lines at the end, at most [Most] bytes, without one that
	// begins before that. A crash may have cut the last line short.
	Tail(ctx context.Context) ([]byte, error)
	// Append adds a line, which ends with a newline, and returns when it is kept.
	// Where there is nothing yet, it begins.
	Append(ctx context.Context, line []byte) error
}

// Read reads the lines of a place: all of a file, which anybody can append to who may
// write it, and the [Place.Tail] of others.
func Read(ctx context.Context, p Place) (io.ReadCloser, error) {
	if whole, ok := p.(interface {
		All(context.Context) (io.ReadCloser, error)
	}); ok {
		return whole.All(ctx)
	}
	tail, err := p.Tail(ctx)
	return io.NopCloser(bytes.NewReader(tail)), err
}

// Parse reads the name of a place: git:REPOSITORY#REFERENCE, https://HOST/PATH, or
// the path of a file. Nothing is looked up.
func Parse(name string) (Place, error) {
	if rest, ok := strings.CutPrefix(name, "git:"); ok {
		return parseGit(rest)
	}
	if strings.HasPrefix(name, "https:") || strings.HasPrefix(name, "http:") {
		return parseWeb(name)
	}
	if strings.Contains(name, "://") {
		return nil, fmt.Errorf("%q is none of git:REPOSITORY#REFERENCE, https://HOST/PATH and a file", name)
	}
	path, err := filepath.Abs(name)
	return file(path), err
}

// lastLines cuts a text to whole lines of at most [Most] bytes. A single line that
// is longer stays: what is there must not look like nothing.
func lastLines(text []byte) []byte {
	if len(text) <= Most {
		return text
	}
	text = text[len(text)-Most-1:] // a line may begin just after it
	if _, rest, _ := bytes.Cut(text, []byte("\n")); len(rest) > 0 {
		return rest
	}
	return text
}
