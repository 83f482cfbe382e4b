package ndjsonfile

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// Write writes a dataset in the canonical schema, one object a line. Numbers are
// the shortest decimals that read back to the same float64; a NaN is null, and
// an infinite number, which JSON lacks, is an error. Persons and episodes without
// a name are numbered. The probabilities of the actions become one list.
func Write(w io.Writer, d *trajectory.Dataset) error {
	b := bufio.NewWriterSize(w, 1<<16)
	x := writer{d: d, l: table.NewLayout(d, table.Form{})}
	var err error
	x.l.Rows(func(r table.Row) bool {
		x.row(r)
		if x.infinite {
			err = fmt.Errorf("ndjson: %w: row %d holds an infinite number, which JSON cannot say; write another format", trajectory.ErrValue, r.Index+1)
			return false
		}
		_, err = b.Write(x.line)
		return err == nil
	})
	if err != nil {
		return err
	}
	return b.Flush()
}

type writer struct {
	d        *trajectory.Dataset
	l        *table.Layout
	line     []byte
	infinite bool
}

func (x *writer) row(r table.Row) {
	d := x.d
	x.line = append(x.line[:0], '{')
	x.text("episode_id", x.l.Episode(r.Episode))
	x.key("step")
	x.integer(r.Step)
	x.text("unit_id", x.l.Person(r.Person))
	for i, v := range d.Observation(r.Index) {
		x.number(x.l.Observations[i], v)
	}
	if d.Action != nil {
		x.key("action")
		x.integer(int(d.Action[r.Index]))
	}
	if d.BehaviorProb != nil {
		x.number("behavior_prob", d.BehaviorProb[r.Index])
	}
	if k := d.Actions; k > 0 {
		x.list("action_probs", d.ActionProbs[r.Index*k:(r.Index+1)*k])
	}
	if d.TargetProb != nil {
		x.number("target_prob", d.TargetProb[r.Index])
	}
	x.number("reward", d.Reward[r.Index])
	if x.l.Ends {
		x.boolean("terminated", r.Terminated)
		x.boolean("truncated", r.Truncated)
	}
	for i, name := range x.l.Next {
		v := math.NaN()
		if r.Next != nil {
			v = r.Next[i]
		}
		x.number(name, v)
	}
	if d.Discount != nil {
		x.number("discount", d.Discount[r.Index])
	}
	x.line[len(x.line)-1] = '}'
	x.line = append(x.line, '\n')
}

func (x *writer) key(name string) {
	x.quoted(name)
	x.line = append(x.line, ':')
}

func (x *writer) integer(v int) { x.line = append(strconv.AppendInt(x.line, int64(v), 10), ',') }

func (x *writer) boolean(name string, v bool) {
	x.key(name)
	x.line = append(strconv.AppendBool(x.line, v), ',')
}

func (x *writer) text(name, value string) {
	x.key(name)
	x.quoted(value)
	x.line = append(x.line, ',')
}

func (x *writer) number(name string, v float64) {
	x.key(name)
	x.value(v)
	x.line = append(x.line, ',')
}

func (x *writer) list(name string, values []float64) {
	x.key(name)
	x.line = append(x.line, '[')
	for i, v := range values {
		if i > 0 {
			x.line = append(x.line, ',')
		}
		x.value(v)
	}
	x.line = append(x.line, ']', ',')
}

func (x *writer) value(v float64) {
	switch {
	case math.IsNaN(v):
		x.line = append(x.line, "null"...)
	case math.IsInf(v, 0):
		x.infinite = true
	default:
		x.line = strconv.AppendFloat(x.line, v, 'g', -1, 64)
	}
}

// quoted writes a string; what JSON does not allow in one is escaped.
func (x *writer) quoted(s string) {
	const hex = "0123456789abcdef"
	x.line = append(x.line, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			x.line = append(x.line, '\\', c)
		case c < 0x20:
			x.line = append(x.line, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			x.line = append(x.line, c)
		}
	}
	x.line = append(x.line, '"')
}
