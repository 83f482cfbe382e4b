package ingest

import (
	"bytes"
	"cmp"
	"errors"
	"io"
)

// rise opens the one file whose rows are put in order person by person, as they come.
func (a *arranged) rise() error {
	s := a.stream
	if err := s.openNext(); err != nil {
		return err
	}
	a.rising, a.bound[s.index], a.source = true, s.bound, s.cursor
	a.deliver("in memory")
	return nil
}

// follow takes the rows of the next person. It fails with errApart where a person does not come after all before.
func (a *arranged) follow() error {
	s, g := a.stream, &a.person
	s.cursor, a.source = a.source, s.cursor
	defer func() { s.cursor, a.source = a.source, s.cursor }()
	for begun := false; ; begun = true {
		if s.at == s.batch.Rows {
			err := s.fill()
			if errors.Is(err, io.EOF) {
				a.ends = cmp.Or(s.endOfFile(), err)
				if begun && a.ends == err {
					return nil
				}
				return a.ends
			}
			if err != nil {
				return err
			}
			a.lacked = s.batch.Lacked()
		}
		hi := a.owned()
		switch c := bytes.Compare(a.key, g.owner); {
		case c < 0 || c == 0 && !begun:
			return errApart
		case c > 0 && begun:
			return nil
		case c > 0:
			g.begin(a.key)
		}
		a.join(hi)
	}
}

// join adds the rows of the batch up to one to those of the person.
func (a *arranged) join(hi int) {
	s, g := a.stream, &a.person
	b, lo, listed := s.batch, s.at, len(g.ids)
	if len(b.Faults) > 0 || len(a.lacked) > 0 || len(g.faults) > 0 {
		g.faults = append(g.faults, make([]span, len(g.idOf)-len(g.faults))...)
		for row := lo; row < hi; row++ {
			g.faults = append(g.faults, g.keep(a.faults.of(b, row, a.lacked[row])))
		}
	}
	for _, row := range b.Row[lo:hi] {
		g.places = append(g.places, standing(s.index, row))
	}
	for block := range g.values {
		if block != blkCoded {
			g.values[block] = append(g.values[block], s.values(block, lo, hi)...)
		}
	}
	runs := &b.Keys[keyEpisode]
	a.listed, a.last = a.listed[:0], 0
	for run := s.advance(keyEpisode); s.at < hi; run++ {
		a.list(runs, run)
		if listed+a.last == len(g.ids) {
			g.addID(runs.ID(run))
		}
		end := min(runs.End(run), hi)
		g.addRows(listed+a.last, end-s.at)
		s.at, s.run[keyEpisode] = end, run
	}
}
