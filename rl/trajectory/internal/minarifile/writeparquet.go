package minarifile

import (
	"errors"
	"os"
	"strings"

	"github.com/discreet-rl/discreet/internal/parquet"
)

// writeParquet writes an episode of the given columns in the Parquet layout.
func writeParquet(f *os.File, rows int, columns []written) error {
	var leaves []parquet.Leaf
	for _, c := range columns {
		kind := [...]parquet.Type{double: parquet.Double, int64s: parquet.Integer, boolean: parquet.Flag}[c.kind]
		leaves = append(leaves, parquet.Leaf{Path: strings.SplitN(c.path, ".", 2), Type: kind, List: c.list})
	}
	w := parquet.NewWriter(f, "schema", leaves)
	for from := 0; from < rows; {
		n := min(rows-from, 1<<10)
		for at := range columns {
			columns[at].putRows(w.Column(at), from, from+n)
		}
		if err := w.Advance(n); err != nil {
			return errors.Join(err, w.Close())
		}
		from += n
	}
	return w.Close()
}

// putRows writes rows of the episode.
func (c *written) putRows(to *parquet.Sink, from, end int) {
	for row := from; row < end; row++ {
		values := c.values[row*c.width : (row+1)*c.width]
		switch {
		case c.list:
			to.Doubles(values)
		case c.kind == int64s:
			to.Integer(int64(values[0]))
		case c.kind == boolean:
			to.Flag(values[0] != 0)
		default:
			to.Double(values[0])
		}
	}
}
