package csvfile

import (
	"bufio"
	"bytes"
	"io"
	"strconv"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// Write writes a dataset in the canonical schema. Numbers are the shortest
// decimals that read back to the same float64. Persons and episodes without a
// name are numbered.
func Write(w io.Writer, d *trajectory.Dataset) error {
	return WriteEach(w, table.Form{}, func(put func(*trajectory.Dataset, bool) error) error { return put(d, true) })
}

// WriteEach is Write of datasets that are put one after another, of the same columns and
// with names of persons, as of one with all of their persons.
func WriteEach(w io.Writer, form table.Form, each func(put func(d *trajectory.Dataset, end bool) error) error) error {
	b := bufio.NewWriterSize(w, 1<<16)
	var x *writer
	err := each(func(d *trajectory.Dataset, _ bool) error {
		if x == nil {
			x = &writer{d: d, l: table.NewLayout(d, form)}
			x.header()
		} else {
			before := x.l.Before + x.d.Episodes()
			x.d, x.l = d, table.NewLayout(d, form)
			x.l.Before = before
		}
		return x.rows(b)
	})
	if err != nil {
		return err // which the buffer would repeat
	}
	return b.Flush()
}

// rows writes the rows of the dataset at hand.
func (x *writer) rows(to io.Writer) (err error) {
	x.l.Rows(func(r table.Row) bool {
		x.row(r)
		if len(x.line) > 1<<15 {
			_, err = to.Write(x.line)
			x.line = x.line[:0]
		}
		return err == nil
	})
	if err == nil {
		_, err = to.Write(x.line)
		x.line = x.line[:0]
	}
	return err
}

type writer struct {
	d    *trajectory.Dataset
	l    *table.Layout
	line []byte
}

func (x *writer) header() {
	d := x.d
	names := []string{"episode_id", "step"}
	add := func(has bool, name ...string) {
		if has {
			names = append(names, name...)
		}
	}
	add(!x.l.Nameless, "unit_id")
	add(true, x.l.Observations...)
	add(d.Action != nil, "action")
	add(d.BehaviorProb != nil, "behavior_prob")
	for k := range d.Actions {
		add(true, "prob_"+strconv.Itoa(k))
	}
	add(d.TargetProb != nil, "target_prob")
	add(true, "reward")
	add(x.l.Ends, "terminated", "truncated")
	add(true, x.l.Next...)
	add(d.Discount != nil, "discount")
	for _, name := range names {
		x.text(name)
	}
	x.endLine()
}

func (x *writer) row(r table.Row) {
	d := x.d
	x.text(x.l.Episode(r.Episode))
	if x.l.Lacks(r.Episode, table.LacksSteps) {
		x.null()
	} else {
		x.integer(r.Step)
	}
	if !x.l.Nameless {
		x.text(x.l.Person(r.Person))
	}
	x.numbers(d.Observation(r.Index))
	switch {
	case d.Action == nil:
	case d.Action[r.Index] < 0:
		x.null()
	default:
		x.integer(int(d.Action[r.Index]))
	}
	if d.BehaviorProb != nil {
		x.number(d.BehaviorProb[r.Index])
	}
	if k := d.Actions; k > 0 {
		x.numbers(d.ActionProbs[r.Index*k : (r.Index+1)*k])
	}
	if d.TargetProb != nil {
		x.number(d.TargetProb[r.Index])
	}
	x.number(d.Reward[r.Index])
	if x.l.Ends {
		x.flag(r.Episode, table.LacksTerminated, r.Terminated)
		x.flag(r.Episode, table.LacksTruncated, r.Truncated)
	}
	if r.Next != nil {
		x.numbers(r.Next)
	} else {
		for range x.l.Next {
			x.line = append(x.line, ',')
		}
	}
	if d.Discount != nil {
		x.number(d.Discount[r.Index])
	}
	x.endLine()
}

func (x *writer) null() { x.line = append(x.line, ',') }

func (x *writer) flag(episode int, lacks uint8, up bool) {
	if !x.l.Lacks(episode, lacks) {
		x.line = strconv.AppendBool(x.line, up)
	}
	x.null()
}

func (x *writer) integer(v int) {
	x.line = append(strconv.AppendInt(x.line, int64(v), 10), ',')
}

func (x *writer) number(v float64) {
	if table.IsNull(v) {
		x.null()
		return
	}
	x.line = append(strconv.AppendFloat(x.line, v, 'g', -1, 64), ',')
}

func (x *writer) numbers(v []float64) {
	for _, v := range v {
		x.number(v)
	}
}

// text writes a field, in quotes where the format asks for them.
func (x *writer) text(s string) {
	if !bytes.ContainsAny([]byte(s), ",\"\r\n") {
		x.line = append(append(x.line, s...), ',')
		return
	}
	x.line = append(x.line, '"')
	for i := range len(s) {
		if s[i] == '"' {
			x.line = append(x.line, '"')
		}
		x.line = append(x.line, s[i])
	}
	x.line = append(x.line, '"', ',')
}

// endLine turns the last comma into the end of the line.
func (x *writer) endLine() { x.line[len(x.line)-1] = '\n' }
