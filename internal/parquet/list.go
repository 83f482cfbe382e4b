package parquet

// chunk is the part of a page of lists that has been decoded.
type chunk struct {
	n, at    int // levels, and the next of them
	value    int // the next value
	def, rep [atOnce]uint8
	values   [atOnce]float64
}

// chunkSize is about the size of a chunk in bytes.
const chunkSize = atOnce * (1 + 1 + 8)

// ready makes sure that there is a level in the chunk. It reports false at the
// end of the row group.
func (c *Column) ready() (bool, error) {
	l := c.list
	if l.at < l.n {
		return true, nil
	}
	if ok, err := c.more(); !ok || err != nil {
		return ok, err
	}
	k := min(c.left, atOnce)
	c.left -= k
	l.n, l.at, l.value = k, 0, 0
	if err := fill(&c.rep, l.rep[:k]); err != nil {
		return false, c.damaged(err)
	}
	if err := fill(&c.def, l.def[:k]); err != nil {
		return false, c.damaged(err)
	}
	if c.as == Presence {
		return true, nil
	}
	present := 0
	for _, d := range l.def[:k] {
		if d == c.maxDef {
			present++
		}
	}
	if err := c.numbers(l.values[:], 1, present); err != nil {
		return false, c.damaged(err)
	}
	return true, nil
}

// readLists delivers n rows of a list column. A repetition level of 0 starts a
// row; an empty list counts as a missing one.
func (c *Column) readLists(dst []float64, stride, n int) error {
	l := c.list
	for i := range n {
		ok, err := c.ready()
		if err != nil {
			return err
		}
		if !ok {
			return c.need() // says that the column is too short
		}
		at := i * stride
		if c.as == Presence {
			dst[at] = 1
			if l.def[l.at] < c.field.elements {
				dst[at] = c.null
			}
			_, err = c.skipList()
		} else {
			err = c.readList(dst[at:at+c.length], i)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readList delivers one list into dst.
func (c *Column) readList(dst []float64, row int) error {
	l := c.list
	if l.rep[l.at] != 0 {
		return c.unequal(row) // the list of the row before goes on
	}
	if l.def[l.at] < c.field.elements {
		for j := range dst {
			dst[j] = c.null
		}
		l.at++
		return nil
	}
	for j := range dst {
		if j > 0 {
			ok, err := c.ready()
			if err != nil {
				return err
			}
			if !ok || l.rep[l.at] == 0 {
				return c.unequal(row + 1)
			}
		}
		dst[j] = c.null
		if l.def[l.at] == c.maxDef {
			dst[j] = l.values[l.value]
			l.value++
		}
		l.at++
	}
	if l.at < l.n && l.rep[l.at] != 0 {
		return c.unequal(row + 1)
	}
	return nil
}

// skipList passes over a list and counts its elements.
func (c *Column) skipList() (int, error) {
	l := c.list
	n := 0
	for {
		if l.def[l.at] >= c.field.elements {
			n++
		}
		l.at++
		ok, err := c.ready()
		if err != nil || !ok || l.rep[l.at] == 0 {
			return n, err
		}
	}
}

// firstLength is the number of elements of the first list that has any.
func (c *Column) firstLength() (int, error) {
	for {
		ok, err := c.ready()
		if err != nil || !ok {
			return 0, err
		}
		if n, err := c.skipList(); n > maxList {
			return 0, c.damaged(errLongList)
		} else if n > 0 || err != nil {
			return n, err
		}
	}
}

// unequal complains of a row, counted from 1 within the part of the rows that is
// being read.
func (c *Column) unequal(row int) error {
	return &Error{Column: c.field.name, Row: c.row + row, What: "the list is not as long as the first one",
		Remedy: "give every row a list of the same length", Kind: ErrValue}
}
