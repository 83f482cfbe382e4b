package movedfile

import (
	"encoding/binary"
	"encoding/json"

	"github.com/klauspost/compress/s2"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// head is what a table says of its columns.
type head struct {
	Fields []field
	Picks  []pick
}

type field struct {
	table.Field
	Width int
}

// pick is what tells of a column how it was read. A table has at most one of each.
type pick struct {
	Field int
	Kind  table.PickKind
	List  int
}

func pickOf(p table.Pick) pick { return pick{p.Field, p.Kind, p.List} }

func (p pick) width() int { return max(p.List, 1) }

// flaw is a value of a row that the format could not read, or a column that the row lacks.
type flaw struct {
	Row                        int
	File, Column, What, Remedy string
	Element                    int
	Kind                       int // among kinds
	Form, Lack                 bool
}

// kinds are those that a fault of a value may have.
var kinds = []error{nil, trajectory.ErrValue, trajectory.ErrColumn, trajectory.ErrFormat, trajectory.ErrEpisode, trajectory.ErrEmpty, trajectory.ErrInput}

// Head is what rows of one table have in common.
type Head struct {
	picks []table.Pick
	text  []byte

	body, column, packed []byte // of the rows that are taken
}

// NewHead is of a table of which these were picked.
func NewHead(t table.Table, picks []table.Pick) (*Head, error) {
	var h head
	for i, f := range t.Fields() {
		width := 0
		for _, p := range picks {
			if p.Field == i && f.List {
				width = p.List
			}
		}
		h.Fields = append(h.Fields, field{f, width})
	}
	for _, p := range picks {
		h.Picks = append(h.Picks, pickOf(p))
	}
	text, err := json.Marshal(h)
	return &Head{picks: picks, text: text}, err
}

// Rows are some of the rows of a table.
type Rows struct {
	head    *Head
	rows    int
	last    int // its number
	step    int // how far each of the last ones is from the one before
	steps   int // how many those are
	numbers []byte
	columns []column
	flaws   []flaw
}

// column holds the values of a pick: numbers, or keys as runs.
type column struct {
	numbers table.Numbers
	runs    []byte
	key     []byte // of the run at hand
	run     int    // its rows
}

// NewRows starts with none. One goroutine may use rows of one head.
func NewRows(h *Head) *Rows { return &Rows{head: h, columns: make([]column, len(h.picks))} }

// Size is about how many bytes the rows take.
func (x *Rows) Size() int {
	n := x.rows
	for i := range x.columns {
		n += len(x.columns[i].runs) + x.columns[i].numbers.Size()
	}
	return n
}

// Len is how many rows there are.
func (x *Rows) Len() int { return x.rows }

// Add takes the rows from one to before another of a batch.
func (x *Rows) Add(b *table.Batch, from, to int) {
	lacked := b.Lacked()
	for row := from; row < to; row++ {
		if step := b.Row[row] - x.last; step != x.step {
			x.endSteps()
			x.step = step
		}
		x.last = b.Row[row]
		x.steps++
		if len(b.Faults) == 0 && len(lacked) == 0 {
			continue
		}
		for _, f := range b.FaultsOf(row) {
			x.flaws = append(x.flaws, flaw{x.rows + row - from, f.Err.File, f.Err.Column, f.Err.What, f.Err.Remedy, f.Err.Element, kindOf(f.Err.Kind), f.Form, false})
		}
		for _, column := range lacked[row] {
			x.flaws = append(x.flaws, flaw{Row: x.rows + row - from, Column: column, Lack: true})
		}
	}
	x.rows += to - from
	for i, p := range x.head.picks {
		c := &x.columns[i]
		if p.Kind == table.Key {
			c.keys(&b.Keys[p.Block], from, to)
			continue
		}
		block, width := &b.Blocks[p.Block], pickOf(p).width()
		if block.Width == width {
			c.numbers.Add(block.Values[from*width : to*width])
			continue
		}
		for row := from; row < to; row++ {
			at := row*block.Width + p.Offset
			c.numbers.Add(block.Values[at : at+width])
		}
	}
}

func kindOf(err error) int {
	for i, k := range kinds {
		if k == err {
			return i
		}
	}
	return len(kinds) - 1
}

// keys takes keys of rows.
func (c *column) keys(runs *table.Runs, from, to int) {
	for run := runs.Run(from); from < to; run++ {
		end := min(runs.End(run), to)
		if key := runs.Key(run); c.run == 0 || string(key) != string(c.key) {
			c.endRun()
			c.key = append(c.key[:0], key...)
		}
		c.run += end - from
		from = end
	}
}

func (x *Rows) endSteps() {
	if x.steps > 0 {
		x.numbers = binary.AppendUvarint(binary.AppendVarint(x.numbers, int64(x.step)), uint64(x.steps))
	}
	x.step, x.steps = 0, 0
}

func (c *column) endRun() {
	if c.run > 0 {
		c.runs = binary.AppendUvarint(c.runs, uint64(len(c.key)))
		c.runs = append(c.runs, c.key...)
		c.runs = binary.AppendUvarint(c.runs, uint64(c.run))
	}
	c.run = 0
}

// Later adds to the numbers of the rows that stand after it.
func Later(rows int) []byte {
	if rows == 0 {
		return nil
	}
	return binary.AppendUvarint([]byte{0}, uint64(rows))
}

// mostRows bounds the rows that are taken at a time.
const mostRows = 1 << 24

// Take gives the rows, at most 2^24, in a form that a table reads, alone or after others of the same head,
// and goes on with none.
func (x *Rows) Take() ([]byte, error) {
	flaws, err := json.Marshal(x.flaws)
	if err != nil {
		return nil, err
	}
	h := x.head
	body := binary.AppendUvarint(h.body[:0], uint64(x.rows))
	put := func(part []byte) { body = append(binary.AppendUvarint(body, uint64(len(part))), part...) }
	x.endSteps()
	put(h.text)
	put(x.numbers)
	put(flaws)
	for i, p := range h.picks {
		c := &x.columns[i]
		if c.endRun(); p.Kind == table.Key {
			put(c.runs)
		} else {
			h.column = c.numbers.AppendTo(h.column[:0])
			put(h.column)
		}
		c.runs = c.runs[:0]
		c.numbers.Reset()
	}
	h.body = body
	if most := s2.MaxEncodedLen(len(body)); most > len(h.packed) {
		h.packed = make([]byte, most)
	}
	packed := s2.EncodeSnappy(h.packed, body)
	x.rows, x.last, x.numbers, x.flaws = 0, 0, x.numbers[:0], nil
	out := make([]byte, 0, binary.MaxVarintLen64+len(packed))
	return append(binary.AppendUvarint(out, uint64(len(packed))), packed...), nil
}
