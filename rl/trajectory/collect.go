package trajectory

import (
	"context"
	"errors"
	"io"
)

// Collect reads a stream to its end and closes it.
func Collect(s *Stream) (*Dataset, []string, error) {
	defer s.Close()
	var b Builder
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
	return b.dataset(s.Files(), s.episodes, s.people()), s.Notices(), nil
}

// Read reads files of one format into memory, in the order given, and returns
// notices beside the dataset; see [Stream.Notices].
func Read(ctx context.Context, format Format, files []string, o Options) (*Dataset, []string, error) {
	s, err := NewStream(ctx, format, files, o)
	if err != nil {
		return nil, nil, err
	}
	return Collect(s)
}
