package evaluate

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// pairs is a method whose releases rest on two numbers a person, which are functions of
// that person's records and of public facts alone. Its data need not be in memory at
// one time.
type pairs struct {
	public Public
	// each writes the numbers of every person of a sample.
	each func(x, z []float64, s *value.Sample)
	// coordinates of the largest sum; 0 if another check bounds it.
	coordinates int
	run         func(x, z []float64, src *noise.Source) (*Release, error)
}

// check validates persons and computes their numbers. rho are their ratios, where these
// are known.
func (m *pairs) check(d *trajectory.Dataset, rho []float64) (x, z []float64, err error) {
	var s *value.Sample
	if rho != nil {
		s, err = sampleWith(rho, d, m.public)
	} else {
		s, err = sampleFor(d, m.public)
	}
	if err != nil {
		return nil, nil, err
	}
	x, z = make([]float64, d.Persons()), make([]float64, d.Persons())
	m.each(x, z, s)
	return x, z, nil
}

func (m *pairs) draw(x, z []float64) draw {
	return func(_ context.Context, src *noise.Source) (*Release, error) { return m.run(x, z, src) }
}

// prepare checks all data at once.
func (m *pairs) prepare(_ context.Context, d *trajectory.Dataset) (draw, error) {
	x, z, err := m.check(d, nil)
	if err == nil && m.coordinates > 0 {
		err = checkCapacity(d.Persons(), m.coordinates)
	}
	if err != nil {
		return nil, err
	}
	return m.draw(x, z), nil
}

// Gathering is [Plan.Check] of data that come in parts: whole persons, each in one part
// with all of their episodes. It keeps two numbers a person. The release is that of
// Check, bit for bit. Which of several errors it finds first may be another one.
type Gathering struct {
	plan    *Plan
	parts   []Gathered
	persons int
}

// Gather begins a check by parts. It is nil where the method needs all data at once.
func (p *Plan) Gather() *Gathering {
	if p.pairs == nil {
		return nil
	}
	return &Gathering{plan: p}
}

// Gathered is what a [Gathering] keeps of a part.
type Gathered struct{ x, z []float64 }

// Part checks one part. It may be called by several goroutines at a time. rho are the
// ratios of the target policy by row, where they are known, else nil; they are written
// over.
func (g *Gathering) Part(d *trajectory.Dataset, rho []float64) (Gathered, error) {
	p := g.plan
	if err := p.CheckEnds(d.Terminated != nil); err != nil {
		return Gathered{}, err
	}
	if p.public.Discounts && d.Discount == nil {
		return Gathered{}, errDiscounts
	}
	if err := checkContributions(d, p.public); err != nil {
		return Gathered{}, err
	}
	if policy.OnPolicy(p.public.Target) {
		rho = nil
	}
	x, z, err := p.pairs.check(d, rho)
	return Gathered{x, z}, err
}

// Add adds what Part found, in the order of the parts.
func (g *Gathering) Add(of Gathered) {
	g.parts = append(g.parts, of)
	g.persons += len(of.x)
}

// Ready ends the check. The gathering is used up.
func (g *Gathering) Ready() (*Ready, error) {
	if g.persons == 0 {
		return nil, errNobody
	}
	if err := g.plan.CheckPersons(int64(g.persons)); err != nil {
		return nil, err
	}
	return g.ready()
}

// ReadyPart ends the check of some of the persons, as [Plan.CheckPart] does of data at
// once. The gathering is used up.
func (g *Gathering) ReadyPart() (*Ready, error) {
	if err := g.plan.InParts(); err != nil {
		return nil, err
	}
	return g.ready()
}

// ready checks the number of persons only against the capacity of a sum.
func (g *Gathering) ready() (*Ready, error) {
	if m := g.plan.pairs; m.coordinates > 0 {
		if err := checkCapacity(g.persons, m.coordinates); err != nil {
			return nil, err
		}
	}
	x, z := make([]float64, 0, g.persons), make([]float64, 0, g.persons)
	for i, of := range g.parts {
		x, z = append(x, of.x...), append(z, of.z...)
		g.parts[i] = Gathered{}
	}
	return &Ready{plan: g.plan, draw: g.plan.pairs.draw(x, z)}, nil
}

var (
	errNobody    = fmt.Errorf("%w: the data holds no person", ErrData)
	errDiscounts = fmt.Errorf("%w: problem.discounts is set and the data bring no discount; add or map the column, or leave the key out", ErrData)
)
