package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go/format"
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

// checkFooter walks over the footer before the parquet module decodes it, which
// takes room for as many elements as a list claims to have, and follows the
// schema as deep as it goes.
func (f *File) checkFooter() error {
	n, err := f.checkMagic()
	if err != nil {
		return err
	}
	footer := make([]byte, n)
	if _, err := f.r.ReadAt(footer, f.size-8-n); err != nil {
		return damaged("", err)
	}
	d := compact{b: footer, items: min(maxElements, freeElements+len(footer)/footerElement)}
	d.skip(thriftStruct)
	if d.err == errThriftItems && len(footer)/footerElement >= maxElements {
		return errColumns
	}
	if d.err != nil {
		return damaged("", d.err)
	}
	var decoder format.FooterDecoder
	meta, _, err := decoder.Decode(footer)
	if err == nil {
		err = f.checkMeta(meta, f.size-8-n)
	}
	if err != nil {
		return damaged("", err)
	}
	return nil
}

// checkMeta checks the tree of columns, and that every row group has a chunk of
// each, within the first end bytes of the file.
func (f *File) checkMeta(meta *format.FileMetaData, end int64) error {
	if meta.EncryptionAlgorithm.Value != nil {
		return refuse("the file has encrypted columns", "decrypt it first", ErrFormat)
	}
	leaves, rest, err := checkSchema(meta.Schema, 0)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return errors.New("columns outside the tree of the schema")
	}
	rows := int64(0)
	for i := range meta.RowGroups {
		g := &meta.RowGroups[i]
		if len(g.Columns) != leaves {
			return fmt.Errorf("a row group of %d columns where the schema has %d", len(g.Columns), leaves)
		}
		if g.NumRows < 0 || g.NumRows > f.mostValues()-rows {
			return errTooMany
		}
		rows += g.NumRows
		for j := range g.Columns {
			if err := checkChunk(&g.Columns[j], end); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkSchema walks over the column at the front of s and all beneath it. It
// counts the leaves and gives what comes after.
func checkSchema(s []format.SchemaElement, depth int) (leaves int, rest []format.SchemaElement, err error) {
	if len(s) == 0 || depth > maxSchemaDepth {
		return 0, nil, errors.New("a schema that is cut short, or too deep")
	}
	e := &s[0]
	children := int32(0)
	if e.NumChildren.Valid {
		children = e.NumChildren.V
	}
	rest = s[1:]
	if e.Type.Valid {
		leaves = 1
		if children != 0 || depth == 0 || e.TypeLength.Valid && e.TypeLength.V < 0 {
			return 0, nil, errors.New("a column of numbers that has columns within, or a negative width")
		}
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
func start(m *format.ColumnMetaData) int64 {
	if d := m.DictionaryPageOffset; d > 0 && d < m.DataPageOffset {
		return d
	}
	return m.DataPageOffset
}

func checkChunk(c *format.ColumnChunk, end int64) error {
	m := &c.MetaData
	switch at := start(m); {
	case c.FilePath != "":
		return errors.New("a column in another file")
	case m.NumValues < 0:
		return fmt.Errorf("a column of %d values", m.NumValues)
	case m.NumValues == 0: // has no pages that matter
	case at < 4 || m.TotalCompressedSize < 0 || at > end || m.TotalCompressedSize > end-at:
		return errors.New("a column beyond the end of the file")
	}
	return nil
}
