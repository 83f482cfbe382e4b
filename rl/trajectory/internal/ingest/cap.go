package ingest

import (
	"fmt"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// tally counts what a person has contributed.
type tally struct{ decisions, episodes int }

// tallies are those of all persons, or of the last one alone, where persons come one after
// another.
type tallies struct {
	decisions, episodes integers
	lastAlone           bool
	last                tally
	person              int // the last one
}

func (t *tallies) of(person int) tally {
	switch {
	case t.lastAlone && person == t.person:
		return t.last
	case t.lastAlone || person >= t.episodes.n:
		return tally{}
	}
	return tally{int(t.decisions.at(person)), int(t.episodes.at(person))}
}

func (t *tallies) put(person int, of tally) {
	if t.lastAlone {
		t.person, t.last = person, of
		return
	}
	for t.episodes.n <= person {
		t.decisions.add(0)
		t.episodes.add(0)
	}
	t.decisions.set(person, int64(of.decisions))
	t.episodes.set(person, int64(of.episodes))
}

// cap applies the caps on one person's contribution to the episode at hand and
// reports whether anything of it is left. It looks at this person's earlier
// episodes alone, so that nobody's contribution depends on anybody else. An episode
// that was left out counts towards the caps like any other: a later one never takes
// its place.
func (s *Stream) cap() bool {
	usable, n := s.ep.Len() > 0, s.state.rows
	if usable && s.cutsOutcome(n) {
		s.violation(s.state.flagAt, &trajectory.InputError{What: "holds the outcome of an episode that is longer than problem.horizon or problem.episode_horizon allows, and would be cut off with it",
			Remedy: "raise the horizon by public knowledge; a missing outcome is not 0", Kind: trajectory.ErrEpisode})
		s.clear()
		s.hand()
		usable = false
	}
	if usable {
		s.rewards += n
		s.repaired.Rewards += s.state.clipped
		if s.state.replaced > 0 {
			s.repaired.Observations += s.state.replaced
			for i, n := range s.buf.replaced {
				s.replaced[s.ep.Columns[i]] += n
			}
		}
		s.repaired.Empty += s.state.empty
		s.repaired.Absent += s.state.absent
	}
	if s.o.Horizon == 0 && s.o.EpisodesPerPerson == 0 {
		s.shorten(n)
		return true
	}
	t := s.tally.of(s.ep.Person)
	defer func() { s.tally.put(s.ep.Person, t) }()
	if s.o.OneRowEpisodes && t.episodes == 1 && (s.o.Horizon == 1 || s.o.EpisodesPerPerson == 1) {
		s.second(place{file: s.ep.File, row: s.ep.Row})
	}
	if s.o.EpisodesPerPerson > 0 && t.episodes >= s.o.EpisodesPerPerson {
		s.beyond(personHasMore, "problem.episodes")
		s.notice("episodes beyond the cap on episodes a person were left out")
		if usable {
			s.unused.Episodes += n
		}
		return false
	}
	n = s.shorten(n)
	if s.o.Horizon > 0 {
		left := s.o.Horizon - t.decisions
		if n > left && usable {
			s.beyond(personHasMore, "problem.horizon")
			s.notice("decisions beyond the horizon were left out")
			s.unused.Horizon += n - left
		}
		if left == 0 {
			return false
		}
		if n > left && usable {
			cut(&s.ep, left)
		}
		t.decisions += min(n, left)
	}
	t.episodes++
	return true
}

// second notes a further row of a person of whom one counts.
func (s *Stream) second(at place) {
	if s.seconds++; s.seconds == 1 || at.before(s.firstSecond) {
		s.firstSecond = at
	}
}

// cutsOutcome tells that a cap would cut off the last of the n decisions of the episode at hand,
// where that one has the outcome.
func (s *Stream) cutsOutcome(n int) bool {
	if !s.o.RewardOnLast && s.outcomes == nil {
		return false
	}
	t := s.tally.of(s.ep.Person)
	most, left := s.o.EpisodeDecisions, s.o.Horizon-t.decisions
	switch {
	case s.o.EpisodesPerPerson > 0 && t.episodes >= s.o.EpisodesPerPerson, s.o.Horizon > 0 && left == 0:
		return false // nothing of it is left
	case s.o.Horizon > 0 && n > left:
		return true
	}
	return most > 0 && n > most
}

// shorten applies the cap on the decisions of one episode, which has n of them, and says
// how many are left.
func (s *Stream) shorten(n int) int {
	most := s.o.EpisodeDecisions
	if most == 0 || n <= most {
		return n
	}
	if s.ep.Len() > 0 {
		s.beyond("the episode has more decisions than %s allows", "problem.episode_horizon")
		s.notice("decisions of an episode beyond its own horizon were left out")
		s.unused.EpisodeDecisions += n - most
		cut(&s.ep, most)
	}
	return most
}

// personHasMore says what a cap on a person's contribution leaves out.
const personHasMore = "the person has more decisions or episodes than %s allows, from this episode on"

// beyond notes a cap that leaves out rows of complete data.
func (s *Stream) beyond(what, cap string) {
	if !s.o.Complete {
		return
	}
	s.violation(place{file: s.ep.File, row: s.ep.Row}, &trajectory.InputError{What: fmt.Sprintf(what, cap) + ", and problem.records is complete",
		Remedy: "raise " + cap + " by public knowledge, or leave problem.records out", Kind: trajectory.ErrEpisode})
}

// cut keeps the first n decisions of a longer episode.
func cut(e *trajectory.Episode, n int) {
	w := len(e.Columns)
	e.Final = nil
	if w > 0 {
		e.Final = e.Obs[n*w : (n+1)*w]
	}
	e.Terminated = false
	e.Obs, e.Reward = e.Obs[:n*w], e.Reward[:n]
	if e.Action != nil {
		e.Action = e.Action[:n]
	}
	if e.ActionProbs != nil {
		e.ActionProbs = e.ActionProbs[:n*e.Actions]
	}
	for _, c := range []*[]float64{&e.BehaviorProb, &e.TargetProb, &e.Discount} {
		if *c != nil {
			*c = (*c)[:n]
		}
	}
}
