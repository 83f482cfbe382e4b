package scan

import (
	"context"
	"errors"
	"slices"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/spec"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// inParts checks the data part by part, where the method looks at persons apart from
// each other, so that their rows need not be in memory at one time. What the release
// rests on is that of a check of all data at once, bit for bit, whatever the number of
// processors.
//
// It returns nothing where the method needs all data at once, and where something is
// wrong with the data that is not a fault of form: the check of all data at once then
// finds it, and says which of several faults comes first. Where it returns notices
// alone, these say why.
func inParts(ctx context.Context, s *spec.Spec, plan *evaluate.Plan, progress Progress) (scan *Scan, notices []string, err error) {
	if !byPerson(s, plan) {
		return nil, nil, nil
	}
	if err := CheckFiles(s); err != nil {
		return nil, nil, err
	}
	stream, a, notices, err := assemble(ctx, s, plan, progress)
	if stream != nil {
		defer func() { err = errors.Join(err, stream.Close()) }()
	}
	switch {
	case a != nil && a.failed:
		return nil, notices, nil
	case err != nil:
		return nil, nil, err
	}
	ready, err := a.gathering.Ready()
	if err != nil {
		return nil, nil, nil // the check of all data at once says what is wrong
	}
	doubts, err := contradictions(ctx, s, a.watch.Warnings())
	nothing, refused := Answerable(s, a.usable, a.persons)
	if err = errors.Join(err, refused); err != nil {
		return nil, nil, err
	}
	if nothing != "" {
		doubts = append(doubts, nothing)
	}
	ids := func(yield func(string) bool) { slices.Values(stream.PersonIDs())(yield) }
	return &Scan{ready, slices.Concat(stream.Notices(), leftOutNotice(a.leftOut, a.episodes), notices, doubts), ids}, nil, nil
}

// byPerson reports that a method looks at persons one by one.
func byPerson(s *spec.Spec, plan *evaluate.Plan) bool {
	return plan.Gather() != nil && s.Public.Targets == nil && s.Public.Behavior == nil
}

// assemble looks at all data in parts. Persons whose episodes do not stand together are
// put together first, and a notice says so; where there is no room for that the assembly
// has failed. The stream has to be closed, after an error as well.
func assemble(ctx context.Context, s *spec.Spec, plan *evaluate.Plan, progress Progress) (stream *file.Stream, a *assembly, notices []string, err error) {
	o := s.Reading
	o.Progress = progress
	open := func() (*file.Stream, error) { return file.Open(ctx, s.Paths, s.Format, o) }
	if stream, a, err = inStretches(s, plan, open); stream != nil || err != nil {
		return stream, a, nil, err
	}
	if stream, err = open(); err != nil {
		return nil, nil, nil, err
	}
	a = newAssembly(s, plan)
	if err = a.run(stream); !stream.Apart() {
		return stream, a, nil, err
	}
	if err = stream.Close(); err != nil {
		return nil, nil, nil, err
	}
	if stream, err = open(); err != nil {
		return nil, nil, nil, err
	}
	a = newAssembly(s, plan)
	dir, err := stream.Together(ctx)
	if err == nil {
		err = a.run(stream)
	}
	notice := "the episodes of a person do not stand together, so that rows were "
	switch {
	case stream.NoRoom():
		a.failed = true
		return stream, a, []string{notice + "to be kept on disk, and all are held in memory: " + err.Error()}, nil
	case dir == "":
		notice += "held in memory until all of a person's were read; they are few"
	default:
		notice += "kept in temporary files without names in " + dir + ", which are gone, until all of a person's were read; data that are sorted by person need none and are read faster"
	}
	return stream, a, []string{notice}, err
}
