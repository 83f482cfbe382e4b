package scan

import (
	"fmt"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/evaluate/overview"
	"github.com/discreet-rl/discreet/internal/spec"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// leastUsable is the share of persons, one in so many, who need an episode that can be used
// for a ledger to be charged. It is public, and far from what one person changes: data that
// are read as they should be have nearly all, and data that are not have none.
const leastUsable = 10

// usable counts the persons who have an episode that can be used.
func usable(d *trajectory.Dataset) (n int) {
	for p := range d.Persons() {
		if d.PersonStart[p] < d.PersonStart[p+1] {
			n++
		}
	}
	return n
}

// answering is how many of the persons have data that can answer: of an outcome, one that can
// be used.
func answering(s *spec.Spec, o *overview.Outcome, usable, persons int) (n int, err error) {
	if o == nil {
		return usable, nil
	}
	if n = o.Usable(persons); n < persons && !s.Reading.Repair {
		err = fmt.Errorf("%w: the outcome of %d persons cannot be used (a time below 0, an event or stratum that data.outcome does not list, or several rows), and data.on_violation is reject; mend the data, or say repair", evaluate.ErrData, persons-n)
	}
	return n, err
}

// Answerable refuses to charge for an answer from next to nothing, which is a failed check.
// Without a ledger that refusal would be counted by nobody, so that the curator is told, and
// the release says of itself that it answers nothing.
func Answerable(s *spec.Spec, usable, persons int) (notice string, err error) {
	if s.Public.Privacy == nil || usable*leastUsable >= persons {
		return "", nil
	}
	words := s.Public.Privacy.Unit.Words(fmt.Sprintf("fewer than one person in %d has an episode that can be used, so that the answer would be from next to nothing", leastUsable))
	if s.Config.Ledger != nil {
		return "", fmt.Errorf("%w: %s; nothing is charged: discreet validate --config lists what is wrong with the others", evaluate.ErrData, words)
	}
	return words + ": discreet validate --config lists what is wrong with the others", nil
}
