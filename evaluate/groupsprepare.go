package evaluate

import (
	"context"
	"slices"
	"sync"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/hook"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// grouping prepares the plan of every group for the persons in it.
type grouping struct {
	public Public
	parts  []*Plan
	memory *sync.Pool // of subsets
}

// subset is memory for the persons of one group in a part of the data.
type subset struct {
	data trajectory.Dataset
	rho  [][]float64 // of their rows, by policy
}

// grouped are what is kept of the persons of all groups.
type grouped struct {
	of      []any // nil where nobody is in the group
	persons []int64
	none    int64 // in no group, and of them those alone whose group cannot be read where these are counted
	nobody  *trajectory.Dataset
}

func (g grouping) part(d *trajectory.Dataset, rho [][]float64, alone bool) (any, error) {
	members, err := g.public.By.Members(d)
	if err != nil {
		return nil, err
	}
	persons, out := make([][]int, len(g.parts)), grouped{make([]any, len(g.parts)), make([]int64, len(g.parts)), 0, d.Nobody()}
	for person, i := range members {
		switch {
		case i >= 0:
			persons[i] = append(persons[i], person)
		case g.public.By.Fixed || !g.public.By.names(d, person):
			out.none++
		}
	}
	for i, part := range g.parts {
		if out.persons[i] = int64(len(persons[i])); len(persons[i]) == 0 {
			continue
		}
		some := g.memory.Get().(*subset)
		some.take(d, rho, persons[i])
		if out.of[i], err = part.prepare.part(&some.data, some.rho, alone); err != nil {
			return nil, err
		}
		if !alone { // else it may be kept
			g.memory.Put(some)
		}
	}
	return out, nil
}

// take writes some persons and the ratios of their rows, where these are known, over what m holds.
func (m *subset) take(d *trajectory.Dataset, rho [][]float64, persons []int) {
	m.data = *d.Take(persons, &m.data)
	old := m.rho
	m.rho = nil
	for i, of := range rho {
		var some []float64
		if of != nil {
			some = make([]float64, 0)
			if i < len(old) && old[i] != nil {
				some = old[i][:0]
			}
			some = slices.Grow(some, m.data.Rows())
			for _, p := range persons {
				some = append(some, of[d.EpisodeStart[d.PersonStart[p]]:d.EpisodeStart[d.PersonStart[p+1]]]...)
			}
		}
		m.rho = append(m.rho, some)
	}
}

func (g grouping) join(all, next any) any {
	a, b := all.(grouped), next.(grouped)
	for i, part := range g.parts {
		a.persons[i] += b.persons[i]
		a.of[i] = joined(part.prepare, a.of[i], b.of[i])
	}
	a.none += b.none
	return a
}

func (g grouping) bytes(all any) (n int64) {
	for i, part := range g.parts {
		if of := all.(grouped).of[i]; of != nil {
			n += part.prepare.bytes(of)
		}
	}
	return n
}

// joined is what was kept of both; either may be nil.
func joined(p preparation, all, next any) any {
	switch {
	case all == nil:
		return next
	case next == nil:
		return all
	}
	return p.join(all, next)
}

func (g grouping) bind(ctx context.Context, all any) (draw, error) {
	a := all.(grouped)
	draws, none := make([]draw, len(g.parts)), a.none
	for i, part := range g.parts {
		more := int64(0)
		if g.public.By.Fixed {
			more = max(min(g.public.By.Of[i].Persons-a.persons[i], none), 0)
			none -= more
		}
		of := a.of[i]
		if of == nil || more > 0 {
			filling := *a.nobody
			pad(&filling, more)
			filled, err := part.prepare.part(&filling, nil, true)
			if err != nil {
				return nil, err
			}
			of = joined(part.prepare, of, filled)
		}
		var err error
		if draws[i], err = part.prepare.bind(ctx, of); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, src *noise.Source) (*Release, error) {
		found := make([]*Release, len(draws))
		for i, draw := range draws {
			var err error
			if found[i], err = g.public.drawn(ctx, i, draw, src); err != nil {
				return nil, err
			}
		}
		if err := g.public.addUnread(g.parts, found, a.none, src); err != nil {
			return nil, err
		}
		return g.public.together(g.parts, found)
	}, nil
}

// pad adds persons without a row: those of a fixed group who are in none by their rows.
func pad(group *trajectory.Dataset, persons int64) {
	for range persons {
		group.PersonStart = append(group.PersonStart, group.Episodes())
		if group.PersonID != nil {
			group.PersonID = append(group.PersonID, "")
		}
	}
	group.KeepCounts()
}

// drawn is the release of group i. Where persons are spread over processes a sum is told
// of the number of all of them; what a fixed group rests on is its own, which is public.
func (p Public) drawn(ctx context.Context, i int, of draw, src *noise.Source) (*Release, error) {
	if x := src.Sums(); x != nil && p.By.Fixed {
		src.Join(sumsOfGroup{x, p.By.Of[i].Persons})
		defer src.Join(x)
	}
	return of(ctx, src)
}

// sumsOfGroup are sums of so many persons.
type sumsOfGroup struct {
	hook.Sums
	persons int64
}

// Gather implements [hook.Sums].
func (s sumsOfGroup) Gather(own hook.Sum) (hook.Sum, []int64, error) {
	all, noisy, err := s.Sums.Gather(own)
	all.Persons = s.persons
	return all, noisy, err
}
