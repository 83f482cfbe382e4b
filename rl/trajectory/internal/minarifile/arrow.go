package minarifile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/flatbuffer"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// The types of Arrow that are told apart, as numbered in its Schema.fbs.
const (
	arrowNull          = 1
	arrowInt           = 2
	arrowFloat         = 3
	arrowBinary        = 4
	arrowText          = 5
	arrowBool          = 6
	arrowList          = 12
	arrowStruct        = 13
	arrowFixedBinary   = 15
	arrowFixedList     = 16
	arrowMap           = 17
	arrowLargeBinary   = 19
	arrowLargeText     = 20
	arrowLargeList     = 21
	arrowLastPrimitive = 11 // from decimals, 7, to intervals, 11: two buffers each
)

// readArrow reads an episode of the Arrow IPC file layout: a schema, batches of
// rows, and a footer that says where they are.
//
// Source: Arrow Columnar Format 1.5, "IPC File Format" and "Buffer Listing for
// Each Layout".
func readArrow(path string) ([]leaf, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseArrow(b, path)
}

// parseArrow reads an episode; path stands for it in errors.
func parseArrow(b []byte, path string) (leaves []leaf, err error) {
	defer rescue(path, &err)
	if leaves, err = arrowBatches(b); err != nil {
		return nil, damaged(path, err)
	}
	return leaves, nil
}

// arrowBatches may panic on damaged bytes.
func arrowBatches(b []byte) ([]leaf, error) {
	const magic = "ARROW1"
	n := len(b)
	if n < 2*len(magic)+6 || string(b[:len(magic)]) != magic || string(b[n-len(magic):]) != magic {
		return nil, errors.New("the magic number is missing")
	}
	end := n - len(magic) - 4
	size := flatbuffer.Int32(b, end)
	footer := flatbuffer.Root(b[end-size : end : end])
	schema, ok := footer.Sub(1)
	if !ok || schema.Short(0) != 0 {
		return nil, errors.New("no schema, or numbers of the other byte order")
	}
	x := &arrowReader{}
	at, length := footer.Vector(3, 24)
	for i := range length {
		block := footer.Bytes[at+24*i : at+24*i+24]
		offset, meta, body := flatbuffer.Int64(block, 0), flatbuffer.Int32(block, 8), flatbuffer.Int64(block, 16)
		if err := x.batch(schema, b[offset:offset+meta+body:offset+meta+body], meta); err != nil {
			return nil, err
		}
	}
	if len(x.leaves) == 0 {
		return nil, errors.New("no rows")
	}
	return x.leaves, nil
}

type arrowReader struct {
	leaves []leaf
	next   int // the leaf at hand
	rows   int // of this batch

	header        flatbuffer.Table
	body          []byte
	nodes, nNodes int
	bufs, nBufs   int
	node, buf     int // read so far
}

// batch reads one batch of rows: metadata bytes, then its body.
func (x *arrowReader) batch(schema flatbuffer.Table, b []byte, meta int) error {
	message, skip := b[:meta:meta], 4
	if binary.LittleEndian.Uint32(message) == math.MaxUint32 {
		skip = 8
	}
	m := flatbuffer.Root(message[skip:])
	header, ok := m.Sub(2)
	if !ok || m.Byte(1) != 3 {
		return errors.New("a block that is no batch of rows")
	}
	if _, compressed := header.Sub(3); compressed {
		return errors.New("compressed buffers")
	}
	x.header, x.body, x.next, x.node, x.buf = header, b[meta:], 0, 0, 0
	x.rows = header.Long(0)
	if x.rows < 0 || x.rows > maxValues {
		return fmt.Errorf("%d rows", x.rows)
	}
	x.nodes, x.nNodes = header.Vector(1, 16)
	x.bufs, x.nBufs = header.Vector(2, 16)
	at, n := schema.Vector(1, 4)
	for i := range n {
		f := flatbuffer.Table{Bytes: schema.Bytes, At: schema.Deref(at + 4*i)}
		if err := x.field(f, f.Text(0), x.rows, 1, 0); err != nil {
			return err
		}
	}
	return nil
}

