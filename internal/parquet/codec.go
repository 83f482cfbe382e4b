package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// codec holds the decompressors of a file, and the compressed page at hand.
type codec struct {
	src    []byte
	reader bytes.Reader
	gzip   *gzip.Reader
	zstd   *zstd.Decoder
	brotli *brotli.Reader
}

var errPageSize = errors.New("a page that is not as long as its header says")

// expansion is the number of bytes that one compressed byte can stand for, from
// the formats: a Snappy copy of 64 bytes takes 3, a byte makes a copy of LZ4 longer by
// 255, DEFLATE codes 258 bytes by 2 bits, a Zstandard block of 128 KiB takes 4 bytes. Brotli has no useful bound.
func expansion(c compression) int64 {
	switch c {
	case uncompressed:
		return 1
	case snappyCompression:
		return 22
	case lz4Compression:
		return 255
	case gzipCompression:
		return 1032
	case zstdCompression:
		return 1 << 15
	}
	return math.MaxInt32
}

// plausible checks the size that a page claims, before there is room for it.
func plausible(c compression, size, claimed int) error {
	const heads = 1 << 6 // room for what does not depend on the size
	if int64(claimed) > (int64(size)+heads)*expansion(c) {
		return fmt.Errorf("a page of %d bytes that claims to hold %d", size, claimed)
	}
	return nil
}

// decompress fills dst from the compressed bytes in src, neither less nor more.
func (c *codec) decompress(kind compression, dst, src []byte) error {
	switch kind {
	case snappyCompression:
		n, err := snappy.DecodedLen(src)
		if err != nil {
			return err
		}
		if n != len(dst) {
			return errPageSize
		}
		_, err = snappy.Decode(dst, src)
		return err
	case lz4Compression:
		if n, err := lz4.UncompressBlock(src, dst); err != nil {
			return err
		} else if n != len(dst) {
			return errPageSize
		}
		return nil
	case gzipCompression:
		return c.gunzip(dst, src)
	case zstdCompression:
		return c.unzstd(dst, src)
	case brotliCompression:
		c.reader.Reset(src)
		if c.brotli == nil {
			c.brotli = brotli.NewReader(&c.reader)
		} else if err := c.brotli.Reset(&c.reader); err != nil {
			return err
		}
		return drain(c.brotli, dst)
	}
	return fmt.Errorf("compression %v is not supported", kind)
}

func (c *codec) gunzip(dst, src []byte) error {
	c.reader.Reset(src)
	var err error
	if c.gzip == nil {
		c.gzip, err = gzip.NewReader(&c.reader)
	} else {
		err = c.gzip.Reset(&c.reader)
	}
	if err != nil {
		return err
	}
	return drain(c.gzip, dst)
}

func (c *codec) unzstd(dst, src []byte) error {
	if c.zstd == nil {
		var err error
		// The output is limited to the room that it is given.
		c.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return err
		}
	}
	out, err := c.zstd.DecodeAll(src, dst[:0:len(dst)])
	if err != nil {
		return err
	}
	if len(out) != len(dst) {
		return errPageSize
	}
	copy(dst, out) // where it already is, as a rule
	return nil
}

// drain fills dst and checks that nothing follows.
func drain(r io.Reader, dst []byte) error {
	if _, err := io.ReadFull(r, dst); err != nil {
		return err
	}
	var more [1]byte
	if n, err := io.ReadFull(r, more[:]); n != 0 || err != io.EOF {
		return errPageSize
	}
	return nil
}

func (c *codec) close() {
	if c.zstd != nil {
		c.zstd.Close()
		c.zstd = nil
	}
}
