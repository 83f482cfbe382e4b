package spill

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// Frame is what all episodes of some data have in common.
type Frame struct {
	Columns    []string
	Actions    int
	Parts      trajectory.Parts
	EndUnknown bool
	// Begun tells that there was an episode, Finals that one had an observation after its
	// last decision.
	Begun, Finals bool
}

// columns are the optional columns of an episode, in the order in which they are written.
func columns(e *trajectory.Episode) []struct {
	part  trajectory.Parts
	width int
	of    *[]float64
} {
	return []struct {
		part  trajectory.Parts
		width int
		of    *[]float64
	}{{trajectory.BehaviorProb, 1, &e.BehaviorProb}, {trajectory.ActionProbs, e.Actions, &e.ActionProbs},
		{trajectory.TargetProb, 1, &e.TargetProb}, {trajectory.Discount, 1, &e.Discount}}
}

// Append appends an episode, with the ids of its person and of itself, which is nil where
// it has none.
func (f *Frame) Append(dst, person, id []byte, e *trajectory.Episode) []byte {
	if !f.Begun {
		f.begin(e)
	}
	f.Finals = f.Finals || e.Final != nil && e.Len() > 0
	flags := byte(0)
	for i, up := range []bool{e.Terminated, e.Final != nil, id != nil} {
		if up {
			flags |= 1 << i
		}
	}
	flags |= e.Lacks << 3
	dst = append(dst, flags)
	for _, n := range []int{e.File, e.Row, e.Len(), len(person), len(id)} {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	dst = append(append(dst, person...), id...)
	dst = table.AppendNumbers(table.AppendNumbers(dst, e.Obs), e.Reward)
	for _, c := range columns(e) {
		dst = table.AppendNumbers(dst, *c.of)
	}
	return table.AppendNumbers(actions(dst, e.Action), e.Final)
}

func (f *Frame) begin(e *trajectory.Episode) {
	f.Begun, f.Columns, f.EndUnknown = true, slices.Clone(e.Columns), e.EndUnknown
	if e.Action != nil {
		f.Parts |= trajectory.Action
	}
	for _, c := range columns(e) {
		if *c.of != nil {
			f.Parts |= c.part
		}
	}
	f.Actions = e.Actions
}

// Read reads what Append wrote into an episode, whose memory is used again. The ids are
// parts of the record.
func (f *Frame) Read(record []byte, e *trajectory.Episode) (person, id []byte, err error) {
	r := &table.Record{Left: record}
	flags := r.Bytes(1)
	var n [5]int
	for i := range n {
		n[i] = r.Count()
	}
	// A damaged record may say anything of how many there are: every row has a reward.
	if r.Short || n[2] > len(r.Left) || n[0] > math.MaxUint16 || f.Actions < 0 {
		return nil, nil, io.ErrUnexpectedEOF
	}
	e.File, e.Row, e.Columns, e.Actions, e.EndUnknown = n[0], n[1], f.Columns, f.Actions, f.EndUnknown
	e.Terminated, e.Number, e.Lacks = flags[0]&1 != 0, -1, flags[0]>>3
	person, id = r.Bytes(n[3]), r.Bytes(n[4])
	if flags[0]&4 == 0 {
		id = nil
	}
	rows, w := n[2], len(f.Columns)
	e.Obs, e.Reward = r.Numbers(e.Obs[:0], rows, w), r.Numbers(e.Reward[:0], rows, 1)
	for _, c := range columns(e) {
		if f.Parts&c.part != 0 {
			*c.of = r.Numbers((*c.of)[:0], rows, c.width)
		}
	}
	if f.Parts&trajectory.Action != 0 {
		e.Action = readActions(r, e.Action, rows)
	}
	e.Final = nil
	if flags[0]&2 != 0 {
		e.Final = r.Numbers(nil, 1, w)
	}
	if r.Short || len(r.Left) > 0 {
		return nil, nil, io.ErrUnexpectedEOF
	}
	return person, id, nil
}

// Person is the id of the person of an episode that Append wrote, a part of the record.
func (f *Frame) Person(record []byte) ([]byte, error) {
	person, _, err := f.Head(record)
	return person, err
}

// Head is Person with the number of rows.
func (f *Frame) Head(record []byte) (person []byte, rows int, err error) {
	r := &table.Record{Left: record}
	r.Bytes(1)
	var n [5]int
	for i := range n {
		n[i] = r.Count()
	}
	person = r.Bytes(n[3])
	if r.Short {
		return nil, 0, io.ErrUnexpectedEOF
	}
	return person, n[2], nil
}

// Sort puts episodes in the order of their persons; those of a person stay in the order in which they are.
func (f *Frame) Sort(records [][]byte) error {
	type keyed struct{ person, record []byte }
	all := make([]keyed, len(records))
	for i, record := range records {
		person, err := f.Person(record)
		if err != nil {
			return err
		}
		all[i] = keyed{person, record}
	}
	slices.SortStableFunc(all, func(a, b keyed) int { return bytes.Compare(a.person, b.person) })
	for i, k := range all {
		records[i] = k.record
	}
	return nil
}
