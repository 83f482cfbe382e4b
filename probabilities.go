package discreet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

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
func (j *job) contradiction(ctx context.Context) (string, error) {
	if j.config.Data.Behavior.recorded() || j.behaviour == nil {
		return "", nil
	}
	recorded, err := j.decisions(ctx, trajectory.BehaviorProb)
	if err == nil && recorded == nil {
		return "", nil
	}
	const have = "the data have a column of behaviour probabilities beside data.behavior, "
	plain, plainErr := j.decisions(ctx, 0)
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
	known, err := policy.WithBehavior(recorded, j.behaviour)
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
func (j *job) decisions(ctx context.Context, part trajectory.Parts) (*trajectory.Dataset, error) {
	o := j.options
	o.Need, o.Optional = trajectory.Action, part
	o.Repair, o.Complete, o.Faults, o.Progress = true, false, 0, nil
	if part != 0 {
		if has, err := j.has(ctx, o); err != nil || !has {
			return nil, err
		}
	}
	data, _, err := file.Read(ctx, j.paths(), j.config.Data.Format, o)
	return data, err
}

// has tells by the first episode whether the data have a column of behaviour
// probabilities.
func (j *job) has(ctx context.Context, o trajectory.Options) (bool, error) {
	s, err := file.Open(ctx, j.paths(), j.config.Data.Format, o)
	if err != nil {
		return false, err
	}
	e, err := s.Next()
	if err := errors.Join(err, s.Close()); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return e != nil && e.BehaviorProb != nil, nil
}
