package parquetfile

import (
	"slices"

	"github.com/discreet-rl/discreet/internal/parquet"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/parquetfault"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// A stretch is a row group, or several short ones, for to begin one takes a look at all groups. Several workers would not end at one time, and there may be
// fewer groups than workers, so that the last groups are cut into pieces of this many
// rows at least, and into this many for each worker. The first page of a piece is
// decoded for its neighbour too.
const (
	pieceRows = 1 << 16
	lastOnes  = 2
)

// Cut implements [table.Cuttable].
func (t *reader) Cut(workers int) []func() (table.Stretch, error) { return t.cut(workers, pieceRows) }

func (t *reader) cut(workers int, least int64) []func() (table.Stretch, error) {
	if workers < 2 {
		return nil
	}
	lists := slices.ContainsFunc(t.file.Fields(), func(f parquet.Field) bool { return f.List })
	groups := t.file.Groups()
	// Pieces are about as long as what is left, divided by the workers and that again
	// by lastOnes.
	var starts []stretch
	first, left := int64(0), t.rows
	for g, n := range groups {
		most := max(left/int64(workers*lastOnes), least)
		pieces := max((n+most-1)/most, 1)
		if lists || left > n*int64(workers*lastOnes) {
			pieces = 1
		}
		for i := range pieces {
			skip, last := n*i/pieces, len(starts)-1
			if short := i == 0 && last >= 0 && first-starts[last].start < least; n > 0 && !short {
				starts = append(starts, stretch{group: g, skip: skip, start: first + skip})
			}
		}
		first, left = first+n, left-n
	}
	if len(starts) < 2 {
		return nil
	}
	out := make([]func() (table.Stretch, error), len(starts))
	for i, s := range starts {
		s.end = t.rows
		if i+1 < len(starts) {
			s.end = starts[i+1].start
		}
		out[i] = func() (table.Stretch, error) {
			s.reader = reader{name: t.name, size: t.size, file: t.file.Fork(), rows: s.end, row: s.start}
			s.all = t.rows
			return &s, nil
		}
	}
	return out
}

// Part implements [table.Cuttable]. In a file of lists it is of whole groups.
func (t *reader) Part(i, n int) (table.Stretch, error) {
	lists := slices.ContainsFunc(t.file.Fields(), func(f parquet.Field) bool { return f.List })
	at := func(i int) stretch {
		row, first := t.rows*int64(i)/int64(n), int64(0)
		for g, rows := range t.file.Groups() {
			if lists && row <= first {
				return stretch{group: g, start: first}
			}
			if !lists && row < first+rows {
				return stretch{group: g, skip: row - first, start: row}
			}
			first += rows
		}
		return stretch{start: t.rows}
	}
	s := at(i)
	s.end, s.all = at(i+1).start, t.rows
	s.reader = reader{name: t.name, size: t.size, file: t.file.Fork(), rows: s.end, row: s.start}
	return &s, nil
}

// stretch is the rows from start to end of a file.
type stretch struct {
	reader
	group      int
	skip       int64 // rows of the group before the first
	start, end int64
	all        int64 // rows of the file
}

// Select implements [table.Table].
func (s *stretch) Select(picks []table.Pick) error {
	from := len(s.columns)
	if err := s.reader.Select(picks); err != nil {
		return err
	}
	for i := from; i < len(s.columns); i++ {
		s.columns[i].Seek(s.group)
		if err := s.pass(s.columns[i], s.picks[i]); err != nil {
			return parquetfault.Error(s.name, err)
		}
	}
	return nil
}

// pass leaves out the rows of the group before the first one of the stretch.
func (s *stretch) pass(c *parquet.Column, p table.Pick) error {
	left := int(s.skip)
	if left == 0 {
		return nil
	}
	n, err := c.Skip(left)
	if err != nil {
		return err
	}
	width := max(p.List, 1)
	dst := make([]float64, 1<<10*width)
	for left -= n; left > 0; left -= n {
		n = min(left, 1<<10)
		if p.Kind == table.Key {
			err = c.ReadKeys(nobody{}, n)
		} else {
			err = c.Read(dst, width, n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// nobody takes keys that are not wanted.
type nobody struct{}

func (nobody) Append([]byte, int) {}

func (nobody) AppendNumber(int64, int) {}

func (nobody) AppendUUID([16]byte, int) {}

// Beyond implements [table.Stretch].
func (s *stretch) Beyond() { s.rows, s.failed = s.all, nil }

// Span implements [table.Stretch].
func (s *stretch) Span() (start, end int64) { return s.start, s.end }

// Numbered implements [table.Stretch]: rows are numbered from the first of the file.
func (s *stretch) Numbered() int { return 0 }
