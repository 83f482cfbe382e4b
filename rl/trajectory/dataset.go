package trajectory

import "math"

// Dataset holds the decisions of many persons, column by column, so that an
// estimator's inner loop walks contiguous slices.
//
// Persons own contiguous episodes and episodes own contiguous rows, one row a
// decision, in step order: person p owns episodes PersonStart[p] to
// PersonStart[p+1]-1, and episode e owns rows EpisodeStart[e] to
// EpisodeStart[e+1]-1. Every episode has at least one row. A person has no episode
// where all of theirs were left out ([Options.Repair]). A Dataset is read-only once
// built; its slices may be shared.
type Dataset struct {
	// Columns names the observation columns, in order.
	Columns []string
	// PersonStart has one entry more than there are persons.
	PersonStart []int
	// EpisodeStart has one entry more than there are episodes.
	EpisodeStart []int
	// LeftOut counts, by person, the episodes that count towards the person's caps and
	// were left out ([Options.Repair]); nil where none was. A mean over a person's
	// episodes divides by these as well, so that they are missing and not forgotten.
	LeftOut []int `json:",omitempty"`
	// Lost holds, person by person, for each of Columns the value that all rows of the
	// episodes that were left out have in common, NaN where they have none; nil with LeftOut.
	// It says whose group they belong to, and nothing is computed of it otherwise.
	Lost []float64 `json:",omitempty"`

	// Obs holds, row by row, the len(Columns) values observed before the decision.
	Obs []float64
	// Action is the decision, 0 or above; nil when the source has none.
	Action []int32
	// Reward is received after the action.
	Reward []float64
	// BehaviorProb is the behaviour policy's probability of the logged action,
	// in (0, 1]; nil when unknown.
	BehaviorProb []float64
	// ActionProbs holds, row by row, the behaviour policy's probability of each
	// of Actions actions; nil when unknown.
	ActionProbs []float64
	// Actions is the width of ActionProbs; 0 when ActionProbs is nil.
	Actions int
	// TargetProb is the target policy's probability of the logged action, in
	// [0, 1]; nil when the source has none.
	TargetProb []float64
	// Discount replaces gamma row by row, in [0, 1]; nil when the source has none.
	Discount []float64

	// Terminated tells, by episode, whether it ended by the problem's own rule.
	// An episode that did not was truncated: cut off by time or censoring. It is
	// nil where the source does not say how episodes end.
	Terminated []bool
	// Final holds, episode by episode, the len(Columns) values observed after
	// the last decision, where HasFinal says so; nil when no episode has them.
	Final []float64
	// HasFinal tells, by episode, whether Final is known; nil with Final.
	HasFinal []bool

	// Lacks is [Episode.Lacks] by episode; nil where none lacks anything.
	Lacks []uint8 `json:",omitempty"`

	// PersonID, by person, and EpisodeID, by episode, are the source's names, and
	// Origin and FirstRow, by episode, the file and row of its first decision.
	// They are private and serve the curator. Names are nil where persons or
	// episodes are named by their row; all are nil or zero in data that comes from
	// no file.
	PersonID  []string
	EpisodeID []string
	Origin    []string
	FirstRow  []int
}

// Persons is the number of persons.
func (d *Dataset) Persons() int { return max(len(d.PersonStart)-1, 0) }

// Episodes is the number of episodes.
func (d *Dataset) Episodes() int { return max(len(d.EpisodeStart)-1, 0) }

// Counted is the number of a person's episodes before any was left out.
func (d *Dataset) Counted(person int) int {
	n := d.PersonStart[person+1] - d.PersonStart[person]
	if d.LeftOut != nil {
		n += d.LeftOut[person]
	}
	return n
}

// lose notes an episode of a person that was left out, with what its rows have in common, nil
// if that is not known.
func (d *Dataset) lose(person, width int, common []float64) {
	d.keepCounts(person+1, width)
	lost := d.Lost[person*width : (person+1)*width]
	for i := range lost {
		switch {
		case common == nil:
			lost[i] = math.NaN()
		case d.LeftOut[person] == 0:
			lost[i] = common[i]
		case lost[i] != common[i]:
			lost[i] = math.NaN()
		}
	}
	d.LeftOut[person]++
}

// keepCounts makes the counts of episodes that were left out those of so many persons.
func (d *Dataset) keepCounts(persons, width int) {
	for len(d.LeftOut) < persons {
		d.LeftOut = append(d.LeftOut, 0)
		for range width {
			d.Lost = append(d.Lost, math.NaN())
		}
	}
}

// KeepCounts is for readers that build a dataset by parts: persons who come after the last of
// whom an episode was left out have lost none.
func (d *Dataset) KeepCounts() {
	if d.LeftOut != nil {
		d.keepCounts(d.Persons(), len(d.Columns))
	}
}

// Lose notes an episode of a person that was left out: one without a decision, as readers
// give it.
func (d *Dataset) Lose(person int, e *Episode) { d.lose(person, len(e.Columns), e.Final) }

// Rows is the number of decisions.
func (d *Dataset) Rows() int { return len(d.Reward) }

// Ended reports whether an episode is known to have ended by the problem's own
// rule.
func (d *Dataset) Ended(episode int) bool { return d.Terminated != nil && d.Terminated[episode] }

// Observation returns the values observed before the decision in a row. The
// slice is part of the dataset.
func (d *Dataset) Observation(row int) []float64 {
	w := len(d.Columns)
	return d.Obs[row*w : row*w+w : row*w+w]
}

// FinalObservation returns the values observed after the last decision of an
// episode, or nil where they are unknown. The slice is part of the dataset.
func (d *Dataset) FinalObservation(episode int) []float64 {
	if d.HasFinal == nil || !d.HasFinal[episode] {
		return nil
	}
	w := len(d.Columns)
	return d.Final[episode*w : episode*w+w : episode*w+w]
}

// Column returns the index of an observation column, or -1.
func (d *Dataset) Column(name string) int {
	for i, c := range d.Columns {
		if c == name {
			return i
		}
	}
	return -1
}
