package neighbours

import "fmt"

// mostDraws of a record are made until one is as the facts say that all are.
const mostDraws = 1000

// complete tells that by the facts every person has a decision, none is left out and no
// episode was cut off.
func (s *Source) complete() bool { return s.public.Complete }

// stated tells that the facts exclude a person of whom nothing can be read: nothing is
// lost, or the sizes of groups are public, and whoever has no record has no group.
func (s *Source) stated() bool { return s.complete() || s.fixed() }

// record draws a person for a place, again until the facts admit the record.
func (s *Source) record(e extreme, place int) (person, error) {
	for range mostDraws {
		p := s.grouped(s.person(e), s.groupOf(place))
		if !s.stated() {
			return p, nil
		}
		d, err := s.repaired([]person{p})
		if err != nil {
			return person{}, err
		}
		if left := len(p.episodes) - d.Episodes(); left == 0 || left < len(p.episodes) && !s.complete() {
			return p, nil
		}
	}
	return person{}, fmt.Errorf("%w: the records are stated to be complete, or groups to be fixed, and of %d that were drawn each had a decision that the policies or features cannot read, such as an action of probability 0", ErrFacts, mostDraws)
}
