package ingest

import (
	"context"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/internal/source"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// fill reads the next batch.
func (s *Stream) fill() error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	s.batch.Reset()
	s.at, s.run = 0, [keys]int{}
	err := s.table.Read(s.batch)
	if s.emitting() {
		if s.batch.Rows > 0 {
			s.arranged.enter(0)
		}
		s.survey()
		s.sift()
		return err
	}
	s.bound.translate(s.batch)
	if s.arranged == nil {
		s.survey()
		s.sift()
	} else {
		s.arranged.learn(s.batch)
	}
	s.rows += int64(s.batch.Rows)
	if s.window != nil {
		s.at = s.window.from
		s.rows -= int64(s.at)
	}
	if s.rows-s.told >= 1<<16 {
		s.progress()
	}
	return err
}

// emitting tells that rows that were put in order are read.
func (s *Stream) emitting() bool { return s.arranged != nil && s.table == s.arranged }

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
	if s.index+1 == s.end {
		if s.window != nil || s.alone {
			return io.EOF
		}
		if s.rows == 0 {
			return s.empty(s.index)
		}
		s.tellRepairs()
		return io.EOF
	}
	if err := s.readOutcomes(); err != nil {
		return err
	}
	if s.o.Arranges() {
		return s.arrange()
	}
	return s.openNext()
}

// openNext opens the next file.
func (s *Stream) openNext() error {
	b, err := s.bindNext()
	if err != nil {
		return err
	}
	t := s.table
	if err := t.Select(b.picks); err != nil {
		return err
	}
	s.bound, s.at = b, 0
	s.batch = table.NewBatch(b.width[:], b.keyCount())
	if n := runtime.GOMAXPROCS(0); n > 1 && s.window == nil && !s.o.Alone {
		s.table = readAhead(t, n, b.width[:], b.keyCount())
	}
	for _, n := range b.notices {
		s.notice(n)
	}
	s.describe()
	return nil
}

// bindNext opens the next file and decides what its columns are.
func (s *Stream) bindNext() (*binding, error) {
	s.index++
	path := s.files[s.index]
	s.opened, s.size = nil, 0
	if info, err := source.Stat(s.ctx, path); err == nil && info.Mode().IsRegular() {
		s.opened, s.size = info, info.Size()
	}
	t, err := s.openFile(path)
	if err != nil {
		return nil, err
	}
	s.table, s.before = t, s.rows
	b, err := bind(t, path, &s.o)
	if err != nil {
		return nil, err
	}
	if s.first == nil {
		s.bindFirst(b)
		return b, nil
	}
	return b, s.sameAsFirst(b)
}

// bindFirst takes a binding for that of the first file.
func (s *Stream) bindFirst(b *binding) {
	s.first = b
	if b.hasKey[keyUnit] && b.hasKey[keyEpisode] && s.hear == nil {
		s.episodes.of = s.persons
	}
}

// openFile opens a file whose rows, or columns, may be within its records.
func (s *Stream) openFile(path string) (table.Table, error) {
	if n := nesting(&s.o); s.format.Nested != nil && (n.Rows != "" || len(n.Inner) > 0) {
		return s.format.Nested(s.ctx, path, n)
	}
	return s.format.Open(s.ctx, path)
}

// nesting is what the options ask for that is not at the top of records: names with dots.
func nesting(o *trajectory.Options) table.Nesting {
	n := table.Nesting{Rows: o.Rows}
	add := func(names ...string) {
		for _, name := range names {
			if strings.Contains(name, ".") && !slices.Contains(n.Inner, name) {
				n.Inner = append(n.Inner, name)
			}
		}
	}
	for _, name := range sortedKeys(o.Columns) {
		add(o.Columns[name])
	}
	for _, name := range sortedKeys(o.Joined) {
		add(o.Joined[name]...)
	}
	add(o.Observations...)
	add(sortedKeys(o.Encode)...)
	return n
}

func (s *Stream) endOfFile() error {
	if s.emitting() {
		s.table, s.index = nil, s.end-1
		return s.arranged.Close()
	}
	s.progress()
	if s.rows == s.before && s.window == nil {
		s.notice(s.files[s.index] + " has no rows")
	}
	t := s.table
	s.table = nil
	if l, ok := t.(table.Lined); ok {
		s.lines += l.Lines()
	}
	if err := t.Close(); err != nil {
		return err
	}
	return s.unchanged()
}

// unchanged refuses a file that was written or replaced while it was read: its first rows
// may be of one version and its last rows of another. Only regular files tell.
func (s *Stream) unchanged() error { return unchanged(s.ctx, s.files[s.index], s.opened) }

func unchanged(ctx context.Context, path string, opened os.FileInfo) error {
	if opened == nil {
		return nil
	}
	info, err := source.Stat(ctx, path)
	if err == nil && source.Same(info, opened) {
		return nil
	}
	return &trajectory.InputError{File: path, What: "was changed while it was read, so that its rows may be of two versions", Remedy: "let whatever writes it end, and run again", Kind: trajectory.ErrInput, Cause: err}
}

// empty is about data without a row, up to their last file.
func (s *Stream) empty(last int) *trajectory.InputError {
	return &trajectory.InputError{File: s.files[last], What: "there is no row of data", Remedy: "check that this is the right file", Kind: trajectory.ErrEmpty}
}
