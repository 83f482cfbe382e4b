package parquet_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/discreet-rl/discreet/internal/parquet"
)

// allocated runs f and tells how many bytes it has asked for in all.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestHandmadePages(t *testing.T) {
	for name, file := range handmade() {
		for part := 1; part <= 3; part++ {
			c, err := readAll(file, part)
			if err != nil {
				t.Errorf("%s: %v (%v)", name, err, cause(err))
				continue
			}
			if got := c.numbers["obs_x"]; !slices.Equal(got, []float64{1, 2, 2}) {
				t.Errorf("%s: got %v, want 1 2 2", name, got)
			}
		}
	}
}

// What is said of these pages and footers is not true, or not reasonable. Each
// is a file of a few kilobytes, refused before much memory has been asked for.
func TestHostilePages(t *testing.T) {
	const huge = 1 << 31
	plain := doubles(1, 2, 3)
	two := dict(2, doubles(1, 2))
	zeros := make([]byte, 1<<24)
	header := func(f func(*format.PageHeader)) []craftPage {
		return []craftPage{data(3, format.Plain, plain).with(f)}
	}
	v2 := func(def, rep int32) []craftPage {
		return header(func(h *format.PageHeader) {
			h.Type, h.DataPageHeader = format.DataPageV2, thrift.Null[format.DataPageHeader]{}
			h.DataPageHeaderV2 = thrift.New(format.DataPageHeaderV2{NumValues: 3, NumRows: 3, DefinitionLevelsByteLength: def, RepetitionLevelsByteLength: rep})
		})
	}
	indices := func(parts ...[]byte) []craftPage {
		return []craftPage{two, data(3, format.RLEDictionary, parts...)}
	}
	deltas := func(head ...uint64) []craftPage {
		var b []byte
		for _, v := range head {
			b = append(b, varint(v)...)
		}
		return []craftPage{data(3, format.DeltaBinaryPacked, b, []byte{0, 64, 64, 64, 64}, make([]byte, 64))}
	}
	for name, c := range map[string]craft{
		"run of 2^31 indices":          {pages: indices([]byte{1}, repeat(huge), []byte{0})},
		"run of 2^62 indices":          {pages: indices([]byte{1}, repeat(1<<62), []byte{0})},
		"2^30 packed groups":           {pages: indices([]byte{1}, literal(huge/2), []byte{0})},
		"2^63-1 packed groups":         {pages: indices([]byte{1}, literal(1<<63-1), []byte{0})},
		"run of 9 indices":             {pages: indices([]byte{1}, repeat(9), []byte{0})},
		"one run too few":              {pages: indices([]byte{1}, repeat(2), []byte{0})},
		"packed run cut short":         {pages: indices([]byte{20}, literal(1), []byte{0})},
		"padding beyond its page":      {pages: indices([]byte{1}, literal(4), []byte{0, 0, 0})},
		"empty runs":                   {pages: indices([]byte{1}, repeat(0), []byte{0}, literal(0))},
		"indices of 33 bits":           {pages: indices([]byte{33}, literal(1), make([]byte, 33))},
		"indices of 255 bits":          {pages: indices([]byte{255}, repeat(3), make([]byte, 33))},
		"index beyond dictionary":      {pages: indices([]byte{2}, repeat(3), []byte{2})},
		"packed index beyond":          {pages: indices([]byte{2}, literal(1), []byte{0b110100, 0})},
		"no dictionary":                {pages: []craftPage{data(3, format.RLEDictionary, []byte{1}, repeat(3), []byte{0})}},
		"dictionary of 2^31-1":         {pages: []craftPage{dict(math.MaxInt32, doubles(1, 2)), data(3, format.RLEDictionary, []byte{1}, repeat(3), []byte{0})}},
		"second dictionary":            {pages: append([]craftPage{two}, indices([]byte{1}, repeat(3), []byte{0})...)},
		"dictionary alone":             {pages: []craftPage{two}},
		"run of 2^31 levels":           {optional: true, pages: []craftPage{data(3, format.Plain, sized(append(repeat(huge), 1)...), plain)}},
		"level above the highest":      {optional: true, pages: []craftPage{data(3, format.Plain, sized(append(repeat(3), 2)...), plain)}},
		"levels beyond page":           {optional: true, pages: []craftPage{data(3, format.Plain, u32(math.MaxUint32), plain)}},
		"fewer values than levels":     {optional: true, pages: []craftPage{data(3, format.Plain, sized(append(repeat(3), 1)...), plain[:16])}},
		"page of 2^31-1 values":        {pages: header(func(h *format.PageHeader) { h.DataPageHeader.V.NumValues = math.MaxInt32 })},
		"chunk of 2^31-1 values":       {rows: math.MaxInt32, pages: header(func(h *format.PageHeader) { h.DataPageHeader.V.NumValues = math.MaxInt32 })},
		"chunk of 2^63-1 values":       {values: math.MaxInt64, pages: header(func(*format.PageHeader) {})},
		"rows of 2^63-1":               {rows: math.MaxInt64, pages: header(func(*format.PageHeader) {})},
		"negative rows":                {rows: -3, pages: header(func(*format.PageHeader) {})},
		"negative values":              {pages: header(func(h *format.PageHeader) { h.DataPageHeader.V.NumValues = -3 })},
		"negative size":                {pages: header(func(h *format.PageHeader) { h.CompressedPageSize = -24 })},
		"negative uncompressed size":   {pages: header(func(h *format.PageHeader) { h.UncompressedPageSize = -24 })},
		"size beyond chunk":            {pages: header(func(h *format.PageHeader) { h.CompressedPageSize = math.MaxInt32 })},
		"stored size":                  {pages: header(func(h *format.PageHeader) { h.UncompressedPageSize = math.MaxInt32 })},
		"checksum":                     {pages: header(func(h *format.PageHeader) { h.CRC = 1 })},
		"long levels in version 2":     {pages: v2(math.MaxInt32, math.MaxInt32)},
		"negative levels in version 2": {pages: v2(-1, 1)},
		"Snappy that claims 2 GB":      {codec: format.Snappy, pages: header(func(h *format.PageHeader) { h.UncompressedPageSize = math.MaxInt32 })},
		"Snappy's own claim":           {codec: format.Snappy, pages: []craftPage{data(3, format.Plain, varint(math.MaxUint32), plain)}},
		"LZ4 that claims 2 GB":         {codec: format.Lz4Raw, pages: header(func(h *format.PageHeader) { h.UncompressedPageSize = math.MaxInt32 })},
		"LZ4 that is longer":           {codec: format.Lz4Raw, pages: []craftPage{data(3, format.Plain, codecs.lz4(doubles(1, 2, 3, 4))).with(func(h *format.PageHeader) { h.UncompressedPageSize = 24 })}},
		"LZ4 that is shorter":          {codec: format.Lz4Raw, pages: []craftPage{data(3, format.Plain, codecs.lz4(plain[:16])).with(func(h *format.PageHeader) { h.UncompressedPageSize = 24 })}},
		"LZ4 of before its page":       {codec: format.Lz4Raw, pages: []craftPage{data(3, format.Plain, []byte{0x15, 7, 9, 0, 0x50, 1, 2, 3, 4, 5}).with(func(h *format.PageHeader) { h.UncompressedPageSize = 24 })}},
		"gzip that claims 2 GB":        {codec: format.Gzip, pages: header(func(h *format.PageHeader) { h.UncompressedPageSize = math.MaxInt32 })},
		"Zstandard that claims 2 GB":   {codec: format.Zstd, pages: header(func(h *format.PageHeader) { h.UncompressedPageSize = math.MaxInt32 })},
		"Brotli that claims 2 GB":      {codec: format.Brotli, pages: header(func(h *format.PageHeader) { h.UncompressedPageSize = math.MaxInt32 })},
		"gzip bomb":                    {codec: format.Gzip, pages: []craftPage{data(3, format.Plain, codecs.gzip(zeros)).with(func(h *format.PageHeader) { h.UncompressedPageSize = 24 })}},
		"Zstandard bomb":               {codec: format.Zstd, pages: []craftPage{data(3, format.Plain, codecs.zstd(zeros)).with(func(h *format.PageHeader) { h.UncompressedPageSize = 24 })}},
		"Zstandard too short":          {codec: format.Zstd, pages: []craftPage{data(3, format.Plain, codecs.zstd(plain)).with(func(h *format.PageHeader) { h.UncompressedPageSize = 1 << 20 })}},
		"delta of 2^31 values":         {kind: format.Int64, pages: deltas(128, 4, huge, 0)},
		"delta block of 2^40":          {kind: format.Int64, pages: deltas(1<<40, 4, 3, 0)},
		"delta block of 0":             {kind: format.Int64, pages: deltas(0, 4, 3, 0)},
		"delta without miniblocks":     {kind: format.Int64, pages: deltas(128, 0, 3, 0)},
		"delta of 2^62 miniblocks":     {kind: format.Int64, pages: deltas(128, 1<<62, 3, 0)},
		"delta cut short":              {kind: format.Int64, pages: deltas(128, 4, 3, 0)},
		"delta wider than its type":    {kind: format.Int32, pages: deltas(128, 4, 3, 0)},
		"levels as packed bits":        {optional: true, pages: header(func(h *format.PageHeader) { h.DataPageHeader.V.DefinitionLevelEncoding = format.BitPacked })},
		"unknown encoding":             {pages: header(func(h *format.PageHeader) { h.DataPageHeader.V.Encoding = 77 })},
		"no pages":                     {},
	} {
		t.Run(name, func(t *testing.T) {
			if c.rows == 0 {
				c.rows = 3
			}
			refused(t, c.file())
		})
	}
}

