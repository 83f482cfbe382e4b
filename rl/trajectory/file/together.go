package file

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/spill"
)

// rowsInMemory is [trajectory.Options.RowsInMemory] where nothing is said.
const rowsInMemory = 1 << 25

// rowsOfPart is from how many rows on a part of them is given.
const rowsOfPart = 1 << 13

// grouping is what [Stream.Together] has read.
type grouping struct {
	ctx    context.Context
	files  []string
	room   int // for bytes in memory
	memory trajectory.Builder
	whole  *trajectory.Dataset // all rows, where they are in memory
	next   int                 // person of them
	rows   *spill.Temporary    // all of them otherwise
	frame  spill.Frame
	record []byte
}

// Together reads the stream to its end and keeps the decisions, so that [Stream.Part] gives
// whole persons whose episodes do not stand together in the data. Up to [trajectory.Options.RowsInMemory] of them
// stay in memory; if there are more, all are in temporary files without names, which nobody else can open, in the
// directory that is returned, until they are read or Close is called. What is wrong with
// the data is told as Next tells it. Where it or Part fails because nothing can be kept on
// disk, [Stream.NoRoom] tells so.
func (s *Stream) Together(ctx context.Context) (dir string, err error) {
	k := &grouping{ctx: ctx, rows: spill.NewTemporary(), files: s.Files(), room: cmp.Or(s.in.Options().RowsInMemory, rowsInMemory)}
	s.kept = k
	for {
		e, err := s.in.Next()
		if errors.Is(err, io.EOF) {
			if k.room > 0 {
				k.whole = k.held()
			}
			return k.rows.Dir(), nil
		}
		if err == nil {
			err = k.add(e)
		}
		if err != nil {
			return "", err
		}
	}
}

// add takes an episode.
func (k *grouping) add(e *trajectory.Episode) error {
	if k.room <= 0 {
		return k.put(e)
	}
	k.memory.Add(e)
	k.room -= 8*(len(e.Obs)+len(e.Reward)+len(e.BehaviorProb)+len(e.ActionProbs)+len(e.TargetProb)+len(e.Discount)+len(e.Final)) + 4*len(e.Action) + 48
	if k.room > 0 {
		return nil
	}
	return k.spill(k.held())
}

// held is the dataset of what is in memory.
func (k *grouping) held() *trajectory.Dataset {
	return k.memory.Named(k.files, func() (_, _ []string) { return nil, nil })
}

// put keeps an episode on disk.
func (k *grouping) put(e *trajectory.Episode) error {
	person := binary.AppendUvarint(nil, uint64(e.Person))
	k.record = k.frame.Append(k.record[:0], person, nil, e)
	return k.rows.Put(e.Person, spill.Episode, k.record)
}

// spill keeps a dataset on disk.
func (k *grouping) spill(d *trajectory.Dataset) error {
	number := make(map[string]int, len(k.files))
	for i, name := range k.files {
		number[name] = i
	}
	w := len(d.Columns)
	for p := range d.Persons() {
		if d.LeftOut != nil {
			for range d.LeftOut[p] {
				e := episodeOf(d, 0, 0)
				e.Person, e.Final = p, d.Lost[p*w:(p+1)*w]
				if err := k.put(&e); err != nil {
					return err
				}
			}
		}
		for i := d.PersonStart[p]; i < d.PersonStart[p+1]; i++ {
			e := episodeOf(d, d.EpisodeStart[i], d.EpisodeStart[i+1])
			e.Person, e.File, e.Row, e.Terminated, e.Final = p, number[d.Origin[i]], d.FirstRow[i], d.Ended(i), d.FinalObservation(i)
			if d.Lacks != nil {
				e.Lacks = d.Lacks[i]
			}
			if err := k.put(&e); err != nil {
				return err
			}
		}
	}
	return nil
}

// episodeOf is an episode of rows from one up to another.
func episodeOf(d *trajectory.Dataset, lo, hi int) trajectory.Episode {
	w := len(d.Columns)
	return trajectory.Episode{Number: -1, Columns: d.Columns, Actions: d.Actions, EndUnknown: d.Terminated == nil, Obs: within(d.Obs, lo*w, hi*w), Action: within(d.Action, lo, hi),
		Reward: within(d.Reward, lo, hi), BehaviorProb: within(d.BehaviorProb, lo, hi), ActionProbs: within(d.ActionProbs, lo*d.Actions, hi*d.Actions),
		TargetProb: within(d.TargetProb, lo, hi), Discount: within(d.Discount, lo, hi)}
}

// NoRoom tells that rows could not be kept on disk.
func (s *Stream) NoRoom() bool { return s.kept != nil && s.kept.rows.NoRoom() }

// part replaces d by persons who were kept.
func (k *grouping) part(d *trajectory.Dataset) error {
	if k.whole != nil {
		return k.ofWhole(d)
	}
	records, err := k.rows.Next(k.ctx)
	if err != nil {
		return err
	}
	b := spill.Builder{Frame: k.frame, Files: k.files}
	for {
		_, record, err := records.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = b.Add(record)
		}
		if err != nil {
			return fmt.Errorf("rows that were kept in a temporary file cannot be read again: %w", err)
		}
	}
	*d = *b.Dataset()
	d.PersonID = nil // stand for the numbers of persons
	return nil
}

// ofWhole replaces d by persons who are in memory.
func (k *grouping) ofWhole(d *trajectory.Dataset) error {
	all := k.whole
	if err := k.ctx.Err(); err != nil {
		return err
	}
	if k.next == all.Persons() {
		return io.EOF
	}
	from, to, lo := k.next, k.next, all.EpisodeStart[all.PersonStart[k.next]]
	for to < all.Persons() && all.EpisodeStart[all.PersonStart[to]]-lo < rowsOfPart {
		to++
	}
	k.next = to
	e, f, w := all.PersonStart[from], all.PersonStart[to], len(all.Columns)
	hi := all.EpisodeStart[f]
	*d = trajectory.Dataset{Columns: all.Columns, Actions: all.Actions, PersonStart: counted(all.PersonStart[from : to+1]), EpisodeStart: counted(all.EpisodeStart[e : f+1]),
		Obs: all.Obs[lo*w : hi*w], Action: within(all.Action, lo, hi), Reward: all.Reward[lo:hi], BehaviorProb: within(all.BehaviorProb, lo, hi),
		ActionProbs: within(all.ActionProbs, lo*all.Actions, hi*all.Actions), TargetProb: within(all.TargetProb, lo, hi), Discount: within(all.Discount, lo, hi),
		Terminated: within(all.Terminated, e, f), Final: within(all.Final, e*w, f*w), HasFinal: within(all.HasFinal, e, f), Lacks: within(all.Lacks, e, f),
		Origin: within(all.Origin, e, f), FirstRow: within(all.FirstRow, e, f), LeftOut: within(all.LeftOut, from, to), Lost: within(all.Lost, from*w, to*w)}
	return nil
}

// within is a part of a column, nil where the data have none.
func within[T any](column []T, from, to int) []T {
	if column == nil {
		return nil
	}
	return column[from:to:to]
}

// counted are offsets from the first one on.
func counted(offsets []int) []int {
	out := make([]int, len(offsets))
	for i, at := range offsets {
		out[i] = at - offsets[0]
	}
	return out
}
