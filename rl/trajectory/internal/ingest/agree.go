package ingest

import (
	"slices"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/canon"
)

// sameAsFirst checks that a file delivers what the first one did.
func (s *Stream) sameAsFirst(b *binding) error {
	fail := func(what string) error {
		return &trajectory.InputError{File: b.file, What: what, Remedy: "give all files the same columns, or read them apart", Kind: trajectory.ErrColumn}
	}
	switch {
	case !slices.Equal(b.observations, s.first.observations) && slices.Equal(slices.Sorted(slices.Values(b.observations)), slices.Sorted(slices.Values(s.first.observations))):
		return &trajectory.InputError{File: b.file, What: "its observation columns stand in another order than in the files before it", Remedy: "list them in observations, whose order is then that of all files", Kind: trajectory.ErrColumn}
	case !slices.Equal(b.observations, s.first.observations):
		return fail("its observation columns differ from those of the files before it")
	case s.otherSource(b) != "":
		return fail(s.otherSource(b))
	case b.hasKey != s.first.hasKey:
		return fail("it lacks unit_id, or has it unlike the files before it")
	case s.differs(b) != "":
		return fail("it lacks the column " + s.differs(b) + ", or has it unlike the files before it")
	case b.clock != s.first.clock:
		return fail("its steps are of another type of dates or times than those of the files before it")
	case b.width[blkProbs] != s.first.width[blkProbs]:
		return fail("its number of actions differs from that of the files before it")
	}
	return nil
}

// otherSource says which canonical column a file takes from another column than the
// first one did: they may hold different things.
func (s *Stream) otherSource(b *binding) string {
	for _, canonical := range sortedKeys(b.source) {
		if was, ok := s.first.source[canonical]; ok && was != b.source[canonical] {
			return canonical + " is its column " + b.source[canonical] + ", and was " + was + " in the files before it"
		}
	}
	return ""
}

// differs names a column that only one of a file and the first one has.
func (s *Stream) differs(b *binding) string {
	for block, name := range map[int]string{blkStep: canon.Step, blkAction: canon.Action, blkBehavior: canon.BehaviorProb, blkProbs: canon.ActionProbs, blkTarget: canon.TargetProb,
		blkTerminated: canon.Terminated, blkTruncated: canon.Truncated, blkNext: canon.PrefixNext + canon.Observation, blkDiscount: canon.Discount, blkPresence: canon.Action} {
		if b.has(block) != s.first.has(block) {
			return name
		}
	}
	return ""
}
