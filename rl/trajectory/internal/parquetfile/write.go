package parquetfile

import (
	"io"
	"maps"
	"slices"

	"github.com/discreet-rl/discreet/internal/parquet"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/canon"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// Write writes a dataset in the canonical schema, with its version under
// "discreet_schema_version". Persons and episodes without a name are numbered.
// The probabilities of the actions become one list column.
func Write(w io.Writer, d *trajectory.Dataset) error { return WriteMarked(w, d, nil) }

// WriteMarked is Write with further texts by name in the file's metadata; see
// [Marks].
func WriteMarked(w io.Writer, d *trajectory.Dataset, marks map[string]string) error {
	return WriteEach(w, marks, table.Form{}, func(put func(*trajectory.Dataset, bool) error) error { return put(d, true) })
}

// WriteEach is WriteMarked of datasets that are put one after another, of the same columns
// and with names of persons, as of one with all of their persons. A row group may end where end is said.
func WriteEach(w io.Writer, marks map[string]string, form table.Form, each func(put func(d *trajectory.Dataset, end bool) error) error) error {
	var x *writer
	err := each(func(d *trajectory.Dataset, end bool) error {
		if x == nil {
			x = newWriter(w, d, form)
			for _, name := range slices.Sorted(maps.Keys(marks)) {
				x.w.Mark(name, marks[name])
			}
		} else {
			before := x.l.Before + x.d.Episodes()
			x.d, x.l = d, table.NewLayout(d, form)
			x.l.Before = before
		}
		if err := x.dataset(); err != nil || !end {
			return err
		}
		return x.tell()
	})
	if err != nil {
		return err
	}
	return x.w.Close()
}

type writer struct {
	d    *trajectory.Dataset
	l    *table.Layout
	w    *parquet.Writer
	at   int // column
	rows int // since the writer was told of them
}

// toldRows is after how many rows the writer is told of them.
const toldRows = 1 << 10

func newWriter(w io.Writer, d *trajectory.Dataset, form table.Form) *writer {
	x := &writer{d: d, l: table.NewLayout(d, form)}
	x.w = parquet.NewWriter(w, "trajectories", x.leaves())
	x.w.Mark(canon.VersionKey, canon.Version)
	return x
}

func (x *writer) leaves() []parquet.Leaf {
	d := x.d
	var out []parquet.Leaf
	add := func(has bool, leaf parquet.Leaf, names ...string) {
		for _, name := range names {
			if has {
				leaf.Path = []string{name}
				out = append(out, leaf)
			}
		}
	}
	nulls := x.l.Nulls
	double, integer, flag := parquet.Leaf{Optional: nulls}, parquet.Leaf{Type: parquet.Integer, Optional: nulls}, parquet.Leaf{Type: parquet.Flag, Optional: nulls}
	add(true, parquet.Leaf{Type: parquet.Text}, canon.Episode)
	add(true, integer, canon.Step)
	add(!x.l.Nameless, parquet.Leaf{Type: parquet.Text}, canon.Unit)
	add(true, double, x.l.Observations...)
	add(d.Action != nil, integer, canon.Action)
	add(d.BehaviorProb != nil, double, canon.BehaviorProb)
	add(d.Actions > 0, parquet.Leaf{List: true}, canon.ActionProbs)
	add(d.TargetProb != nil, double, canon.TargetProb)
	add(true, double, canon.Reward)
	add(x.l.Ends, flag, canon.Terminated, canon.Truncated)
	add(true, parquet.Leaf{Optional: true}, x.l.Next...)
	add(d.Discount != nil, double, canon.Discount)
	return out
}

// dataset writes the rows of the dataset at hand.
func (x *writer) dataset() error {
	d := x.d
	for p := range d.Persons() {
		for e := d.PersonStart[p]; e < d.PersonStart[p+1]; e++ {
			for from, end := d.EpisodeStart[e], d.EpisodeStart[e+1]; from < end; {
				to := min(from+toldRows, end)
				x.part(p, e, from, to)
				x.rows += to - from
				if from = to; x.rows < toldRows {
					continue
				}
				if err := x.tell(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (x *writer) tell() error {
	n := x.rows
	x.rows = 0
	return x.w.Advance(n)
}

// next is the column after the one before.
func (x *writer) next() *parquet.Sink {
	x.at++
	return x.w.Column(x.at - 1)
}

// part writes rows of an episode of a person, column by column.
func (x *writer) part(person, episode, from, to int) {
	d, start := x.d, x.d.EpisodeStart[episode]
	x.at = 0
	x.next().Text(x.l.Episode(episode), to-from)
	for c, i := x.next(), from; i < to; i++ {
		if x.l.Lacks(episode, table.LacksSteps) {
			c.Null()
		} else {
			c.Integer(int64(i - start))
		}
	}
	if !x.l.Nameless {
		x.next().Text(x.l.Person(person), to-from)
	}
	width := len(d.Columns)
	for j := range width {
		x.doubles(d.Obs[from*width+j:], width, to-from)
	}
	if d.Action != nil {
		c := x.next()
		for _, a := range d.Action[from:to] {
			if a < 0 {
				c.Null()
			} else {
				c.Integer(int64(a))
			}
		}
	}
	if d.BehaviorProb != nil {
		x.doubles(d.BehaviorProb[from:], 1, to-from)
	}
	if k := d.Actions; k > 0 {
		for c, i := x.next(), from; i < to; i++ {
			c.Doubles(d.ActionProbs[i*k : (i+1)*k])
		}
	}
	if d.TargetProb != nil {
		x.doubles(d.TargetProb[from:], 1, to-from)
	}
	x.doubles(d.Reward[from:], 1, to-from)
	last := to == d.EpisodeStart[episode+1]
	if x.l.Ends {
		x.flag(to-from, last && d.Ended(episode), x.l.Lacks(episode, table.LacksTerminated))
		x.flag(to-from, last && !d.Ended(episode), x.l.Lacks(episode, table.LacksTruncated))
	}
	x.final(to-from, last, episode)
	if d.Discount != nil {
		x.doubles(d.Discount[from:], 1, to-from)
	}
}

// final writes the observation after the decisions, which is that after the last one of an
// episode, where it is known.
func (x *writer) final(rows int, last bool, episode int) {
	if x.l.Next == nil {
		return
	}
	var final []float64
	if last {
		final = x.d.FinalObservation(episode)
	}
	for j := range x.l.Next {
		c := x.next()
		for i := range rows {
			if i == rows-1 && final != nil && !table.IsNull(final[j]) {
				c.Double(final[j])
			} else {
				c.Null()
			}
		}
	}
}

// flag writes a flag that is down in all rows but the last, or that is not known.
func (x *writer) flag(rows int, up, lacks bool) {
	c := x.next()
	for i := range rows {
		if lacks {
			c.Null()
		} else {
			c.Flag(up && i == rows-1)
		}
	}
}

// doubles writes every stride-th of values.
func (x *writer) doubles(values []float64, stride, rows int) {
	c := x.next()
	for i := range rows {
		if v := values[i*stride]; x.l.Nulls && table.IsNull(v) {
			c.Null()
		} else {
			c.Double(v)
		}
	}
}
