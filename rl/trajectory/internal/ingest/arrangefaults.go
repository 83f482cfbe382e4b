package ingest

import (
	"encoding/binary"
	"slices"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// rowFaults keeps what is wrong with rows apart from their order: each kind once, and with a
// row the number of its kind.
type rowFaults struct {
	kinds   []table.Fault // without rows
	index   map[faultKind]int
	columns []string
}

// faultKind is what tells faults apart but for their rows.
type faultKind struct {
	file, column, what, remedy string
	form                       bool
}

// append adds to a record what is wrong with rows of a batch.
func (f *rowFaults) append(dst []byte, b *table.Batch, lo, hi int, lacked map[int][]string) []byte {
	if len(b.Faults) == 0 && len(lacked) == 0 {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	for row := lo; row < hi; row++ {
		one := f.of(b, row, lacked[row])
		dst = append(binary.AppendUvarint(dst, uint64(len(one))), one...)
	}
	return dst
}

// of is what is wrong with a row of a batch, and which columns it lacks.
func (f *rowFaults) of(b *table.Batch, row int, lacks []string) (dst []byte) {
	found := b.FaultsOf(row)
	dst = binary.AppendUvarint(dst, uint64(len(found)))
	for _, x := range found {
		dst = binary.AppendUvarint(dst, uint64(f.kind(x)))
		dst = binary.AppendUvarint(dst, uint64(rowOf(&x.Err)))
	}
	dst = binary.AppendUvarint(dst, uint64(len(lacks)))
	for _, column := range lacks {
		i := slices.Index(f.columns, column)
		if i < 0 {
			i = len(f.columns)
			f.columns = append(f.columns, column)
		}
		dst = binary.AppendUvarint(dst, uint64(i))
	}
	return dst
}

func (f *rowFaults) kind(x table.Fault) int {
	k := faultKind{x.Err.File, x.Err.Column, x.Err.What, x.Err.Remedy, x.Form}
	i, known := f.index[k]
	if !known {
		if f.index == nil {
			f.index = map[faultKind]int{}
		}
		i = len(f.kinds)
		f.index[k] = i
		f.kinds = append(f.kinds, x)
	}
	return i
}

// give says what is wrong with the row that is being added to a batch.
func (f *rowFaults) give(b *table.Batch, found []byte) {
	next := func() int {
		v, n := binary.Uvarint(found)
		found = found[n:]
		return int(v)
	}
	for range next() {
		x := f.kinds[next()]
		record, element := table.Place(next())
		e := trajectory.InputError{File: x.Err.File, Row: record, Element: element, Column: x.Err.Column, What: x.Err.What, Remedy: x.Err.Remedy, Kind: x.Err.Kind, Cause: x.Err.Cause}
		if x.Form {
			b.FailForm(&e)
		} else {
			b.Fail(&e)
		}
	}
	for range next() {
		b.Lack(f.columns[next()])
	}
}
