package trajectory

// A chunk of a column has chunkRows rows, or about chunkValues values if rows
// are wide.
const (
	chunkRows   = 1 << 12
	chunkValues = 1 << 17
)

// column grows without moving: a list of chunks of equal length.
type column[T any] struct {
	width  int
	chunks [][]T
	n      int
}

// size is the number of values of a full chunk.
func (c *column[T]) size() int {
	return c.width * min(chunkRows, max(1, chunkValues/max(1, c.width)))
}

// append adds whole rows.
func (c *column[T]) append(values []T) {
	size := c.size()
	for len(values) > 0 {
		if c.n%size == 0 {
			c.chunks = append(c.chunks, nil)
			if len(c.chunks) > 1 {
				c.chunks[len(c.chunks)-1] = make([]T, 0, size)
			}
		}
		last := &c.chunks[len(c.chunks)-1]
		k := min(len(values), size-len(*last))
		*last = append(*last, values[:k]...)
		values = values[k:]
		c.n += k
	}
}

// row is one row of a column of width 1.
func (c *column[T]) row(i int) T { return c.chunks[i/chunkRows][i%chunkRows] }

// flatten copies the rows of the given spans into one slice and frees the
// column. With no spans it copies all rows in order.
func (c *column[T]) flatten(spans []span) []T {
	out := make([]T, 0, c.n)
	if spans == nil {
		for i, chunk := range c.chunks {
			out = append(out, chunk...)
			c.chunks[i] = nil
		}
	}
	size := c.size()
	for _, s := range spans {
		for lo, hi := s.lo*c.width, s.hi*c.width; lo < hi; {
			chunk := c.chunks[lo/size]
			k := min(hi-lo, len(chunk)-lo%size)
			out = append(out, chunk[lo%size:lo%size+k]...)
			lo += k
		}
	}
	c.chunks, c.n = nil, 0
	return out
}

type span struct{ lo, hi int }
