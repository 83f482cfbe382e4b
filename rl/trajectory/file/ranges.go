package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/spill"
)

const (
	// inMemory is how many bytes of records are in memory at one time.
	inMemory = 1 << 23
	// mostRanges bounds the ranges of ids that a part is divided into.
	mostRanges = 1 << 8
)

// weigh adds the bytes of an episode to those of its person.
func (p *reading) weigh(record []byte) error {
	person, err := p.builder.Frame.Person(record)
	if err == nil {
		p.persons[string(person)] += int64(len(record))
	}
	return err
}

// inRanges gives the data of the persons of a part in the order of their ids.
func (x *Spill) inRanges(ctx context.Context, records *spill.Reader, persons map[string]int64, put func(*trajectory.Dataset) error) (err error) {
	return x.ranges(ctx, records, persons, func(records *spill.Reader) error {
		p := x.begin(true)
		if err := p.read(records); err != nil {
			return err
		}
		return put(sorted(p.builder.Dataset()))
	})
}

// ranges divides the persons of a part into ranges of ids, on disk, of which one at a time
// is in memory, and gives them in order.
func (x *Spill) ranges(ctx context.Context, records *spill.Reader, persons map[string]int64, with func(*spill.Reader) error) (err error) {
	if _, err := records.Again(); err != nil {
		return err
	}
	dir := filepath.Join(x.dir, "split-0")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	of, n := ranged(persons)
	ranges := spill.NewWriter(dir, n)
	err = x.divide(ctx, records, func(person []byte) int { return of[string(person)] }, ranges)
	if err := errors.Join(err, ranges.Close()); err != nil {
		return err
	}
	return ranges.Each(ctx, func(_ int, records *spill.Reader) error { return with(records) })
}

// ranged divides persons, each with a number of bytes, into ranges of ids that have about
// as many bytes.
func ranged(persons map[string]int64) (of map[string]int, n int) {
	total := int64(0)
	for _, size := range persons {
		total += size
	}
	most := max(inMemory, total/(mostRanges-1)+1)
	of, n = make(map[string]int, len(persons)), 1
	size := int64(0)
	for _, id := range slices.Sorted(maps.Keys(persons)) {
		if size >= most {
			n, size = n+1, 0
		}
		size += persons[id]
		of[id] = n - 1
	}
	return of, n
}

// divide puts episodes into the parts of their persons.
func (x *Spill) divide(ctx context.Context, records *spill.Reader, of func(person []byte) int, parts *spill.Writer) error {
	for n := 0; ; n++ {
		if n%(1<<10) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		kind, record, err := records.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && kind != spill.Episode {
			continue
		}
		var person []byte
		if err == nil {
			person, err = x.frame.Person(record)
		}
		if err != nil {
			return fmt.Errorf("rows that were kept on disk cannot be read again: %w", err)
		}
		if err := parts.Put(of(person), kind, record); err != nil {
			return err
		}
	}
}

// sorted are the persons of a dataset in the order of their ids; those without are in
// order.
func sorted(d *trajectory.Dataset) *trajectory.Dataset {
	if d.PersonID == nil {
		return d
	}
	all := make([]int, d.Persons())
	for i := range all {
		all[i] = i
	}
	slices.SortFunc(all, func(a, b int) int { return strings.Compare(d.PersonID[a], d.PersonID[b]) })
	return d.Take(all)
}
