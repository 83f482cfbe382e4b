package evaluate

import (
	"context"
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/hook"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// ErrInParts marks a method that needs all persons in one process.
var ErrInParts = fault.Input("method needs all persons in one process")

// InParts tells whether the persons may be spread over processes: nil where a run is a
// sequence of private sums over persons with exact noise, each of which may be made
// elsewhere ([hook.Sums]), and otherwise why not, and what to do.
func (p *Plan) InParts() error {
	if _, ok := p.event.(dp.PermuteAndFlip); ok {
		return fmt.Errorf("%w: permute-and-flip compares the scores of all persons and makes no noisy sum; set select to best, or read the data in one process", ErrInParts)
	}
	switch m, err := MethodNamed(p.Method); {
	case err == nil && m.parts:
	case err == nil && m.whole != "":
		return fmt.Errorf("%w: %s", ErrInParts, m.whole)
	default: // a reference, or a method of somebody else
		return fmt.Errorf("%w: %s; use dp-wis, dp-dr, dp-fqe or dp-refine, or read the data in one process", ErrInParts, p.Method)
	}
	if p.public.Privacy.Fast {
		return fmt.Errorf("%w: fast noise is not on the lattice of the sums; set privacy.noise to exact", ErrInParts)
	}
	return nil
}

// CheckPart is [Plan.Check] of some of the persons, of none too. How many there are of
// all is for the caller to hold against [Plan.CheckPersons], and the sums over all parts of
// what [Plan.Sizes] counts against [Plan.CheckSizes].
func (p *Plan) CheckPart(ctx context.Context, d *trajectory.Dataset) (*Ready, error) {
	if err := p.InParts(); err != nil {
		return nil, err
	}
	if err := p.checkPart(d); err != nil {
		return nil, err
	}
	return p.bind(ctx, d)
}

// checkPart holds some of the persons against the public facts, whatever their number.
func (p *Plan) checkPart(d *trajectory.Dataset) error {
	if err := p.CheckEnds(d.Terminated != nil); err != nil {
		return err
	}
	if p.public.Discounts && d.Discount == nil {
		return errDiscounts
	}
	return checkContributions(d, p.public)
}

// Replay runs without noise and releases nothing: x answers for every private sum, and
// an error of its own ends the run. It is nil where x answered for all of them. Where a
// plan can [Plan.Gather], a check can be replayed again, and by several goroutines; else
// once.
func (r *Ready) Replay(ctx context.Context, x hook.Sums) error {
	if x == nil || r.plan.pairs == nil && !r.used.CompareAndSwap(false, true) {
		return fmt.Errorf("%w: this check was run before; check the data again", errUsed)
	}
	none := new(noise.Source) // has no key, so that nothing can be drawn from it
	none.Join(x)
	_, err := r.draw(ctx, none)
	return err
}

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
	if err := p.checkPart(d); err != nil {
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

// sampleFor validates the data against the target policy and the features, for
// the curator, and builds what the estimators work on. Of a private run it asks
// nothing of all rows together: to fail there would tell of them.
func sampleFor(d *trajectory.Dataset, p Public) (*value.Sample, error) {
	var rho []float64
	if !policy.OnPolicy(p.Target) {
		rho = make([]float64, d.Rows())
		if err := policy.CheckedRatios(rho, p.Target, d); err != nil {
			return nil, err
		}
	}
	return sampleWith(rho, d, p)
}

// sampleWith is sampleFor where the ratios are known, which is off-policy.
func sampleWith(rho []float64, d *trajectory.Dataset, p Public) (*value.Sample, error) {
	s, err := value.NewSample(d, value.Options{Gamma: p.Gamma, Features: p.Features, Policy: p.Target, Ratios: rho})
	if err != nil {
		return nil, err
	}
	if p.Privacy == nil && s.Rho != nil && !slices.ContainsFunc(s.Rho, func(r float64) bool { return r > 0 }) {
		return nil, fmt.Errorf("%w: the target policy takes none of the logged decisions, so the data say nothing about it; check the numbers of the actions, or evaluate a policy closer to the logged one", ErrData)
	}
	return s, nil
}

// functionReleased is the release of a value function: where the features are of numbered states,
// with the value of each.
func functionReleased(f feature.Map, theta []float64) *Release {
	r := &Release{Theta: theta}
	if finite, ok := f.(feature.Finite); ok {
		for state := range finite.States() {
			r.Values = append(r.Values, theta[finite.Cell(state)])
		}
	}
	return r
}
