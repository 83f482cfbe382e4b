package serve

import (
	"compress/gzip"
	"errors"
	"io"

	"connectrpc.com/connect"
)

// errLong marks a request that is longer than a call may be once it is unpacked.
var errLong = errors.New("the message is longer than 4 MiB; upload less at a time")

// unpacked is a gzip reader that ends, with an error, after what a call may hold: a few kilobytes
// can stand for gigabytes, and who only counts them has unpacked them all.
type unpacked struct {
	gzip.Reader
	left int64
}

// Read implements [io.Reader].
func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	if u.left -= int64(n); u.left < 0 {
		return 0, connect.NewError(connect.CodeResourceExhausted, errLong)
	}
	return n, err
}

// Reset implements [connect.Decompressor].
func (u *unpacked) Reset(r io.Reader) error {
	u.left = largestCall
	return u.Reader.Reset(r)
}

// boundedGzip takes the place of the library's, which unpacks a message to its end to tell how long it is.
func boundedGzip() connect.HandlerOption {
	return connect.WithCompression("gzip", func() connect.Decompressor { return &unpacked{} }, func() connect.Compressor { return gzip.NewWriter(io.Discard) })
}
