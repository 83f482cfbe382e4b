package minarifile

import (
	"encoding/binary"
	"math"
	"os"
	"strconv"
	"strings"

	flatbuffers "github.com/google/flatbuffers/go"
)

// writeArrow writes an episode as an Arrow IPC file: the schema, one batch of
// rows, and the footer, which repeats the schema and says where the batch is.
//
// Source: Arrow Columnar Format 1.5, "IPC File Format"; Schema.fbs, Message.fbs
// and File.fbs for the numbers of the fields.
func writeArrow(f *os.File, rows int, columns []written) error {
	out := []byte("ARROW1\x00\x00")
	out = appendMessage(out, arrowMessage(1, 0, func(b *flatbuffers.Builder) flatbuffers.UOffsetT { return schemaTable(b, columns) }))
	body, nodes, buffers := arrowBody(rows, columns)
	offset := len(out)
	out = appendMessage(out, arrowMessage(3, len(body), func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
		return batchTable(b, rows, nodes, buffers)
	}))
	meta := len(out) - offset
	out = append(out, body...)
	out = append(out, "\xff\xff\xff\xff\x00\x00\x00\x00"...)
	footer := arrowFooter(columns, offset, meta, len(body))
	out = append(out, footer...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(footer)))
	_, err := f.Write(append(out, "ARROW1"...))
	return err
}

const (
	arrowVersion = 4 // metadata version 5, counted from 0
	doubles64    = 2 // the precision of float64
)

// appendMessage frames a message: a mark, its length, and itself, to a multiple
// of eight.
func appendMessage(dst, message []byte) []byte {
	message = pad(message)
	dst = append(dst, 0xff, 0xff, 0xff, 0xff)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(message)))
	return append(dst, message...)
}

func pad(b []byte) []byte { return append(b, make([]byte, -len(b)&7)...) }

// arrowMessage makes a Message whose header is of a kind.
func arrowMessage(kind byte, body int, header func(*flatbuffers.Builder) flatbuffers.UOffsetT) []byte {
	b := flatbuffers.NewBuilder(1024)
	h := header(b)
	b.StartObject(5)
	b.PrependInt64Slot(3, int64(body), 0)
	b.PrependUOffsetTSlot(2, h, 0)
	b.PrependInt16Slot(0, arrowVersion, 0)
	b.PrependByteSlot(1, kind, 0)
	b.Finish(b.EndObject())
	return b.FinishedBytes()
}

// schemaTable makes a Schema. The parts of infos are the children of one struct.
func schemaTable(b *flatbuffers.Builder, columns []written) flatbuffers.UOffsetT {
	var top, infos []flatbuffers.UOffsetT
	for i, c := range columns {
		name, inside := strings.CutPrefix(c.path, "infos.")
		if !inside {
			top = append(top, columnField(b, c, name))
			continue
		}
		infos = append(infos, columnField(b, c, name))
		if i+1 == len(columns) || !strings.HasPrefix(columns[i+1].path, "infos.") {
			top = append(top, fieldTable(b, "infos", arrowStruct, emptyTable(b), infos, 0))
		}
	}
	fields := offsets(b, top)
	b.StartObject(4)
	b.PrependUOffsetTSlot(1, fields, 0)
	return b.EndObject()
}

// columnField makes the Field of a column. Lists have the same length in every
// row; Minari wants their shape beside those of infos.
func columnField(b *flatbuffers.Builder, c written, name string) flatbuffers.UOffsetT {
	if !c.list {
		kind, detail := numberType(b, c.kind)
		return fieldTable(b, name, kind, detail, nil, 0)
	}
	kind, detail := numberType(b, c.kind)
	item := fieldTable(b, "item", kind, detail, nil, 0)
	b.StartObject(1)
	b.PrependInt32Slot(0, int32(c.width), 0)
	list := b.EndObject()
	return fieldTable(b, name, arrowFixedList, list, []flatbuffers.UOffsetT{item}, c.width)
}

// numberType makes the type of a number and says which of the union it is.
func numberType(b *flatbuffers.Builder, n number) (byte, flatbuffers.UOffsetT) {
	switch n {
	case int64s:
		b.StartObject(2)
		b.PrependInt32Slot(0, 64, 0)
		b.PrependBoolSlot(1, true, false)
		return arrowInt, b.EndObject()
	case boolean:
		return arrowBool, emptyTable(b)
	}
	b.StartObject(1)
	b.PrependInt16Slot(0, doubles64, 0)
	return arrowFloat, b.EndObject()
}

