package parquet_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	goparquet "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/discreet-rl/discreet/internal/parquet"
)

// What a small file may not ask for is refused by the name of the limit and with
// what to do, before the memory is taken.
func TestLimitsAreNamed(t *testing.T) {
	long := func(n int) []byte { return sized(bytes.Repeat([]byte("x"), n)...) }
	key := func(n int) craft {
		body := long(n)
		return craft{rows: 1, kind: format.ByteArray, codec: format.Zstd, pages: []craftPage{data(1, plainEncoding, codecs.zstd(body)).with(
			func(h *format.PageHeader) { h.UncompressedPageSize = int32(len(body)) })}}
	}
	// A page of no bits a row, of a dictionary of one number.
	const rows = 50_000_000
	runs := craft{rows: rows, pages: []craftPage{dict(1, doubles(1)), data(rows, format.RLEDictionary, []byte{0}, repeat(rows))}}
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"an id of 200 MB in 8 kB": {key(200_000_000).file(), "obs_x: its pages take more memory than the limit for a file of this size (64 MiB, and 64 bytes a byte); " +
			"write it with smaller pages and row groups, or without compression"},
		"50 million rows": {runs.file(), "claims more rows or values than the limit for a file of this size (4194304, and 32 a byte); " +
			"it may be damaged; if not, write it without compression and dictionaries"},
		"a million columns": {seal([]byte("PAR1"), manyColumns(1<<20+1<<16)), "has more columns, row groups and names of columns than the limit (1048576 in all); " +
			"write fewer columns, or fewer and larger row groups"},
		"a footer of 65 MiB": {seal([]byte("PAR1"), make([]byte, 65<<20)), "has a footer of more than 64 MiB, the limit; write fewer columns, or fewer and larger row groups"},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			n := allocated(func() { _, err = readAll(c.file, 1024) })
			if !errors.Is(err, parquet.ErrFormat) && !errors.Is(err, parquet.ErrColumn) || err.Error() != c.want {
				t.Errorf("\n got %v (%v)\nwant %s", err, cause(err), c.want)
			}
			if n > 1<<27 {
				t.Errorf("asked for %d bytes", n)
			}
		})
	}
}

// Of an id of any length the beginning is delivered, which tells that it is too long.
func TestALongIDIsCut(t *testing.T) {
	for _, n := range []int{4096, 4097, 40_000_000} {
		body := sized(bytes.Repeat([]byte("x"), n)...)
		c := craft{rows: 1, kind: format.ByteArray, codec: format.Zstd, pages: []craftPage{data(1, plainEncoding, codecs.zstd(body)).with(
			func(h *format.PageHeader) { h.UncompressedPageSize = int32(len(body)) })}}
		all, err := readAll(c.file(), 1024)
		if err != nil || len(all.keys["obs_x"]) != 1 || all.keys["obs_x"][0] != strings.Repeat("x", min(n, 4097)) {
			t.Errorf("of %d bytes %d are delivered, %v", n, len(strings.Join(all.keys["obs_x"], "")), err)
		}
	}
}

// One long list must not give every missing one its length, nor be of any length.
func TestListsAreCounted(t *testing.T) {
	for _, c := range []struct {
		first, missing int
		want           string
	}{
		{1000, 10, ""},
		{1000, 100_000, errTooManyWords},
		{1<<20 + 1, 0, "observation: holds a list of more than 1048576 values, the limit; write one flat column a number, or shorter lists"},
	} {
		file := listFile(t, c.first, c.missing)
		var err error
		n := allocated(func() {
			f, bad := parquet.Open(bytes.NewReader(file), int64(len(file)))
			if bad != nil {
				t.Fatal(bad)
			}
			defer f.Close()
			x := contents{rows: int(f.Rows()), numbers: map[string][]float64{}}
			err = x.number(f, 0, 8)
		})
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%d values, %d missing lists: got %v, want %q", c.first, c.missing, err, c.want)
		}
		if n > 1<<26 {
			t.Errorf("%d values, %d missing lists: asked for %d bytes", c.first, c.missing, n)
		}
	}
}

