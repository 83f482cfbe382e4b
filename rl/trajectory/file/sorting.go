package file

import (
	"context"
	"errors"
	"os"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/spill"
)

// inMemory is how many bytes of records are in memory at one time.
const inMemory = 1 << 20

// sorting puts episodes in the order of persons, those of a person in the order in which they are
// added: in memory, and from a number of bytes on in runs on disk.
type sorting struct {
	frame   *spill.Frame
	within  string // a directory
	most    int
	size    int
	records [][]byte
	free    []byte

	dir   string
	runs  *spill.Runs
	begun int // runs
}

// newSorting sorts up to so many bytes. Two runs that follow each other hold more than most.
func newSorting(frame *spill.Frame, within string, bytes int64) *sorting {
	return &sorting{frame: frame, within: within, most: max(inMemory, int(2*bytes/(spill.MostRuns-1)))}
}

func (s *sorting) add(record []byte) error {
	if s.size += len(record); s.size > s.most && len(s.records) > 0 {
		if err := s.store(); err != nil {
			return err
		}
		s.size = len(record)
	}
	if len(record) > cap(s.free)-len(s.free) {
		s.free = make([]byte, 0, max(1<<20, len(record)))
	}
	at := len(s.free)
	s.free = append(s.free, record...)
	s.records = append(s.records, s.free[at:len(s.free):len(s.free)])
	return nil
}

// store makes a run of what is in memory.
func (s *sorting) store() (err error) {
	if s.runs == nil {
		if s.dir, err = os.MkdirTemp(s.within, "split-"); err != nil {
			return err
		}
		s.runs = spill.NewRuns(s.dir, spill.MostRuns, s.frame)
	}
	if err := s.give(func(record []byte) error { return s.runs.Put(s.begun, record) }); err != nil {
		return err
	}
	s.begun++
	s.records = s.records[:0]
	return nil
}

// give gives what is in memory, in order.
func (s *sorting) give(take func(record []byte) error) error {
	if err := s.frame.Sort(s.records); err != nil {
		return lost(err)
	}
	for _, record := range s.records {
		if err := take(record); err != nil {
			return err
		}
	}
	return nil
}

// each gives all episodes. A record holds until the next one.
func (s *sorting) each(ctx context.Context, take func(record []byte) error) error {
	if s.runs == nil {
		return s.give(take)
	}
	if err := s.store(); err != nil {
		return err
	}
	return s.runs.Each(ctx, take)
}

func (s *sorting) close() error {
	if s.runs == nil {
		return nil
	}
	return errors.Join(s.runs.Close(), os.RemoveAll(s.dir))
}
