package trajectory

// tally counts what a person has contributed.
type tally struct{ decisions, episodes int }

// Unused counts the decisions that the caps on a person's contribution left out.
type Unused struct {
	// Horizon is those beyond [Options.Horizon], Episodes those of episodes beyond
	// [Options.EpisodesPerPerson].
	Horizon, Episodes int
}

// cap applies the caps on one person's contribution to the episode at hand and
// reports whether anything of it is left. It looks at this person's earlier
// episodes alone, so that nobody's contribution depends on anybody else.
func (s *Stream) cap() bool {
	if s.o.Horizon == 0 && s.o.EpisodesPerPerson == 0 {
		return true
	}
	for len(s.tally) <= s.ep.Person {
		s.tally = append(s.tally, tally{})
	}
	t, n := &s.tally[s.ep.Person], s.ep.Len()
	if s.o.EpisodesPerPerson > 0 && t.episodes >= s.o.EpisodesPerPerson {
		s.notice("episodes beyond the cap on episodes a person were left out")
		s.unused.Episodes += n
		return false
	}
	if s.o.Horizon > 0 {
		left := s.o.Horizon - t.decisions
		if n > left {
			s.notice("decisions beyond the horizon were left out")
			s.unused.Horizon += n - left
		}
		if left == 0 {
			return false
		}
		if n > left {
			s.ep.cut(left)
		}
		t.decisions += s.ep.Len()
	}
	t.episodes++
	return true
}
