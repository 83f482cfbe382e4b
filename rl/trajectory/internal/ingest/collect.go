package ingest

import (
	"errors"
	"io"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

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
