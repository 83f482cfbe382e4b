package parquet

import "encoding/binary"

// thriftWriter writes structures of Thrift's compact protocol. The fields of a structure
// come in the order of their numbers.
type thriftWriter struct {
	b    []byte
	last []int // numbers of the fields before, of the structures at hand
}

func (t *thriftWriter) field(id int, kind byte) {
	top := len(t.last) - 1
	t.b = append(t.b, byte(id-t.last[top])<<4|kind) // numbers are close to each other
	t.last[top] = id
}

func (t *thriftWriter) varint(v int64) { t.b = binary.AppendVarint(t.b, v) }

func (t *thriftWriter) i32(id int, v int64) {
	t.field(id, thriftI32)
	t.varint(v)
}

func (t *thriftWriter) i64(id int, v int64) {
	t.field(id, thriftI64)
	t.varint(v)
}

func (t *thriftWriter) bytes(v string) {
	t.b = append(binary.AppendUvarint(t.b, uint64(len(v))), v...)
}

func (t *thriftWriter) text(id int, v string) {
	t.field(id, thriftBinary)
	t.bytes(v)
}

// list starts a list of n elements.
func (t *thriftWriter) list(id int, of byte, n int) {
	t.field(id, thriftList)
	if n < 15 {
		t.b = append(t.b, byte(n)<<4|of)
		return
	}
	t.b = binary.AppendUvarint(append(t.b, 15<<4|of), uint64(n))
}

// element writes a structure that is an element of a list, or the outermost one.
func (t *thriftWriter) element(f func()) {
	t.last = append(t.last, 0)
	f()
	t.b = append(t.b, 0)
	t.last = t.last[:len(t.last)-1]
}

func (t *thriftWriter) structure(id int, f func()) {
	t.field(id, thriftStruct)
	t.element(f)
}

func appendPageHeader(dst []byte, kind int64, raw, size int, crc uint32, values int, encoding int64) []byte {
	var room [4]int
	t := thriftWriter{b: dst, last: room[:0]}
	t.element(func() {
		t.i32(1, kind)
		t.i32(2, int64(raw))
		t.i32(3, int64(size))
		t.i32(4, int64(int32(crc)))
		if kind == dictionaryPage {
			t.structure(7, func() {
				t.i32(1, int64(values))
				t.i32(2, encoding)
			})
			return
		}
		t.structure(5, func() {
			t.i32(1, int64(values))
			t.i32(2, encoding)
			t.i32(3, rle)
			t.i32(4, rle)
		})
	})
	return t.b
}

// footer is the metadata of the file: no statistics, which would tell of single values.
func (x *Writer) footer() []byte {
	var t thriftWriter
	t.element(func() {
		t.i32(1, 1)
		x.schema(&t)
		rows := int64(0)
		for _, g := range x.groups {
			rows += int64(g.rows)
		}
		t.i64(3, rows)
		t.list(4, thriftStruct, len(x.groups))
		for i := range x.groups {
			t.element(func() { x.group(&t, &x.groups[i]) })
		}
		if len(x.marks) > 0 {
			t.list(5, thriftStruct, len(x.marks))
		}
		for _, mark := range x.marks {
			t.element(func() {
				t.text(1, mark[0])
				t.text(2, mark[1])
			})
		}
		t.text(6, "discreet")
	})
	return t.b
}

func (x *Writer) group(t *thriftWriter, g *writtenGroup) {
	t.list(1, thriftStruct, len(g.columns))
	size, raw := int64(0), int64(0)
	for i := range g.columns {
		size, raw = size+g.columns[i].size, raw+g.columns[i].raw
		t.element(func() { g.columns[i].write(t, &x.sinks[i].leaf) })
	}
	t.i64(2, raw)
	t.i64(3, int64(g.rows))
	t.i64(6, size)
}

func (c *writtenChunk) write(t *thriftWriter, leaf *Leaf) {
	first := c.at
	if c.indexed {
		first = c.dictionary
	}
	t.i64(2, first)
	t.structure(3, func() {
		t.i32(1, int64(leaf.Type.physical()))
		encodings := []int64{rle}
		if c.plain || c.indexed {
			encodings = append(encodings, plain)
		}
		if c.indexed {
			encodings = append(encodings, rleDictionary)
		}
		t.list(2, thriftI32, len(encodings))
		for _, e := range encodings {
			t.varint(e)
		}
		path := leaf.full()
		t.list(3, thriftBinary, len(path))
		for _, name := range path {
			t.bytes(name)
		}
		t.i32(4, int64(snappyCompression))
		t.i64(5, c.values)
		t.i64(6, c.raw)
		t.i64(7, c.size)
		t.i64(9, c.at)
		if c.indexed {
			t.i64(11, c.dictionary)
		}
	})
}

func (t Type) physical() physical {
	return [...]physical{Double: physicalDouble, Integer: physicalInt64, Flag: physicalBoolean, Text: physicalBytes}[t]
}

// full is the path with the groups of a list.
func (l *Leaf) full() []string {
	if !l.List {
		return l.Path
	}
	return append(append([]string{}, l.Path...), "list", "element")
}

// schema writes the tree of columns from its root on.
func (x *Writer) schema(t *thriftWriter) {
	var leaves []Leaf
	for _, s := range x.sinks {
		leaves = append(leaves, s.leaf)
	}
	below, n := schemaOf(leaves, 0)
	all := append([]schemaNode{{name: x.root, children: n, root: true}}, below...)
	t.list(2, thriftStruct, len(all))
	for i := range all {
		t.element(func() { all[i].write(t) })
	}
}

// schemaNode is a group of columns, or a leaf.
type schemaNode struct {
	name       string
	leaf       *Leaf
	repetition int32
	children   int
	root, list bool
}

// schemaOf lists the nodes of leaves whose paths agree up to a depth, and tells how many
// are at this depth.
func schemaOf(leaves []Leaf, depth int) (nodes []schemaNode, n int) {
	for i := 0; i < len(leaves); n++ {
		l := &leaves[i]
		name := l.Path[depth]
		if len(l.Path) > depth+1 {
			j := i + 1
			for j < len(leaves) && len(leaves[j].Path) > depth+1 && leaves[j].Path[depth] == name {
				j++
			}
			below, children := schemaOf(leaves[i:j], depth+1)
			nodes = append(append(nodes, schemaNode{name: name, children: children}), below...)
			i = j
			continue
		}
		i++
		if l.List {
			nodes = append(nodes, schemaNode{name: name, children: 1, list: true}, schemaNode{name: "list", children: 1, repetition: repeated})
			name = "element"
		}
		leaf := schemaNode{name: name, leaf: l}
		if l.Optional {
			leaf.repetition = optional
		}
		nodes = append(nodes, leaf)
	}
	return nodes, n
}

func (n *schemaNode) write(t *thriftWriter) {
	if n.leaf != nil {
		t.i32(1, int64(n.leaf.Type.physical()))
	}
	if !n.root {
		t.i32(3, int64(n.repetition))
	}
	t.text(4, n.name)
	if n.leaf == nil {
		t.i32(5, int64(n.children))
	}
	switch {
	case n.list:
		t.i32(6, int64(convertedList))
		t.structure(10, func() { t.structure(logicalList, func() {}) })
	case n.leaf != nil && n.leaf.Type == Text:
		t.i32(6, int64(convertedUTF8))
		t.structure(10, func() { t.structure(logicalString, func() {}) })
	}
}
