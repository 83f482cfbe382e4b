package evaluate

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Groups asks for the value of the policy in each of several groups of persons, in one
// release. Groups are disjoint and public: a person is in the group whose number stands
// in all of their rows, and in none where these disagree, hold another number, or where
// there is no row; what the rows of episodes that were left out have in common counts as well.
// Nobody else's record matters. All intervals hold together with 95%.
// docs/proofs/groups.md has the argument.
type Groups struct {
	// Column is the observation that holds the number of a person's group.
	Column string
	Of     []Group
	// Fixed says, under ReplaceOne, that neighbouring datasets exchange a person for one
	// of the same group, so that groups and their sizes are not protected. Without it a
	// person may change group, and sizes are paid for.
	Fixed bool

	// counts tells that an answer about groups counts, with noise, whoever's group cannot be read, and
	// uncounted is that of releases that did not.
	counts, uncounted bool
}

// Group is one of several groups of persons.
type Group struct {
	Name   string
	Number float64
	// Persons is how many there are in it: where groups are fixed their public number,
	// which must be right; otherwise a public guess, which forecasts and the choice of
	// caps go by and nothing else, 0 for an equal part of all persons.
	Persons int64
}

// some tells that there are any.
func (g Groups) some() bool { return len(g.Of) > 0 }

// validate checks groups on their own, then beside the other facts.
func (g *Groups) validate(p Public) error {
	if g == nil {
		return nil
	}
	if g.Column == "" {
		return fmt.Errorf("%w: by.column is missing; name the column that holds a person's group", ErrPublic)
	}
	if n := len(g.Of); n < 2 || n > mostAnswers {
		return fmt.Errorf("%w: by: %d groups; want 2 to %d", ErrPublic, n, mostAnswers)
	}
	if err := ownNames("by", "groups", g.labels()); err != nil {
		return err
	}
	numbers := map[float64]bool{}
	for _, a := range g.Of {
		switch {
		case math.IsNaN(a.Number) || math.IsInf(a.Number, 0) || numbers[a.Number]:
			return fmt.Errorf("%w: by: the number of group %q is %v; want a finite number of its own", ErrPublic, a.Name, a.Number)
		case a.Persons < 0:
			return fmt.Errorf("%w: by: group %q has %d persons; want 0 or more", ErrPublic, a.Name, a.Persons)
		}
		numbers[a.Number] = true
	}
	return g.beside(p)
}

// beside checks groups beside what else is asked.
func (g *Groups) beside(p Public) error {
	switch {
	case !p.targets().alone:
		return fmt.Errorf("%w: by asks about groups and targets about several policies; ask for one of the two in a release", ErrPublic)
	case !p.private() && p.Outcome == nil:
		return fmt.Errorf("%w: by asks for a private answer of each group, and privacy is none; leave by out", ErrPublic)
	case g.Fixed && p.guarantee().Adjacency == dp.AddRemoveOne:
		return fmt.Errorf("%w: by.group is fixed under add_remove_one, where a person comes or goes with their group and nobody changes it; leave by.group out", ErrPublic)
	}
	total := int64(0)
	for _, a := range g.Of {
		if g.Fixed && a.Persons == 0 {
			return fmt.Errorf("%w: by.persons has no number for group %q; where groups are fixed their sizes are public: give each", ErrPublic, a.Name)
		}
		if total += a.Persons; g.Fixed && total > p.Persons {
			return fmt.Errorf("%w: by.persons adds up to more than problem.persons, %d; a person is in one group at most", ErrPublic, p.Persons)
		}
	}
	return nil
}

// clone copies what the caller could still change.
func (g *Groups) clone() *Groups {
	out := copied(g)
	if out != nil {
		out.Of = slices.Clone(g.Of)
	}
	return out
}

// Members is the place of every person's group among those of g, -1 for a person who is
// in none. It looks at one person at a time.
func (g Groups) Members(d *trajectory.Dataset) ([]int, error) {
	column := d.Column(g.Column)
	if column < 0 {
		return nil, fmt.Errorf("%w: by.column: the data were read without %s", ErrData, g.Column)
	}
	places := map[float64]int{}
	for i, a := range g.Of {
		places[a.Number] = i
	}
	out := make([]int, d.Persons())
	for person := range out {
		out[person] = -1
		if number, alike := g.number(d, column, person); alike {
			if place, known := places[number]; known {
				out[person] = place
			}
		}
	}
	return out, nil
}

