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
}

var mistakes = []mistake{
	{"reading: rewards scaled by the largest of all persons", false, func(d *trajectory.Dataset) (*trajectory.Dataset, error) {
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
	}},
	{"reading: columns dropped for everybody when one record has no rows", true, func(d *trajectory.Dataset) (*trajectory.Dataset, error) {
		if nobody(d) == 0 {
			return d, nil
		}
		out := *d
		out.Action, out.Terminated = nil, nil
		return &out, nil
	}},
	{"reading: data refused when a record is left out", true, func(d *trajectory.Dataset) (*trajectory.Dataset, error) {
		if nobody(d) > 0 {
			return nil, errors.New("a person has no record")
		}
		return d, nil
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
