package policy

import (
	"fmt"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Check reports the first row of d whose ratio p cannot give, and how many
// there are. The error is for the curator alone: a [*trajectory.InputError] that
// names a file and a row, but no value. Inside a release such rows have ratio 0.
func Check(p Policy, d *trajectory.Dataset) error {
	if OnPolicy(p) {
		return nil
	}
	b, err := bindForRatios(p, d)
	if err != nil {
		return err
	}
	return everyRow(d, func(row int) bool { _, ok := ratio(b, d, row); return ok },
		"the state, the action or a probability is missing or outside the policy",
		"mend or drop these rows, or correct the policy (inside a release their ratio is 0)")
}

// everyRow reports the first row that is not good, and how many there are.
func everyRow(d *trajectory.Dataset, good func(row int) bool, what, remedy string) error {
	bad, episode, step := 0, 0, 0
	for e := range d.Episodes() {
		lo, hi := d.EpisodeStart[e], d.EpisodeStart[e+1]
		for row := lo; row < hi; row++ {
			if good(row) {
				continue
			}
			if bad == 0 {
				episode, step = e, row-lo
			}
			bad++
		}
	}
	if bad == 0 {
		return nil
	}
	fault := &trajectory.InputError{
		What:   fmt.Sprintf("in step %d of the episode that begins here %s (first of %d such rows)", step, what, bad),
		Remedy: remedy,
		Kind:   ErrRow,
	}
	if episode < len(d.Origin) && episode < len(d.FirstRow) {
		fault.File, fault.Row = d.Origin[episode], d.FirstRow[episode]
	}
	return fault
}
