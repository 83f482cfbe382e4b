package ingest

// An episode that cannot be used, kept for a table. Whether it can be used is a matter of the
// columns that a question reads, so that each value stays what it is: a number that nothing
// may be is written, one that cannot be read is NaN, and a missing one missing. Who reads the
// table then finds the same faults in the same columns. Only what no column can say, such as
// two rows of one step, is said by a missing step, flag, or reward.

import (
	"math"
	"slices"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// breach is what is wrong with an episode that its values do not show.
type breach struct {
	lacks  uint8
	reward bool
	next   bool
}

// breached notes a violation of a column of the file. One of no column that is read is a
// matter of the reward, which every question reads.
func (s *Stream) breached(column string) {
	if !s.o.Keep {
		return
	}
	b, found := &s.state.breach, false
	for block, names := range s.bound.column {
		for _, name := range names {
			if name != column || column == "" {
				continue
			}
			switch block {
			case blkStep:
				b.lacks |= table.LacksSteps
			case blkTerminated:
				b.lacks |= table.LacksTerminated
			case blkTruncated:
				b.lacks |= table.LacksTruncated
				b.reward = b.reward || !s.ends() // the table has no flags
			case blkReward:
				b.reward = true
			case blkNext:
				b.next = true
			case blkPresence:
				continue
			}
			found = true
		}
	}
	b.reward = b.reward || !found
}

// spoil makes NaN of a value of the batch that the format could not read.
func (s *Stream) spoil(row int, column string) {
	if !s.o.Keep {
		return
	}
	for block, names := range s.bound.column {
		for j, name := range names {
			if name == column && block != blkCoded && block != blkPresence {
				v := &s.batch.Blocks[block]
				v.Values[row*v.Width+j] = math.NaN()
			}
		}
	}
	s.breached(column)
}

// action is the number of an action, -1 where there is none.
func (s *Stream) action(v float64) int32 {
	if s.o.Keep && !(v >= 0 && v <= math.MaxInt32 && v == math.Trunc(v)) {
		return -1
	}
	return int32(v)
}

// imputeKept leaves missing values to whoever reads the table, but for columns of words, of
// which the table has the numbers: there 0 may stand for one of them, and what has no public
// mean is NaN. Decided tells that the values are of a row, and not beside it.
func (s *Stream) imputeKept(obs []float64, decided bool) {
	w := s.bound.width[blkObs]
	for i, v := range obs {
		j := i % w
		if !table.IsNull(v) {
			continue
		}
		switch {
		case !s.bound.stands(j):
		case s.hasMean(j) && !slices.Contains(s.o.Whole, s.ep.Columns[j]):
			obs[i] = s.o.Means[s.ep.Columns[j]]
			s.state.replaced++
		case decided:
			obs[i] = math.NaN()
		}
	}
}

// hasMean tells that an observation has a public mean for what is missing.
func (s *Stream) hasMean(observation int) bool {
	_, has := s.o.Means[s.ep.Columns[observation]]
	return has && s.o.Missing == trajectory.MissingMean
}

// undecided fills the columns of a row that is a decision without an action, whose
// observation was taken.
func (s *Stream) undecided() {
	b := &s.buf
	b.reward = append(b.reward, math.NaN())
	if s.bound.has(blkAction) {
		b.action = append(b.action, -1)
	}
	for _, block := range [...]int{blkBehavior, blkProbs, blkTarget, blkDiscount} {
		for range s.bound.width[block] {
			b.plain[block] = append(b.plain[block], table.Null())
		}
	}
}

// keep has the columns of an episode that cannot be used say so. So it does of one whose
// last observation is missing in part, which not every question can use.
func (s *Stream) keep() {
	b, breach := &s.buf, &s.state.breach
	s.ep.Lacks = breach.lacks
	for i, v := range b.reward {
		if breach.reward || table.IsNull(v) { // a row without one could be no decision
			b.reward[i] = math.NaN()
		}
	}
	w := len(s.ep.Columns)
	switch {
	case !s.state.final:
	case breach.next && s.state.rows > 0: // which must stand in the last row
		for j, v := range b.final {
			if !finite(v) {
				b.obs[len(b.obs)-w+j] = v
			}
		}
	default: // which stays a row
		if s.state.rows == 0 {
			s.ep.File, s.ep.Row = s.state.finalAt.file, s.state.finalAt.row
		}
		b.obs, b.final = append(b.obs, b.final...), b.final[:0]
		s.undecided()
		b.reward[len(b.reward)-1] = table.Null()
	}
	if breach.next {
		b.final = b.final[:0]
		for range w {
			b.final = append(b.final, math.NaN())
		}
	}
}
