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
	const have = "the data have a column of behaviour probabilities beside data.behavior, "
	c := comparison{ctx: ctx, spec: s}
	left, err := c.recorded()
	if c.absent {
		return "", nil
	}
	if err != nil || left > 0 {
		plainErr := c.plain()
		switch {
		case errors.Is(plainErr, trajectory.ErrInput):
			return "", nil
		case errors.Is(err, trajectory.ErrInput):
			return have + "and it could not be compared: " + err.Error(), nil
		case err != nil || plainErr != nil:
			return "", errors.Join(err, plainErr)
		case c.lost > 0:
			return fmt.Sprintf(have+"and it could not be compared: %d of %d episodes have a value there that is no probability, the first the one of %s",
				c.lost, c.episodes, c.first), nil
		}
	}
	if c.failed || c.different == 0 {
		return "", nil // of a policy that gives no probability more is said elsewhere
	}
	return fmt.Sprintf(have+"which differs from it in %d of %d decisions: one of the two is wrong, or the column means something else", c.different, c.rows), nil
}

// comparison is of a column of probabilities and a policy, episode by episode.
type comparison struct {
	ctx             context.Context
	spec            *spec.Spec
	absent          bool // there is no column
	failed          bool // the policy gives a row no probability
	rows, different int
	lost, episodes  int    // which the column leaves out, and all
	first           string // of those that it leaves out
}

// open reads decisions, with their probabilities where they have them, without the episodes
// that cannot be used.
func (c *comparison) open(probabilities trajectory.Parts) (*file.Stream, error) {
	return file.Open(c.ctx, c.spec.Paths, c.spec.Format, comparing(c.spec, probabilities))
}

func comparing(s *spec.Spec, probabilities trajectory.Parts) trajectory.Options {
	o := s.Reading
	o.Need, o.Optional = trajectory.Action, probabilities
	o.Repair, o.Complete, o.Faults, o.Progress = true, false, 0, nil
	return o
}

// next is the next episode with a row.
func next(s *file.Stream) (*trajectory.Episode, error) {
	for {
		if e, err := s.Next(); err != nil || e.Len() > 0 {
			return e, err
		}
	}
}

// rowsCompared is from how many rows on they are compared.
const rowsCompared = 1 << 13

// recorded compares, and counts the episodes that are left out.
func (c *comparison) recorded() (left int, err error) {
	s, err := c.open(trajectory.BehaviorProb)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	var b trajectory.Builder
	c.absent = true
	for held := 0; ; {
		e, err := s.Next()
		switch {
		case errors.Is(err, io.EOF):
			if held > 0 {
				c.compare(b.Dataset())
			}
			return s.Repaired().Episodes, nil
		case err != nil:
			c.absent = false
			return 0, err
		case e.BehaviorProb == nil:
			return 0, nil
		}
		if c.absent = false; e.Len() == 0 {
			continue
		}
		alone := *e
		alone.Person, alone.Number, alone.File = 0, -1, 0
		b.Add(&alone)
		if held += e.Len(); held >= rowsCompared {
			c.compare(b.Dataset())
			held = 0
		}
	}
}

func (c *comparison) compare(d *trajectory.Dataset) {
	known, err := policy.WithBehavior(d, c.spec.Behavior)
	if err != nil {
		c.failed = true
		return
	}
	c.rows += d.Rows()
	for row, p := range d.BehaviorProb {
		if math.Abs(p-known.BehaviorProb[row]) > probTolerance {
			c.different++
		}
	}
}

// plain finds the episodes that the column alone leaves out.
func (c *comparison) plain() error {
	recorded, err := c.open(trajectory.BehaviorProb)
	if err != nil {
		return err
	}
	defer recorded.Close()
	all, err := c.open(0)
	if err != nil {
		return err
	}
	defer all.Close()
	r, end := next(recorded)
	for {
		e, err := next(all)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if c.episodes++; end == nil && r.File == e.File && r.Row == e.Row {
			r, end = next(recorded)
		} else if c.lost++; c.lost == 1 {
			c.first = fmt.Sprintf("%s:%d", all.Files()[e.File], e.Row)
		}
	}
}

// cutOff holds the column terminated, where the data have it, against a configuration
// that says that every episode terminated; "" where nothing contradicts. Of complete data
// the reader refuses what does.
func cutOff(ctx context.Context, s *spec.Spec) (string, error) {
	if o := s.Reading; o.End != trajectory.EndTerminated || o.OneRowEpisodes || o.Complete {
		return "", nil
	}
	stream, err := file.Open(ctx, s.Paths, s.Format, ending(s))
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

func ending(s *spec.Spec) trajectory.Options {
	o := s.Reading
	o.End, o.Repair = trajectory.EndColumn, true
	o.Need, o.Optional, o.Faults, o.Progress = 0, 0, 0, nil
	o.Horizon, o.EpisodesPerPerson, o.EpisodeDecisions = 0, 0, 0 // which cut episodes off
	return o
}
