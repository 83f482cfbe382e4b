package parquetfile

import (
	"io"
	"maps"
	"slices"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/canon"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
	"github.com/parquet-go/parquet-go"
)

// groupRows is the number of rows of a row group that is written.
const groupRows = 1 << 19

// Write writes a dataset in the canonical schema, with its version under
// "discreet_schema_version". Persons and episodes without a name are numbered.
// The probabilities of the actions become one list column.
func Write(w io.Writer, d *trajectory.Dataset) error { return WriteMarked(w, d, nil) }

// WriteMarked is Write with further texts by name in the file's metadata; see
// [Marks].
func WriteMarked(w io.Writer, d *trajectory.Dataset, marks map[string]string) error {
	return WriteEach(w, marks, func(put func(*trajectory.Dataset) error) error { return put(d) })
}

// WriteEach is WriteMarked of datasets that are put one after another, of the same columns
// and with names of persons, as of one with all of their persons.
func WriteEach(w io.Writer, marks map[string]string, each func(put func(*trajectory.Dataset) error) error) error {
	var x *writer
	err := each(func(d *trajectory.Dataset) error {
		if x == nil {
			x = newWriter(w, d)
			for _, name := range slices.Sorted(maps.Keys(marks)) {
				x.w.SetKeyValueMetadata(name, marks[name])
			}
		} else {
			before := x.l.Before + x.d.Episodes()
			x.d, x.l = d, table.NewLayout(d)
			x.l.Before = before
		}
		return x.dataset()
	})
	if err == nil {
		err = x.flush()
	}
	if err != nil {
		return err
	}
	return x.w.Close()
}

// dataset writes the rows of the dataset at hand.
func (x *writer) dataset() (err error) {
	x.l.Rows(func(r table.Row) bool {
		x.row(r)
		if x.n++; len(x.rows) == cap(x.rows) {
			err = x.flush()
		}
		if err == nil && x.n%groupRows == 0 {
			err = x.w.Flush()
		}
		return err == nil
	})
	return err
}

type writer struct {
	d    *trajectory.Dataset
	l    *table.Layout
	w    *parquet.GenericWriter[any]
	rows []parquet.Row
	n    int // rows so far
	at   int // column
	cur  parquet.Row
}

func newWriter(w io.Writer, d *trajectory.Dataset) *writer {
	x := &writer{d: d, l: table.NewLayout(d), rows: make([]parquet.Row, 0, 1024)}
	x.w = parquet.NewGenericWriter[any](w, parquet.NewSchema("trajectories", x.schema()),
		parquet.KeyValueMetadata(canon.VersionKey, canon.Version), parquet.Compression(&parquet.Snappy))
	return x
}

func (x *writer) schema() parquet.Node {
	d := x.d
	var g ordered
	key := func(name string) { g.add(name, parquet.Encoded(parquet.String(), &parquet.RLEDictionary)) }
	doubles := func(has bool, names ...string) {
		if has {
			for _, name := range names {
				g.add(name, parquet.Leaf(parquet.DoubleType))
			}
		}
	}
	key("episode_id")
	g.add("step", parquet.Leaf(parquet.Int64Type))
	key("unit_id")
	doubles(true, x.l.Observations...)
	if d.Action != nil {
		g.add("action", parquet.Leaf(parquet.Int64Type))
	}
	doubles(d.BehaviorProb != nil, "behavior_prob")
	if d.Actions > 0 {
		g.add("action_probs", parquet.List(parquet.Leaf(parquet.DoubleType)))
	}
	doubles(d.TargetProb != nil, "target_prob")
	doubles(true, "reward")
	if x.l.Ends {
		g.add("terminated", parquet.Leaf(parquet.BooleanType))
		g.add("truncated", parquet.Leaf(parquet.BooleanType))
	}
	for _, name := range x.l.Next {
		g.add(name, parquet.Optional(parquet.Leaf(parquet.DoubleType)))
	}
	doubles(d.Discount != nil, "discount")
	return &g
}

func (x *writer) row(r table.Row) {
	d, n := x.d, len(x.rows)
	x.rows = x.rows[:n+1]
	x.cur, x.at = x.rows[n][:0], 0
	x.put(parquet.ValueOf(x.l.Episode(r.Episode)), 0)
	x.put(parquet.Int64Value(int64(r.Step)), 0)
	x.put(parquet.ValueOf(x.l.Person(r.Person)), 0)
	for _, v := range d.Observation(r.Index) {
		x.double(v)
	}
	if d.Action != nil {
		x.put(parquet.Int64Value(int64(d.Action[r.Index])), 0)
	}
	if d.BehaviorProb != nil {
		x.double(d.BehaviorProb[r.Index])
	}
	if k := d.Actions; k > 0 {
		x.list(d.ActionProbs[r.Index*k : (r.Index+1)*k])
	}
	if d.TargetProb != nil {
		x.double(d.TargetProb[r.Index])
	}
	x.double(d.Reward[r.Index])
	if x.l.Ends {
		x.put(parquet.BooleanValue(r.Terminated), 0)
		x.put(parquet.BooleanValue(r.Truncated), 0)
	}
	for j := range x.l.Next {
		if r.Next == nil {
			x.put(parquet.NullValue(), 0)
		} else {
			x.put(parquet.DoubleValue(r.Next[j]), 1)
		}
	}
	if d.Discount != nil {
		x.double(d.Discount[r.Index])
	}
	x.rows[n] = x.cur
}

func (x *writer) double(v float64) { x.put(parquet.DoubleValue(v), 0) }

// put adds the value of a flat column.
func (x *writer) put(v parquet.Value, definition int) {
	x.cur = append(x.cur, v.Level(0, definition, x.at))
	x.at++
}

// list adds a list column: every element after the first repeats at level 1.
func (x *writer) list(values []float64) {
	for i, v := range values {
		x.cur = append(x.cur, parquet.DoubleValue(v).Level(min(i, 1), 1, x.at))
	}
	x.at++
}

func (x *writer) flush() error {
	_, err := x.w.WriteRows(x.rows)
	x.rows = x.rows[:0]
	return err
}

// ordered is a group that keeps the order of its columns: a parquet.Group sorts
// them by name, and the order of observations has a meaning.
type ordered struct {
	parquet.Group
	fields []parquet.Field
}

func (g *ordered) add(name string, node parquet.Node) {
	if g.Group == nil {
		g.Group = parquet.Group{}
	}
	g.Group[name] = node
	g.fields = append(g.fields, parquet.Group{name: node}.Fields()[0])
}

// Fields implements [parquet.Node].
func (g *ordered) Fields() []parquet.Field { return g.fields }