const errTooManyWords = "observation: claims more rows or values than the limit for a file of this size (4194304, and 32 a byte); " +
	"it may be damaged; if not, write it without compression and dictionaries"

// listFile has one list of zeros, and then missing ones.
func listFile(t *testing.T, first, missing int) []byte {
	t.Helper()
	var file bytes.Buffer
	g := goparquet.Group{"observation": goparquet.Optional(goparquet.List(goparquet.Encoded(goparquet.Leaf(goparquet.DoubleType), &goparquet.RLEDictionary)))}
	w := goparquet.NewGenericWriter[any](&file, goparquet.NewSchema("lists", g), goparquet.Compression(&goparquet.Zstd))
	var row goparquet.Row
	for i := range first {
		row = append(row, goparquet.DoubleValue(0).Level(min(i, 1), 2, 0))
	}
	rows := []goparquet.Row{row}
	for range missing {
		rows = append(rows, goparquet.Row{goparquet.NullValue().Level(0, 0, 0)})
	}
	if _, err := w.WriteRows(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// manyColumns is a footer of n columns of float64 named "c".
func manyColumns(n int) []byte {
	footer := append([]byte{0x15, 2, 0x19, 0xfc}, varint(uint64(n))...)
	return append(footer, bytes.Repeat([]byte{0x15, 10, 0x38, 1, 'c', 0}, n)...)
}

// An encrypted file is said to be one, even where its footer is in the clear.
func TestEncryptedFilesAreNamed(t *testing.T) {
	for file, want := range map[string]string{
		"encrypted_footer":  "the file is encrypted; decrypt it first",
		"encrypted_columns": "the file has encrypted columns; decrypt it first",
	} {
		data, err := os.ReadFile("testdata/" + file + ".parquet")
		if err != nil {
			t.Fatal(err)
		}
		if _, err = readAll(data, 1024); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v (%v); want %q", file, err, cause(err), want)
		}
	}
}

// Files of thousands of columns are read, and cost what their footer does.
func TestManyColumnsAreRead(t *testing.T) {
	const n = 20_000
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("obs_%d", i))
	}
	file := wideFile(t, names)
	f, err := parquet.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := len(f.Fields()); got != n {
		t.Errorf("%d columns, want %d", got, n)
	}
	c, err := f.Column(parquet.Want{Field: n - 1})
	if err != nil {
		t.Fatal(err)
	}
	x := []float64{0}
	if err := c.Read(x, 1, 1); err != nil || x[0] != n-1 {
		t.Errorf("last column: %v, %v", x, err)
	}
}

// wideFile has one row, in which column i of the names holds i.
func wideFile(t *testing.T, names []string) []byte {
	t.Helper()
	file := []byte("PAR1")
	meta := format.FileMetaData{Version: 1, NumRows: 1, RowGroups: []format.RowGroup{{NumRows: 1}},
		Schema: []format.SchemaElement{{Name: "root", NumChildren: thrift.New(int32(len(names)))}}}
	for i, name := range names {
		at := int64(len(file))
		p := data(1, plainEncoding, doubles(float64(i)))
		file = append(append(file, marshal(p.header)...), p.body...)
		meta.Schema = append(meta.Schema, format.SchemaElement{Name: name, Type: thrift.New(format.Double), RepetitionType: thrift.New(format.Required)})
		meta.RowGroups[0].Columns = append(meta.RowGroups[0].Columns, format.ColumnChunk{MetaData: format.ColumnMetaData{Type: format.Double,
			NumValues: 1, DataPageOffset: at, TotalCompressedSize: int64(len(file)) - at, PathInSchema: []string{name}}})
	}
	return seal(file, marshal(meta))
}
