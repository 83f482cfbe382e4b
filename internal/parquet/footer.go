package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The bounds on what a footer may ask for. Its elements are chunks of columns,
// columns of the schema, names and the like: a thousand bytes or less each once
// decoded, and more than footerElement in the file.
const (
	maxFooter      = 1 << 26
	maxElements    = 1 << 20
	freeElements   = 1 << 13
	footerElement  = 6
	maxSchemaDepth = 64
)

// checkMagic looks at the magic numbers and gives the length of the footer.
func (f *File) checkMagic() (int64, error) {
	if f.size == 0 {
		return 0, refuse("the file is empty", "write it anew", ErrEmpty)
	}
	var head, tail [8]byte
	if f.size >= 12 {
		if _, err := f.r.ReadAt(head[:4], 0); err != nil {
			return 0, damaged("", err)
		}
		if _, err := f.r.ReadAt(tail[:], f.size-8); err != nil {
			return 0, damaged("", err)
		}
	}
	n := int64(binary.LittleEndian.Uint32(tail[:4]))
	switch {
	case string(head[:4]) == "PARE" || string(tail[4:]) == "PARE":
		return 0, refuse("the file is encrypted", "decrypt it first", ErrFormat)
	case string(head[:4]) != "PAR1":
		return 0, refuse("is not a Parquet file", "name the format, or check that this is the right file", ErrFormat)
	case string(tail[4:]) != "PAR1" || n > f.size-12:
		return 0, refuse("the footer is missing", "the file is cut short; write or copy it anew", ErrFormat)
	case n > maxFooter:
		return 0, errFooter
	}
	return n, nil
}

// readFooter walks over the footer before it decodes it, for which it takes room for as
// many elements as a list claims to have.
func (f *File) readFooter() (*footer, error) {
	n, err := f.checkMagic()
	if err != nil {
		return nil, err
	}
	b := make([]byte, n)
	if _, err := f.r.ReadAt(b, f.size-8-n); err != nil {
		return nil, damaged("", err)
	}
	d := compact{b: b, items: min(maxElements, freeElements+len(b)/footerElement)}
	d.skip(thriftStruct)
	if d.err == errThriftItems && len(b)/footerElement >= maxElements {
		return nil, errColumns
	}
	if d.err != nil {
		return nil, damaged("", d.err)
	}
	d = compact{b: b, items: len(b)}
	meta := d.footer()
	err = d.err
	if err == nil {
		err = f.checkMeta(&meta, f.size-8-n)
	}
	if err == nil && d.at != len(b) {
		err = errors.New("bytes after the footer")
	}
	if err != nil {
		return nil, damaged("", err)
	}
	return &meta, nil
}

// checkMeta checks the tree of columns, and that every row group has a chunk of
// each, within the first end bytes of the file.
func (f *File) checkMeta(meta *footer, end int64) error {
	if meta.encrypted {
		return refuse("the file has encrypted columns", "decrypt it first", ErrFormat)
	}
	leaves, rest, err := checkSchema(meta.schema, 0)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return errors.New("columns outside the tree of the schema")
	}
	rows := int64(0)
	for i := range meta.groups {
		g := &meta.groups[i]
		if len(g.columns) != leaves {
			return fmt.Errorf("a row group of %d columns where the schema has %d", len(g.columns), leaves)
		}
		if g.rows < 0 || g.rows > f.mostValues()-rows {
			return errTooMany
		}
		rows += g.rows
		for j := range g.columns {
			if err := checkChunk(&g.columns[j], end); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkSchema walks over the column at the front of s and all beneath it. It
// counts the leaves and gives what comes after.
func checkSchema(s []element, depth int) (leaves int, rest []element, err error) {
	if len(s) == 0 || depth > maxSchemaDepth {
		return 0, nil, errors.New("a schema that is cut short, or too deep")
	}
	e := &s[0]
	children := e.children
	rest = s[1:]
	if e.kind != noKind {
		leaves = 1
		if children != 0 || depth == 0 || e.length < 0 || e.kind < 0 || e.kind > physicalFixed {
			return 0, nil, errors.New("a column of values that has columns within, or no type that is known, or a negative width")
		}
	}
	if e.repetition < required || e.repetition > repeated {
		return 0, nil, errors.New("a column of no repetition that is known")
	}
	if children < 0 || int64(children) > int64(len(rest)) {
		return 0, nil, errors.New("a schema that is cut short")
	}
	for range children {
		n := 0
		if n, rest, err = checkSchema(rest, depth+1); err != nil {
			return 0, nil, err
		}
		leaves += n
	}
	return leaves, rest, nil
}

// start is the place of the first page of a chunk.
func (m *extent) start() int64 {
	if d := m.dictionaryAt; d > 0 && d < m.data {
		return d
	}
	return m.data
}

func checkChunk(m *extent, end int64) error {
	switch at := m.start(); {
	case m.elsewhere:
		return errors.New("a column in another file")
	case m.values < 0:
		return fmt.Errorf("a column of %d values", m.values)
	case m.values == 0: // has no pages that matter
	case at < 4 || m.size < 0 || at > end || m.size > end-at:
		return errors.New("a column beyond the end of the file")
	}
	return nil
}
