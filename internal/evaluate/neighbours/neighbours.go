package neighbours

import (
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// ErrFacts marks public facts of which no pair can be drawn.
var ErrFacts = fault.Input("no neighbours can be drawn")

// mostRows bounds the records of a dataset.
const mostRows = 1 << 22

// Pair is two neighbouring datasets.
type Pair struct {
	// Kind says at what the pair aims.
	Kind            string
	Data, Neighbour *trajectory.Dataset
}

// Source draws pairs.
type Source struct {
	public    evaluate.Public
	columns   []string
	states    []int // by column, 0 where it is no number of a state
	rewards   evaluate.Range
	targets   []policy.Policy
	behaviour policy.Policy
	actions   int
	group     int // the column of groups, -1 where none are asked about
	event     int // the column of the outcome's event, -1 where there is none
	src       *noise.Source
	drawn     int
}

// New returns a source of pairs for public facts that a plan was made from. columns
// names the observations that features and policies read; behaviour is nil where the
// data record its probabilities.
func New(p evaluate.Public, columns []string, behaviour policy.Policy, seed uint64) (*Source, error) {
	if p.Privacy == nil || !p.Privacy.Adjacency.Valid() {
		return nil, fmt.Errorf("%w: the facts ask for no privacy, so that nothing says what neighbours are", ErrFacts)
	}
	if p.Persons < 1 || p.Horizon < 1 || p.Persons > mostRows/min(p.Horizon, mostRows) {
		return nil, fmt.Errorf("%w: %d persons of %d decisions; want at least 1 of each, and at most %d decisions in all", ErrFacts, p.Persons, p.Horizon, mostRows)
	}
	s := &Source{public: p, columns: columns, states: make([]int, len(columns)), rewards: p.Reward, behaviour: behaviour, src: noise.NewSeeded(seed)}
	s.targets = targets(p)
	s.group = -1
	if p.By != nil {
		if s.group = slices.Index(columns, p.By.Column); s.group < 0 {
			return nil, fmt.Errorf("%w: groups are in column %s, which is not among those that are read", ErrFacts, p.By.Column)
		}
	}
	s.event = -1
	if o := p.Outcome; o != nil && o.Event != "" {
		if s.event = slices.Index(columns, o.Event); s.event < 0 {
			return nil, fmt.Errorf("%w: the event is in column %s, which is not among those that are read", ErrFacts, o.Event)
		}
	}
	s.actions = 2
	for _, t := range s.targets {
		s.actions = max(s.actions, t.Actions())
	}
	if behaviour != nil {
		s.actions = max(s.actions, behaviour.Actions())
	}
	if !(s.rewards.Width() > 0) {
		s.rewards = p.Returns()
	}
	if f, ok := p.Features.(feature.Finite); ok {
		for i, c := range columns {
			if slices.Contains(f.Columns(), c) {
				s.states[i] = f.States()
			}
		}
	}
	return s, nil
}

// targets are all policies that are evaluated.
func targets(p evaluate.Public) []policy.Policy {
	if p.Targets == nil {
		return []policy.Policy{p.Target}
	}
	var all []policy.Policy
	for _, t := range p.Targets.Policies {
		all = append(all, t.Policy)
	}
	return all
}

// Pair draws the next pair. Episodes with a record that policies or features cannot
// read are left out, and their persons stay, as a private run does by default; where the
// facts say that nothing is lost there are none. An error says what the policies or the
// features lack.
func (s *Source) Pair() (Pair, error) {
	kind := kinds[s.drawn%len(kinds)]
	s.drawn++
	people := make([]person, s.public.Persons)
	add := s.public.Privacy.Adjacency == dp.AddRemoveOne
	if add {
		people = make([]person, s.public.Persons+1)
	}
	for i := range people {
		if kind.alike && i > 0 {
			people[i] = s.grouped(people[0], s.groupOf(i))
			continue
		}
		var err error
		if people[i], err = s.record(kind.others, i); err != nil {
			return Pair{}, err
		}
	}
	at := s.below(len(people))
	switch kind.at {
	case first:
		at = 0
	case last:
		at = len(people) - 1
	}
	var err error
	if people[at], err = s.record(kind.one, at); err != nil {
		return Pair{}, err
	}
	for i := range people {
		people[i].name = fmt.Sprint("p", i)
	}
	other := slices.Clone(people)
	if add {
		other = slices.Delete(other, at, at+1)
	} else if kind.opposed && !s.stated() {
		// The others are of both kinds alike, so that what is fitted to all stays between them.
		for i, p := range s.opposed(len(people)) {
			name := people[i].name
			people[i], other[i] = p[0], p[0]
			if i == at {
				other[i] = p[1]
			}
			people[i].name, other[i].name = name, name
		}
	} else {
		if other[at], err = s.record(kind.another, at); err != nil {
			return Pair{}, err
		}
		other[at].name = people[at].name
	}
	if s.below(2) == 0 {
		people, other = other, people
	}
	pair := Pair{Kind: kind.name}
	if pair.Data, err = s.repaired(people); err != nil {
		return pair, err
	}
	pair.Neighbour, err = s.repaired(other)
	return pair, err
}

// repaired is the dataset of persons without what cannot be read.
func (s *Source) repaired(people []person) (*trajectory.Dataset, error) {
	d, behaviour := s.dataset(people), s.behaviour
	var err error
	for _, target := range s.targets {
		if d, _, err = policy.Repair(d, target, behaviour); err != nil {
			return nil, err
		}
		behaviour = nil // d has its probabilities now
	}
	if s.public.Features == nil {
		return d, nil
	}
	d, _, err = feature.Repair(s.public.Features, d)
	return d, err
}

// Where the person stands in whom the two differ.
const (
	anywhere = iota
	first
	last
)

// kind says how the persons of a pair are drawn.
type kind struct {
	name                 string
	one, another, others extreme
	alike                bool
	// opposed are two records that pull a gradient to opposite sides, as far as a person can.
	opposed bool
	at      int
}

// kinds are gone through in turn.
var kinds = []kind{
	{name: "random extremes"},
	{name: "largest against smallest rewards", one: most, another: least, others: middling},
	{name: "largest against smallest rewards, with the largest weights", one: heavyMost, another: heavyLeast},
	{name: "largest weights against weight zero", one: heavyMost, another: weightless},
	{name: "identical persons but one", alike: true},
	{name: "identical persons, the first one replaced", one: most, another: least, others: least, alike: true, at: first},
	{name: "one person alone in a state", one: alone, another: most, at: last},
	{name: "a record without episodes", one: empty, another: heavyMost},
	{name: "largest weights and smallest rewards, against weight zero", one: heavyLeast, another: weightless, others: middling},
	{name: "rewards beyond their range", one: beyond, another: under, others: middling},
	{name: "unreadable observations", one: unreadable, another: heavyMost},
	{name: "identical persons of middling rewards, one replaced", one: most, another: least, others: middling, alike: true},
	{name: "identical persons of the largest rewards, the last one replaced", one: heavyLeast, another: heavyMost, others: heavyMost, alike: true, at: last},
	{name: "the same situations, with another action and the other end of the rewards", one: most, another: least, others: middling, opposed: true},
}

// below draws a whole number under n.
func (s *Source) below(n int) int { return int(s.src.Uint64n(uint64(n))) }

// uniform draws a number in [0, 1).
func (s *Source) uniform() float64 { return float64(s.src.Uint64()>>11) / (1 << 53) }

func pick[T any](s *Source, from ...T) T { return from[s.below(len(from))] }
