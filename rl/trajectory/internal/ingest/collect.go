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
	episodes := s.episodes.strings()
	persons := episodes
	if s.people() != s.episodes {
		persons = s.persons.strings()
	}
	return b.Named(s.files, episodes, persons), s.Notices(), nil
}
