package ingest

import (
	"fmt"
	"strings"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// mostFirst is how many violations are kept for the curator to read.
const mostFirst = 20

func (s *Stream) repairs() bool { return s.o.Repair }

// leaveOut leaves out the episode at hand. It returns where its violations are told.
func (s *Stream) leaveOut() *faults {
	if !s.state.leftOut {
		s.state.leftOut = true
		s.repaired.Episodes++
	}
	return s.violations
}

// violation notes what is wrong with the episode at hand, in a row of it: a fault, or a
// reason to leave it out. One that stands in a file of outcomes names it itself.
func (s *Stream) violation(at place, e *trajectory.InputError) {
	beside := e.File != ""
	if !beside {
		e.File, e.Row = s.files[at.file], at.row
	}
	into := s.faults
	if s.repairs() {
		into = s.leaveOut()
		if beside {
			s.state.breach.reward = true
		} else {
			s.breached(e.Column)
		}
	}
	s.lastViolation = trajectory.FaultKind{Column: e.Column, What: e.What}
	into.add(at, e)
}

// clear empties the columns of an episode that is left out. They stay parts that the
// data have: nobody else's are read otherwise for it. What its rows have in common stays.
func (s *Stream) clear() {
	b := &s.buf
	s.ep.Obs = b.obs
	common := s.ep.Common()
	b.obs, b.reward, b.final = []float64{}, []float64{}, common
	b.action = []int32{}
	for i := range b.plain {
		b.plain[i] = []float64{}
	}
	s.ep.Terminated = false
}

// clip moves rewards to their bounds.
func (s *Stream) clip(rewards []float64) {
	r := s.o.Reward
	if r == nil || !s.o.ClipRewards || s.sound[blkReward] {
		return
	}
	for i, v := range rewards {
		if c := min(max(v, r.Min), r.Max); c != v {
			rewards[i] = c
			s.state.clipped++
		}
	}
}

// Repaired counts what was repaired so far. It is private, for the curator alone.
func (s *Stream) Repaired() trajectory.Repaired {
	r := s.repaired
	r.First, r.Kinds = s.violations.kept, s.violations.tally()
	return r
}

// tellRepairs says at the end of the data what was repaired.
func (s *Stream) tellRepairs() {
	r := s.Repaired()
	if r.Rewards > 0 {
		s.notice(s.clippedWords(r))
	}
	if r.Observations > 0 {
		s.notice(s.replacedWords(r))
	}
	if s.seconds > 0 {
		s.notice(fmt.Sprintf("further rows of persons of whom the row that stands first counts: %d (the first: %s:%d)", s.seconds, s.files[s.firstSecond.file], s.firstSecond.row))
	}
	if s.o.EmptyIsZero {
		s.notice(fmt.Sprintf("empty rewards were read as 0, as data.reward.missing says: %d of %d", r.Empty, s.rewards))
	}
	s.tellOutcomes()
	if r.Episodes > 0 {
		s.notice(s.leftOutWords(r))
	}
}

// largeShare is the share from which it is told first: of the episodes that are left
// out, of the rewards that are clipped.
const largeShare = .05

// clippedWords says how many rewards were clipped, of those in episodes that can be used.
func (s *Stream) clippedWords(r trajectory.Repaired) string {
	words := fmt.Sprintf("rewards outside their bounds were clipped to them: %d", r.Rewards)
	if share := float64(r.Rewards) / float64(s.rewards); share > largeShare {
		words = fmt.Sprintf("%.3g%% OF THE REWARDS ARE CLIPPED; validate --config shows them; %s of %d", 100*share, words, s.rewards)
	}
	return words
}

// replacedWords says how many observations were replaced, and in which columns.
func (s *Stream) replacedWords(r trajectory.Repaired) string {
	words := fmt.Sprintf("missing observations were replaced: %d", r.Observations)
	var in []string
	for _, name := range sortedKeys(s.replaced) {
		if n := s.replaced[name]; n > 0 {
			in = append(in, fmt.Sprintf("%s: %d", name, n))
		}
	}
	if len(in) > maxIgnored {
		in = append(in[:maxIgnored], fmt.Sprintf("and %d more columns", len(in)-maxIgnored))
	}
	if len(in) == 0 {
		return words
	}
	return words + " (" + strings.Join(in, ", ") + ")"
}

// addAll adds counts by their names.
func addAll(counts, more map[string]int) {
	for name, n := range more {
		counts[name] += n
	}
}

// leftOutWords says how many episodes were left out, of those met.
func (s *Stream) leftOutWords(r trajectory.Repaired) string {
	if s.o.Keep {
		return fmt.Sprintf("episodes with a value that cannot be used are in the table as such: %d of %d (the first: %v)", r.Episodes, s.met, r.First[0])
	}
	words := fmt.Sprintf("episodes with a value that cannot be used were left out: %d", r.Episodes)
	if share := float64(r.Episodes) / float64(s.met); share > largeShare {
		words = fmt.Sprintf("%.3g%% OF THE EPISODES ARE LEFT OUT; validate --config shows them; %s of %d", 100*share, words, s.met)
	}
	return fmt.Sprintf("%s (the first: %v)", words, r.First[0])
}
