package trajectory

import (
	"fmt"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/canon"
)

// Cuts tells that the rows of a person are cut into episodes.
func (o *Options) Cuts() bool { return o.Gap != 0 || o.Restart }

// Arranges tells that rows are put in order, or together, before they are read.
func (o *Options) Arranges() bool { return o.Steps.Sort || o.Cuts() }

// validateCuts checks how the rows of a person are cut into episodes.
func (o *Options) validateCuts() error {
	if !o.Cuts() {
		return nil
	}
	fail := func(what string) error { return fmt.Errorf("%w: %s", ErrOptions, what) }
	_, mapped := o.Columns[canon.Episode]
	switch {
	case o.Gap != 0 && o.Restart:
		return fail("episodes are cut by a gap and by steps that start anew; choose one of the two")
	case o.EpisodePerPerson || o.OneRowEpisodes:
		return fail("the rows of a person are cut into episodes, and an episode is a row, or all rows of a person; choose one of the two")
	case mapped || o.Joined[canon.Episode] != nil:
		return fail("the rows of a person are cut into episodes, and " + canon.Episode + " is mapped to a column; leave one of the two out")
	case o.Unit == UnitEpisode:
		return fail("the rows of a person are cut into episodes, which are no units of their own; choose the unit person")
	case o.Gap < 0:
		return fail("the gap between episodes is negative")
	case o.Gap > 0 && (o.Steps.Date == "" || !o.Steps.Sort):
		return fail("episodes are cut by a gap in time, and steps are not dates that are put in order; say data.steps: {kind: date, sort: true}")
	case o.Restart && (o.Steps.Rising() || o.Steps.Sort):
		return fail("episodes are cut where steps start anew, and steps are not numbers in the order of the file; leave data.steps.kind and sort out")
	}
	return nil
}
