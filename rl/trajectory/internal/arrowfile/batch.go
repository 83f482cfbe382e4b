package arrowfile

import (
	"errors"
	"fmt"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/flatbuffer"
)

// mostRows bounds the rows of a batch, of which columns of no bytes could have any number.
const mostRows = 1 << 31

// batch is the rows of one message.
type batch struct {
	rows  int
	cells []cells // by column

	header                    flatbuffer.Table
	body                      []byte
	nodes, buffers, views     int // where they are in the header
	nNodes, nBuffers, nViews  int
	node, buffer, view, depth int // read so far
}

// cells are the buffers of a column: which values are there, and what they are.
type cells struct {
	valid []byte // nil where all are
	none  bool   // are there
	parts [][]byte
}

// null tells that there is no value in a row.
func (c *cells) null(row int) bool {
	return c.none || c.valid != nil && c.valid[row/8]>>(row%8)&1 == 0
}

// begin finds the buffers of all columns.
func (b *batch) begin(m message, columns []column) error {
	if err := b.open(m.header, m.body); err != nil {
		return err
	}
	b.cells = b.cells[:0]
	for i := range columns {
		c, err := b.take(&columns[i], b.rows)
		if err != nil {
			return err
		}
		b.cells = append(b.cells, c)
	}
	return nil
}

// open reads how many rows there are, and where the buffers are listed.
func (b *batch) open(header flatbuffer.Table, body []byte) error {
	if _, compressed := header.Sub(3); compressed {
		return errors.New("its buffers are compressed")
	}
	rows := header.Long(0)
	if rows < 0 || rows > mostRows {
		return fmt.Errorf("%d rows in a batch", rows)
	}
	b.rows, b.header, b.body, b.node, b.buffer, b.view, b.depth = rows, header, body, 0, 0, 0, 0
	b.nodes, b.nNodes = header.Vector(1, 16)
	b.buffers, b.nBuffers = header.Vector(2, 16)
	b.views, b.nViews = header.Vector(4, 8)
	return nil
}

// take is the buffers of a column, past which those of the columns below it are as well. It
// has so many rows, or any number if that is negative.
func (b *batch) take(c *column, rows int) (cells, error) {
	if b.node >= b.nNodes {
		return cells{}, errors.New("more fields than nodes")
	}
	at := b.nodes + 16*b.node
	b.node++
	n, missing := flatbuffer.Int64(b.header.Bytes, at), flatbuffer.Int64(b.header.Bytes, at+8)
	if n < 0 || rows >= 0 && n != rows {
		return cells{}, fmt.Errorf("%d values in %d rows", n, rows)
	}
	var out cells
	validity, buffers, err := b.layout(c)
	if err != nil {
		return cells{}, err
	}
	if validity {
		if out.valid = b.next(); len(out.valid) > 0 {
			_ = out.valid[:(n+7)/8]
		} else if out.valid = nil; missing != 0 {
			return cells{}, errors.New("values are missing, and not said which")
		}
	}
	for range buffers {
		out.parts = append(out.parts, b.next())
	}
	if c.encoded {
		return out, nil
	}
	out.none = c.kind == typeNull
	for i := range c.children {
		if _, err := b.take(&c.children[i], -1); err != nil {
			return cells{}, err
		}
	}
	return out, nil
}

// layout says whether a column has a buffer of what is there, and how many others.
func (b *batch) layout(c *column) (validity bool, buffers int, err error) {
	if c.encoded {
		return true, 1, nil
	}
	switch c.kind {
	case typeNull, typeRuns:
		return false, 0, nil
	case typeStruct, typeFixedList:
		return true, 0, nil
	case typeText, typeBinary, typeLargeText, typeLargeBinary, typeListView, typeLargeListView:
		return true, 2, nil
	case typeUnion:
		if c.sparse {
			return false, 1, nil
		}
		return false, 2, nil
	case typeTextView, typeBinaryView:
		if b.view >= b.nViews {
			return false, 0, errors.New("views without a count of buffers")
		}
		n := flatbuffer.Int64(b.header.Bytes, b.views+8*b.view)
		b.view++
		if n < 0 || n > b.nBuffers {
			return false, 0, fmt.Errorf("views of %d buffers", n)
		}
		return true, 1 + n, nil
	}
	return true, 1, nil
}

// next is the next buffer of the body.
func (b *batch) next() []byte {
	if b.buffer >= b.nBuffers {
		panic("more fields than buffers")
	}
	at := b.buffers + 16*b.buffer
	b.buffer++
	offset, length := flatbuffer.Int64(b.header.Bytes, at), flatbuffer.Int64(b.header.Bytes, at+8)
	return b.body[offset : offset+length : offset+length]
}
