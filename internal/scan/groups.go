package scan

import (
	"fmt"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/spec"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// ungrouped counts the persons who are in no group, or, where violations are
// rejected, refuses them.
func ungrouped(s *spec.Spec, d *trajectory.Dataset) (n int, err error) {
	if s.Public.By == nil {
		return 0, nil
	}
	members, err := s.Public.By.Members(d)
	if err != nil {
		return 0, err
	}
	rows := 0
	for person, place := range members {
		if place >= 0 {
			continue
		}
		n++
		if d.PersonStart[person+1] > d.PersonStart[person] {
			rows++
		}
	}
	if rows > 0 && !s.Reading.Repair && (s.Public.Outcome == nil || s.Public.Complete) {
		return 0, fmt.Errorf("%w: by.column: %s has, for some, values that are not among by.values or that differ from row to row, and data.on_violation is reject; mend the data, list the values, or say repair, which counts such persons in no group", evaluate.ErrData, s.Public.By.Column)
	}
	return n, nil
}

// ungroupedNotice says to the curator how many of the persons are in no group.
func ungroupedNotice(s *spec.Spec, n, persons int) []string {
	if n == 0 || s.Public.Outcome != nil { // outcomes are counted by arm, and those of no arm told with them
		return nil
	}
	nobody := "no answer is about them"
	if s.Method.NeedArms {
		nobody = "limits allow for any of them in any arm"
	}
	if s.Public.By.Fixed {
		nobody = "they add nothing to the groups whose public sizes count them, and which these are cannot be checked"
	}
	return []string{s.Public.Privacy.Unit.Words(fmt.Sprintf("%d of %d persons are in no group of by.values, or in two, or have no row that can be used; "+nobody, n, persons))}
}
