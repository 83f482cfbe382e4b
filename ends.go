package discreet

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// cutOff holds the column terminated, where the data have it, against a configuration
// that says that every episode terminated; "" where nothing contradicts. Of complete data
// the reader refuses what does.
func (j *job) cutOff(ctx context.Context) (string, error) {
	o := j.options
	if o.End != trajectory.EndTerminated || o.OneRowEpisodes || o.Complete {
		return "", nil
	}
	o.End, o.Repair = trajectory.EndColumn, true
	o.Need, o.Optional, o.Faults, o.Progress = 0, 0, 0, nil
	o.Horizon, o.EpisodesPerPerson = 0, 0 // which cut episodes off
	s, err := file.Open(ctx, j.paths(), j.config.Data.Format, o)
	if err != nil {
		return "", err
	}
	cut, all := 0, 0
	for {
		e, err := s.Next()
		switch {
		case errors.Is(err, io.EOF):
			return contradicted(cut, all), s.Close()
		case errors.Is(err, trajectory.ErrInput):
			return "problem.end is terminated beside a column terminated, and it could not be compared: " + err.Error(), s.Close()
		case err != nil:
			return "", errors.Join(err, s.Close())
		case e.EndUnknown:
			return "", s.Close()
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
