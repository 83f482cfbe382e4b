package ingest

import (
	"fmt"
	"math"
	"strconv"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// checker checks the rows lo to hi-1 of a batch, which are decisions of one
// episode, column by column, and notes their faults.
type checker struct {
	s      *Stream
	lo, hi int
}

// fault notes what is wrong in a row, unless the format has said so already: it
// puts a null in the place of what it cannot read.
func (c *checker) fault(row int, column, what, remedy string, kind error) {
	if c.s.batch.Faulty(row, column) {
		return
	}
	into := c.s.faults
	if c.s.repairs() && !c.s.batch.Lacks(row, column) {
		into = c.s.leaveOut()
		c.s.breached(column)
	}
	c.put(into, row, column, what, remedy, kind)
}

// refuse notes a value that the options reject by name, which is a fault whatever
// becomes of others.
func (c *checker) refuse(row int, column, what, remedy string) {
	if !c.s.batch.Faulty(row, column) {
		c.put(c.s.faults, row, column, what, remedy, trajectory.ErrValue)
	}
}

func (c *checker) put(into *faults, row int, column, what, remedy string, kind error) {
	c.s.lastViolation = trajectory.FaultKind{Column: column, What: what}
	at := c.s.place(row)
	if into.count(at, column, what) {
		into.keep(at, c.s.fault(row, column, what, remedy, kind))
	}
}

func (c *checker) rows() {
	if c.hi == c.lo {
		return
	}
	c.ended()
	c.steps()
	c.observations()
	c.actions()
	c.probability(blkBehavior, math.SmallestNonzeroFloat64,
		"importance ratios are undefined; drop the person or mend the log")
	c.distribution()
	c.probability(blkTarget, 0, "mend the log")
	c.rewards()
	c.flags(blkTerminated)
	c.flags(blkTruncated)
	c.next()
	c.discounts()
}

// ended complains of rows after a row that was flagged as the last.
func (c *checker) ended() {
	if st := &c.s.state; st.ended && st.nameless {
		st.ended, c.s.ep.Terminated = false, false
	} else if st.ended {
		c.flagged(st.flagAt, st.endFlag)
		st.ended, c.s.ep.Terminated = false, false
	}
}

// flagged notes a flag that is up in a row, with rows after it.
func (c *checker) flagged(at place, block int) {
	c.s.violation(at, &trajectory.InputError{Column: c.s.name(block, 0),
		What: "is true before the last row of the episode", Remedy: "give what follows its own episode_id, or mend the flag", Kind: trajectory.ErrEpisode})
}

func (c *checker) steps() {
	if !c.s.bound.has(blkStep) {
		return
	}
	st := &c.s.state
	if st.nameless { // whether the rows are of this episode is not known
		st.step = c.s.values(blkStep, c.hi-1, c.hi)[0]
		return
	}
	if c.s.o.Steps.Rising() {
		c.rising(c.lo, c.hi)
		return
	}
	values := c.s.values(blkStep, c.lo, c.hi)
	good := counted(values, st.step)
	if good > 0 {
		st.step = values[good-1]
	}
	for i, v := range values[good:] {
		i += good
		want := st.step + 1
		if st.step = v; v == want {
			continue
		}
		row, name := c.lo+i, c.s.name(blkStep, 0)
		switch {
		case table.IsNull(v):
			st.step = want
			c.missing(row, name, c.number())
		case v != math.Trunc(v) || !finite(v):
			st.step = want
			c.fault(row, name, "is not an integer", c.number()+", or set data.steps: {kind: ordered} if it is a day or a time", trajectory.ErrValue)
		case st.rows == 0 && i == 0:
			c.fault(row, name, "the episode does not start at step "+short(want), c.order()+c.number()+", or say in data.steps where they start, such as {from: 1}", trajectory.ErrEpisode)
		case v == want-1:
			c.fault(row, name, "repeats the step before (a duplicate row?)", "drop what was written twice, or number the steps; or set data.steps: {kind: ordered} if it is a day or a time", trajectory.ErrEpisode)
		default:
			c.fault(row, name, "is not one more than the step before", c.order()+"leave no gap; or set data.steps: {kind: ordered} if it is a day or a time", trajectory.ErrEpisode)
		}
	}
}

// counted is how many of the first values count up by one from the one before them.
func counted(values []float64, before float64) int {
	for i, v := range values {
		if v != before+1 {
			return i
		}
		before = v
	}
	return len(values)
}

// order says of rows that are not put in order that they have to be.
func (c *checker) order() string {
	if c.s.o.Steps.Sort {
		return ""
	}
	return "sort the rows by episode and step (data.steps: {sort: true} does it), and "
}

// before is the row before one.
func (c *checker) before() string {
	if c.s.o.Steps.Sort {
		return "another row of the episode"
	}
	return "the row before"
}

// number says how steps are counted.
func (c *checker) number() string {
	from := c.s.o.Steps.From
	return fmt.Sprintf("number the decisions of an episode %d, %d, %d, ...", from, from+1, from+2)
}

// rising checks that steps that are only ordered rise from row to row.
func (c *checker) rising(lo, hi int) {
	st := &c.s.state
	for i, v := range c.s.values(blkStep, lo, hi) {
		row, name := lo+i, c.s.name(blkStep, 0)
		switch {
		case table.IsNull(v):
			c.missing(row, name, "fill it in: it orders the rows of an episode")
			continue
		case !finite(v):
			c.notFinite(row, name, v)
			continue
		case v == st.step:
			c.fault(row, name, "is that of "+c.before()+" (a duplicate row?), so that the order of the two is not known", "drop what was written twice, tell the two apart, by the time of day perhaps, or make one decision of them; where their order says nothing, let the rows of an episode stand together, and map no step", trajectory.ErrEpisode)
		case v < st.step:
			c.fault(row, name, "is below that of the row before", "sort the rows by episode and "+name+" (data.steps: {sort: true} does it)", trajectory.ErrEpisode)
		}
		st.step = v
	}
}

// missing refuses a missing value.
func (c *checker) missing(row int, column, remedy string) {
	c.fault(row, column, c.s.isMissing(), remedy, trajectory.ErrValue)
}

// absent refuses a missing value in a part that is read: to leave the part out
// for everybody because one row lacks it would let that row decide how the others
// are read.
func (c *checker) absent(row, block, offset int) {
	c.missing(row, c.s.name(block, offset), "fill it in; a column that is read has a value in every row")
}

func (c *checker) actions() {
	if !c.s.bound.has(blkAction) || c.s.sound[blkAction] {
		return
	}
	limit := c.s.lastAction()
	for i, v := range c.s.values(blkAction, c.lo, c.hi) {
		if v >= 0 && v <= limit && v == math.Trunc(v) {
			continue
		}
		row, name := c.lo+i, c.s.name(blkAction, 0)
		switch {
		case table.IsNull(v):
			c.missing(row, name, "give every decision its action; only a last row without reward may lack it")
		case math.IsNaN(v) || math.IsInf(v, 0):
			c.notFinite(row, name, v)
		case v != math.Trunc(v):
			c.fault(row, name, "is not an integer", "number the actions 0, 1, 2, ...; continuous actions are not supported", trajectory.ErrValue)
		case v < 0:
			c.fault(row, name, "is negative", "number the actions 0, 1, 2, ...", trajectory.ErrValue)
		default:
			c.fault(row, name, "is not below the number of actions", "number the actions 0, 1, 2, ..., with a probability for each", trajectory.ErrValue)
		}
	}
}

// flags checks a flag, and that it is down on all rows but the last.
func (c *checker) flags(block int) {
	if !c.s.bound.has(block) || c.s.sound[block] {
		return
	}
	for i, v := range c.s.values(block, c.lo, c.hi) {
		if v == 0 {
			continue
		}
		row, name := c.lo+i, c.s.name(block, 0)
		switch {
		case v == 1 && row == c.hi-1:
		case v == 1:
			c.flagged(c.s.place(row), block)
		case table.IsNull(v):
			c.missing(row, name, "write true or false")
		case !finite(v):
			c.notFinite(row, name, v)
		default:
			c.fault(row, name, "is neither true nor false", "write true, false, 1 or 0", trajectory.ErrValue)
		}
	}
}

func (c *checker) discounts() {
	if !c.s.bound.has(blkDiscount) || c.s.sound[blkDiscount] {
		return
	}
	for i, v := range c.s.values(blkDiscount, c.lo, c.hi) {
		if v >= 0 && v <= 1 {
			continue
		}
		row, name := c.lo+i, c.s.name(blkDiscount, 0)
		switch {
		case table.IsNull(v):
			c.absent(row, blkDiscount, 0)
		case !finite(v):
			c.notFinite(row, name, v)
		default:
			c.fault(row, name, "is not between 0 and 1", "write the factor by which the next value is discounted", trajectory.ErrValue)
		}
	}
}

// short writes a public number.
func short(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
