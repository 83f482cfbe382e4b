package scan

import (
	"context"
	"errors"
	"slices"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/spec"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// inParts reads the data part by part. What the release rests on is that of a check of all
// data at once, bit for bit, whatever the number of processors.
//
// Where it returns nothing, the data are to be read as one part, in the order of the files, which
// says what is wrong, and which of several faults comes first; notices say why, where nothing is wrong.
func inParts(ctx context.Context, s *spec.Spec, plan *evaluate.Plan, q asked, progress Progress) (a *assembly, notices []string, err error) {
	stream, a, notices, err := assemble(ctx, s, plan, q, progress)
	if stream != nil {
		defer func() { err = errors.Join(err, stream.Close()) }()
	}
	switch {
	case a != nil && a.err != nil:
		return nil, notices, nil
	case err != nil:
		return nil, nil, err
	}
	if q.ready {
		if a.ready, err = a.gathering.Ready(ctx, stream.PersonIDs); err != nil {
			return nil, []string{apartWords + err.Error()}, nil
		}
	}
	a.told = slices.Concat(stream.Notices(), a.notices(), notices)
	a.ids = func(yield func(string) bool) { slices.Values(stream.PersonIDs())(yield) }
	return a, nil, nil
}

// apartWords begin a notice that names the fault of a reading by parts.
const apartWords = "all rows are held in memory, since reading by parts found a fault that reading at once does not: "

// assemble looks at all data in parts. Persons whose episodes do not stand together are
// put together first, and a notice says so; where there is no room for that, or no release would
// disclose it, the assembly has failed. The stream has to be closed, after an error as well.
func assemble(ctx context.Context, s *spec.Spec, plan *evaluate.Plan, q asked, progress Progress) (stream *file.Stream, a *assembly, notices []string, err error) {
	o := s.Reading
	o.Progress = progress
	open := func() error {
		if stream != nil {
			if err := stream.Close(); err != nil {
				return err
			}
		}
		a = newAssembly(s, plan, q)
		stream, err = file.Open(ctx, s.Paths, s.Format, o)
		return err
	}
	if err := open(); err != nil {
		return nil, nil, nil, err
	}
	if a.inStretches(stream) {
		return stream, a, nil, nil
	}
	if err := open(); err != nil {
		return nil, nil, nil, err
	}
	err = a.run(stream)
	if o.Arranges() && stream.Apart() {
		if err := open(); err != nil {
			return nil, nil, nil, err
		}
		if _, err = stream.Together(ctx); err == nil {
			err = a.run(stream)
		}
	}
	if !stream.Apart() {
		if a.err != nil {
			notices = []string{apartWords + a.err.Error()}
		}
		return stream, a, notices, err
	}
	notice := "the episodes of a person do not stand together, "
	if !plan.Slim() {
		a.err = err
		return stream, a, []string{notice + "and all rows are held in memory; data that are sorted by person need less, and are read faster"}, nil
	}
	if err := open(); err != nil {
		return nil, nil, nil, err
	}
	dir, err := stream.Together(ctx)
	if err == nil {
		err = a.run(stream)
	}
	notice += "so that rows were "
	switch {
	case stream.NoRoom():
		a.err = err
		return stream, a, []string{notice + "to be kept on disk, and all are held in memory: " + err.Error()}, nil
	case dir == "":
		notice += "held in memory until all of a person's were read; they are few"
	default:
		notice += "kept in temporary files without names in " + dir + ", which are gone, until all of a person's were read; data that are sorted by person need none and are read faster"
	}
	return stream, a, []string{notice}, err
}
