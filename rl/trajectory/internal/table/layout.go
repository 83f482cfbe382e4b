package table

import (
	"strconv"
	"strings"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/canon"
)

// Layout says which columns of the canonical schema a Dataset fills when it is
// written, and gives what is not a column of numbers row by row. Formats write
// by it, so that all of them write the same.
type Layout struct {
	d *trajectory.Dataset
	// Observations are the canonical names of the observation columns: those of
	// the dataset, with "obs_" before a name that lacks it. Next are the names of
	// the next observations; nil when no episode has a final one.
	Observations, Next []string
	// Ends tells whether the flags of an episode's end are known.
	Ends bool
	// Form is what else the caller knows.
	Form
	// Before is how many episodes were written before those of the dataset.
	Before int
}

// Form is of a table whose columns are told before all of its rows are.
type Form struct {
	// Nulls tells that values may be missing, of episodes that were kept though they cannot
	// be used.
	Nulls bool
	// Nameless tells that nobody is named: the unit is an episode.
	Nameless bool
}

// What an episode may lack, as [trajectory.Episode] says.
const (
	LacksSteps = 1 << iota
	LacksTerminated
	LacksTruncated
)

// Lacks tells whether an episode lacks something.
func (l *Layout) Lacks(episode int, what uint8) bool {
	return l.d.Lacks != nil && l.d.Lacks[episode]&what != 0
}

// NewLayout looks at a dataset.
func NewLayout(d *trajectory.Dataset, form Form) *Layout {
	l := &Layout{d: d, Form: form, Ends: d.Terminated != nil}
	for _, name := range d.Columns {
		if !strings.HasPrefix(name, canon.PrefixObs) {
			name = canon.PrefixObs + name
		}
		l.Observations = append(l.Observations, name)
	}
	if d.HasFinal != nil {
		for _, name := range l.Observations {
			l.Next = append(l.Next, canon.PrefixNext+name)
		}
	}
	return l
}

// Episode is the id of an episode: its name, else its number among all that are written.
func (l *Layout) Episode(e int) string {
	if l.d.EpisodeID == nil {
		return strconv.Itoa(l.Before + e)
	}
	return l.d.EpisodeID[e]
}

// Person is the id of a person: its name, else its number.
func (l *Layout) Person(p int) string {
	if l.d.PersonID == nil {
		return strconv.Itoa(p)
	}
	return l.d.PersonID[p]
}

// Row is one row of the canonical schema.
type Row struct {
	// Person and Episode number them, Step counts from 0, and Index is the row
	// of the dataset.
	Person, Episode, Step, Index int
	Terminated, Truncated        bool
	// Next is the observation after the decision, nil where it is unknown. It
	// is given for the last row of an episode only.
	Next []float64
}

// Rows yields the rows in order, until yield returns false.
func (l *Layout) Rows(yield func(Row) bool) {
	d := l.d
	for p := range d.Persons() {
		for e := d.PersonStart[p]; e < d.PersonStart[p+1]; e++ {
			lo, hi := d.EpisodeStart[e], d.EpisodeStart[e+1]
			for i := lo; i < hi; i++ {
				r := Row{Person: p, Episode: e, Step: i - lo, Index: i}
				if i == hi-1 {
					r.Terminated, r.Truncated = d.Ended(e), l.Ends && !d.Ended(e)
					r.Next = d.FinalObservation(e)
				}
				if !yield(r) {
					return
				}
			}
		}
	}
}
