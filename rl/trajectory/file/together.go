package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/ingest"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/spill"
)

// rowsInMemory is [trajectory.Options.RowsInMemory] where nothing is said.
const rowsInMemory = 1 << 26

// rowsOfPart is from how many rows on a part of them is given.
const rowsOfPart = 1 << 13

// grouping is what [Stream.Together] has read.
type grouping struct {
	ctx     context.Context
	files   []string
	rows    *spill.Temporary
	frame   spill.Frame
	episode trajectory.Episode
	records [][]byte // of episodes of some persons
	order   []uint64 // the number of a person and which of the records, in 32 bits each
	next    int      // in order
}

// Together reads the stream to its end and keeps the decisions, so that [Stream.Part] gives
// whole persons whose episodes do not stand together in the data. Up to [trajectory.Options.RowsInMemory] of them
// stay in memory; if there are more, all are in temporary files without names, which nobody else can open, in the
// directory that is returned, until they are read or Close is called. What is wrong with
// the data is told as Next tells it. Where it or Part fails because nothing can be kept on
// disk, [Stream.NoRoom] tells so. Rows that are put in order are all read by the first Part.
func (s *Stream) Together(ctx context.Context) (dir string, err error) {
	if o := s.in.Options(); o.Arranges() {
		s.in.ReadFirst()
		return "", nil
	}
	k := &grouping{ctx: ctx, rows: spill.NewTemporary(cmp.Or(s.in.Options().RowsInMemory, rowsInMemory)), files: s.Files()}
	s.kept = k
	var record []byte
	for {
		e, err := s.in.Next()
		if errors.Is(err, io.EOF) {
			return k.rows.Dir(), nil
		}
		if err == nil {
			record = k.frame.Append(record[:0], nil, nil, e)
			err = k.rows.Put(e.Person, spill.Episode, record)
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
		if k.next == len(k.order) {
			if d.Rows() >= rowsOfPart {
				break
			}
			if err := k.load(); errors.Is(err, io.EOF) && some {
				break
			} else if err != nil {
				return err
			}
		}
		person, i := k.order[k.next]>>32, uint32(k.order[k.next])
		if !some || person != last {
			if d.Rows() >= rowsOfPart {
				break
			}
			if some {
				d.PersonStart = append(d.PersonStart, d.Episodes())
			}
			some, last = true, person
		}
		if _, _, err := k.frame.Read(k.records[i], &k.episode); err != nil || k.episode.File >= len(k.files) {
			return lost(err)
		}
		ingest.AddTo(d, &k.episode, k.files)
	}
	d.PersonStart = append(d.PersonStart, d.Episodes())
	d.KeepCounts()
	return nil
}

// load finds the records of the next persons.
func (k *grouping) load() error {
	k.records, k.order, k.next = k.records[:0], k.order[:0], 0
	texts, err := k.rows.Next(k.ctx)
	if err != nil {
		return err
	}
	for _, rest := range texts {
		for len(rest) > 0 {
			var person int
			var record []byte
			if person, record, rest, err = spill.Cut(rest); err != nil || person > math.MaxUint32 {
				return lost(err)
			}
			k.order = append(k.order, uint64(person)<<32|uint64(len(k.records)))
			k.records = append(k.records, record)
		}
	}
	slices.Sort(k.order)
	return nil
}

// lost is about rows that cannot be read again.
func lost(err error) error {
	return fmt.Errorf("rows that were kept on disk cannot be read again: %w", cmp.Or(err, io.ErrUnexpectedEOF))
}