func refused(t *testing.T, file []byte) {
	t.Helper()
	var err error
	n := allocated(func() { _, err = readAll(file, 1024) })
	if !errors.Is(err, parquet.ErrFormat) || errors.Is(err, io.EOF) {
		t.Errorf("error %v; want ErrFormat", err)
	}
	if n > 1<<24 {
		t.Errorf("a file of %d bytes has asked for %d", len(file), n)
	}
}

func TestHostileFooters(t *testing.T) {
	schema := func(e ...format.SchemaElement) []byte {
		return marshal(format.FileMetaData{Version: 1, Schema: e})
	}
	deep := []format.SchemaElement{}
	for range 1000 {
		deep = append(deep, format.SchemaElement{Name: "g", NumChildren: thrift.New[int32](1)})
	}
	deep = append(deep, format.SchemaElement{Name: "leaf", Type: thrift.New(format.Double)})
	root := format.SchemaElement{Name: "root", NumChildren: thrift.New[int32](1)}
	leaf := format.SchemaElement{Name: "reward", Type: thrift.New(format.Double)}
	flba := format.SchemaElement{Name: "reward", Type: thrift.New(format.FixedLenByteArray), TypeLength: thrift.New[int32](-1)}
	many := root
	many.NumChildren = thrift.New[int32](math.MaxInt32)
	for name, footer := range map[string][]byte{
		"list of 2^31-1":       append([]byte{0x15, 2, 0x19, 0xfc}, varint(math.MaxInt32)...),
		"list of 2^63":         append([]byte{0x15, 2, 0x19, 0xfc}, varint(1<<63)...),
		"list of 2^40 bytes":   append([]byte{0x15, 2, 0x19, 0xf3}, varint(1<<40)...),
		"string of 2^31-1":     append([]byte{0x15, 2, 0x28}, varint(math.MaxInt32)...),
		"100000 empty columns": append(append([]byte{0x15, 2, 0x19, 0xfc}, varint(100_000)...), make([]byte, 100_002)...),
		"nested lists":         append([]byte{0x15, 2, 0xf9, 0x19}, bytes.Repeat([]byte{0x19}, 1<<20)...),
		"nested structures":    append([]byte{0x15, 2, 0xfc}, bytes.Repeat([]byte{0x1c}, 1<<20)...),
		"deep schema":          schema(deep...),
		"2^31-1 children":      schema(many, leaf),
		"two roots":            schema(root, leaf, leaf),
		"root of no columns":   schema(leaf),
		"no schema":            schema(),
		"negative width":       schema(root, flba),
		"columns without leaves": marshal(format.FileMetaData{Version: 1, Schema: []format.SchemaElement{root, leaf},
			RowGroups: []format.RowGroup{{NumRows: 1, Columns: make([]format.ColumnChunk, 2)}}}),
		"chunk beyond file": marshal(format.FileMetaData{Version: 1, Schema: []format.SchemaElement{root, leaf},
			RowGroups: []format.RowGroup{{NumRows: 1, Columns: []format.ColumnChunk{{MetaData: format.ColumnMetaData{NumValues: 1, DataPageOffset: 4, TotalCompressedSize: math.MaxInt64}}}}}}),
		"other file": marshal(format.FileMetaData{Version: 1, Schema: []format.SchemaElement{root, leaf},
			RowGroups: []format.RowGroup{{NumRows: 1, Columns: []format.ColumnChunk{{FilePath: "/etc/passwd"}}}}}),
	} {
		t.Run(name, func(t *testing.T) { refused(t, seal([]byte("PAR1"), footer)) })
	}
}

