package feature

import (
	"fmt"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Check reports the first row of d, final observations included, that m cannot
// read, and how many there are. The error is for the curator alone: it names a
// file and a row, but no value. Inside a release such rows are zero vectors.
func Check(m Map, d *trajectory.Dataset) error {
	b, err := m.Bind(d.Columns)
	if err != nil {
		return err
	}
	phi := make([]float64, m.Dim())
	bad, first := 0, ""
	note := func(episode, step int) {
		if bad == 0 {
			first = place(d, episode, step)
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
	return fmt.Errorf("%w: %s, first of %d rows: columns %q hold a value that is missing, not finite, or no state number; mend or drop these rows, or choose another feature map (inside a release they count as zero vectors)",
		ErrObservation, first, bad, m.Columns())
}

// place names a decision for the curator by the file and row at which its
// episode begins.
func place(d *trajectory.Dataset, episode, step int) string {
	if episode < len(d.Origin) && episode < len(d.FirstRow) {
		return fmt.Sprintf("%s: episode that begins in row %d, step %d", d.Origin[episode], d.FirstRow[episode], step)
	}
	return fmt.Sprintf("episode %d, step %d", episode, step)
}
