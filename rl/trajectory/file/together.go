package file

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/ingest"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/spill"
)

// rowsInMemory is [trajectory.Options.RowsInMemory] where nothing is said.
const rowsInMemory = 1 << 25

// rowsOfPart is from how many rows on a part of them is given.
const rowsOfPart = 1 << 13

// grouping is what [Stream.Together] has read.
type grouping struct {
	ctx     context.Context
	files   []string
	rows    *spill.Temporary
	frame   spill.Frame
	episode trajectory.Episode
	text    []byte       // of some persons
	records []keptRecord // in text, by person
	next    int          // of the records
}

// keptRecord is the record of an episode.
type keptRecord struct {
	person   uint64
	from, to int
}

// Together reads the stream to its end and keeps the decisions, so that [Stream.Part] gives
// whole persons whose episodes do not stand together in the data. Up to [trajectory.Options.RowsInMemory] of them
// stay in memory; if there are more, all are in temporary files without names, which nobody else can open, in the
// directory that is returned, until they are read or Close is called. What is wrong with
// the data is told as Next tells it. Where it or Part fails because nothing can be kept on
// disk, [Stream.NoRoom] tells so.
func (s *Stream) Together(ctx context.Context) (dir string, err error) {
	k := &grouping{ctx: ctx, rows: spill.NewTemporary(cmp.Or(s.in.Options().RowsInMemory, rowsInMemory)), files: s.Files()}
	s.kept = k
	for {
		e, err := s.in.Next()
		if errors.Is(err, io.EOF) {
			return k.rows.Dir(), nil
		}
		if err == nil {
			k.text = k.frame.Append(k.text[:0], binary.AppendUvarint(nil, uint64(e.Person)), nil, e)
			err = k.rows.Put(e.Person, spill.Episode, k.text)
		}
		if err != nil {
			return "", err
		}
	}
}

// NoRoom tells that rows could not be kept on disk.
func (s *Stream) NoRoom() bool { return s.kept != nil && s.kept.rows.NoRoom() }

// part replaces d by persons who were kept.
func (k *grouping) part(d *trajectory.Dataset) error {
	ingest.Emptied(d)
	for some, last := false, uint64(0); ; k.next++ {
		if k.next == len(k.records) {
			if d.Rows() >= rowsOfPart {
				break
			}
			if err := k.load(); errors.Is(err, io.EOF) && some {
				break
			} else if err != nil {
				return err
			}
		}
		r := k.records[k.next]
		if !some || r.person != last {
			if d.Rows() >= rowsOfPart {
				break
			}
			if some {
				d.PersonStart = append(d.PersonStart, d.Episodes())
			}
			some, last = true, r.person
		}
		if _, _, err := k.frame.Read(k.text[r.from:r.to], &k.episode); err != nil || k.episode.File >= len(k.files) {
			return lost(err)
		}
		ingest.AddTo(d, &k.episode, k.files)
	}
	d.PersonStart = append(d.PersonStart, d.Episodes())
	d.KeepCounts()
	return nil
}

// load reads the records of the next persons.
func (k *grouping) load() error {
	k.text, k.records, k.next = k.text[:0], k.records[:0], 0
	for len(k.records) == 0 {
		in, err := k.rows.Next(k.ctx)
		if err != nil {
			return err
		}
		for {
			_, record, err := in.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return lost(err)
			}
			person, err := k.frame.Person(record)
			number, n := binary.Uvarint(person)
			if err != nil || n <= 0 {
				return lost(err)
			}
			k.records = append(k.records, keptRecord{number, len(k.text), len(k.text) + len(record)})
			k.text = append(k.text, record...)
		}
	}
	slices.SortFunc(k.records, func(a, b keptRecord) int { return cmp.Or(cmp.Compare(a.person, b.person), cmp.Compare(a.from, b.from)) })
	return nil
}

// lost is about rows that cannot be read again.
func lost(err error) error {
	return fmt.Errorf("rows that were kept on disk cannot be read again: %w", cmp.Or(err, io.ErrUnexpectedEOF))
}