// takeNode passes over the node of a field, which says how many entries it has.
func (x *arrowReader) takeNode() int {
	if x.node >= x.nNodes {
		panic("more fields than nodes")
	}
	length := flatbuffer.Int64(x.header.Bytes, x.nodes+16*x.node)
	x.node++
	return length
}

// takeBuffer is the next buffer of the body.
func (x *arrowReader) takeBuffer() []byte {
	if x.buf >= x.nBufs {
		panic("more fields than buffers")
	}
	at := x.bufs + 16*x.buf
	offset, length := flatbuffer.Int64(x.header.Bytes, at), flatbuffer.Int64(x.header.Bytes, at+8)
	x.buf++
	return x.body[offset : offset+length : offset+length]
}

// put adds the rows of this batch to the leaf at hand.
func (x *arrowReader) put(l leaf) error {
	if x.next == len(x.leaves) {
		x.leaves = append(x.leaves, leaf{name: l.name, list: l.list, width: l.width, bad: l.bad})
	}
	have := &x.leaves[x.next]
	x.next++
	if have.name != l.name || have.width != l.width || have.bad != l.bad || len(have.values)+len(l.values) > maxValues {
		return errors.New("batches that do not agree")
	}
	have.values = append(have.values, l.values...)
	return nil
}

// field reads a field and those below it, in the order in which their nodes and
// buffers lie. It has count entries: width for each row, which is 1 outside a
// list.
func (x *arrowReader) field(f flatbuffer.Table, name string, count, width, depth int) error {
	if depth > maxDepth {
		return errors.New("fields nested too deep")
	}
	if n := x.takeNode(); n != count {
		return fmt.Errorf("%d entries of %d", n, count)
	}
	kind := f.Byte(2)
	detail, _ := f.Sub(3)
	if _, encoded := f.Sub(4); encoded {
		x.takeBuffer()
		x.takeBuffer()
		return x.put(leaf{name: name, bad: "is encoded by a dictionary"})
	}
	switch kind {
	case arrowInt, arrowFloat, arrowBool:
		return x.numbers(kind, detail, name, count)
	case arrowStruct:
		return x.structure(f, name, count, depth)
	case arrowFixedList:
		return x.fixedList(f, detail, name, count, depth)
	}
	return x.skip(f, kind, name, depth)
}

// below calls visit for each field below f.
func below(f flatbuffer.Table, visit func(flatbuffer.Table) error) error {
	at, n := f.Vector(5, 4)
	for i := range n {
		if err := visit(flatbuffer.Table{Bytes: f.Bytes, At: f.Deref(at + 4*i)}); err != nil {
			return err
		}
	}
	return nil
}

func (x *arrowReader) structure(f flatbuffer.Table, name string, count, depth int) error {
	valid := x.takeBuffer()
	first := x.next
	err := below(f, func(c flatbuffer.Table) error { return x.field(c, name+"."+c.Text(0), count, 1, depth+1) })
	if err == nil && len(valid) > 0 {
		for i := first; i < x.next; i++ {
			x.mask(&x.leaves[i], valid, count)
		}
	}
	return err
}

// mask makes missing what a list or a struct that is missing holds.
func (x *arrowReader) mask(l *leaf, valid []byte, count int) {
	if l.bad != "" {
		return
	}
	values := l.values[len(l.values)-count*l.width:]
	for i := range count {
		if valid[i/8]>>(i%8)&1 == 0 {
			for k := range l.width {
				values[i*l.width+k] = table.Null()
			}
		}
	}
}

