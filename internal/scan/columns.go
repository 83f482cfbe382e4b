package scan

import (
	"context"
	"errors"
	"slices"

	"github.com/discreet-rl/discreet/internal/spec"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// Columns are the observations of the first episode: these, or those that data have by the names
// of the schema where names is nil. An error is of that episode; whoever reads all of the data has
// more to tell.
func Columns(ctx context.Context, s *spec.Spec, names []string) (all []string, err error) {
	o := s.Reading
	o.Observations, o.Whole, o.Alone = names, nil, true
	in, err := file.Open(ctx, s.Paths, s.Format, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	e, err := in.Next()
	if err != nil {
		return nil, err
	}
	return slices.Clone(e.Columns), nil
}
