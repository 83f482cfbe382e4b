package scan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/discreet-rl/discreet/internal/spec"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// probTolerance is how far two sources of one probability may differ.
const probTolerance = 1e-6

// contradiction compares the behaviour probabilities of the configuration with a
// column of them in the data, for the curator: it is empty where they agree or there
// is nothing to compare. It reads the data by itself, so that a column that nobody
// asked for decides nothing of what is evaluated. What else is wrong with the data is
// told elsewhere.
func contradiction(ctx context.Context, s *spec.Spec) (string, error) {
	if spec.Recorded(s.Config.Data.Behavior) || s.Behavior == nil {
		return "", nil
	}
	recorded, err := decisions(ctx, s, trajectory.BehaviorProb)
	if err == nil && recorded == nil {
		return "", nil
	}
	const have = "the data have a column of behaviour probabilities beside data.behavior, "
	plain, plainErr := decisions(ctx, s, 0)
	switch {
	case errors.Is(plainErr, trajectory.ErrInput):
		return "", nil
	case errors.Is(err, trajectory.ErrInput):
		return have + "and it could not be compared: " + err.Error(), nil
	case err != nil || plainErr != nil:
		return "", errors.Join(err, plainErr)
	case recorded.Episodes() < plain.Episodes():
		e := 0
		for e < recorded.Episodes() && plain.FirstRow[e] == recorded.FirstRow[e] && plain.Origin[e] == recorded.Origin[e] {
			e++
		}
		return fmt.Sprintf(have+"and it could not be compared: %d of %d episodes have a value there that is no probability, the first the one of %s:%d",
			plain.Episodes()-recorded.Episodes(), plain.Episodes(), plain.Origin[e], plain.FirstRow[e]), nil
	}
	known, err := policy.WithBehavior(recorded, s.Behavior)
	if err != nil {
		return "", nil // of which more is said elsewhere
	}
	n := 0
	for row, p := range recorded.BehaviorProb {
		if math.Abs(p-known.BehaviorProb[row]) > probTolerance {
			n++
		}
	}
	if n == 0 {
		return "", nil
	}
	return fmt.Sprintf(have+"which differs from it in %d of %d decisions: one of the two is wrong, or the column means something else", n, known.Rows()), nil
}

// decisions reads the decisions of the data without the episodes that cannot be used.
// Where a part is asked for that they do not have it is nil.
func decisions(ctx context.Context, s *spec.Spec, part trajectory.Parts) (*trajectory.Dataset, error) {
	o := s.Reading
	o.Need, o.Optional = trajectory.Action, part
	o.Repair, o.Complete, o.Faults, o.Progress = true, false, 0, nil
	if part != 0 {
		if has, err := hasProbabilities(ctx, s, o); err != nil || !has {
			return nil, err
		}
	}
	data, _, err := file.Read(ctx, s.Paths, s.Format, o)
	return data, err
}

// hasProbabilities reports by the first episode whether the data have a column of behaviour
// probabilities.
func hasProbabilities(ctx context.Context, s *spec.Spec, o trajectory.Options) (bool, error) {
	stream, err := file.Open(ctx, s.Paths, s.Format, o)
	if err != nil {
		return false, err
	}
	e, err := stream.Next()
	if err := errors.Join(err, stream.Close()); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return e != nil && e.BehaviorProb != nil, nil
}

// cutOff holds the column terminated, where the data have it, against a configuration
// that says that every episode terminated; "" where nothing contradicts. Of complete data
// the reader refuses what does.
func cutOff(ctx context.Context, s *spec.Spec) (string, error) {
	o := s.Reading
	if o.End != trajectory.EndTerminated || o.OneRowEpisodes || o.Complete {
		return "", nil
	}
	o.End, o.Repair = trajectory.EndColumn, true
	o.Need, o.Optional, o.Faults, o.Progress = 0, 0, 0, nil
	o.Horizon, o.EpisodesPerPerson, o.EpisodeDecisions = 0, 0, 0 // which cut episodes off
	stream, err := file.Open(ctx, s.Paths, s.Format, o)
	if err != nil {
		return "", err
	}
	cut, all := 0, 0
	for {
		e, err := stream.Next()
		switch {
		case errors.Is(err, io.EOF):
			return contradicted(cut, all), stream.Close()
		case errors.Is(err, trajectory.ErrInput):
			return "problem.end is terminated beside a column terminated, and it could not be compared: " + err.Error(), stream.Close()
		case err != nil:
			return "", errors.Join(err, stream.Close())
		case e.EndUnknown:
			return "", stream.Close()
		}
		if e.Len() > 0 {
			all++
			if !e.Terminated {
				cut++
			}
		}
	}
}

func contradicted(cut, all int) string {
	if cut == 0 {
		return ""
	}
	return fmt.Sprintf("problem.end is terminated, and by the column terminated %d of %d episodes were not over at their last row: what would have followed is missing there, and the interval does not allow for it; leave problem.end out, which goes by the column", cut, all)
}
