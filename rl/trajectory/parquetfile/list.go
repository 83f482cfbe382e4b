package parquetfile

import "github.com/discreet-rl/discreet/rl/trajectory"

// readLists delivers n rows of a list column. A repetition level of 0 starts a
// row; an empty list counts as a missing one.
func (c *column) readLists(b *trajectory.Batch, n int) error {
	block := &b.Blocks[c.pick.Block]
	for i := range n {
		if err := c.need(); err != nil {
			return err
		}
		at := i*block.Width + c.pick.Offset
		var err error
		if c.pick.Kind == trajectory.Presence {
			block.Values[at] = 1
			if c.def[c.li] < c.f.elements {
				block.Values[at] = trajectory.Null()
			}
			_, err = c.skipList()
		} else {
			err = c.readList(block.Values[at:at+c.pick.List], i)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readList delivers one list into dst.
func (c *column) readList(dst []float64, row int) error {
	if c.rep[c.li] != 0 {
		return c.length(row) // the list of the row before goes on
	}
	if c.def[c.li] < c.f.elements {
		for j := range dst {
			dst[j] = trajectory.Null()
		}
		c.li++
		return nil
	}
	for j := range dst {
		if j > 0 {
			ok, err := c.more()
			if err != nil {
				return err
			}
			if !ok || c.rep[c.li] == 0 {
				return c.length(row + 1)
			}
		}
		dst[j] = trajectory.Null()
		if c.def[c.li] == c.maxDef {
			dst[j] = c.dense[c.vi]
			c.vi++
		}
		c.li++
	}
	if c.li < c.levels && c.rep[c.li] != 0 {
		return c.length(row + 1)
	}
	return nil
}

// skipList passes over a list and counts its elements.
func (c *column) skipList() (int, error) {
	n := 0
	for {
		if c.def[c.li] >= c.f.elements {
			n++
		}
		c.li++
		ok, err := c.more()
		if err != nil || !ok || c.rep[c.li] == 0 {
			return n, err
		}
	}
}

// firstLength is the number of elements of the first list that has any.
func (c *column) firstLength() (int, error) {
	for {
		ok, err := c.more()
		if err != nil || !ok {
			return 0, err
		}
		if n, err := c.skipList(); n > 0 || err != nil {
			return n, err
		}
	}
}

// length complains of a row, counted from 1 within the batch.
func (c *column) length(row int) error {
	err := c.t.fault(c.f.name, "the list is not as long as the first one", "give every row a list of the same length", trajectory.ErrValue)
	err.(*trajectory.InputError).Row = c.t.row + row
	return err
}
