package neighbours

import "slices"

// nowhere is the number of no group.
const nowhere = -7

// fixed tells that nobody changes group and all sizes are public.
func (s *Source) fixed() bool { return s.public.By != nil && s.public.By.Fixed }

// groupOf draws the number of the group that a person is in: where groups are fixed, the
// one that the person's place says, the first ones being of the first group; else any,
// or none.
func (s *Source) groupOf(place int) float64 {
	by := s.public.By
	switch {
	case by == nil:
		return nowhere
	case by.Fixed:
		for _, g := range by.Of {
			if place -= int(g.Persons); place < 0 {
				return g.Number
			}
		}
		return nowhere
	case !s.public.Complete && s.below(8) == 0: // complete records name an arm each
		return nowhere
	}
	return by.Of[s.below(len(by.Of))].Number
}

// grouped is a person whose rows name a group. Where groups are not fixed the last row
// sometimes names another, so that the person is in none.
func (s *Source) grouped(p person, number float64) person {
	if s.group < 0 {
		return p
	}
	out := p
	out.episodes = nil
	for _, rows := range p.episodes {
		rows = slices.Clone(rows)
		for i := range rows {
			rows[i].obs = slices.Clone(rows[i].obs)
			rows[i].obs[s.group] = number
		}
		out.episodes = append(out.episodes, rows)
	}
	if n := len(out.episodes); n > 0 && !s.fixed() && !s.public.Complete && s.below(8) == 0 {
		rows := out.episodes[n-1]
		rows[len(rows)-1].obs[s.group] = s.groupOf(0)
	}
	return out
}
