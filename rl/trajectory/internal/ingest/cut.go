package ingest

import (
	"context"
	"os"

	"github.com/discreet-rl/discreet/internal/source"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// sharesOfWorker is about how many streams there are for each worker, so that all end at about
// one time.
const sharesOfWorker = 8

// Cut divides the reading of the data among streams, for several workers to read at a
// time: [Stream.Part] of each gives the persons of some of the files, or those who begin in
// its stretch of a file. Each is given to [Stream.Join] in order, and what s has then found is
// what it would have found by itself. It is nil where only one worker can read, or would be the
// one to tell what is wrong; s is then of no further use. Close releases the files, once all of
// them are at their ends.
func (s *Stream) Cut(workers int) []*Stream {
	if workers < 2 || s.o.Arranges() || s.readOutcomes() != nil {
		return nil
	}
	c := cutter{all: s, workers: workers}
	if b, err := s.bindNext(); err != nil || b.widest() > widestDivided || !c.weigh() || !c.cut() {
		return nil
	}
	for _, n := range s.first.notices {
		s.notice(n)
	}
	return c.streams
}

// widest is how many numbers a row has.
func (b *binding) widest() int {
	n := 0
	for _, w := range b.width {
		n += w
	}
	return n
}

// other is a file after the first one, which is open.
type other struct {
	table table.Table
	path  string
	info  os.FileInfo
}

// cutter makes the streams of a stream that is cut.
type cutter struct {
	all     *Stream
	workers int
	infos   []os.FileInfo
	share   int64
	streams []*Stream
}

// weigh finds how large the files are. It reports false where they cannot be read twice.
func (c *cutter) weigh() bool {
	if len(c.all.files) == 1 {
		c.infos = []os.FileInfo{nil} // is all there is
		return true
	}
	total := int64(0)
	for _, path := range c.all.files {
		info, err := source.Stat(c.all.ctx, path)
		if err != nil || !info.Mode().IsRegular() {
			return false
		}
		c.infos = append(c.infos, info)
		total += info.Size()
	}
	c.share = total / int64(c.workers*sharesOfWorker)
	return true
}

// cut makes streams of several small files, and of stretches of large ones.
func (c *cutter) cut() bool {
	n, from, held := len(c.infos), 0, int64(0)
	if n == 1 {
		return c.stretches(0)
	}
	for i, info := range c.infos {
		ok := true
		switch held += info.Size(); {
		case info.Size() > 2*c.share:
			ok = (from == i || c.files(from, i)) && c.stretches(i)
		case held+info.Size()/2 >= c.share: // a further one would take it farther from its share
			ok = c.files(from, i+1)
		default:
			continue
		}
		if !ok {
			return false
		}
		from, held = i+1, 0
	}
	return from == n || c.files(from, n)
}

// stream is one of files from one up to another.
func (c *cutter) stream(from, to int, format table.Format) (*Stream, bool) {
	s := c.all
	o := s.o
	o.Progress, o.Faults, o.Alone = nil, 0, true
	x, err := NewStream(s.ctx, format, s.files, o)
	if err != nil {
		return nil, false
	}
	x.index, x.end, x.alone, x.outcomes = from-1, to, true, s.outcomes
	x.bindFirst(s.first)
	c.streams = append(c.streams, x)
	return x, true
}

func (c *cutter) files(from, to int) bool {
	_, ok := c.stream(from, to, c.all.format)
	return ok
}

// stretches makes streams of those of a file, or one of all of it where it is not the only one
// and not most of the data.
func (c *cutter) stretches(i int) bool {
	s := c.all
	t := s.table
	if i > 0 {
		var err error
		if t, err = s.openFile(s.files[i]); err != nil {
			return false
		}
		s.others = append(s.others, other{t, s.files[i], c.infos[i]})
	}
	key := keyUnit
	if !s.first.hasKey[keyUnit] {
		key = keyEpisode
	}
	var opens []func() (table.Stretch, error)
	if d, ok := t.(table.Cuttable); ok && s.first.hasKey[key] && !s.first.joinsKey(key) {
		opens = d.Cut(c.workers)
	}
	if len(opens) == 0 {
		return len(c.infos) > 1 && c.infos[i].Size() <= c.share*int64(c.workers*sharesOfWorker)*3/4 && c.files(i, i+1)
	}
	for k, open := range opens {
		w := &window{key: key, skipping: k > 0}
		x, ok := c.stream(i, i+1, table.Format{Name: s.format.Name, Open: func(context.Context, string) (table.Table, error) {
			var err error
			w.Stretch, err = open()
			return w, err
		}})
		if !ok {
			return false
		}
		x.window = w
	}
	return true
}