// lastKey keeps none but the last.
type lastKey []byte

func (k *lastKey) Append(key []byte, _ int) { *k = append((*k)[:0], key...) }

func (*lastKey) AppendNumber(int64, int) {}

func (*lastKey) AppendUUID([16]byte, int) {}

// A dictionary of two long ids and a bit a row would fill any memory.
func TestKeysAreCounted(t *testing.T) {
	const rows, size = 1 << 18, 1 << 12
	key := func(c string) []byte { return sized([]byte(strings.Repeat(c, size))...) }
	c := craft{rows: rows, kind: format.ByteArray, pages: []craftPage{dict(2, key("a"), key("b")),
		data(rows, format.RLEDictionary, []byte{1}, literal(rows/8), bytes.Repeat([]byte{0b10101010}, rows/8))}}
	file := c.file()
	read := 0
	var err error
	n := allocated(func() {
		f, bad := parquet.Open(bytes.NewReader(file), int64(len(file)))
		if bad != nil {
			t.Fatal(bad)
		}
		defer f.Close()
		c, bad := f.Column(parquet.Want{Field: 2, As: parquet.Keys})
		if bad != nil {
			t.Fatal(bad)
		}
		var last lastKey
		for err = c.ReadKeys(&last, 1024); err == nil; err = c.ReadKeys(&last, 1024) {
			read += 1024
		}
	})
	if !errors.Is(err, parquet.ErrFormat) {
		t.Errorf("error %v after %d rows; want ErrFormat", err, read)
	}
	if most := 1<<26 + 64*len(file); read*size > most || read == 0 {
		t.Errorf("%d rows of keys of %d bytes, beyond %d", read, size, most)
	}
	if n > 1<<27 { // a batch of them, grown by doubling
		t.Errorf("asked for %d bytes", n)
	}
}

func TestCompressionThatIsNotReadIsNamed(t *testing.T) {
	for codec, name := range map[format.CompressionCodec]string{format.Lz4: "the older LZ4", format.LZO: "LZO", 99: "codec 99"} {
		c := craft{rows: 3, kind: format.Double, codec: codec, pages: []craftPage{data(3, format.Plain, doubles(1, 2, 3))}}
		_, err := readAll(c.file(), 1)
		want := "obs_x: is compressed by " + name + ", which is not supported; write the file with Snappy, Zstandard or LZ4_RAW"
		if err == nil || err.Error() != want || !errors.Is(err, parquet.ErrColumn) {
			t.Errorf("\n got %v\nwant %s", err, want)
		}
	}
}

func TestRemedyOfEncodings(t *testing.T) {
	c := craft{rows: 3, kind: format.Double, pages: []craftPage{data(3, 77, doubles(1, 2, 3))}}
	_, err := readAll(c.file(), 1)
	if want := "obs_x: uses an encoding that is not supported; write it anew with plain or dictionary encoding"; err == nil || err.Error() != want {
		t.Errorf("\n got %v\nwant %s", err, want)
	}
}
