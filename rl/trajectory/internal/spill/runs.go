package spill

import (
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"errors"
	"io"
	"os"
)

// Runs are records on disk in several files, in each of them in the order of persons.
type Runs struct {
	frame *Frame
	files *files
}

// NewRuns makes a number of empty runs, [MostRuns] at most, of episodes of a frame, in a
// directory, whose they are alone.
func NewRuns(dir string, n int, frame *Frame) *Runs {
	return &Runs{frame: frame, files: newFiles(dir, "run-", n)}
}

// MostRuns is how many runs are open at a time.
const MostRuns = 1 << 7

// Put adds an episode to a run. Its person does not come before that of the one before.
func (r *Runs) Put(run int, record []byte) error { return r.files.put(run, run, Episode, record) }

// Each gives the records of all runs in the order of their persons, those of a person in the order
// of the runs, and may be called again. A record holds until the next one.
func (r *Runs) Each(ctx context.Context, with func(record []byte) error) (err error) {
	if err := r.files.close(); err != nil {
		return err
	}
	var all heads
	defer func() {
		for _, h := range all {
			err = errors.Join(err, h.file.Close())
		}
	}()
	for i, made := range r.files.made {
		if !made {
			continue
		}
		file, err := os.Open(r.files.name(i))
		if err != nil {
			return err
		}
		h := &head{run: i, file: file, records: NewReader(file), frame: r.frame}
		all = append(all, h)
		if err := h.next(); err != nil {
			return err
		}
	}
	heap.Init(&all)
	for n := 0; len(all) > 0 && !all[0].end; n++ {
		if n%(1<<10) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := with(all[0].record); err != nil {
			return err
		}
		if err := all[0].next(); err != nil {
			return err
		}
		heap.Fix(&all, 0)
	}
	return nil
}

// Close closes the files; their directory is the caller's to remove.
func (r *Runs) Close() error { return r.files.close() }

// head is the record of a run that comes next.
type head struct {
	run            int
	file           *os.File
	records        *Reader
	frame          *Frame
	record, person []byte
	end            bool
}

func (h *head) next() (err error) {
	_, h.record, err = h.records.Next()
	if errors.Is(err, io.EOF) {
		h.end = true
		return nil
	}
	if err == nil {
		h.person, err = h.frame.Person(h.record)
	}
	return err
}

// heads has the run on top whose person comes first; those at their end are last.
type heads []*head

func (h heads) Len() int { return len(h) }

func (h heads) Less(i, j int) bool {
	if h[i].end || h[j].end {
		return !h[i].end && h[j].end
	}
	return cmp.Or(bytes.Compare(h[i].person, h[j].person), h[i].run-h[j].run) < 0
}

func (h heads) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h *heads) Push(x any) { *h = append(*h, x.(*head)) }

func (h *heads) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