// fixedList reads a list of as many numbers in each row.
func (x *arrowReader) fixedList(f, detail flatbuffer.Table, name string, count, depth int) error {
	valid := x.takeBuffer()
	width := detail.Int(0)
	if width < 1 || width > maxWidth || count*width > maxValues {
		return fmt.Errorf("lists of %d entries", width)
	}
	inner := arrowReader{rows: x.rows, header: x.header, body: x.body, nodes: x.nodes, nNodes: x.nNodes,
		bufs: x.bufs, nBufs: x.nBufs, node: x.node, buf: x.buf}
	if err := below(f, func(c flatbuffer.Table) error { return inner.field(c, name, count*width, width, depth+1) }); err != nil {
		return err
	}
	x.node, x.buf = inner.node, inner.buf
	l := leaf{name: name, list: true, width: width, bad: "has a nested type"}
	if len(inner.leaves) == 1 && inner.leaves[0].bad == "" && inner.leaves[0].width == 1 && !inner.leaves[0].list {
		l.values, l.bad = inner.leaves[0].values, ""
		if len(valid) > 0 {
			x.mask(&l, valid, count)
		}
	}
	return x.put(l)
}

// numbers reads a field of numbers.
func (x *arrowReader) numbers(kind int, detail flatbuffer.Table, name string, count int) error {
	valid, data := x.takeBuffer(), x.takeBuffer()
	l := leaf{name: name, width: 1}
	read := arrowNumber(kind, detail, data, count)
	if read == nil {
		l.bad = "has a type that is not supported"
		return x.put(l)
	}
	l.values = make([]float64, count)
	for i := range l.values {
		l.values[i] = read(i)
	}
	if len(valid) > 0 {
		x.mask(&l, valid, count)
	}
	return x.put(l)
}

// arrowNumber gives a function that reads number i of the data, which are as many
// as they should be; nil for a type that is not read.
func arrowNumber(kind int, detail flatbuffer.Table, data []byte, count int) func(int) float64 {
	le := binary.LittleEndian
	if kind == arrowBool {
		data = data[:(count+7)/8]
		return func(i int) float64 { return float64(data[i/8] >> (i % 8) & 1) }
	}
	if kind == arrowFloat {
		switch detail.Short(0) {
		case 1:
			data = data[:4*count]
			return func(i int) float64 { return own(float64(math.Float32frombits(le.Uint32(data[4*i:])))) }
		case 2:
			data = data[:8*count]
			return func(i int) float64 { return own(math.Float64frombits(le.Uint64(data[8*i:]))) }
		}
		return nil
	}
	bits, signed := detail.Int(0), detail.Byte(1) != 0
	switch bits {
	case 8, 16, 32, 64:
	default:
		return nil
	}
	size := bits / 8
	data = data[:size*count]
	return func(i int) float64 {
		var v uint64
		for k := size - 1; k >= 0; k-- {
			v = v<<8 | uint64(data[i*size+k])
		}
		if signed {
			return float64(int64(v<<(64-bits)) >> (64 - bits))
		}
		return float64(v)
	}
}

// skip passes over a field that is not read, and what lies below it.
func (x *arrowReader) skip(f flatbuffer.Table, kind int, name string, depth int) error {
	buffers := 2
	switch kind {
	case arrowNull:
		buffers = 0
	case arrowText, arrowBinary, arrowLargeText, arrowLargeBinary:
		buffers = 3
	case arrowList, arrowLargeList, arrowMap, arrowFixedBinary:
	default:
		if kind > arrowLastPrimitive {
			return fmt.Errorf("a field of type %d", kind)
		}
	}
	for range buffers {
		x.takeBuffer()
	}
	if kind == arrowList || kind == arrowLargeList || kind == arrowMap {
		inner := *x
		inner.leaves, inner.next = nil, 0
		if err := below(f, func(c flatbuffer.Table) error {
			return inner.field(c, name, flatbuffer.Int64(x.header.Bytes, x.nodes+16*inner.node), 1, depth+1)
		}); err != nil {
			return err
		}
		x.node, x.buf = inner.node, inner.buf
	}
	return x.put(leaf{name: name, bad: "has a type that is not a number"})
}
