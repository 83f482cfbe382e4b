package draft

import (
	"maps"
	"slices"

	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// Answers are what somebody said of data, beyond what the names of columns tell.
type Answers struct {
	// Columns holds, by canonical name, the column of the file that holds it, or those that
	// together are an id; "none" where there is no such column.
	Columns map[string][]string
	// Facts hold the text, as YAML, of places that are open otherwise.
	Facts map[string]string
}

// The places.
const (
	rows           = "rows" // one_row_episodes or episode_per_person
	gap            = "gap"  // of time between sessions
	steps          = "steps"
	outcomes       = "reward"  // where they stand
	elsewhere      = "outcome" // the file in which they do
	worth          = "encode"  // of the words of an outcome
	actions        = "actions"
	behavior       = "behavior"
	persons        = "persons"
	gamma          = "gamma"
	least          = "reward.min"
	most           = "reward.max"
	horizon        = "horizon"
	episodes       = "episodes"
	episodeHorizon = "episode_horizon"
	end            = "end"
	unit           = "unit"
	epsilon        = "epsilon"
	delta          = "delta"
	target         = "target"
	method         = "method"
	records        = "records"
	features       = "features"
	by             = "by"
)

// onLastRow says that an outcome stands on the last row of an episode alone.
const onLastRow = "{on: last_row}"

// none stands for a column, or an answer, that there is not.
const none = "none"

// assigned are the columns of the file with what they were said to hold.
func (a Answers) assigned(columns []file.Column) []file.Column {
	out := slices.Clone(columns)
	for i, c := range out {
		if _, said := a.Columns[c.Canonical]; said {
			out[i].Canonical = ""
		}
	}
	for _, several := range []bool{false, true} { // of an id of several, those that are nothing else
		for _, name := range a.named() {
			for i, c := range out {
				if slices.Contains(a.Columns[name], c.Name) && (len(a.Columns[name]) > 1) == several && (!several || c.Canonical == "") {
					out[i].Canonical = name
				}
			}
		}
	}
	return out
}

// named lists the canonical names of which a column was named.
func (a Answers) named() []string { return slices.Sorted(maps.Keys(a.Columns)) }
