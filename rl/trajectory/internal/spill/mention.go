package spill

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/ingest"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// The kinds of records of data in parts.
const (
	// Episode is a record that [Frame.Append] wrote.
	Episode = 'e'
	// Name is one that [AppendMention] wrote.
	Name = 'n'
)

// mostRows bounds the rows of a file, as what compares names has room for.
const mostRows = 1 << 47

// AppendMention appends a mention without its plain spelling.
func AppendMention(dst []byte, m ingest.Mention) []byte {
	person := byte(0)
	if m.Person {
		person = 1
	}
	dst = append(dst, person)
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(m.File)), uint64(m.Row))
	return append(dst, m.ID...)
}

// ReadMention reads what AppendMention wrote. The id is a part of the record.
func ReadMention(record []byte) (ingest.Mention, error) {
	r := &table.Record{Left: record}
	person := r.Bytes(1)
	file, row := r.Count(), r.Count()
	if r.Short || file > math.MaxUint16 || row >= mostRows {
		return ingest.Mention{}, io.ErrUnexpectedEOF
	}
	return ingest.Mention{Person: person[0] != 0, File: file, Row: row, ID: r.Left}, nil
}
