// Package textfile opens the text formats of trajectories, CSV and NDJSON: a plain
// file or one compressed by gzip, with the bytes read so far counted for progress.
//
// Start with [Open], or [From] for what is open already.
package textfile

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/discreet-rl/discreet/internal/source"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Input reads the text of a file.
type Input struct {
	text   io.Reader
	file   *counter
	closer io.Closer // nil for what From was given
}

// Open opens a file. Where its name ends in .gz it is decompressed. extension,
// such as ".csv", is what errors advise.
func Open(ctx context.Context, path, extension string) (*Input, error) {
	f, err := source.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	in := From(f)
	in.closer = f
	if err := in.unwrap(f, path, extension); err != nil {
		f.Close()
		return nil, err
	}
	return in, nil
}

// From reads what is open already, as it is. Closing the Input leaves r open.
func From(r io.Reader) *Input {
	c := &counter{r: r}
	return &Input{text: c, file: c}
}

// unwrap refuses a directory and decompresses.
func (in *Input) unwrap(f source.File, path, extension string) error {
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return &trajectory.InputError{File: path, What: "is a directory", Remedy: "name the files in it, such as " + path + "/*" + extension,
			Kind: trajectory.ErrFormat}
	}
	if !strings.HasSuffix(path, ".gz") {
		return nil
	}
	z, err := gzip.NewReader(bufio.NewReaderSize(in.file, 1<<16))
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF // a stream ends at io.EOF, and this is no end
		}
		return &trajectory.InputError{File: path, What: "is not a gzip file", Remedy: "write it anew, or name it " + extension,
			Kind: trajectory.ErrFormat, Cause: err}
	}
	in.text = z
	return nil
}

// Read implements [io.Reader].
func (in *Input) Read(p []byte) (int, error) { return in.text.Read(p) }

// Plain gives the file as it lies on the disk, and its size. It reports false where
// the text is not that: of what is compressed, of a pipe, and of what From was given.
func (in *Input) Plain() (io.ReaderAt, int64, bool) {
	f, ok := in.closer.(source.File)
	if !ok || in.text != io.Reader(in.file) {
		return nil, 0, false
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, 0, false
	}
	return f, info.Size(), true
}

// Consumed is the number of bytes read of the file, compressed if it is.
func (in *Input) Consumed() int64 { return in.file.n }

// Close closes a file that Open opened.
func (in *Input) Close() error {
	if in.closer == nil {
		return nil
	}
	return in.closer.Close()
}

// counter counts the bytes read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
