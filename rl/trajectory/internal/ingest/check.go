package ingest

import (
	"math"
	"slices"
	"strconv"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/table"
)

// probTolerance is how far probabilities may miss their sum, and two columns of
// the same probability each other.
const probTolerance = 1e-6

// checker checks the rows lo to hi-1 of a batch, which are decisions of one
// episode, column by column, and keeps the fault of the first row.
type checker struct {
	s      *Stream
	lo, hi int
	row    int // of the fault so far
	err    error
}

// fault keeps a fault if it is in an earlier row than the one at hand.
func (c *checker) fault(row int, column, what, remedy string, kind error) {
	if row < c.row {
		c.row, c.err = row, c.s.fault(row, column, what, remedy, kind)
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
	if st := &c.s.state; st.ended && c.lo < c.row {
		c.row, c.err = c.lo, c.flagged(st.flagRow, st.endFlag)
	}
}

func (c *checker) flagged(row, block int) error {
	what := "is true before the last row of the episode"
	return &trajectory.InputError{File: c.s.files[c.s.index], Row: row, Column: c.s.name(block, 0), What: what,
		Remedy: "give what follows its own episode_id, or mend the flag", Kind: trajectory.ErrEpisode}
}

func (c *checker) steps() {
	if !c.s.bound.has(blkStep) {
		return
	}
	at := float64(c.s.state.rows)
	for i, v := range c.s.values(blkStep, c.lo, c.hi) {
		if v == at+float64(i) {
			continue
		}
		row, name := c.lo+i, c.s.name(blkStep, 0)
		switch {
		case table.IsNull(v):
			c.fault(row, name, "is missing", "number the decisions of an episode 0, 1, 2, ...", trajectory.ErrValue)
		case v != math.Trunc(v) || !finite(v):
			c.fault(row, name, "is not an integer", "number the decisions of an episode 0, 1, 2, ...", trajectory.ErrValue)
		case i == 0 && at == 0:
			c.fault(row, name, "the episode does not start at step 0", "sort the rows by episode and step, and number the steps from 0", trajectory.ErrEpisode)
		default:
			c.fault(row, name, "is not one more than the step before", "sort the rows by episode and step, and leave no gap", trajectory.ErrEpisode)
		}
		return
	}
}

func (c *checker) observations() {
	if c.s.bound.has(blkObs) {
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
		if finite(v) {
			continue
		}
		at, name := row+i/w, c.s.name(block, i%w)
		switch {
		case !table.IsNull(v):
			c.notFinite(at, name)
			return
		case o.Missing == trajectory.MissingReject:
			c.fault(at, name, "is missing", "fill it in, leave the column out, or choose what missing values become (zero, or a public mean)", trajectory.ErrValue)
			return
		case o.Missing == trajectory.MissingMean:
			if _, ok := o.Means[c.s.ep.Columns[i%w]]; !ok {
				c.fault(at, name, "is missing, and the column has no public mean", "give the column's public mean", trajectory.ErrValue)
				return
			}
		}
	}
}

func (c *checker) notFinite(row int, column string) {
	c.fault(row, column, "is NaN or infinite", "write missing values as empty (null), and numbers as finite ones", trajectory.ErrValue)
}

// missing refuses a missing value in a part that is read: to leave the part out
// for everybody because one row lacks it would let that row decide how the others
// are read.
func (c *checker) missing(row, block int) {
	c.fault(row, c.s.name(block, 0), "is missing", "fill it in; a column that is read has a value in every row", trajectory.ErrValue)
}

func (c *checker) actions() {
	if !c.s.bound.has(blkAction) {
		return
	}
	limit := float64(math.MaxInt32)
	if k := c.s.ep.Actions; k > 0 {
		limit = float64(k - 1)
	}
	for i, v := range c.s.values(blkAction, c.lo, c.hi) {
		if v >= 0 && v <= limit && v == math.Trunc(v) {
			continue
		}
		row, name := c.lo+i, c.s.name(blkAction, 0)
		switch {
		case table.IsNull(v):
			c.fault(row, name, "is missing", "give every decision its action; only a last row without reward may lack it", trajectory.ErrValue)
		case math.IsNaN(v) || math.IsInf(v, 0):
			c.notFinite(row, name)
		case v != math.Trunc(v):
			c.fault(row, name, "is not an integer", "number the actions 0, 1, 2, ...; continuous actions are not supported", trajectory.ErrValue)
		case v < 0:
			c.fault(row, name, "is negative", "number the actions 0, 1, 2, ...", trajectory.ErrValue)
		default:
			c.fault(row, name, "is not below the number of actions", "number the actions 0, 1, 2, ..., with a probability for each", trajectory.ErrValue)
		}
		return
	}
}

// probability checks that a column lies in [low, 1].
func (c *checker) probability(block int, low float64, remedy string) {
	if !c.s.bound.has(block) {
		return
	}
	for i, v := range c.s.values(block, c.lo, c.hi) {
		if v >= low && v <= 1 {
			continue
		}
		row, name := c.lo+i, c.s.name(block, 0)
		switch {
		case table.IsNull(v):
			c.missing(row, block)
		case math.IsNaN(v) || math.IsInf(v, 0):
			c.notFinite(row, name)
		case v == 0:
			c.fault(row, name, "is zero for the logged action", remedy, trajectory.ErrValue)
		default:
			c.fault(row, name, "is not a probability", "probabilities lie between 0 and 1; "+remedy, trajectory.ErrValue)
		}
		return
	}
}

// distribution checks the probabilities of all actions, and that the logged
// action's is the same in both places.
func (c *checker) distribution() {
	if !c.s.bound.has(blkProbs) {
		return
	}
	k := c.s.bound.width[blkProbs]
	values := c.s.values(blkProbs, c.lo, c.hi)
	both := c.s.bound.has(blkAction) && c.s.bound.has(blkBehavior)
	for i := 0; i*k < len(values); i++ {
		p, row := values[i*k:(i+1)*k], c.lo+i
		sum, least := 0.0, 0.0
		for _, v := range p {
			sum += v
			least = min(least, v)
		}
		if least < 0 || !(math.Abs(sum-1) <= probTolerance) {
			c.badDistribution(row, p)
			return
		}
		if both && !c.agree(row, p) {
			return
		}
	}
}

// badDistribution says what is wrong with a distribution.
func (c *checker) badDistribution(row int, p []float64) {
	for j, v := range p {
		switch {
		case table.IsNull(v):
		case !finite(v):
			c.notFinite(row, c.s.name(blkProbs, j))
			return
		case v < 0 || v > 1:
			c.fault(row, c.s.name(blkProbs, j), "is not a probability", "probabilities lie between 0 and 1; mend the log", trajectory.ErrValue)
			return
		}
	}
	if slices.ContainsFunc(p, table.IsNull) {
		c.missing(row, blkProbs)
		return
	}
	c.fault(row, c.s.name(blkProbs, 0), "the probabilities of the actions do not add up to 1 within 1e-6", "mend the log", trajectory.ErrValue)
}

// agree compares the probability of the logged action with behavior_prob.
func (c *checker) agree(row int, p []float64) bool {
	a, b := c.s.batch.Blocks[blkAction].Values[row], c.s.batch.Blocks[blkBehavior].Values[row]
	if !(a >= 0 && a < float64(len(p))) || table.IsNull(b) {
		return true // reported, or allowed, by the other checks
	}
	if math.Abs(p[int(a)]-b) <= probTolerance {
		return true
	}
	c.fault(row, c.s.name(blkBehavior, 0), "differs from the logged action's entry in the probabilities of the actions", "mend the log, or leave out one of the two", trajectory.ErrValue)
	return false
}

func (c *checker) rewards() {
	low, high := -math.MaxFloat64, math.MaxFloat64
	r := c.s.o.Reward
	if r != nil && c.s.o.Outside == trajectory.OutsideReject {
		low, high = r.Min, r.Max
	}
	for i, v := range c.s.values(blkReward, c.lo, c.hi) {
		if v >= low && v <= high {
			continue
		}
		row, name := c.lo+i, c.s.name(blkReward, 0)
		switch {
		case table.IsNull(v):
			c.fault(row, name, "is missing", "give every decision its reward; only a last row without action may lack it", trajectory.ErrValue)
		case !finite(v):
			c.notFinite(row, name)
		default:
			c.fault(row, name, "is outside the declared bounds ["+short(r.Min)+", "+short(r.Max)+"]",
				"widen the bounds by public knowledge, or clip rewards (outside: clip)", trajectory.ErrValue)
		}
		return
	}
}

// flags checks a flag, and that it is down on all rows but the last.
func (c *checker) flags(block int) {
	if !c.s.bound.has(block) {
		return
	}
	for i, v := range c.s.values(block, c.lo, c.hi) {
		row, name := c.lo+i, c.s.name(block, 0)
		switch {
		case v == 0 || v == 1 && row == c.hi-1:
			continue
		case v == 1:
			if row < c.row {
				c.row, c.err = row, c.flagged(c.s.batch.Row[row], block)
			}
		case table.IsNull(v):
			c.fault(row, name, "is missing", "write true or false", trajectory.ErrValue)
		default:
			c.fault(row, name, "is neither true nor false", "write true, false, 1 or 0", trajectory.ErrValue)
		}
		return
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
		if !c.follows(next[k:k+w], obs[k+w:k+2*w], i) {
			return
		}
	}
	last := next[len(next)-w:]
	for _, v := range last {
		if !table.IsNull(v) {
			c.observed(blkNext, last, c.hi-1)
			return
		}
	}
}

// follows checks that the next observation of a row is the observation of the
// one after it; a missing entry claims nothing.
func (c *checker) follows(next, obs []float64, row int) bool {
	for j, v := range next {
		if v == obs[j] || table.IsNull(v) {
			continue
		}
		if !finite(v) {
			c.notFinite(row, c.s.name(blkNext, j))
			return false
		}
		c.fault(row, c.s.name(blkNext, j), "differs from the observation of the next row", "mend the log, or leave the column out", trajectory.ErrEpisode)
		return false
	}
	return true
}

func (c *checker) discounts() {
	if !c.s.bound.has(blkDiscount) {
		return
	}
	for i, v := range c.s.values(blkDiscount, c.lo, c.hi) {
		if v >= 0 && v <= 1 {
			continue
		}
		row, name := c.lo+i, c.s.name(blkDiscount, 0)
		switch {
		case table.IsNull(v):
			c.missing(row, blkDiscount)
		case !finite(v):
			c.notFinite(row, name)
		default:
			c.fault(row, name, "is not between 0 and 1", "write the factor by which the next value is discounted", trajectory.ErrValue)
		}
		return
	}
}

// final checks the observation after the last decision, and its flags.
func (c *checker) final(row int) {
	if c.s.bound.has(blkObs) {
		c.observed(blkObs, c.s.values(blkObs, row, row+1), row)
	}
	for _, block := range [...]int{blkTerminated, blkTruncated} {
		if c.s.bound.has(block) {
			if v := c.s.batch.Blocks[block].Values[row]; v != 0 && v != 1 && !table.IsNull(v) {
				c.fault(row, c.s.name(block, 0), "is neither true nor false", "write true, false, 1 or 0", trajectory.ErrValue)
			}
		}
	}
}

// short writes a public number.
func short(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
