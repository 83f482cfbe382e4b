package spill

import (
	"io"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Builder makes a dataset of the episodes of a part. Persons are in the order in which
// they come first.
type Builder struct {
	Frame Frame
	Files []string // the names of the files

	to                trajectory.Builder
	number            map[string]int
	persons, episodes []string
	e                 trajectory.Episode
}

// Add adds an episode that [Frame.Append] wrote.
func (b *Builder) Add(record []byte) error {
	person, id, err := b.Frame.Read(record, &b.e)
	if err != nil {
		return err
	}
	if len(b.Files) > 0 && b.e.File >= len(b.Files) { // as a damaged record may say
		return io.ErrUnexpectedEOF
	}
	if b.number == nil {
		b.number = map[string]int{}
	}
	p, known := b.number[string(person)]
	if !known {
		p = len(b.persons)
		b.persons = append(b.persons, string(person))
		b.number[b.persons[p]] = p
	}
	b.e.Person = p
	if id != nil {
		b.e.Number = len(b.episodes)
		b.episodes = append(b.episodes, string(id))
	}
	b.to.Add(&b.e)
	return nil
}

// Dataset makes the dataset and empties the builder.
func (b *Builder) Dataset() *trajectory.Dataset {
	d := b.to.Named(b.Files, func() (_, _ []string) { return b.episodes, b.persons })
	if b.Frame.Finals && d.Final == nil { // others' episodes have them
		d.Final, d.HasFinal = make([]float64, d.Episodes()*len(d.Columns)), make([]bool, d.Episodes())
	}
	*b = Builder{Frame: b.Frame, Files: b.Files}
	return d
}
