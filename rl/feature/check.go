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
	read, err := reader(m, d.Columns)
	if err != nil {
		return err
	}
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
			if !read(d.Observation(row)) {
				note(e, row-lo)
			}
		}
		if final := d.FinalObservation(e); final != nil && !d.Ended(e) && !read(final) {
			note(e, hi-lo)
		}
	}
	if bad == 0 {
		return nil
	}
	return mismatch(m, d, bad, episode, step)
}

// Repair returns d without the episodes that have an observation which [Check] would
// complain of, and how many these are; their persons stay. Whether an episode is
// left out depends on that episode alone.
func Repair(m Map, d *trajectory.Dataset) (*trajectory.Dataset, int, error) {
	read, err := reader(m, d.Columns)
	if err != nil {
		return nil, 0, err
	}
	bad := make([]bool, d.Rows())
	for e := range d.Episodes() {
		lo, hi := d.EpisodeStart[e], d.EpisodeStart[e+1]
		for row := lo; row < hi; row++ {
			bad[row] = !read(d.Observation(row))
		}
		if final := d.FinalObservation(e); final != nil && !d.Ended(e) && !read(final) {
			bad[hi-1] = true
		}
	}
	d, left := d.LeaveOut(func(row int) bool { return bad[row] })
	return d, left, nil
}

// reader tells whether a map can read a row; of a state number without the
// features.
func reader(m Map, columns []string) (func(obs []float64) bool, error) {
	if f, ok := m.(Finite); ok {
		r, err := f.BindState(columns)
		return func(obs []float64) bool { _, ok := r.State(obs); return ok }, err
	}
	b, err := m.Bind(columns)
	if r, ok := b.(*boundFourier); ok {
		return func(obs []float64) bool { return readable(obs, r.at) }, err
	}
	phi := make([]float64, m.Dim())
	return func(obs []float64) bool { return b.Apply(phi, obs) }, err
}

func mismatch(m Map, d *trajectory.Dataset, bad, episode, step int) error {
	e := &trajectory.InputError{
		Column: strings.Join(m.Columns(), ", "),
		What: fmt.Sprintf("step %d of the episode that begins here holds a value that is missing, not finite or no state number (first of %d such observations)",
			step, bad),
		Remedy: "mend or drop these rows, or choose another feature map (inside a release they count as zero vectors)",
		Kind:   ErrObservation,
	}
	if episode < len(d.Origin) && episode < len(d.FirstRow) {
		e.File, e.Row = d.Origin[episode], d.FirstRow[episode]
	}
	return e
}
