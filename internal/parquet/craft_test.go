// Files made by hand, page by page, for what no writer makes.

package parquet_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"math"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// A file made by hand has a column "x" of the pages of a case beside an id and a
// reward that are in order.
type craft struct {
	rows     int64
	kind     format.Type
	optional bool
	codec    format.CompressionCodec
	pages    []craftPage
	values   int64 // of the chunk, where they are not the rows
}

type craftPage struct {
	header format.PageHeader
	body   []byte
}

func marshal(v any) []byte {
	b, err := thrift.Marshal(new(thrift.CompactProtocol), v)
	if err != nil {
		panic(err)
	}
	return b
}

// data is a page of version 1 whose sizes are right.
func data(n int32, e format.Encoding, parts ...[]byte) craftPage {
	body := bytes.Join(parts, nil)
	return craftPage{format.PageHeader{Type: format.DataPage, UncompressedPageSize: int32(len(body)), CompressedPageSize: int32(len(body)),
		DataPageHeader: thrift.New(format.DataPageHeader{NumValues: n, Encoding: e, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE})}, body}
}

func dict(n int32, parts ...[]byte) craftPage {
	p := data(n, format.Plain, parts...)
	p.header.Type, p.header.DataPageHeader = format.DictionaryPage, thrift.Null[format.DataPageHeader]{}
	p.header.DictionaryPageHeader = thrift.New(format.DictionaryPageHeader{NumValues: n, Encoding: format.Plain})
	return p
}

const plainEncoding = format.Plain

// oldDictionary is the older name of RLE_DICTIONARY.
const oldDictionary format.Encoding = 2

// with changes the header.
func (p craftPage) with(f func(*format.PageHeader)) craftPage {
	f(&p.header)
	return p
}

func u32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }

func varint(v uint64) []byte { return binary.AppendUvarint(nil, v) }

func sized(b ...byte) []byte { return append(u32(uint32(len(b))), b...) }

func repeat(v uint64) []byte { return varint(v << 1) }

func literal(v uint64) []byte { return varint(v<<1 | 1) }

func doubles(v ...float64) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

func (c craft) file() []byte {
	if c.kind == 0 {
		c.kind = format.Double
	}
	file := []byte("PAR1")
	leaf := func(name string, kind format.Type, optional bool) format.SchemaElement {
		e := format.SchemaElement{Name: name, Type: thrift.New(kind), RepetitionType: thrift.New(format.Required)}
		if optional {
			e.RepetitionType = thrift.New(format.Optional)
		}
		return e
	}
	meta := format.FileMetaData{Version: 1, NumRows: c.rows, RowGroups: []format.RowGroup{{NumRows: c.rows}}, Schema: []format.SchemaElement{
		{Name: "root", NumChildren: thrift.New[int32](3)}, leaf("episode_id", format.Double, false), leaf("reward", format.Double, false), leaf("obs_x", c.kind, c.optional)}}
	meta.Schema[1].Type = thrift.New(format.Int64)
	add := func(kind format.Type, codec format.CompressionCodec, values int64, pages []craftPage) {
		at := int64(len(file))
		for _, p := range pages {
			file = append(append(file, marshal(p.header)...), p.body...)
		}
		meta.RowGroups[0].Columns = append(meta.RowGroups[0].Columns, format.ColumnChunk{MetaData: format.ColumnMetaData{Type: kind, Codec: codec,
			NumValues: values, DataPageOffset: at, TotalCompressedSize: int64(len(file)) - at}})
	}
	var id, reward []byte
	for i := range min(c.rows, 1<<10) {
		id = binary.LittleEndian.AppendUint64(id, uint64(i))
		reward = append(reward, doubles(float64(i))...)
	}
	add(format.Int64, format.Uncompressed, c.rows, []craftPage{data(int32(c.rows), format.Plain, id)})
	add(format.Double, format.Uncompressed, c.rows, []craftPage{data(int32(c.rows), format.Plain, reward)})
	values := c.values
	if values == 0 {
		values = c.rows
	}
	add(c.kind, c.codec, values, c.pages)
	return seal(file, marshal(meta))
}

