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
	b := bufio.NewWriterSize(w, 1<<16)
	x := writer{d: d, l: table.NewLayout(d)}
	x.header()
	var err error
	x.l.Rows(func(r table.Row) bool {
		x.row(r)
		if len(x.line) > 1<<15 {
			_, err = b.Write(x.line)
			x.line = x.line[:0]
		}
		return err == nil
	})
	if err == nil {
		_, err = b.Write(x.line)
	}
	if err != nil {
		return err
	}
	return b.Flush()
}

type writer struct {
	d    *trajectory.Dataset
	l    *table.Layout
	line []byte
}

func (x *writer) header() {
	d := x.d
	names := []string{"episode_id", "step", "unit_id"}
	add := func(has bool, name ...string) {
		if has {
			names = append(names, name...)
		}
	}
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
	x.integer(r.Step)
	x.text(x.l.Person(r.Person))
	x.numbers(d.Observation(r.Index))
	if d.Action != nil {
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
		x.line = append(strconv.AppendBool(x.line, r.Terminated), ',')
		x.line = append(strconv.AppendBool(x.line, r.Truncated), ',')
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

func (x *writer) integer(v int) {
	x.line = append(strconv.AppendInt(x.line, int64(v), 10), ',')
}

func (x *writer) number(v float64) {
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
