package ingest

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/rl/trajectory"
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
	owner    []byte
	text     []byte   // ids of episodes, and faults
	ids      []named  // one may be there several times
	idOf     []int    // of each row
	places   []uint64 // in the order of the files
	faults   []span   // in text, of each row; empty where there are none
	values   [blocks][]float64
	width    *[blocks]int
	inFiles  bool   // rows of an episode stay in the order of the files
	byID     []int  // the ids in order
	episodes []span // of rows, in the order of ids and then in that of first steps
	rows     []int  // of each episode after those of the one before
	order    []int  // of the rows
	ends     []int  // in order, of the episodes
	numbers  []int  // of the episodes that they were cut into, in order; empty where they are not cut
}

// named is an id.
type named struct {
	table.ID
	rows    int
	episode int // which has it
}

// standing is where a row stands.
func standing(file, row int) uint64 { return uint64(file)<<rowBits | uint64(row) }
func fileOf(place uint64) int       { return int(place >> rowBits) }
func rowIn(place uint64) int        { return int(place & (1<<rowBits - 1)) }

// span is from where to where something reaches.
type span struct{ from, to int }

func (g *group) begin(owner []byte) {
	g.owner = append(g.owner[:0], owner...)
	g.text, g.ids, g.idOf, g.places, g.faults = g.text[:0], g.ids[:0], g.idOf[:0], g.places[:0], g.faults[:0]
	for i := range g.values {
		g.values[i] = g.values[i][:0]
	}
	g.byID, g.episodes, g.order, g.ends, g.numbers = g.byID[:0], g.episodes[:0], g.order[:0], g.ends[:0], g.numbers[:0]
}

// mostTaken bounds the rows of a record: a batch has fewer.
const mostTaken = 1 << 16

// add adds the rows of a record.
func (g *group) add(record []byte) error {
	r := &table.Record{Left: record}
	from, rows, file, place := len(g.idOf), r.Count(), r.Count(), 0
	r.Short = rows > mostTaken
	for left := rows; left > 0 && !r.Short; {
		place += r.Signed()
		n := r.Count()
		r.Short = r.Short || n == 0 || n > left
		for left -= n; n > 0 && !r.Short; n-- {
			g.places = append(g.places, standing(file, place))
			place++
		}
	}
	listed := len(g.ids)
	for n := r.Count(); n > 0 && !r.Short; n-- {
		g.addID(table.IDOf(r.Bytes(r.Count())))
	}
	for left := rows; left > 0 && !r.Short; {
		n, id := r.Count(), listed+r.Count()
		if n == 0 || n > left || id >= len(g.ids) {
			r.Short = true
			break
		}
		g.addRows(id, n)
		left -= n
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
	for block, w := range g.width {
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

func (g *group) addID(id table.ID) {
	if id.Kind == table.TextID {
		id.Text = g.of(g.keep(id.Text))
	} else {
		id.Text = nil
	}
	g.ids = append(g.ids, named{ID: id})
}

// addRows adds n rows that have one of the ids.
func (g *group) addRows(id, n int) {
	for range n {
		g.idOf = append(g.idOf, id)
	}
	g.ids[id].rows += n
}

func (g *group) of(s span) []byte { return g.text[s.from:s.to] }

// episode is which of the episodes a row is of.
func (g *group) episode(row int) int { return g.ids[g.idOf[row]].episode }

// fault is what is wrong with a row, empty if nothing is.
func (g *group) fault(row int) []byte {
	if len(g.faults) == 0 {
		return nil
	}
	return g.of(g.faults[row])
}

// arrange puts rows in the order of their steps, or of the files, and episodes in the order of
// their first steps; where these are equal, in the order of their ids. An episode whose steps do not say where it stands
// cannot be used, and comes first: it may be the one that counts, and a later one must not take its place.
func (g *group) arrange(steps trajectory.Steps) {
	g.divide()
	for _, e := range g.episodes {
		if rows := g.rows[e.from:e.to]; !g.rises(rows) && !slices.IsSortedFunc(rows, g.compare) {
			slices.SortFunc(rows, g.compare)
		}
	}
	slices.SortStableFunc(g.episodes, func(a, b span) int {
		first, second := g.placed(a, steps), g.placed(b, steps)
		switch {
		case first && second:
			return cmp.Compare(g.rank(g.rows[a.from]), g.rank(g.rows[b.from]))
		case first:
			return 1
		case second:
			return -1
		}
		return 0
	})
	for _, e := range g.episodes {
		g.order = append(g.order, g.rows[e.from:e.to]...)
		g.ends = append(g.ends, len(g.order))
	}
}

// rises tells that rows are in the order of their steps, no two of them equal.
func (g *group) rises(rows []int) bool {
	of := g.values[blkStep]
	for i := 1; i < len(rows); i++ {
		if g.inFiles || !(of[rows[i-1]] < of[rows[i]]) {
			return false
		}
	}
	return true
}

// placed tells that steps say where an episode stands among those of its person: all are numbers, and the first one,
// where decisions are counted, is where counting starts. Its rows are in the order of their ranks.
func (g *group) placed(e span, steps trajectory.Steps) bool {
	of := g.values[blkStep]
	first, last := of[g.rows[e.from]], of[g.rows[e.to-1]]
	return finite(first) && finite(last) && (steps.Rising() || first == float64(steps.From))
}

// divide puts the rows of each episode together, and episodes in the order of their ids.
func (g *group) divide() {
	for i := range g.ids {
		g.byID = append(g.byID, i)
	}
	slices.SortFunc(g.byID, g.compareIDs)
	for k, i := range g.byID {
		if k == 0 || g.compareIDs(g.byID[k-1], i) != 0 {
			g.episodes = append(g.episodes, span{})
		}
		g.ids[i].episode = len(g.episodes) - 1
		g.episodes[len(g.episodes)-1].to += g.ids[i].rows
	}
	from := 0
	for i := range g.episodes {
		e := &g.episodes[i]
		from, *e = from+e.to, span{from, from}
	}
	g.rows = slices.Grow(g.rows[:0], from)[:from]
	for row := range g.idOf {
		e := &g.episodes[g.episode(row)]
		g.rows[e.to] = row
		e.to++
	}
}

// compareIDs compares ids by their lengths, and those of one length byte by byte, as numbers are.
func (g *group) compareIDs(i, j int) int {
	a, b := &g.ids[i].ID, &g.ids[j].ID
	if a.Kind == b.Kind && (a.Kind != table.NumberID || a.Number() >= 0 && b.Number() >= 0) {
		return a.Compare(b)
	}
	first, second := a.Append(nil), b.Append(nil)
	return cmp.Or(len(first)-len(second), bytes.Compare(first, second))
}

// rank gives numbers that are in the order of the rows of an episode.
func (g *group) rank(row int) uint64 {
	if g.inFiles {
		return g.places[row]
	}
	return rank(g.values[blkStep][row])
}

// compare is by rank. Rows of one step, which cannot be used, are in the order of what they
// hold, wherever they stand.
func (g *group) compare(a, b int) int {
	if c := cmp.Compare(g.rank(a), g.rank(b)); c != 0 {
		return c
	}
	return bytes.Compare(g.held(a), g.held(b))
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
	return binary.AppendUvarint(binary.AppendUvarint(all, uint64(fileOf(g.places[row]))), uint64(rowIn(g.places[row])))
}
