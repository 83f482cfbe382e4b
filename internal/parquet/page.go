package parquet

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// pageHeader is what the head of a page says.
type pageHeader struct {
	kind         int32
	size         int // of the body, compressed
	uncompressed int
	crc          uint32
	hasCRC       bool

	values   int
	encoding int32
	// Version 2 only: the levels are not compressed, and come first.
	repBytes, defBytes int
	stored             bool // the values are not compressed
	repEncoding        int32
	defEncoding        int32
}

// The kinds of page.
const (
	dataPage       = 0
	indexPage      = 1
	dictionaryPage = 2
	dataPageV2     = 3
)

// The encodings of values and levels.
const (
	plain            = 0
	plainDictionary  = 2
	rle              = 3
	deltaBinary      = 5
	deltaLengthBytes = 6
	deltaBytes       = 7
	rleDictionary    = 8
	byteStreamSplit  = 9
)

// maxHeader is the longest page header: its statistics hold two values.
const maxHeader = 1 << 16

var errHeader = errors.New("a page header without its fields, or with negative ones")

// parseHeader reads a page header from the front of b and tells its length.
func parseHeader(b []byte) (h pageHeader, n int, err error) {
	d := compact{b: b, items: 16}
	var kind, size, uncompressed int32 = -1, -1, -1
	part := int32(-1) // the kind of the part that is there
	d.fields(func(id int64, t byte) {
		switch {
		case id == 1:
			kind = d.i32(t)
		case id == 2:
			uncompressed = d.i32(t)
		case id == 3:
			size = d.i32(t)
		case id == 4:
			h.crc, h.hasCRC = uint32(d.i32(t)), true
		case id == 5 && t == thriftStruct:
			part = dataPage
			h.numbers(&d, [4]int64{1, 2, 3, 4})
		case id == 7 && t == thriftStruct:
			part = dictionaryPage
			h.numbers(&d, [4]int64{1, 2})
		case id == 8 && t == thriftStruct:
			part = dataPageV2
			h.numbersV2(&d)
		default:
			d.skip(t)
		}
	})
	if d.err != nil {
		return h, 0, d.err
	}
	h.kind, h.size, h.uncompressed = kind, int(size), int(uncompressed)
	if kind < 0 || size < 0 || uncompressed < 0 {
		return h, 0, errHeader
	}
	switch kind {
	case dataPage, dictionaryPage, dataPageV2:
		if part != kind || h.values < 0 || h.repBytes < 0 || h.defBytes < 0 {
			return h, 0, errHeader
		}
	}
	return h, d.at, nil
}

// numbers reads the number of values and the encodings, which have the ids.
func (h *pageHeader) numbers(d *compact, ids [4]int64) {
	h.values, h.encoding = -1, -1
	d.fields(func(id int64, t byte) {
		switch id {
		case ids[0]:
			h.values = int(d.i32(t))
		case ids[1]:
			h.encoding = d.i32(t)
		case ids[2]:
			h.defEncoding = d.i32(t)
		case ids[3]:
			h.repEncoding = d.i32(t)
		default:
			d.skip(t)
		}
	})
}

func (h *pageHeader) numbersV2(d *compact) {
	h.values, h.encoding, h.defBytes, h.repBytes = -1, -1, -1, -1
	d.fields(func(id int64, t byte) {
		switch id {
		case 1:
			h.values = int(d.i32(t))
		case 4:
			h.encoding = d.i32(t)
		case 5:
			h.defBytes = int(d.i32(t))
		case 6:
			h.repBytes = int(d.i32(t))
		case 7:
			h.stored = t == thriftFalse
		default:
			d.skip(t)
		}
	})
	h.defEncoding, h.repEncoding = rle, rle
}

// pages reads the headers and bodies of one column chunk.
type pages struct {
	r      *bufio.Reader
	bytes  int64 // left in the chunk
	values int64 // left in the chunk
	first  bool  // no page has been read
}

// next reads the header of the next page of data or of the dictionary. It
// reports io.EOF once all values of the chunk have been seen.
func (p *pages) next() (pageHeader, error) {
	for {
		if p.values == 0 {
			return pageHeader{}, io.EOF
		}
		// Most headers are shorter than the first guess.
		for guess := int64(1 << 8); ; guess *= 4 {
			b, err := p.r.Peek(int(min(guess, p.bytes, maxHeader)))
			if err != nil && err != io.EOF {
				return pageHeader{}, err
			}
			h, n, bad := parseHeader(b)
			if bad == errThriftShort && int64(len(b)) == guess && guess < maxHeader {
				continue
			}
			if bad != nil {
				return h, bad
			}
			p.r.Discard(n)
			p.bytes -= int64(n)
			if int64(h.size) > p.bytes {
				return h, fmt.Errorf("a page of %d bytes where %d are left", h.size, p.bytes)
			}
			if h.kind == dataPage || h.kind == dataPageV2 || h.kind == dictionaryPage {
				return h, p.admit(h)
			}
			if err := p.pass(h.size); err != nil {
				return h, err
			}
			p.first = false
			break
		}
	}
}

// admit checks that a page may come now.
func (p *pages) admit(h pageHeader) error {
	if h.kind == dictionaryPage {
		if !p.first {
			return errors.New("a dictionary that is not the first page")
		}
	} else {
		if int64(h.values) > p.values {
			return fmt.Errorf("a page of %d values where %d are left", h.values, p.values)
		}
		p.values -= int64(h.values)
	}
	p.first = false
	return nil
}

// body reads the next len(dst) bytes.
func (p *pages) body(dst []byte) error {
	if _, err := io.ReadFull(p.r, dst); err != nil {
		return err
	}
	p.bytes -= int64(len(dst))
	return nil
}
