package ingest

import "math"

// survey looks at whole columns of a batch and notes those in which nothing can be
// wrong, whatever the episodes are, so that the checks of an episode leave them out. What
// it cannot vouch for is checked as if it had not looked.
func (s *Stream) survey() {
	s.sound = [blocks]bool{}
	for block := range s.sound {
		if !s.bound.has(block) || s.batch.Rows == 0 {
			continue
		}
		switch block {
		case blkObs:
			s.sound[block] = s.within(block, -math.MaxFloat64, math.MaxFloat64)
		case blkAction:
			known := s.batch.Blocks[block]
			s.sound[block] = known.Whole() && known.Within(0, s.lastAction()) || wholeWithin(s.values(block, 0, s.batch.Rows), s.lastAction())
		case blkBehavior:
			s.sound[block] = s.within(block, math.SmallestNonzeroFloat64, s.mostLikely())
		case blkTarget:
			s.sound[block] = s.within(block, 0, s.mostLikely())
		case blkDiscount:
			s.sound[block] = s.within(block, 0, 1)
		case blkReward:
			low, high := -math.MaxFloat64, math.MaxFloat64
			if r := s.o.Reward; r != nil {
				low, high = r.Min, r.Max
			}
			s.sound[block] = s.within(block, low, high)
		case blkTerminated, blkTruncated:
			s.sound[block] = s.within(block, 0, 0)
		}
	}
}

// within tells whether all values of a block lie in a range.
func (s *Stream) within(block int, low, high float64) bool {
	return s.batch.Blocks[block].Within(low, high) || within(s.values(block, 0, s.batch.Rows), low, high)
}

// lastAction is the largest number that an action may have.
func (s *Stream) lastAction() float64 {
	if k := s.bound.width[blkProbs]; k > 0 {
		return float64(k - 1)
	}
	return math.MaxInt32
}

// within tells whether all values lie in a range; NaN does not.
func within(values []float64, low, high float64) bool {
	for _, v := range values {
		if !(v >= low && v <= high) {
			return false
		}
	}
	return true
}

// wholeWithin tells whether all values are whole numbers from 0 to high, which has 31
// bits at most.
func wholeWithin(values []float64, high float64) bool {
	for _, v := range values {
		if !(v >= 0 && v <= high) || float64(int32(v)) != v {
			return false
		}
	}
	return true
}
