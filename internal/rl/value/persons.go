package value

import (
	"slices"
	"sort"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Persons are persons with their rows, who are looked at one after the other: a [Sample], or
// [Samples], of which few are in memory as samples at a time.
type Persons interface {
	// Persons is how many there are.
	Persons() int
	// Walk begins to look at them. A goroutine has a walk of its own.
	Walk() *Walk
}

// Samples are a sample in parts for each of several policies.
type Samples struct {
	parts []*Part
	built [][]*Sample // of parts that are not packed
	start []int       // the first person of each part, and how many there are
	of    []Options
	// Change, if it is not nil, changes ratios and behaviour probabilities of the samples of a
	// part, one a policy, whenever they are made.
	Change func(part []*Sample) error
}

// NewSamples are parts in order, seen as each of the options says, whose Ratios are those of the parts. It fails where a
// dataset of these columns cannot be seen so.
func NewSamples(parts []*Part, of ...Options) (*Samples, error) {
	a := &Samples{parts: parts, of: of, start: make([]int, 1, len(parts)+1)}
	for i, p := range parts {
		a.start = append(a.start, a.start[i]+p.persons)
	}
	a.built = make([][]*Sample, len(parts))
	for i, p := range parts {
		if p.whole == nil && i > 0 {
			continue
		}
		w := Walk{all: a}
		if err := w.load(i); err != nil {
			return nil, err
		}
		if p.whole != nil {
			a.built[i] = w.samples
		}
	}
	return a, nil
}

// Persons implements [Persons].
func (a *Samples) Persons() int { return a.start[len(a.parts)] }

// Parts is how many there are.
func (a *Samples) Parts() int { return len(a.parts) }

// Walk implements [Persons].
func (a *Samples) Walk() *Walk { return &Walk{all: a, part: -1} }

// Persons implements [Persons].
func (s *Sample) Persons() int { return s.Data.Persons() }

// Walk implements [Persons].
func (s *Sample) Walk() *Walk { return &Walk{one: []*Sample{s}, to: s.Persons()} }

// Walk looks at persons. What it returns is valid until it is called again.
type Walk struct {
	all      *Samples // nil of one sample
	part     int
	from, to int // the persons at hand
	moved    bool
	samples  []*Sample
	one      []*Sample // of one sample

	mine []*Sample // memory for samples
	data *trajectory.Dataset
	rho  [][]float64
}

// At is the sample of the first policy that has a person, and the person's number in it.
// It panics where [Samples.Change] fails.
func (w *Walk) At(person int) (*Sample, int) {
	all, p := w.Of(person)
	return all[0], p
}

// Bound is At, and has bind look at every sample that it comes to first.
func (w *Walk) Bound(person int, bind func(*Sample) error) (*Sample, int, error) {
	s, p := w.At(person)
	if w.moved {
		if err := bind(s); err != nil {
			return nil, 0, err
		}
	}
	return s, p, nil
}

// Of is At with the samples of all policies.
func (w *Walk) Of(person int) ([]*Sample, int) {
	if w.moved = w.samples == nil || person < w.from || person >= w.to; w.moved && w.all != nil {
		a := w.all
		if w.part++; w.part >= len(a.parts) || person < a.start[w.part] || person >= a.start[w.part+1] {
			w.part = sort.SearchInts(a.start, person+1) - 1
		}
		if err := w.load(w.part); err != nil {
			panic(err) // nothing of this fails of the first part
		}
		w.from, w.to = a.start[w.part], a.start[w.part+1]
	} else if w.moved {
		w.samples = w.one
	}
	return w.samples, person - w.from
}

// Moved tells that the last call of At or Of came to other samples than the one before, or was
// the first.
func (w *Walk) Moved() bool { return w.moved }

// load makes the samples of a part.
func (w *Walk) load(part int) error {
	a := w.all
	p, built := a.parts[part], a.built[part]
	if built != nil && a.Change == nil {
		w.samples = built
		return nil
	}
	if w.mine == nil {
		w.mine, w.rho, w.data = make([]*Sample, len(a.of)), make([][]float64, len(a.of)), new(trajectory.Dataset)
		for i := range w.mine {
			w.mine[i] = new(Sample)
		}
	}
	w.samples = w.mine
	if built != nil { // neither a change nor the next part must reach it
		d := *p.whole
		d.BehaviorProb = slices.Clone(d.BehaviorProb)
		w.samples = make([]*Sample, len(built))
		for i, s := range built {
			same := *s
			same.Data, same.Rho = &d, slices.Clone(s.Rho)
			w.samples[i] = &same
		}
		return a.Change(w.samples)
	}
	d, rho := p.whole, p.ratios
	if d == nil {
		p.unpack(w.data, w.rho)
		d, rho = w.data, w.rho
	}
	for i, o := range a.of {
		o.Ratios = rho[i]
		if err := w.mine[i].build(d, o); err != nil {
			return err
		}
	}
	if a.Change != nil {
		return a.Change(w.mine)
	}
	return nil
}
