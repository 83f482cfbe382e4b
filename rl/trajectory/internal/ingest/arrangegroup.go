package ingest

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// stretch is rows of a person that follow each other in a file, under the ids of the person.
type stretch struct{ key, record []byte }

func cutID(key []byte) (id, rest []byte) {
	n := 2 + int(binary.BigEndian.Uint16(key))
	return key[2:n], key[n:]
}

// group is the rows of one person, in columns, as they were read.
type group struct {
	owner   []byte
	text    []byte // ids of episodes, and faults
	ids     []span // in text, of each row
	files   []int
	places  []int
	faults  []span // in text, of each row; empty where there are none
	values  [blocks][]float64
	width   *[blocks]int
	ranks   []ranked
	spans   []span // of the ranks of each episode
	order   []int  // of the rows
	numbers []int  // of the episodes that they were cut into, in order; empty where they are not cut
}

// span is from where to where something reaches.
type span struct{ from, to int }

// ranked is what a row is put in order by: the length and the first bytes of the id of its
// episode, and the rank of its step.
type ranked struct {
	prefix, rank uint64
	row          int
}

func (g *group) begin(owner []byte) {
	g.owner = append(g.owner[:0], owner...)
	g.text, g.ids, g.files, g.places, g.faults = g.text[:0], g.ids[:0], g.files[:0], g.places[:0], g.faults[:0]
	for i := range g.values {
		g.values[i] = g.values[i][:0]
	}
	g.ranks, g.spans, g.order, g.numbers = g.ranks[:0], g.spans[:0], g.order[:0], g.numbers[:0]
}

// add adds the rows of a record.
func (g *group) add(record []byte, width *[blocks]int) error {
	g.width = width
	r := &table.Record{Left: record}
	from, rows, file, place := len(g.ids), r.Count(), r.Count(), 0
	for i := 0; i < rows && !r.Short; i++ {
		place += r.Signed()
		g.files, g.places = append(g.files, file), append(g.places, place)
	}
	for i := 0; i < rows && !r.Short; {
		n, id := r.Count(), g.keep(r.Bytes(r.Count()))
		for ; n > 0 && i < rows; n, i = n-1, i+1 {
			g.ids = append(g.ids, id)
		}
	}
	if faulty := r.Byte() != 0; faulty || len(g.faults) > 0 {
		g.faults = append(g.faults, make([]span, from-len(g.faults))...)
		for i := 0; i < rows && !r.Short; i++ {
			if faulty {
				g.faults = append(g.faults, g.keep(r.Bytes(r.Count())))
			} else {
				g.faults = append(g.faults, span{})
			}
		}
	}
	for block, w := range width {
		if block != blkCoded {
			g.values[block] = r.Numbers(g.values[block], rows, w)
		}
	}
	if r.Short || len(r.Left) > 0 {
		return fmt.Errorf("rows that were put in order cannot be read again: %w", io.ErrUnexpectedEOF)
	}
	return nil
}

func (g *group) keep(text []byte) span {
	from := len(g.text)
	g.text = append(g.text, text...)
	return span{from, len(g.text)}
}

// id is that of the episode of a row.
func (g *group) id(row int) []byte { return g.text[g.ids[row].from:g.ids[row].to] }

// fault is what is wrong with a row, empty if nothing is.
func (g *group) fault(row int) []byte {
	if len(g.faults) == 0 {
		return nil
	}
	return g.text[g.faults[row].from:g.faults[row].to]
}

// arrange puts rows in the order of their steps, or of the files, and episodes in the order of
// their first steps; where these are equal, in the order of their ids.
func (g *group) arrange(inFiles bool) {
	for row, span := range g.ids {
		var first [8]byte
		binary.BigEndian.PutUint16(first[:], uint16(span.to-span.from))
		copy(first[2:], g.text[span.from:span.to])
		r := ranked{binary.BigEndian.Uint64(first[:]), 0, row}
		switch {
		case inFiles:
			r.rank = uint64(g.files[row])<<rowBits | uint64(g.places[row])
		case g.width[blkStep] > 0:
			r.rank = rank(g.values[blkStep][row])
		default:
			r.rank = rank(table.Null())
		}
		g.ranks = append(g.ranks, r)
	}
	slices.SortFunc(g.ranks, g.compare)
	for from := 0; from < len(g.ranks); {
		to := from + 1
		for to < len(g.ranks) && g.compareIDs(&g.ranks[from], &g.ranks[to]) == 0 {
			g.ids[g.ranks[to].row] = g.ids[g.ranks[from].row]
			to++
		}
		g.spans = append(g.spans, span{from, to})
		from = to
	}
	slices.SortStableFunc(g.spans, func(a, b span) int { return cmp.Compare(g.ranks[a.from].rank, g.ranks[b.from].rank) })
	for _, e := range g.spans {
		for _, r := range g.ranks[e.from:e.to] {
			g.order = append(g.order, r.row)
		}
	}
}

// compare is by episode and rank. Rows of one step, which cannot be used, are in the order of
// what they hold, wherever they stand.
func (g *group) compare(a, b ranked) int {
	if a.prefix != b.prefix {
		return cmp.Compare(a.prefix, b.prefix)
	}
	if c := g.compareIDs(&a, &b); c != 0 {
		return c
	}
	if a.rank != b.rank {
		return cmp.Compare(a.rank, b.rank)
	}
	return bytes.Compare(g.held(a.row), g.held(b.row))
}

// compareIDs compares ids, of one length byte by byte, as numbers are.
func (g *group) compareIDs(a, b *ranked) int {
	if a.prefix != b.prefix {
		return cmp.Compare(a.prefix, b.prefix)
	}
	if g.ids[a.row].to-g.ids[a.row].from <= 6 { // all of it is in the prefix
		return 0
	}
	return bytes.Compare(g.id(a.row), g.id(b.row))
}

// held is all that a row holds.
func (g *group) held(row int) (all []byte) {
	for block, w := range g.width {
		if block != blkCoded {
			for _, v := range g.values[block][row*w : (row+1)*w] {
				all = binary.LittleEndian.AppendUint64(all, math.Float64bits(v))
			}
		}
	}
	faults := g.fault(row)
	if len(faults) == 0 {
		faults = []byte{0, 0}
	}
	all = append(all, faults...)
	return binary.AppendUvarint(binary.AppendUvarint(all, uint64(g.files[row])), uint64(g.places[row]))
}
