package evaluate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// preparation binds a plan to data. Its errors are for the curator.
type preparation interface {
	// part checks persons, whole ones, and keeps what a run needs of them. rho are the ratios of
	// their rows under each policy, nil where they are not known; they are written over.
	// Of data that come alone d may be kept. Several goroutines may call it.
	part(d *trajectory.Dataset, rho [][]float64, alone bool) (any, error)
	// join adds what was kept of the next persons.
	join(all, next any) any
	// bytes are those of what was kept.
	bytes(all any) int64
	// bind makes what draws the noise.
	bind(ctx context.Context, all any) (draw, error)
}

// whole is the preparation of a method that needs all data at once.
type whole func(ctx context.Context, d *trajectory.Dataset) (draw, error)

func (whole) part(d *trajectory.Dataset, _ [][]float64, _ bool) (any, error) { return d, nil }
func (whole) join(_, next any) any                                           { return next }
func (whole) bytes(any) int64                                                { return math.MaxInt64 }
func (f whole) bind(ctx context.Context, all any) (draw, error) {
	return f(ctx, all.(*trajectory.Dataset))
}

// packing is the preparation of a method that looks at rows once all of them are packed.
type packing func(ctx context.Context, all packed) (draw, error)

// packed are the rows of persons, part by part.
type packed struct {
	parts []*value.Part
	// names of persons, nil where they have none.
	names func() []string
}

func (p packed) persons() (n int) {
	for _, part := range p.parts {
		n += part.Persons()
	}
	return n
}

func (packing) part(d *trajectory.Dataset, _ [][]float64, alone bool) (any, error) {
	if alone {
		return packed{[]*value.Part{value.Keep(d, [][]float64{nil})}, func() []string { return d.PersonID }}, nil
	}
	return packed{parts: []*value.Part{value.Pack(d, [][]float64{nil})}}, nil
}

func (packing) join(all, next any) any {
	a := all.(packed)
	a.parts = append(a.parts, next.(packed).parts...)
	return a
}

func (packing) bytes(any) int64 { return math.MaxInt64 } // workers on shards have none

func (f packing) bind(ctx context.Context, all any) (draw, error) { return f(ctx, all.(packed)) }

// keeping is the preparation of a method that looks at persons one by one, and keeps a K of them.
type keeping[K any] struct {
	look  func(d *trajectory.Dataset, rho [][]float64, alone bool) (K, error)
	add   func(all, next K) K
	size  func(all K) int64
	ready func(all K) (draw, error)
}

func (k keeping[K]) part(d *trajectory.Dataset, rho [][]float64, alone bool) (any, error) {
	return k.look(d, rho, alone)
}
func (k keeping[K]) join(all, next any) any { return k.add(all.(K), next.(K)) }
func (k keeping[K]) bytes(all any) int64    { return k.size(all.(K)) }
func (k keeping[K]) bind(_ context.Context, all any) (draw, error) {
	return k.ready(all.(K))
}

// byPerson prepares a method that keeps some numbers of every person, which are functions of
// that person's records and of public facts alone, and, where it walks through rows as noise
// is drawn, rows.
type byPerson struct {
	public Public // towards every policy of its targets, where it has targets
	// estimates tells that probabilities of logged actions are estimated as noise is drawn: ratios
	// are those to probabilities of 1.
	estimates bool
	// check holds persons against what the method needs; nil if that is nothing more.
	check func(d *trajectory.Dataset) error
	// numbers is how many are kept of a person, and each writes them. It may change ratios.
	numbers int
	each    func(numbers [][]float64, part []*value.Sample) error
	rows    bool
	// moves tells that the walk looks at actions or their probabilities.
	moves bool
	// coordinates of the largest sum; 0 if another check bounds it.
	coordinates int
	run         func(numbers []scalar.Numbers, rows *value.Samples) (draw, error)
	// built is the most bytes that run keeps beside, of so many persons and rows; nil if none.
	built func(persons, rows int64) int64
}

// people are what is kept of persons, part by part.
type people struct {
	numbers []scalar.Numbers
	rows    []*value.Part
}

func (m byPerson) preparation() preparation {
	return keeping[people]{m.look, func(all, next people) people {
		for i, x := range next.numbers {
			all.numbers[i] = append(all.numbers[i], x...)
		}
		all.rows = append(all.rows, next.rows...)
		return all
	}, m.size, m.ready}
}

