package parquet

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
)

// more makes sure that there is a level of the page to read. It reports false at
// the end of the row group.
func (c *Column) more() (bool, error) {
	for c.left == 0 {
		h, err := c.pages.next()
		if err == io.EOF {
			return false, nil
		}
		if err == nil && h.kind == dictionaryPage {
			err = c.enterDictionary(h)
		} else if err == nil {
			err = c.enter(h)
		}
		if err != nil {
			return false, c.damaged(err)
		}
	}
	return true, nil
}

// need makes sure that there is a level to read, of a row that the footer has
// promised.
func (c *Column) need() error {
	ok, err := c.more()
	if err == nil && !ok {
		err = c.damaged(errors.New("a column with fewer rows than its row group"))
	}
	return err
}

func (c *Column) enterDictionary(h pageHeader) error {
	var err error
	if c.dict, err = c.body(h, c.dict); err != nil || c.as == Presence {
		return err
	}
	if h.encoding != plain && h.encoding != plainDictionary {
		return fmt.Errorf("dictionary: %w %d", errEncoding, h.encoding)
	}
	return c.dictionary.fill(c, c.dict, h.values)
}

// enter starts a page of data.
func (c *Column) enter(h pageHeader) error {
	var err error
	if c.raw, err = c.body(h, c.raw); err != nil || h.values == 0 {
		return err
	}
	b := c.raw
	level := func(encoding int32, most uint8, size int) (hybrid, error) {
		var part []byte
		var err error
		switch {
		case h.kind == dataPageV2:
			part, b = b[:size], b[size:]
		case most == 0:
		case encoding != rle:
			return hybrid{}, fmt.Errorf("levels: %w %d", errEncoding, encoding)
		default:
			part, b, err = prefixed(b)
		}
		if err != nil {
			return hybrid{}, err
		}
		return newHybrid(part, bits.Len8(most), uint64(most)+1, h.values)
	}
	most := uint8(0)
	if c.field.list {
		most = 1
	}
	if c.rep, err = level(h.repEncoding, most, h.repBytes); err != nil {
		return err
	}
	if c.def, err = level(h.defEncoding, c.maxDef, h.defBytes); err != nil {
		return err
	}
	c.left = h.values
	if c.as == Presence {
		return nil
	}
	return c.encoded(h.encoding, b, h.values)
}

// body reads and decompresses the body of a page into buf, or into a larger one,
// which it returns. The levels of a page of version 2 are never compressed.
func (c *Column) body(h pageHeader, buf []byte) ([]byte, error) {
	levels := 0
	if h.kind == dataPageV2 {
		levels = h.repBytes + h.defBytes
	}
	codec := c.codec
	if h.stored {
		codec = uncompressed
	}
	if levels > min(h.size, h.uncompressed) || codec == uncompressed && h.size != h.uncompressed {
		return buf, errPageSize
	}
	if err := plausible(codec, h.size, h.uncompressed); err != nil {
		return buf, err
	}
	dst, err := sized(c.file, buf, h.uncompressed, 1)
	if err != nil {
		return buf, err
	}
	src := dst
	if codec != uncompressed {
		if src, err = sized(c.file, c.file.codec.src, h.size, 1); err != nil {
			return dst, err
		}
		c.file.codec.src = src
	}
	if err := c.pages.body(src); err != nil {
		return dst, err
	}
	if h.hasCRC && crc32.ChecksumIEEE(src) != h.crc {
		return dst, errors.New("a page with a wrong checksum")
	}
	if codec != uncompressed {
		copy(dst[:levels], src)
		if len(src) > levels || len(dst) > levels {
			err = c.file.codec.decompress(codec, dst[levels:], src[levels:])
		}
	}
	return dst, err
}
