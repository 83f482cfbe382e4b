package ingest

import (
	"cmp"
	"errors"
	"io"
	"slices"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// Moved reads all rows of a file that the stream alone reads ([Stream.Only]), for others who
// read them by the options of the stream, and by further ones, where they fit its columns. Begin is told
// what is picked, and each which rows of a batch have one owner, by the plain spelling of
// their id, as [Stream.Owners] has it. Values are not checked. Only one of so many parts of the file is read; the
// first is all of it where it cannot be divided. What is returned is to be added to the numbers of rows in the parts after it.
func (s *Stream) Moved(part, parts int, further []trajectory.Options, begin func(t table.Table, picks []table.Pick) error, each func(b *table.Batch, plain []byte, from, to int) error) (after int, err error) {
	bound, err := s.bindNext()
	if err != nil {
		return 0, err
	}
	t := s.table
	var stretch table.Stretch
	if d, ok := t.(table.Cuttable); ok && parts > 1 {
		if stretch, err = d.Part(part, parts); err != nil {
			return 0, err
		}
	}
	if stretch != nil {
		defer func() { err = errors.Join(err, stretch.Close()) }()
	} else if part > 0 {
		return 0, s.unchanged()
	}
	own, err := s.ownersOf(t, bound.file)
	if err != nil {
		return 0, err
	}
	u := union{width: slices.Clone(own.width[:]), keys: own.keyCount()}
	for _, p := range own.picks {
		u.picks = append(u.picks, wanted{p, true})
	}
	u.add(bound.picks, true)
	for i := range further {
		if b, err := bind(t, bound.file, &further[i]); err == nil {
			u.add(b.picks, false)
		}
	}
	if stretch != nil {
		t = stretch
	}
	picks, err := u.from(t)
	if err != nil {
		return 0, err
	}
	if err := begin(t, picks); err != nil {
		return 0, err
	}
	b := table.NewBatch(u.width, u.keys)
	for {
		if err := s.ctx.Err(); err != nil {
			return 0, err
		}
		b.Reset()
		if err := t.Read(b); errors.Is(err, io.EOF) {
			if stretch != nil {
				stretch.Beyond()
				after = stretch.Numbered()
			}
			return after, s.unchanged()
		} else if err != nil {
			return 0, err
		}
		if err := own.each(b, func(plain []byte, from, to int) error { return each(b, plain, from, to) }); err != nil {
			return 0, err
		}
	}
}

// union is what several readers pick of a table, each column in a place of its own.
type union struct {
	picks []wanted
	width []int
	keys  int
}

// wanted is a pick, which must be there or may.
type wanted struct {
	table.Pick
	must bool
}

func (u *union) add(picks []table.Pick, must bool) {
	for _, p := range picks {
		if slices.ContainsFunc(u.picks, func(q wanted) bool { return q.Field == p.Field && q.Kind == p.Kind && q.List == p.List }) {
			continue
		}
		p.Offset = 0
		if p.Kind == table.Key {
			p.Block = u.keys
			u.keys++
		} else {
			p.Block = len(u.width)
			u.width = append(u.width, max(p.List, 1))
		}
		u.picks = append(u.picks, wanted{p, must})
	}
}

// from selects of a table what it has.
func (u *union) from(t table.Table) (picks []table.Pick, err error) {
	slices.SortStableFunc(u.picks, func(a, b wanted) int { return cmp.Compare(a.Field, b.Field) })
	for _, p := range u.picks {
		if err := t.Select([]table.Pick{p.Pick}); err == nil {
			picks = append(picks, p.Pick)
		} else if p.must {
			return nil, err
		}
	}
	return picks, nil
}