// size is how many bytes are kept.
func (m byPerson) size(of people) (n int64) {
	for _, x := range of.numbers {
		n += 8 * int64(x.Persons())
	}
	persons, rows := int64(0), int64(0)
	for _, part := range of.rows {
		n, persons, rows = n+part.Bytes(), persons+int64(part.Persons()), rows+int64(part.Rows())
	}
	if m.built != nil {
		n += m.built(persons, rows)
	}
	return n
}

// named says of which policy an error is, where there are several.
func (t *Targets) named(i int, err error) error {
	if err == nil || t.alone {
		return err
	}
	return fmt.Errorf("targets: %s: %w", t.Policies[i].Name, err)
}

// look validates persons and keeps what is kept of them.
func (m byPerson) look(d *trajectory.Dataset, rho [][]float64, alone bool) (people, error) {
	if m.check != nil {
		if err := m.check(d); err != nil {
			return people{}, err
		}
	}
	if m.estimates { // ratios are divided later
		d = certain(d)
	}
	t := m.public.targets()
	part, ratios := make([]*value.Sample, len(t.Policies)), make([][]float64, len(t.Policies))
	for i, a := range t.Policies {
		var known []float64
		if rho != nil {
			known = rho[i]
		}
		s, err := sampleWith(known, a.Policy, d, m.public.featureless())
		if err != nil {
			return people{}, t.named(i, err)
		}
		part[i], ratios[i] = s, s.Rho
	}
	if len(part) > 1 {
		value.ShareReturns(part)
	}
	kept := people{numbers: make([]scalar.Numbers, m.numbers)}
	if m.each != nil {
		numbers := make([][]float64, m.numbers)
		for i := range numbers {
			numbers[i] = make([]float64, d.Persons())
			kept.numbers[i] = scalar.Numbers{numbers[i]}
		}
		if err := m.each(numbers, part); err != nil {
			return people{}, err
		}
	}
	switch {
	case m.rows && alone:
		kept.rows = []*value.Part{value.Keep(d, ratios)}
	case m.rows:
		if !m.moves {
			bare := *d
			bare.Action, bare.BehaviorProb = nil, nil
			d = &bare
		}
		kept.rows = []*value.Part{value.Pack(d, ratios)}
	}
	return kept, nil
}

// ready binds what was kept of everybody.
func (m byPerson) ready(all people) (draw, error) {
	rows, err := m.samples(all.rows)
	if err != nil {
		return nil, err
	}
	persons := rows.Persons()
	if m.numbers > 0 {
		persons = all.numbers[0].Persons()
	}
	if m.coordinates > 0 {
		if err := checkCapacity(persons, m.coordinates); err != nil {
			return nil, err
		}
	}
	return m.run(all.numbers, rows)
}

// samples are those of every policy.
func (m byPerson) samples(rows []*value.Part) (*value.Samples, error) {
	var of []value.Options
	for _, a := range m.public.targets().Policies {
		of = append(of, value.Options{Gamma: m.public.Gamma, Features: m.public.Features, Policy: a.Policy})
	}
	return value.NewSamples(rows, of...)
}

// sampleFor validates the data against the target policy and the features, for
// the curator, and builds what the estimators work on. Of a private run it asks
// nothing of all rows together: to fail there would tell of them.
func sampleFor(d *trajectory.Dataset, p Public) (*value.Sample, error) {
	return sampleWith(nil, p.Target, d, p)
}

// sampleWith is sampleFor towards a policy, where the ratios may be known.
func sampleWith(rho []float64, target policy.Policy, d *trajectory.Dataset, p Public) (*value.Sample, error) {
	if rho == nil && !policy.OnPolicy(target) {
		rho = make([]float64, d.Rows())
		if err := policy.CheckedRatios(rho, target, d); err != nil {
			return nil, err
		}
	}
	s, err := value.NewSample(d, value.Options{Gamma: p.Gamma, Features: p.Features, Policy: target, Ratios: rho})
	if err != nil {
		return nil, err
	}
	if !p.private() && s.Rho != nil && !slices.ContainsFunc(s.Rho, func(r float64) bool { return r > 0 }) {
		return nil, fmt.Errorf("%w: the target policy takes none of the logged decisions, so the data say nothing about it; check the numbers of the actions, or evaluate a policy closer to the logged one", ErrData)
	}
	return s, nil
}

// certain are data as if every logged action had had probability 1.
func certain(d *trajectory.Dataset) *trajectory.Dataset {
	out := *d
	out.BehaviorProb = slices.Repeat([]float64{1}, d.Rows())
	return &out
}
