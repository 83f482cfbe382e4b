package ingest

import (
	"slices"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

func (c *checker) observations() {
	if c.s.bound.has(blkObs) && !c.s.sound[blkObs] {
		c.observed(blkObs, c.s.values(blkObs, c.lo, c.hi), c.lo)
	}
}

// observed checks whole observations that start in a row.
func (c *checker) observed(block int, values []float64, row int) {
	var sum float64
	for _, v := range values {
		sum += v * 0 // 0 if finite, else NaN
	}
	if sum == 0 {
		return
	}
	o, w := &c.s.o, c.s.bound.width[block]
	for i, v := range values {
		if finite(v) || c.s.bound.repeated(i%w) || table.IsNull(v) && c.s.bound.hot[i%w].filled {
			continue
		}
		at, name := row+i/w, c.s.name(block, i%w)
		switch {
		case !table.IsNull(v):
			c.notFinite(at, name, v)
		case slices.Contains(o.Whole, c.s.ep.Columns[i%w]):
			c.fault(at, name, c.s.isMissing(), "fill it in; no value may be replaced in this column", trajectory.ErrValue)
		case o.Keep && !c.s.bound.stands(i%w): // stays missing
		case o.Keep && !c.s.hasMean(i%w):
			c.fault(at, name, c.s.isMissing(), "fill it in, or give the column a public number in data.means (data.missing: mean); 0 may stand for a word of its vocabulary", trajectory.ErrValue)
		case o.Keep:
		case o.Missing == trajectory.MissingReject:
			c.refuse(at, name, c.s.isMissing(), "fill it in, leave the column out, or say in data.missing what it becomes")
		case o.Missing == trajectory.MissingZero && c.s.bound.stands(i%w):
			c.fault(at, name, c.s.isMissing(), "fill it in, or give the column a public number in data.means (data.missing: mean); 0 may stand for a word of its vocabulary", trajectory.ErrValue)
		case o.Missing == trajectory.MissingZero && slices.Contains(o.Deciding, c.s.ep.Columns[i%w]):
			c.fault(at, name, c.s.isMissing(), "fill it in, or say what it becomes (data.missing: mean, mean_of_range or indicator); 0 would be a state, or decide", trajectory.ErrValue)
		case o.Missing == trajectory.MissingMean:
			if _, ok := o.Means[c.s.ep.Columns[i%w]]; !ok {
				c.refuse(at, name, "is missing, and the column has no public mean", "give the column's public mean")
			}
		}
	}
}

// notFinite is about a number that is none, or a word that stands for none.
func (c *checker) notFinite(row int, column string, v float64) {
	switch {
	case !isUnlisted(v):
		c.fault(row, column, "is NaN or infinite", "write missing values as empty (null), and numbers as finite ones", trajectory.ErrValue)
	case c.s.bound.isDate(column):
		zone := ""
		if c.s.o.Steps.Date == "iso" {
			zone = "; iso_zone for times with Z or an offset"
		}
		c.fault(row, column, "is not a date of the form "+c.s.o.Steps.Form(), "correct the form (data.steps.format, such as \"%d.%m.%Y %H:%M\""+zone+"), or the row", trajectory.ErrValue)
	default:
		c.fault(row, column, "is not in the column's vocabulary", "add the value where the column's are listed (data.actions, data.encode, data.outcome, by) if it is one that may occur, or mend the row", trajectory.ErrValue)
	}
}

// next compares next observations with the observations of the next row, and
// those of the last row with what an observation may be.
func (c *checker) next() {
	if !c.s.bound.has(blkNext) {
		return
	}
	w := c.s.bound.width[blkNext]
	if c.s.state.rows > 0 {
		c.follows(c.s.buf.next, c.s.values(blkObs, c.lo, c.lo+1), c.lo)
	}
	next, obs := c.s.values(blkNext, c.lo, c.hi), c.s.values(blkObs, c.lo, c.hi)
	for i := c.lo; i+1 < c.hi; i++ {
		k := (i - c.lo) * w
		c.follows(next[k:k+w], obs[k+w:k+2*w], i)
	}
	last := next[len(next)-w:]
	if c.s.bound.known(last) {
		c.observed(blkNext, last, c.hi-1)
	}
}

// follows checks that the next observation of a row is the observation of the
// one after it; a missing entry claims nothing.
func (c *checker) follows(next, obs []float64, row int) {
	for j, v := range next {
		switch {
		case v == obs[j] || table.IsNull(v) || c.s.bound.hot[j].missing:
		case !finite(v):
			c.notFinite(row, c.s.name(blkNext, j), v)
		case !table.IsNull(obs[j]) || c.s.o.Missing != trajectory.MissingReject || c.s.o.Keep: // what is missing is refused already
			c.fault(row, c.s.name(blkNext, j), "differs from the observation of the next row", "mend the log, or leave the column out", trajectory.ErrEpisode)
		}
	}
}

// final checks the observation after the last decision, and its flags.
func (c *checker) final(row int) {
	if o := &c.s.o.Steps; c.s.bound.has(blkStep) && (o.Rising() || o.Sort) {
		c.rising(row, row+1)
	}
	if c.s.bound.has(blkObs) {
		c.observed(blkObs, c.s.values(blkObs, row, row+1), row)
	}
	for _, block := range [...]int{blkTerminated, blkTruncated} {
		if c.s.bound.has(block) {
			if v := c.s.batch.Blocks[block].Values[row]; isUnlisted(v) {
				c.notFinite(row, c.s.name(block, 0), v)
			} else if v != 0 && v != 1 && !table.IsNull(v) {
				c.fault(row, c.s.name(block, 0), "is neither true nor false", "write true, false, 1 or 0", trajectory.ErrValue)
			}
		}
	}
}
