package parquetfile

import (
	"strconv"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
)

// readKeys delivers the next n rows as keys, run by run.
func (c *column) readKeys(dst *trajectory.Runs, n int) error {
	for n > 0 {
		if err := c.need(); err != nil {
			return err
		}
		k := min(n, c.levels-c.li)
		for i := 0; i < k; {
			run := c.run(k - i)
			if c.def != nil && c.def[c.li] != c.maxDef {
				dst.Append(nil, run)
			} else {
				dst.Append(c.key(), run)
				c.vi += run
			}
			c.li += run
			i += run
		}
		n -= k
	}
	return nil
}

// run counts how many of the next levels, at most limit, have the same key, or
// none. Byte strings are left to be compared later: a run of them is one.
func (c *column) run(limit int) int {
	if c.def != nil {
		missing := c.def[c.li] != c.maxDef
		n := 1
		for n < limit && (c.def[c.li+n] != c.maxDef) == missing {
			n++
		}
		if missing {
			return n
		}
		limit = n
	}
	n := 1
	switch {
	case c.dictionary != nil || c.values.Kind() == encoding.Int32:
		v := part(c.values.Int32(), c.vi, c.vi+limit)
		for n < limit && v[n] == v[0] {
			n++
		}
	case c.values.Kind() == encoding.Int64:
		v := part(c.values.Int64(), c.vi, c.vi+limit)
		for n < limit && v[n] == v[0] {
			n++
		}
	}
	return n
}

// key is the next key.
func (c *column) key() []byte {
	v, i := &c.values, c.vi
	if c.dictionary != nil {
		v, i = &c.keys, int(c.values.Int32()[c.vi])
	}
	switch c.f.leaf.Type().Kind() {
	case parquet.Int32:
		if c.kind == uint32s {
			return c.integer(uint64(v.Uint32()[i]))
		}
		return c.signed(int64(v.Int32()[i]))
	case parquet.Int64:
		if c.kind == uint64s {
			return c.integer(v.Uint64()[i])
		}
		return c.signed(v.Int64()[i])
	case parquet.FixedLenByteArray:
		data, size := v.FixedLenByteArray()
		return part(data, i*size, (i+1)*size)
	}
	data, offsets := v.ByteArray()
	return part(data, int(offsets[i]), int(offsets[i+1]))
}

func (c *column) integer(v uint64) []byte {
	c.text = strconv.AppendUint(c.text[:0], v, 10)
	return c.text
}

func (c *column) signed(v int64) []byte {
	c.text = strconv.AppendInt(c.text[:0], v, 10)
	return c.text
}