func emptyTable(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	b.StartObject(0)
	return b.EndObject()
}

// fieldTable makes a Field, which has no missing values; width above 0 is noted
// as its shape.
func fieldTable(b *flatbuffers.Builder, name string, kind byte, detail flatbuffers.UOffsetT, below []flatbuffers.UOffsetT, width int) flatbuffers.UOffsetT {
	children, text := offsets(b, below), b.CreateString(name)
	var notes flatbuffers.UOffsetT
	if width > 0 {
		key, value := b.CreateString("shape"), b.CreateString(strconv.Itoa(width))
		b.StartObject(2)
		b.PrependUOffsetTSlot(1, value, 0)
		b.PrependUOffsetTSlot(0, key, 0)
		notes = offsets(b, []flatbuffers.UOffsetT{b.EndObject()})
	}
	b.StartObject(7)
	b.PrependUOffsetTSlot(6, notes, 0)
	b.PrependUOffsetTSlot(5, children, 0)
	b.PrependUOffsetTSlot(3, detail, 0)
	b.PrependUOffsetTSlot(0, text, 0)
	b.PrependByteSlot(2, kind, 0)
	return b.EndObject()
}

func offsets(b *flatbuffers.Builder, all []flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	b.StartVector(4, len(all), 4)
	for i := len(all) - 1; i >= 0; i-- {
		b.PrependUOffsetT(all[i])
	}
	return b.EndVector(len(all))
}

// span is an entry of a RecordBatch: of a node, its length and missing values;
// of a buffer, its place and length.
type span struct{ first, second int }

// arrowBody lays the numbers out, with a node and buffers for every field in the
// order of the schema, a struct or list before what is below it. No value is
// missing, so the first buffer of each, the validity, is empty.
func arrowBody(rows int, columns []written) (body []byte, nodes, buffers []span) {
	absent := func() { buffers = append(buffers, span{len(body), 0}) }
	inside := false
	for _, c := range columns {
		if strings.HasPrefix(c.path, "infos.") && !inside {
			inside = true
			nodes = append(nodes, span{rows, 0})
			absent()
		}
		if c.list {
			nodes = append(nodes, span{rows, 0})
			absent()
		}
		nodes = append(nodes, span{len(c.values), 0})
		absent()
		at := len(body)
		body = c.appendArrow(body)
		buffers = append(buffers, span{at, len(body) - at})
		body = pad(body)
	}
	return body, nodes, buffers
}

// appendArrow appends the numbers of a column: eight bytes each, or a bit.
func (c *written) appendArrow(dst []byte) []byte {
	switch c.kind {
	case int64s:
		for _, v := range c.values {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(int64(v)))
		}
	case boolean:
		at := len(dst)
		dst = append(dst, make([]byte, (len(c.values)+7)/8)...)
		for i, v := range c.values {
			if v != 0 {
				dst[at+i/8] |= 1 << (i % 8)
			}
		}
	default:
		for _, v := range c.values {
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
		}
	}
	return dst
}

// batchTable makes a RecordBatch.
func batchTable(b *flatbuffers.Builder, rows int, nodes, buffers []span) flatbuffers.UOffsetT {
	bufs, fields := spans(b, buffers), spans(b, nodes)
	b.StartObject(5)
	b.PrependInt64Slot(0, int64(rows), 0)
	b.PrependUOffsetTSlot(2, bufs, 0)
	b.PrependUOffsetTSlot(1, fields, 0)
	return b.EndObject()
}

func spans(b *flatbuffers.Builder, all []span) flatbuffers.UOffsetT {
	b.StartVector(16, len(all), 8)
	for i := len(all) - 1; i >= 0; i-- {
		b.PrependInt64(int64(all[i].second))
		b.PrependInt64(int64(all[i].first))
	}
	return b.EndVector(len(all))
}

// arrowFooter makes the Footer for one batch.
func arrowFooter(columns []written, offset, meta, body int) []byte {
	b := flatbuffers.NewBuilder(1024)
	schema := schemaTable(b, columns)
	b.StartVector(24, 1, 8)
	b.PrependInt64(int64(body))
	b.Pad(4)
	b.PrependInt32(int32(meta))
	b.PrependInt64(int64(offset))
	blocks := b.EndVector(1)
	b.StartObject(5)
	b.PrependUOffsetTSlot(3, blocks, 0)
	b.PrependUOffsetTSlot(1, schema, 0)
	b.PrependInt16Slot(0, arrowVersion, 0)
	b.Finish(b.EndObject())
	return b.FinishedBytes()
}