func seal(file, footer []byte) []byte {
	file = append(file, footer...)
	file = append(file, u32(uint32(len(footer)))...)
	return append(file, "PAR1"...)
}

var codecs = struct{ gzip, zstd, lz4 func([]byte) []byte }{
	lz4: func(b []byte) []byte { // a block of literals alone
		return append([]byte{0xf0, byte(len(b) - 15)}, b...)
	},
	gzip: func(b []byte) []byte {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		w.Write(b)
		w.Close()
		return out.Bytes()
	},
	zstd: func(b []byte) []byte {
		w, err := zstd.NewWriter(nil)
		if err != nil {
			panic(err)
		}
		defer w.Close()
		return w.EncodeAll(b, nil)
	},
}

// handmade gives files that are in order, made by the same hand as the hostile
// ones. Their observations are 1, 2, 2.
func handmade() map[string][]byte {
	plain := doubles(1, 2, 2)
	packed := func(b []byte) craftPage {
		return data(3, format.Plain, b).with(func(h *format.PageHeader) { h.UncompressedPageSize = 24 })
	}
	crafts := map[string]craft{
		"plain":          {pages: []craftPage{data(3, format.Plain, plain)}},
		"two pages":      {pages: []craftPage{data(1, format.Plain, plain[:8]), data(0, format.Plain), data(2, format.Plain, plain[8:])}},
		"runs":           {pages: []craftPage{dict(2, doubles(1, 2)), data(3, format.RLEDictionary, []byte{1}, repeat(1), []byte{0}, repeat(2), []byte{1})}},
		"packed":         {pages: []craftPage{dict(2, doubles(1, 2)), data(3, format.RLEDictionary, []byte{1}, literal(1), []byte{0b110})}},
		"padding absent": {pages: []craftPage{dict(2, doubles(1, 2)), data(3, oldDictionary, []byte{9}, literal(1), []byte{0, 0b10, 0b100, 0})}},
		"padding added":  {pages: []craftPage{dict(2, doubles(1, 2)), data(3, format.RLEDictionary, []byte{1}, literal(4), []byte{0b110, 255, 255, 255})}},
		"run of 8":       {pages: []craftPage{dict(2, doubles(1, 2)), data(1, format.Plain, plain[:8]), data(2, format.RLEDictionary, []byte{1}, repeat(8), []byte{1})}},
		"padding empty":  {pages: []craftPage{dict(1, doubles(2)), data(1, format.Plain, plain[:8]), data(2, format.RLEDictionary, []byte{0}, literal(1<<40))}},
		"32 bits":        {pages: []craftPage{dict(2, doubles(1, 2)), data(3, format.RLEDictionary, []byte{32}, repeat(1), u32(0), repeat(2), u32(1))}},
		"levels":         {optional: true, pages: []craftPage{data(3, format.Plain, sized(append(repeat(3), 1)...), plain)}},
		"gzip":           {codec: format.Gzip, pages: []craftPage{packed(codecs.gzip(plain))}},
		"LZ4":            {codec: format.Lz4Raw, pages: []craftPage{packed(codecs.lz4(plain))}},
		"zstd":           {codec: format.Zstd, pages: []craftPage{packed(codecs.zstd(plain))}},
		// Values 1, 2, 2: the first, then differences 1 and 0 in two bits each.
		"delta": {kind: format.Int64, pages: []craftPage{data(3, format.DeltaBinaryPacked, varint(128), varint(4), varint(3), varint(2),
			varint(0), []byte{2, 0, 0, 0}, []byte{0b01, 0, 0, 0, 0, 0, 0, 0})}},
	}
	files := map[string][]byte{}
	for name, c := range crafts {
		c.rows = 3
		files[name] = c.file()
	}
	return files
}
