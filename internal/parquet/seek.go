package parquet

import (
	"errors"
	"io"
)

// Seek goes to the start of a row group, before the first row is read.
func (c *Column) Seek(group int) {
	c.group, c.row = group, 0
	for i := range group {
		c.row += int(c.file.groups[i].rows)
	}
}

// Skip passes over pages of the row group at hand, or of the next one, as long as they
// hold none but the next n rows, without decoding them. It tells how many rows it has
// passed: none of a column of lists, and fewer than n where these end within a page.
func (c *Column) Skip(n int) (skipped int, err error) {
	defer rescue(c.field.name, &err)
	if c.field.list {
		return 0, nil
	}
	if c.rows == 0 {
		if c.group == len(c.file.groups) {
			return 0, c.damaged(errors.New("more rows are asked for than there are"))
		}
		if err := c.open(); err != nil {
			return 0, err
		}
	}
	for c.left == 0 && skipped < n && c.rows > 0 {
		h, err := c.pages.next()
		if err == io.EOF {
			err = errors.New("a column with fewer rows than its row group")
		}
		switch {
		case err != nil:
		case h.kind == dictionaryPage:
			err = c.enterDictionary(h)
		case h.values <= n-skipped:
			err = c.pages.pass(h.size)
			skipped, c.row, c.rows = skipped+h.values, c.row+h.values, c.rows-int64(h.values)
		default:
			err = c.enter(h)
		}
		if err != nil {
			return skipped, c.damaged(err)
		}
	}
	return skipped, nil
}

// pass leaves out the next n bytes.
func (p *pages) pass(n int) error {
	if _, err := p.r.Discard(n); err != nil {
		return err
	}
	p.bytes -= int64(n)
	return nil
}
