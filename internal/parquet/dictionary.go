package parquet

import (
	"encoding/binary"
	"errors"
)

// dictionary is that of a chunk.
type dictionary struct {
	n       int
	data    []byte
	width   int
	offsets []uint32  // of strings
	numbers []float64 // of a column that is wanted as numbers
	bounds  Bounds    // of these
}

// entry is a key of the dictionary.
func (d *dictionary) entry(i uint32) []byte {
	if d.offsets != nil {
		return d.data[d.offsets[i]+4 : d.offsets[i+1]]
	}
	return d.data[int(i)*d.width : (int(i)+1)*d.width]
}

// fill takes a dictionary of n entries from a page.
func (d *dictionary) fill(c *Column, page []byte, n int) error {
	if err := d.take(c, page, n); err != nil {
		return err
	}
	d.bounds = boundsOf(d.numbers)
	return nil
}

func (d *dictionary) take(c *Column, page []byte, n int) error {
	d.n, d.data, d.width = n, page, c.width
	if c.width == 0 {
		return errors.New("a dictionary of booleans")
	}
	if c.width > 0 {
		if n > len(page)/c.width {
			return errValuesShort
		}
		if c.as != Numbers {
			return nil
		}
		var err error
		if d.numbers, err = sized(c.file, d.numbers, n, 8); err != nil {
			return err
		}
		if c.decimal != nil {
			return c.decimals(d.numbers, 1, page[:n*c.width], n)
		}
		if c.clock != nil {
			c.times(d.numbers, 1, page, n)
			return nil
		}
		spread(d.numbers, 1, c.kind, page, n)
		return nil
	}
	if n > len(page)/4 {
		return errValuesShort
	}
	var err error
	if d.offsets, err = sized(c.file, d.offsets, n+1, 4); err != nil {
		return err
	}
	at := 0
	for i := range n {
		d.offsets[i] = uint32(at)
		if len(page)-at < 4 {
			return errText
		}
		size := binary.LittleEndian.Uint32(page[at:])
		if at += 4; uint64(size) > uint64(len(page)-at) {
			return errText
		}
		at += int(size)
	}
	d.offsets[n] = uint32(at)
	if c.as != Numbers {
		return nil
	}
	if d.numbers, err = sized(c.file, d.numbers, n, 8); err != nil {
		return err
	}
	for i := range n {
		if d.numbers[i], err = c.decimalNumber(d.entry(uint32(i))); err != nil {
			return err
		}
	}
	return nil
}
