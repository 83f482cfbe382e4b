package parquet

import (
	"math"
)

// readFlat delivers the next n rows of a column without lists.
func (c *Column) readFlat(dst []float64, stride, n int) error {
	for n > 0 {
		if err := c.need(); err != nil {
			return err
		}
		k, err := c.flat(dst, stride, min(n, c.left))
		if err != nil {
			return c.damaged(err)
		}
		c.left -= k
		if n -= k; n > 0 {
			dst = dst[k*stride:]
		}
	}
	return nil
}

// flat delivers some of the next k rows and tells how many.
func (c *Column) flat(dst []float64, width, k int) (int, error) {
	level, same, err := c.def.constant(k)
	if err != nil {
		return 0, err
	}
	if same == 0 {
		k = min(k, atOnce)
		return k, c.sparse(dst, width, k)
	}
	c.def.pass(same)
	switch {
	case level != uint64(c.maxDef):
		repeat(dst, width, same, c.null)
	case c.as == Presence:
		repeat(dst, width, same, 1)
	default:
		err = c.numbers(dst, width, same)
	}
	return same, err
}

func repeat(dst []float64, width, n int, v float64) {
	for i := range n {
		dst[i*width] = v
	}
}

// sparse delivers k rows, at most atOnce, any of which may be missing.
func (c *Column) sparse(dst []float64, width, k int) error {
	levels := c.file.levels[:k]
	if err := fill(&c.def, levels); err != nil {
		return err
	}
	present := 0
	for _, d := range levels {
		present += int(equal(d, c.maxDef))
	}
	dense := &c.file.dense
	repeat(dense[:], 1, present, 1)
	if c.as == Numbers {
		if err := c.numbers(dense[:], 1, present); err != nil {
			return err
		}
	}
	// Which values are missing is hard to foretell: there is no branch on it.
	null, at := math.Float64bits(c.null), 0
	for i, d := range levels {
		there := equal(d, c.maxDef)
		v := math.Float64bits(dense[at&(2*atOnce-1)])
		dst[i*width] = math.Float64frombits(v&-there | null&^-there)
		at += int(there)
	}
	return nil
}

func equal(a, b uint8) uint64 {
	if a == b {
		return 1
	}
	return 0
}
