package scan

import (
	"context"
	"iter"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/evaluate/overview"
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
	count := s.Public.Persons == 0 && s.Public.Privacy != nil && s.Public.Privacy.Adjacency == dp.ReplaceOne
	var fallback []string
	if !count {
		plan, err := s.Plan()
		if err != nil {
			return nil, err
		}
		if plan.Gather() != nil {
			scan, notices, err := inParts(ctx, s, plan, progress)
			if scan != nil || err != nil {
				return scan, err
			}
			fallback = notices
		}
	}
	w, err := readWhole(ctx, s, progress)
	if err != nil {
		return nil, err
	}
	if count {
		s = s.Counted(w.data.Persons())
	}
	plan, err := s.Plan()
	if err != nil {
		return nil, err
	}
	ready, err := plan.Check(ctx, w.data)
	if err != nil {
		return nil, err
	}
	watch, err := overview.Watched(w.data, facts(s, plan))
	if err != nil {
		return nil, err
	}
	doubtful, err := doubts(ctx, s, watch, usable(w.data), w.data.Persons())
	if err != nil {
		return nil, err
	}
	scan := &Scan{Ready: ready, Notices: slices.Concat(w.notices, fallback, doubtful)}
	if w.data.PersonID != nil {
		scan.Persons = slices.Values(w.data.PersonID)
	}
	return scan, nil
}

// whole is all data of an evaluation in memory, without the episodes that cannot be used.
type whole struct {
	data    *trajectory.Dataset
	leftOut trajectory.Repaired
	notices []string
}

func readWhole(ctx context.Context, s *spec.Spec, progress Progress) (whole, error) {
	if err := CheckFiles(ctx, s); err != nil {
		return whole{}, err
	}
	o := s.Reading
	o.Progress = progress
	data, notices, err := file.Read(ctx, s.Paths, s.Format, o)
	if err != nil {
		return whole{}, err
	}
	return wholeOf(s, data, notices)
}

// wholeOf leaves out of data what cannot be used.
func wholeOf(s *spec.Spec, read *trajectory.Dataset, notices []string) (whole, error) {
	data, leftOut, err := Fit(s, read)
	if err != nil {
		return whole{}, err
	}
	notices = append(notices, leftOutNotice(leftOut.Episodes, read.Episodes())...)
	nowhere, err := ungrouped(s, data)
	notices = append(notices, ungroupedNotice(s, nowhere, data.Persons())...)
	return whole{data, leftOut, notices}, err
}
