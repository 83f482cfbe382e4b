package trajectory

// tally counts what a person has contributed.
type tally struct{ decisions, episodes int }

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
	t := &s.tally[s.ep.Person]
	if s.o.EpisodesPerPerson > 0 && t.episodes >= s.o.EpisodesPerPerson {
		s.notice("episodes beyond the cap on episodes a person were left out")
		return false
	}
	if s.o.Horizon > 0 {
		left := s.o.Horizon - t.decisions
		if left == 0 {
			s.notice("decisions beyond the horizon were left out")
			return false
		}
		if s.ep.Len() > left {
			s.notice("decisions beyond the horizon were left out")
			s.ep.cut(left)
		}
		t.decisions += s.ep.Len()
	}
	t.episodes++
	return true
}
