package neighbours

import (
	"slices"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// extreme is at what all decisions of a person aim.
type extreme int

const (
	mixed      extreme = iota
	heavyMost          // the largest weight and reward
	heavyLeast         // the largest weight and the least reward
	weightless         // the target never does what was done
	alone              // in a state that others are rarely in
	most               // the largest reward, unweighted
	least              // the least reward, unweighted
	middling           // the middle of the rewards, unweighted
	beyond             // rewards far above their range
	under              // rewards far below it
	unreadable         // no state
	empty              // no episode
)

// decision is a row.
type decision struct {
	obs                                []float64
	reward, behavior, target, discount float64
	action                             int32
}

// person is a person's episodes, whether each ended by itself, and what was observed
// after it, nil where that is not known.
type person struct {
	name     string // the same in both datasets
	episodes [][]decision
	ended    []bool
	final    [][]float64
}

func (s *Source) person(e extreme) person {
	var out person
	if e == mixed {
		e = pick(s, mixed, mixed, mixed, mixed, heavyMost, heavyLeast, weightless, alone, most, least)
		if s.below(8) == 0 {
			e = empty
		}
	}
	if s.stated() && (e == empty || e == unreadable) {
		e = heavyMost
	}
	if e == empty {
		return out
	}
	episodes, each := s.sizes(e != mixed)
	// A policy that takes one action alone gives weight to a person who always took it.
	always, constant := s.action(), s.below(2) == 0
	for range episodes {
		var rows []decision
		for range each {
			row := s.decision(e)
			if constant {
				row.action = always
			}
			rows = append(rows, row)
		}
		out.episodes = append(out.episodes, rows)
		out.ended = append(out.ended, s.below(4) > 0 || s.complete())
		var final []float64
		if s.below(2) == 0 {
			final = s.observation(e)
		}
		out.final = append(out.final, final)
	}
	return out
}

// opposed are persons in the same situations and the same group, of as many decisions as may count: by turns always of
// one action and the largest reward, and always of another action and the least; beside each the record of the next.
func (s *Source) opposed(persons int) [][2]person {
	episodes := 1
	each := s.longest()
	if each < int(s.public.Horizon) {
		episodes = int(s.public.Horizon) / each
		if s.public.Episodes > 0 {
			episodes = min(episodes, int(s.public.Episodes))
		}
	}
	row := s.decision(most)
	edge := pick(s, 1, 0.5, 0, s.uniform()) // in the middle a gradient is long beside its square
	for i, states := range s.states {
		if states == 0 {
			row.obs[i] = edge
		}
	}
	other := row
	other.action, other.reward = (row.action+1)%int32(s.actions), s.rewards.Min
	number := s.groupOf(0)
	var ends [2]person
	for k, d := range []decision{row, other} {
		for range episodes {
			ends[k].episodes = append(ends[k].episodes, slices.Repeat([]decision{d}, each))
			ends[k].ended, ends[k].final = append(ends[k].ended, true), append(ends[k].final, nil)
		}
		ends[k] = s.grouped(ends[k], number)
	}
	all := make([][2]person, persons)
	for i := range all {
		all[i] = [2]person{ends[i%2], ends[(i+1)%2]}
	}
	return all
}

// longest is the largest number of decisions of an episode.
func (s *Source) longest() int {
	switch {
	case s.public.OneDecision:
		return 1
	case s.public.EpisodeHorizon > 0:
		return int(s.public.EpisodeHorizon)
	}
	return int(s.public.Horizon)
}

// sizes draws a number of episodes and of decisions in each, within the caps.
func (s *Source) sizes(extreme bool) (episodes, each int) {
	horizon, cap := int(s.public.Horizon), int(s.public.Episodes)
	if cap == 0 || cap > horizon {
		cap = horizon
	}
	longest := s.longest()
	if longest == 1 {
		return pick(s, 1, cap), 1
	}
	episodes = 1
	if s.below(2) == 0 {
		episodes = min(cap, pick(s, 2, cap))
	}
	each = min(horizon/episodes, longest, pick(s, 1, 2, 6))
	if extreme && s.below(2) == 0 {
		each = min(horizon/episodes, longest)
	}
	return episodes, each
}

func (s *Source) decision(e extreme) (d decision) {
	r := s.rewards
	step := r.Width() * 1e-12
	d = decision{
		obs:      s.observation(e),
		reward:   pick(s, r.Min, r.Max, r.Mid(), r.Min+step, r.Max-step, r.Min+r.Width()*s.uniform()),
		behavior: pick(s, 1, 0.5, 0.1, 0.01, 1e-6), discount: pick(s, 0, 1, 0.5),
		action: int32(s.below(s.actions)),
	}
	d.target = min(1, pick(s, 0, 1, d.behavior, d.behavior*s.cap()))
	defer s.timed(&d)
	if e == mixed || e == alone || e == unreadable {
		return d
	}
	d.discount = 1
	d.behavior, d.target = 1e-6, 1
	switch e {
	case heavyMost:
		d.reward = r.Max
	case heavyLeast:
		d.reward = r.Min
	case weightless:
		d.target = 0
	default:
		d.behavior = 1
		d.reward = map[extreme]float64{most: r.Max, least: r.Min, middling: r.Mid(), beyond: r.Max + 1e6*r.Width(), under: r.Min - 1e6*r.Width()}[e]
	}
	return d
}

func (s *Source) action() int32 { return int32(s.below(s.actions)) }

// cap draws a ratio at, or right beside, one that may be a cap.
func (s *Source) cap() float64 {
	return pick(s, 1.0, 2, 3, 5, 10, 20, 100) * pick(s, 1, 1+1e-9, 1-1e-9, 1.05, 0.95)
}

// observation draws values: numbers of states, and for other columns what is likely to
// be at an edge, between edges, or beyond them.
func (s *Source) observation(e extreme) []float64 {
	x := make([]float64, len(s.columns))
	for i, states := range s.states {
		switch {
		case states == 0:
			x[i] = pick(s, 0, 1, -1, 0.5, 2, 1e9, -1e9, s.uniform())
		case e == unreadable:
			x[i] = pick(s, -1, 0.5, float64(states))
		case e == alone:
			x[i] = float64(states - 1)
		default: // few, so that persons share them
			x[i] = float64(s.below(max(1, min(states-1, 4))))
		}
	}
	return x
}

// dataset puts persons together.
func (s *Source) dataset(all []person) *trajectory.Dataset {
	d := &trajectory.Dataset{Columns: s.columns, PersonStart: []int{0}, EpisodeStart: []int{0},
		Obs: []float64{}, Action: []int32{}, Reward: []float64{}, BehaviorProb: []float64{}, TargetProb: []float64{},
		Terminated: []bool{}, Final: []float64{}, HasFinal: []bool{}}
	for _, p := range all {
		for i, rows := range p.episodes {
			for _, row := range rows {
				s.add(d, row)
			}
			d.EpisodeStart = append(d.EpisodeStart, len(d.Reward))
			d.Terminated = append(d.Terminated, p.ended[i])
			final := p.final[i]
			d.HasFinal = append(d.HasFinal, final != nil)
			if final == nil {
				final = make([]float64, len(s.columns))
			}
			d.Final = append(d.Final, final...)
		}
		d.PersonStart = append(d.PersonStart, len(d.Terminated))
	}
	// A reader names where an episode is from; nobody here is told.
	for _, p := range all {
		d.PersonID = append(d.PersonID, p.name)
	}
	d.Origin, d.FirstRow = make([]string, d.Episodes()), make([]int, d.Episodes())
	return d
}

func (s *Source) add(d *trajectory.Dataset, row decision) {
	d.Obs = append(d.Obs, row.obs...)
	d.Action = append(d.Action, row.action)
	d.Reward = append(d.Reward, row.reward)
	d.BehaviorProb = append(d.BehaviorProb, row.behavior)
	d.TargetProb = append(d.TargetProb, row.target)
	if s.public.Discounts {
		d.Discount = append(d.Discount, row.discount)
	}
}
