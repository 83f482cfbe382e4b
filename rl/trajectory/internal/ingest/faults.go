package ingest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// mostKinds bounds the kinds of faults that are counted apart; a file may have
// thousands of columns.
const mostKinds = 100

// faults keeps the first faults of the rows and counts all of them. The rows of a
// file are checked column by column, so that a fault may come after those of later
// rows.
type faults struct {
	most  int  // that are kept
	one   bool // is told, whatever else there is
	kept  []*trajectory.InputError
	at    []place // of those
	kinds []trajectory.FaultKind
	index map[trajectory.FaultKind]int
	total int
}

func newFaults(most int) *faults {
	return &faults{most: max(most, 1), one: most == 0, index: map[trajectory.FaultKind]int{}}
}

// count adds a fault and reports whether it is among the first, so that only those
// need to be made.
func (f *faults) count(at place, column, what string) bool {
	f.total++
	f.kinds[f.kind(trajectory.FaultKind{Column: column, What: what})].Faults++
	return len(f.kept) < f.most || at.before(f.at[len(f.at)-1])
}

// kind is the place of a kind, or of the rest.
func (f *faults) kind(kind trajectory.FaultKind) int {
	i, known := f.index[kind]
	if !known && len(f.kinds) == mostKinds {
		kind = trajectory.FaultKind{What: "other faults"}
		i, known = f.index[kind]
	}
	if !known {
		i = len(f.kinds)
		f.index[kind] = i
		f.kinds = append(f.kinds, kind)
	}
	return i
}

// keep puts a fault that count reported among the first, behind those of its row.
func (f *faults) keep(at place, e *trajectory.InputError) {
	if record, element := table.Place(e.Row); element > 0 {
		e.Row, e.Element = record, element
	}
	i := len(f.kept)
	for i > 0 && at.before(f.at[i-1]) {
		i--
	}
	f.kept, f.at = slices.Insert(f.kept, i, e), slices.Insert(f.at, i, at)
	if len(f.kept) > f.most {
		f.kept, f.at = f.kept[:f.most], f.at[:f.most]
	}
}

// add counts a fault, and keeps it if it is among the first.
func (f *faults) add(at place, e *trajectory.InputError) {
	if f.count(at, e.Column, e.What) {
		f.keep(at, e)
	}
}

// counts adds how many there are.
func (f *faults) counts(o *faults) {
	for _, k := range o.kinds {
		kind := trajectory.FaultKind{Column: k.Column, What: k.What}
		f.kinds[f.kind(kind)].Faults += k.Faults
	}
	f.total += o.total
}

// merge adds faults that come after all of f, in rows numbered from after the given one of their file.
func (f *faults) merge(o *faults, file string, after int) {
	f.counts(o)
	for i, e := range o.kept {
		if len(f.kept) == f.most {
			break
		}
		if e.File == file { // and not one of outcomes
			e.Row += after
		}
		f.kept, f.at = append(f.kept, e), append(f.at, place{o.at[i].file, o.at[i].row + after, o.at[i].part})
	}
}

// take adds faults of any rows.
func (f *faults) take(o *faults) {
	f.counts(o)
	for i, e := range o.kept {
		if len(f.kept) < f.most || o.at[i].before(f.at[len(f.at)-1]) {
			f.keep(o.at[i], e)
		}
	}
}

// rowOf is the number of the row that an error is about.
func rowOf(e *trajectory.InputError) int { return table.Numbered(e.Row, e.Element) }

// rowWords is the number of a row for a reader.
func rowWords(row int) string {
	record, element := table.Place(row)
	if element == 0 {
		return strconv.Itoa(record)
	}
	return fmt.Sprintf("%d, element %d,", record, element)
}

// tally is how many there are of each kind, whatever the order in which rows were looked at.
func (f *faults) tally() []trajectory.FaultKind {
	return slices.SortedFunc(slices.Values(f.kinds), func(a, b trajectory.FaultKind) int {
		return cmp.Or(cmp.Compare(b.Faults, a.Faults), cmp.Compare(a.Column, b.Column), cmp.Compare(a.What, b.What))
	})
}

// err is all that was found: nil, the one fault, or a [trajectory.FaultsError].
func (f *faults) err() error {
	switch {
	case f.total == 0:
		return nil
	case f.total == 1 || f.one:
		return f.kept[0]
	}
	return &trajectory.FaultsError{First: f.kept, Kinds: f.tally(), Total: f.total}
}

func (p place) before(q place) bool {
	return cmp.Or(cmp.Compare(p.file, q.file), cmp.Compare(p.row, q.row), cmp.Compare(p.part, q.part)) < 0
}
