//go:build !linux

package cli

import (
	"bytes"
	"io"

	"github.com/discreet-rl/discreet/internal/worker"
)

// requests is the stream of requests.
func requests(in io.Reader) (io.Reader, error) { return in, nil }

// kept is the input of a call, which has no path here.
type kept []byte

// keep reads the input of a call.
func keep(r io.Reader) (worker.Input, error) {
	b, err := io.ReadAll(r)
	return kept(b), err
}

// Begin implements [worker.Input].
func (k kept) Begin() (io.Reader, error) { return bytes.NewReader(k), nil }

// End implements [worker.Input].
func (kept) End() error { return nil }
