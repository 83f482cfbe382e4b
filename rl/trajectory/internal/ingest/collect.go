package ingest

import (
	"context"
	"errors"
	"io"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// Read reads files of one format into memory, in the order given, with notices for the curator.
func Read(ctx context.Context, format table.Format, files []string, o trajectory.Options) (*trajectory.Dataset, []string, error) {
	s, err := NewStream(ctx, format, files, o)
	if err != nil {
		return nil, nil, err
	}
	return Collect(s)
}

// Collect reads a stream to its end and closes it.
func Collect(s *Stream) (*trajectory.Dataset, []string, error) {
	defer s.Close()
	var b trajectory.Builder
	for {
		e, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, s.Notices(), err
		}
		b.Add(e)
	}
	return b.Named(s.files, s.names), s.Notices(), nil
}

// names gives the names of the episodes and persons; where the persons are named
// as the episodes, the slices are one.
func (s *Stream) names() (episodes, persons []string) {
	episodes = s.episodes.strings()
	if s.people() == s.episodes {
		return episodes, episodes
	}
	return episodes, s.persons.strings()
}
