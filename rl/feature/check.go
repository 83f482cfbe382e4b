package feature

import (
	"fmt"
	"strings"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Check reports the first row of d, final observations included, that m cannot
// read, and how many there are. The error is for the curator alone: a
// [*trajectory.InputError] that names a file and a row, but no value. Inside a
// release such rows are zero vectors.
func Check(m Map, d *trajectory.Dataset) error {
	b, err := m.Bind(d.Columns)
	if err != nil {
		return err
	}
	phi := make([]float64, m.Dim())
	bad, episode, step := 0, 0, 0
	note := func(e, t int) {
		if bad == 0 {
			episode, step = e, t
		}
		bad++
	}
	for e := range d.Episodes() {
		lo, hi := d.EpisodeStart[e], d.EpisodeStart[e+1]
		for row := lo; row < hi; row++ {
			if !b.Apply(phi, d.Observation(row)) {
				note(e, row-lo)
			}
		}
		if final := d.FinalObservation(e); final != nil && !d.Terminated[e] && !b.Apply(phi, final) {
			note(e, hi-lo)
		}
	}
	if bad == 0 {
		return nil
	}
	return fault(m, d, bad, episode, step)
}

func fault(m Map, d *trajectory.Dataset, bad, episode, step int) error {
	fault := &trajectory.InputError{
		Column: strings.Join(m.Columns(), ", "),
		What: fmt.Sprintf("step %d of the episode that begins here holds a value that is missing, not finite or no state number (first of %d such observations)",
			step, bad),
		Remedy: "mend or drop these rows, or choose another feature map (inside a release they count as zero vectors)",
		Kind:   ErrObservation,
	}
	if episode < len(d.Origin) && episode < len(d.FirstRow) {
		fault.File, fault.Row = d.Origin[episode], d.FirstRow[episode]
	}
	return fault
}
