package ingest

import (
	"io"
	"os"
	"runtime"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/table"
)

// fill reads the next batch.
func (s *Stream) fill() error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	s.batch.Reset()
	s.at, s.run = 0, [keys]int{}
	err := s.table.Read(s.batch)
	s.bound.translate(s.batch)
	s.rows += int64(s.batch.Rows)
	if s.rows-s.told >= 1<<16 {
		s.progress()
	}
	return err
}

func (s *Stream) progress() {
	s.told = s.rows
	if s.o.Progress != nil {
		s.o.Progress(trajectory.Progress{File: s.files[s.index], Index: s.index, Files: len(s.files),
			Bytes: s.table.Progress(), Size: s.size, Rows: s.rows})
	}
}

// open goes on to the next file, or returns io.EOF.
func (s *Stream) open() error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if s.index+1 == len(s.files) {
		if s.rows == 0 {
			return &trajectory.InputError{File: s.files[s.index], What: "there is no row of data", Remedy: "check that this is the right file", Kind: trajectory.ErrEmpty}
		}
		s.tellRepairs()
		return io.EOF
	}
	s.index++
	path := s.files[s.index]
	t, err := s.format.Open(path)
	if err != nil {
		return err
	}
	s.table, s.size, s.before = t, 0, s.rows
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		s.size = info.Size()
	}
	b, err := bind(t, path, &s.o)
	if err != nil {
		return err
	}
	if err := s.sameAsFirst(b); err != nil {
		return err
	}
	if err := t.Select(b.picks); err != nil {
		return err
	}
	s.bound, s.at = b, 0
	s.batch = table.NewBatch(b.width[:], keys+len(b.words))
	if runtime.GOMAXPROCS(0) > 1 {
		s.table = readAhead(t, b.width[:], keys+len(b.words))
	}
	for _, n := range b.notices {
		s.notice(n)
	}
	s.describe()
	return nil
}

func (s *Stream) endOfFile() error {
	s.progress()
	if s.rows == s.before {
		s.notice(s.files[s.index] + " has no rows")
	}
	t := s.table
	s.table = nil
	return t.Close()
}
