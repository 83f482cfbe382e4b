package witness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// file is a regular file. Several processes may append at once, each line in one
// write, so of two lines near the end the later need not be the higher.
type file string

func (f file) String() string { return string(f) }

// Tail also opens the file for appending, so that one that cannot be written is
// found now.
func (f file) Tail(context.Context) (tail []byte, err error) {
	opened, err := f.open(0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrAbsent, err)
	} else if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	info, err := opened.Stat()
	if err != nil {
		return nil, err
	}
	from := max(info.Size()-Most-1, 0)
	tail, err = io.ReadAll(io.NewSectionReader(opened, from, Most+1))
	return lastLines(tail), err
}

// All reads the whole file: what was appended later must not hide a line.
func (f file) All(context.Context) (io.ReadCloser, error) { return f.open(0) }

// open opens a regular file for reading and appending.
func (f file) open(flag int) (*os.File, error) {
	// A pipe would be waited for: it is looked at before it is opened.
	info, err := os.Stat(string(f))
	if err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	return os.OpenFile(string(f), os.O_RDWR|os.O_APPEND|flag, 0o644)
}

// Append writes the line in one write, and syncs it.
func (f file) Append(_ context.Context, line []byte) (err error) {
	opened, err := f.open(os.O_CREATE)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	info, err := opened.Stat()
	if err != nil {
		return err
	}
	last := []byte("\n")
	if info.Size() > 0 {
		if _, err := opened.ReadAt(last, info.Size()-1); err != nil {
			return err
		}
	}
	if last[0] != '\n' { // what a crash cut short stays a line of its own
		line = append([]byte("\n"), line...)
	}
	if _, err := opened.Write(line); err != nil {
		return err
	}
	return opened.Sync()
}
