package parquet

import (
	"bytes"
	"encoding/binary"
	"strconv"
)

// readKeys delivers the next n rows as keys, run by run.
func (c *Column) readKeys(dst Runs, n int) error {
	for n > 0 {
		if err := c.need(); err != nil {
			return err
		}
		k, err := c.flatKeys(dst, min(n, c.left))
		if err != nil {
			return c.damaged(err)
		}
		c.left -= k
		n -= k
	}
	return nil
}

// flatKeys delivers some of the next k rows and tells how many.
func (c *Column) flatKeys(dst Runs, k int) (int, error) {
	level, same, err := c.def.constant(k)
	if err != nil {
		return 0, err
	}
	if same > 0 {
		c.def.pass(same)
		return same, c.keys(dst, same, level == uint64(c.maxDef))
	}
	levels := c.file.levels[:min(k, atOnce)]
	if err := fill(&c.def, levels); err != nil {
		return 0, err
	}
	for i := 0; i < len(levels); {
		there := levels[i] == c.maxDef
		j := i + 1
		for j < len(levels) && (levels[j] == c.maxDef) == there {
			j++
		}
		if err := c.keys(dst, j-i, there); err != nil {
			return 0, err
		}
		i = j
	}
	return len(levels), nil
}

// keys delivers the next n keys, or n missing ones.
func (c *Column) keys(dst Runs, n int, there bool) error {
	v := &c.values
	switch {
	case !there:
		dst.Append(nil, n)
		return nil
	case v.form == indexForm:
		return c.indexedKeys(dst, n)
	case v.form == fixedForm:
		b, err := v.take(n)
		if err != nil {
			return err
		}
		if c.whole() {
			c.numberKeys(dst, b)
			return nil
		}
		for w := v.width; len(b) > 0; {
			run := w
			for run < len(b) && bytes.Equal(b[run:run+w], b[:w]) {
				run += w
			}
			if err := c.key(dst, b[:w], run/w); err != nil {
				return err
			}
			b = b[run:]
		}
		return nil
	}
	for range n {
		s, err := v.string()
		if err != nil {
			return err
		}
		if err := c.key(dst, s, 1); err != nil {
			return err
		}
	}
	return nil
}

// whole tells that keys are signed whole numbers.
func (c *Column) whole() bool { return c.decimal == nil && (c.kind == int64s || c.kind == int32s) }

// number is the one at the front of b.
func (c *Column) number(b []byte) int64 {
	if c.kind == int32s {
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

func (c *Column) numberKeys(dst Runs, b []byte) {
	for len(b) > 0 {
		v, n := c.number(b), 1
		for b = b[c.width:]; len(b) > 0 && c.number(b) == v; b = b[c.width:] {
			n++
		}
		dst.AppendNumber(v, n)
	}
}

func (c *Column) indexedKeys(dst Runs, n int) error {
	runs := &c.values.runs
	for n > 0 {
		if runs.width > 0 {
			i, same, err := runs.constant(n)
			if err != nil {
				return err
			}
			if same > 0 {
				if err := c.key(dst, c.dictionary.entry(uint32(i)), same); err != nil {
					return err
				}
				runs.pass(same)
				n -= same
				continue
			}
		}
		index := c.file.index[:min(n, atOnce)]
		if err := fill(runs, index); err != nil {
			return err
		}
		for i := 0; i < len(index); {
			j := i + 1
			for j < len(index) && index[j] == index[i] {
				j++
			}
			if err := c.key(dst, c.dictionary.entry(index[i]), j-i); err != nil {
				return err
			}
			i = j
		}
		n -= len(index)
	}
	return nil
}

// key delivers the key stored as b for n rows.
func (c *Column) key(dst Runs, b []byte, n int) error {
	if c.whole() {
		dst.AppendNumber(c.number(b), n)
		return nil
	}
	if c.isUUID {
		dst.AppendUUID([16]byte(b), n)
		return nil
	}
	if !c.bytes {
		var err error
		if b, err = c.spelled(b); err != nil {
			return err
		}
	}
	b = b[:min(len(b), maxKey+1)]
	if c.file.text.Add(int64(len(b))) > c.file.mostBytes() {
		return errTooMuchText
	}
	dst.Append(b, n)
	return nil
}

// spelled is the text of what is stored as b and is no text.
func (c *Column) spelled(b []byte) ([]byte, error) {
	switch {
	case c.decimal != nil:
		return c.decimalText(b)
	case c.kind == uint32s:
		return c.unsigned(uint64(binary.LittleEndian.Uint32(b))), nil
	}
	return c.unsigned(binary.LittleEndian.Uint64(b)), nil
}

func (c *Column) unsigned(v uint64) []byte {
	c.text = strconv.AppendUint(c.text[:0], v, 10)
	return c.text
}
