package probe

import (
	"errors"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// mistake is one that a reader could make, planted behind it to see that it is found.
type mistake struct {
	name string
	// ofRepairs tells that it needs records that are left out.
	ofRepairs bool
	spoil     func(*trajectory.Dataset) (*trajectory.Dataset, error)
	// together and stretches change the parts of persons who are put together, and of those read by stretches.
	together, stretches func([]*trajectory.Dataset) []*trajectory.Dataset
	// of tells of which options it is a mistake; nil for all.
	of func(o trajectory.Options, format string) bool
	// uncapped reads more of a person than may count.
	uncapped bool
}

var mistakes = []mistake{
	{name: "reading: rewards scaled by the largest of all persons", spoil: func(d *trajectory.Dataset) (*trajectory.Dataset, error) {
		out := *d
		out.Reward = slices.Clone(d.Reward)
		largest := 1e-300
		for _, r := range d.Reward {
			largest = max(largest, math.Abs(r))
		}
		for i := range out.Reward {
			out.Reward[i] /= largest
		}
		return &out, nil
	}, of: func(o trajectory.Options, _ string) bool { return o.OutcomePresent == nil }}, // of two outcomes one is the largest
	{name: "reading: columns dropped for everybody when one record has no rows", ofRepairs: true, spoil: func(d *trajectory.Dataset) (*trajectory.Dataset, error) {
		if nobody(d) == 0 {
			return d, nil
		}
		out := *d
		out.Action, out.Terminated = nil, nil
		return &out, nil
	}},
	{name: "reading: data refused when a record is left out", ofRepairs: true, spoil: func(d *trajectory.Dataset) (*trajectory.Dataset, error) {
		if nobody(d) > 0 {
			return nil, errors.New("a person has no record")
		}
		return d, nil
	}},
	{name: "reading: episodes counted as persons where rows are put together", together: byEpisode, of: func(o trajectory.Options, _ string) bool {
		return o.Unit == trajectory.UnitPerson && !o.EpisodePerPerson && o.EpisodesPerPerson != 1 && o.Horizon != 1
	}},
	{name: "reading: a person in two stretches of a file counted twice", stretches: again, of: func(o trajectory.Options, format string) bool {
		return format == "csv" && o.Unit == trajectory.UnitPerson && !o.Arranges()
	}},
	{name: "reading: the caps on a person not enforced", uncapped: true, of: func(o trajectory.Options, _ string) bool {
		return !o.Complete && o.Horizon > 0 && o.Horizon <= 12 && o.Unit == trajectory.UnitPerson && !o.OneRowEpisodes
	}},
}

// nobody counts the persons of whom all is left out.
func nobody(d *trajectory.Dataset) int {
	n := 0
	for p := range d.Persons() {
		if d.PersonStart[p] == d.PersonStart[p+1] {
			n++
		}
	}
	return n
}
