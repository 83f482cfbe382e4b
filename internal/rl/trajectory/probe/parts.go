package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// overCaps says which cap a person is beyond, "" where nobody is.
func overCaps(d *trajectory.Dataset, o trajectory.Options) string {
	for p := range d.Persons() {
		from, to := d.PersonStart[p], d.PersonStart[p+1]
		if n := to - from; o.EpisodesPerPerson > 0 && n > o.EpisodesPerPerson {
			return fmt.Sprintf("a person has %d episodes, and at most %d count", n, o.EpisodesPerPerson)
		}
		if n := d.EpisodeStart[to] - d.EpisodeStart[from]; o.Horizon > 0 && n > o.Horizon {
			return fmt.Sprintf("a person has %d decisions, and at most %d count", n, o.Horizon)
		}
	}
	return ""
}

// putTogether reads the file by parts of persons who are put together from wherever their episodes stand, in memory and on
// disk, and says in what they are other persons than those of whole, in any order; "" for nothing.
func (l *session) putTogether(ctx context.Context, whole *trajectory.Dataset) (string, error) {
	for _, room := range []int{0, 1} {
		if why, err := l.putTogetherIn(ctx, room, whole); why != "" || err != nil {
			return why, err
		}
	}
	return "", nil
}

func (l *session) putTogetherIn(ctx context.Context, room int, whole *trajectory.Dataset) (string, error) {
	o := l.Options
	o.RowsInMemory = room
	s, err := file.Open(ctx, []string{l.path}, l.Format, o)
	if err != nil {
		return "", err
	}
	defer s.Close()
	if _, err := s.Together(ctx); err != nil {
		return fmt.Sprintf("put together by person the data are refused: %v", err), ctx.Err()
	}
	parts, err := partsOf(s)
	if err != nil {
		return fmt.Sprintf("put together by person they cannot be read: %v", err), ctx.Err()
	}
	if l.mistake.together != nil {
		parts = l.mistake.together(parts)
	}
	if !slices.Equal(persons(parts...), persons(whole)) {
		return "persons who are put together from unsorted rows are others than those read at once", nil
	}
	return "", nil
}

// partsOf are all parts of a stream.
func partsOf(s *file.Stream) (parts []*trajectory.Dataset, err error) {
	for {
		d := new(trajectory.Dataset)
		if err := s.Part(d); errors.Is(err, io.EOF) {
			return parts, nil
		} else if err != nil {
			return nil, err
		}
		parts = append(parts, d)
	}
}

// persons are all that is read of each, sorted.
func persons(parts ...*trajectory.Dataset) []string {
	var all []string
	for _, d := range parts {
		for p := range d.Persons() {
			all = append(all, part(d, p))
		}
	}
	slices.Sort(all)
	return all
}

const (
	// rowsCut are those of a file that is long enough to be cut, for its column of padding.
	rowsCut  = 2500
	cutBytes = 5 << 20
	cutters  = 2 // workers
)

// inStretches writes a file that is read by stretches, and compares its persons with those read at once; "" where they are
// the same, and false where such files are not cut.
func (l *session) inStretches(ctx context.Context) (string, bool, error) {
	if l.Format != "csv" {
		return "", false, nil
	}
	var rows []row
	for i := 0; len(rows) < rowsCut; i++ {
		rows = append(rows, l.log.person(l.rand, fmt.Sprintf("u%d", i))...)
	}
	text, err := writers[l.Format](&l.log, rows)
	if err != nil {
		return "", false, err
	}
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	if len(lines) != len(rows)+1 {
		return "", false, nil // a word has a line end
	}
	padding := "," + strings.Repeat("x", cutBytes/rowsCut)
	var padded bytes.Buffer
	for i, line := range lines {
		padded.Write(line)
		if i == 0 {
			padded.WriteString(",not_read\n")
			continue
		}
		padded.WriteString(padding + "\n")
	}
	if err := errors.Join(os.WriteFile(l.path, padded.Bytes(), 0o600), l.writeOutcomes(rows)); err != nil {
		return "", false, err
	}
	whole, _, err := file.Read(ctx, []string{l.path}, l.Format, l.Options)
	if err != nil {
		return "", false, ctx.Err() // records of these options are refused in any case
	}
	s, err := file.Open(ctx, []string{l.path}, l.Format, l.Options)
	if err != nil {
		return "", false, err
	}
	defer s.Close()
	cut := s.Cut(cutters)
	if cut == nil {
		return "", false, nil
	}
	var parts []*trajectory.Dataset
	for _, c := range cut {
		own, err := partsOf(c)
		if err == nil && !s.Join(c) {
			err = errors.New("a stretch does not join the one before it")
		}
		if err = errors.Join(err, c.Close()); err != nil {
			return fmt.Sprintf("by stretches the data are refused: %v", err), true, ctx.Err()
		}
		parts = append(parts, own...)
	}
	if l.mistake.stretches != nil {
		parts = l.mistake.stretches(parts)
	}
	if !s.Joined() || !slices.Equal(persons(parts...), persons(whole)) {
		return "persons who are read by stretches of the file are others than those read at once", true, nil
	}
	return "", true, nil
}

// byEpisode makes a person of every episode.
func byEpisode(parts []*trajectory.Dataset) []*trajectory.Dataset {
	var out []*trajectory.Dataset
	for _, d := range parts {
		split := *d
		split.PersonStart = nil
		for e := range d.Episodes() + 1 {
			split.PersonStart = append(split.PersonStart, e)
		}
		out = append(out, &split)
	}
	return out
}

// again counts the last person of the first part with those of the second as well.
func again(parts []*trajectory.Dataset) []*trajectory.Dataset {
	if len(parts) < 2 || parts[0].Persons() == 0 {
		return parts
	}
	return append(slices.Clone(parts), parts[0].Take([]int{parts[0].Persons() - 1}))
}
