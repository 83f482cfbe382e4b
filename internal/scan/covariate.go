package scan

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/spec"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// covariate is the column of an experiment's covariate, "" where there is none.
func covariate(s *spec.Spec) string {
	if !s.Method.NeedArms || s.Public.Features == nil {
		return ""
	}
	return s.Public.Features.Columns()[0]
}

// unsettled counts the persons whose covariate differs from row to row, so that it was not settled
// before arms were drawn, or, where violations are rejected, refuses them.
func unsettled(s *spec.Spec, d *trajectory.Dataset) (n int, err error) {
	name := covariate(s)
	if name == "" {
		return 0, nil
	}
	column := d.Column(name)
	if column < 0 {
		return 0, fmt.Errorf("%w: features: the data were read without %s", evaluate.ErrData, name)
	}
	for person := range d.Persons() {
		if differs(d, person, column) {
			n++
		}
	}
	if n > 0 && !s.Reading.Repair {
		return 0, fmt.Errorf("%w: features: %s differs, for some, from row to row, and a covariate is settled before arms are drawn; write the value from before into all rows of a person, or leave features out", evaluate.ErrData, name)
	}
	return n, nil
}

// differs tells whether a column changes within the rows of a person.
func differs(d *trajectory.Dataset, person, column int) bool {
	first, any := 0.0, false
	for row := d.EpisodeStart[d.PersonStart[person]]; row < d.EpisodeStart[d.PersonStart[person+1]]; row++ {
		v := d.Observation(row)[column]
		if any && v != first && !(math.IsNaN(v) && math.IsNaN(first)) {
			return true
		}
		first, any = v, true
	}
	return false
}

// unsettledNotice says to the curator how many covariates differ.
func unsettledNotice(s *spec.Spec, n, persons int) []string {
	if n == 0 {
		return nil
	}
	return []string{s.Public.Privacy.Unit.Words(fmt.Sprintf("%s differs from row to row for %d of %d persons, of whom the first usable row counts: where an arm can move it, differences are wrong; write the value from before into all rows of a person, or leave features out", covariate(s), n, persons))}
}