// places is [Groups.Members]; everybody's is 0 where there are no groups.
func (g Groups) places(d *trajectory.Dataset) ([]int, error) {
	if !g.some() {
		return make([]int, d.Persons()), nil
	}
	return g.Members(d)
}

// names tells that all rows of a person name one group, listed or not: the group of others cannot be read.
func (g Groups) names(d *trajectory.Dataset, person int) bool {
	_, alike := g.number(d, d.Column(g.Column), person)
	return alike
}

// number is that of a group in the rows of a person, and whether all name that one, those of episodes that were
// left out by what these have in common.
func (Groups) number(d *trajectory.Dataset, column, person int) (number float64, alike bool) {
	w, lost := len(d.Columns), math.NaN()
	if d.LeftOut != nil && d.LeftOut[person] > 0 {
		lost = d.Lost[person*w+column]
	}
	from, to := d.EpisodeStart[d.PersonStart[person]], d.EpisodeStart[d.PersonStart[person+1]]
	if from == to {
		return lost, !math.IsNaN(lost)
	}
	number = d.Obs[from*w+column]
	for row := from + 1; row < to; row++ {
		if d.Obs[row*w+column] != number {
			return number, false
		}
	}
	return number, math.IsNaN(lost) || lost == number
}

// Shrunk is the same question of so many persons, for trials with made-up data: every
// group has an equal part of them.
func (g *Groups) Shrunk(persons int64) *Groups {
	out := g.clone()
	if out == nil {
		return nil
	}
	k := int64(len(out.Of))
	for i := range out.Of {
		if out.Of[i].Persons > 0 {
			out.Of[i].Persons = max(1, (persons+int64(i))/k)
		}
	}
	return out
}

// size is the number of persons that the plan of a group goes by.
func (g Groups) size(i int, persons int64) int64 {
	if g.some() && g.Of[i].Persons > 0 {
		return g.Of[i].Persons
	}
	return max(1, persons/int64(max(len(g.Of), 1)))
}

// groupsFact is the public form of what is asked.
type groupsFact struct {
	Column string      `json:"column"`
	Groups []groupFact `json:"groups"`
	// Group is "fixed", "may_change", or "" under AddRemoveOne.
	Group string `json:"group,omitempty"`
	// Unread is "counted" where the sizes of groups count those whose group cannot be read.
	Unread string `json:"unread,omitempty"`
}

type groupFact struct {
	Name    string  `json:"name"`
	Number  float64 `json:"number"`
	Persons int64   `json:"persons,omitempty"`
	Guess   int64   `json:"guess,omitempty"`
}

// The values of by.group.
const (
	groupFixed     = "fixed"
	groupMayChange = "may_change"

	unreadCounted = "counted"
)

func (p Public) groupsFact() *groupsFact {
	if !p.groups().some() {
		return nil
	}
	f := &groupsFact{Column: p.By.Column}
	if p.guarantee().Adjacency == dp.ReplaceOne {
		f.Group = groupMayChange
	}
	if p.By.Fixed {
		f.Group = groupFixed
	}
	if p.By.counts {
		f.Unread = unreadCounted
	}
	for _, a := range p.By.Of {
		one := groupFact{Name: a.Name, Number: a.Number, Guess: a.Persons}
		if p.By.Fixed {
			one.Persons, one.Guess = a.Persons, 0
		}
		f.Groups = append(f.Groups, one)
	}
	return f
}

// groups reads the public form back.
func (f *groupsFact) groups() *Groups {
	if f == nil {
		return nil
	}
	g := &Groups{Column: f.Column, Fixed: f.Group == groupFixed, uncounted: f.Unread == ""}
	for _, a := range f.Groups {
		g.Of = append(g.Of, Group{a.Name, a.Number, a.Persons + a.Guess})
	}
	return g
}
