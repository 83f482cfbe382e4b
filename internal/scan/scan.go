package scan

import (
	"context"
	"iter"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/spec"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// Progress is called now and then while data are read; nil for none.
type Progress = func(trajectory.Progress)

// Scan is what an evaluation takes from the data.
type Scan struct {
	// Ready is the plan bound to the data.
	Ready *evaluate.Ready
	// Notices are for the curator.
	Notices []string
	// Persons are the ids of the persons; nil where they have none.
	Persons iter.Seq[string]
}

// Check plans an evaluation, reads its data and checks them. When the number of persons is
// public but was not given, the data are read first and count them.
func Check(ctx context.Context, s *spec.Spec, progress Progress) (*Scan, error) {
	var err error
	if s.Public.Persons == 0 && s.Public.Privacy != nil && s.Public.Privacy.Adjacency == dp.ReplaceOne {
		if s, err = withPersons(ctx, s, progress); err != nil {
			return nil, err
		}
	}
	plan, err := s.Plan()
	if err != nil {
		return nil, err
	}
	a, err := readAll(ctx, s, plan, asked{ready: true, warnings: true}, progress)
	if err != nil {
		return nil, err
	}
	if a.fault != nil {
		return nil, a.fault
	}
	watch, err := a.watched()
	if err != nil {
		return nil, err
	}
	doubtful, err := doubts(ctx, s, watch, a.usable, a.persons)
	if err != nil {
		return nil, err
	}
	return &Scan{a.ready, slices.Concat(a.told, doubtful), a.ids}, nil
}

// withPersons is a question whose public number of persons is that of the data.
func withPersons(ctx context.Context, s *spec.Spec, progress Progress) (*spec.Spec, error) {
	if err := CheckFiles(ctx, s); err != nil {
		return nil, err
	}
	o := s.Reading
	o.Need, o.Optional, o.Progress = 0, 0, progress
	found, err := file.Validate(ctx, s.Paths, s.Format, o)
	if err != nil { // more may be wrong, which comes first
		a, err := asOne(ctx, s, progress)
		if err != nil {
			return nil, err
		}
		found.Persons = a.persons
	}
	return s.Counted(found.Persons), nil
}

// readAll reads the data in parts, or, where the method or a fault needs that, as one part.
func readAll(ctx context.Context, s *spec.Spec, plan *evaluate.Plan, q asked, progress Progress) (*assembly, error) {
	if err := CheckFiles(ctx, s); err != nil {
		return nil, err
	}
	var why []string
	if !q.ready || plan.Gather() != nil {
		a, notices, err := inParts(ctx, s, plan, q, progress)
		if a != nil || err != nil {
			return a, err
		}
		why = notices
	}
	a, err := asOne(ctx, s, progress)
	if err != nil {
		return nil, err
	}
	a.told = append(a.told, why...)
	a.bind(ctx, plan, q)
	return a, nil
}

// asOne reads the data as one part, in the order of the files.
func asOne(ctx context.Context, s *spec.Spec, progress Progress) (*assembly, error) {
	o := s.Reading
	o.Progress = progress
	read, notices, err := file.Read(ctx, s.Paths, s.Format, o)
	if err != nil {
		return nil, err
	}
	a := &assembly{spec: s}
	if a.data, a.repaired, err = Fit(s, read); err != nil {
		return nil, err
	}
	nowhere, err := ungrouped(s, a.data)
	if err != nil {
		return nil, err
	}
	changing, err := unsettled(s, a.data)
	if err != nil {
		return nil, err
	}
	a.counts = counts{a.data.Persons(), usable(a.data), nowhere, changing, read.Episodes(), a.data.Episodes(), a.data.Rows(), a.repaired.Episodes}
	a.told = append(notices, a.notices()...)
	if a.data.PersonID != nil {
		a.ids = slices.Values(a.data.PersonID)
	}
	return a, nil
}
