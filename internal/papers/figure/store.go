package figure

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/discreet-rl/discreet/internal/atomicfile"
)

// storeName is the file of finished jobs in the directory of the results.
const storeName = "trials.ndjson"

type job struct{ item, key string }

// store keeps finished jobs in a file of one JSON object a line, to which lines
// are only added. One process at a time may have it open. A line is written by
// one call, so that an interruption leaves at most one line without its end.
type store struct {
	mu      sync.Mutex
	path    string
	file    *os.File
	lock    lock
	hashes  *hashes
	commit  string
	done    map[job][]Sample
	layouts map[string]bool // those that the file holds
}

// openStore opens a store, or makes it. Trials of other settings are refused, or
// removed where o says so.
func openStore(path string, s Study, hashes *hashes, o Options) (*store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	l, err := lockFile(path)
	if err != nil {
		return nil, err
	}
	st := &store{path: path, lock: l, hashes: hashes, commit: o.Commit, done: map[job][]Sample{}, layouts: map[string]bool{}}
	if err := st.open(s, o.Recompute); err != nil {
		return nil, errors.Join(err, st.lock.release())
	}
	return st, nil
}

func (st *store) open(s Study, recompute bool) (err error) {
	if st.file, err = os.OpenFile(st.path, os.O_CREATE|os.O_RDWR, 0o644); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, st.file.Close())
		}
	}()
	text, err := io.ReadAll(st.file)
	if err != nil {
		return err
	}
	// What follows the last newline is a line whose writer was interrupted.
	whole := bytes.LastIndexByte(text, '\n') + 1
	lines, err := readLines(st.path, s.Paper, text[:whole])
	if err != nil {
		return err
	}
	stale, err := st.load(lines)
	if err != nil {
		return err
	}
	if len(stale) > 0 && !recompute {
		return fmt.Errorf("%w: %s: %d trials were made with other settings or by other code (items %s); give --recompute to make them again, or name another place",
			ErrStale, st.path, len(stale), strings.Join(itemsOf(stale), ", "))
	}
	if len(stale) > 0 {
		return st.rewrite(s, lines, stale)
	}
	if err := st.file.Truncate(int64(whole)); err != nil {
		return err
	}
	if _, err := st.file.Seek(int64(whole), io.SeekStart); err != nil {
		return err
	}
	if whole == 0 {
		return st.add1(headLine(s.Paper))
	}
	return nil
}

// load takes the trials of the settings at hand and returns the other ones. A job
// that two lines hold, as after a merge, must have the same numbers in both.
func (st *store) load(lines []line) (stale []line, err error) {
	points := map[string][]point{}
	for _, l := range lines {
		if l.Points != nil {
			points[l.Layout] = l.Points
			st.layouts[l.Layout] = true
		}
	}
	for _, l := range lines {
		if l.Item == "" {
			continue
		}
		hash, err := st.hashes.of(l.Item)
		if err != nil {
			return nil, err
		}
		if hash != l.Settings {
			stale = append(stale, l)
			continue
		}
		samples, err := l.samples(points)
		if err != nil {
			return nil, fmt.Errorf("%w: %s:%d: %w; remove the line", ErrDir, st.path, l.number, err)
		}
		at := job{l.Item, l.Key}
		if before, ok := st.done[at]; ok && !slices.Equal(before, samples) {
			return nil, fmt.Errorf("%w: %s:%d: %s, %s has other numbers in an earlier line; remove both lines", ErrDir, st.path, l.number, l.Item, l.Key)
		}
		st.done[at] = samples
	}
	return stale, nil
}

// rewrite leaves out the lines that are stale. The file is replaced at once, so
// that an interruption loses nothing.
func (st *store) rewrite(s Study, lines, stale []line) error {
	drop, used := map[int]bool{}, map[string]bool{}
	for _, l := range stale {
		drop[l.number] = true
	}
	for _, l := range lines {
		if l.Item != "" && !drop[l.number] {
			used[l.Layout] = true
		}
	}
	st.layouts = used
	var kept bytes.Buffer
	kept.Write(headLine(s.Paper))
	for _, l := range lines {
		if l.Store == "" && !drop[l.number] && used[l.Layout] {
			kept.Write(l.text)
		}
	}
	if err := st.file.Close(); err != nil {
		return err
	}
	if err := atomicfile.Write(st.path, 0o644, func(w io.Writer) error { _, err := w.Write(kept.Bytes()); return err }); err != nil {
		return err
	}
	var err error
	if st.file, err = os.OpenFile(st.path, os.O_WRONLY|os.O_APPEND, 0o644); err != nil {
		return err
	}
	st.lock, err = st.lock.again(st.path)
	return err
}

func itemsOf(lines []line) []string {
	var items []string
	for _, l := range lines {
		items = append(items, l.Item)
	}
	slices.Sort(items)
	return slices.Compact(items)
}

// add keeps a finished job, with the numbers that are read back.
func (st *store) add(item string, j Job, samples []Sample) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	hash, err := st.hashes.of(item)
	if err != nil {
		return err
	}
	samples = rounded(samples, j.Trial)
	layout, trial := linesOf(item, j, hash, st.commit, samples)
	if !st.layouts[layout.Layout] {
		if err := st.add1(layout.encode()); err != nil {
			return err
		}
		st.layouts[layout.Layout] = true
	}
	if err := st.add1(trial.encode()); err != nil {
		return err
	}
	st.done[job{item, j.Key}] = samples
	return nil
}

func (st *store) add1(text []byte) error {
	if err := st.inPlace(); err != nil {
		return err
	}
	_, err := st.file.Write(text)
	return err
}

// inPlace holds the open file against the one that has its name. Where another program
// puts a file in its place, as git does, trials would be added to one without a name
// and lost.
func (st *store) inPlace() error {
	open, err := st.file.Stat()
	if err != nil {
		return err
	}
	if named, err := os.Stat(st.path); err != nil || !os.SameFile(open, named) {
		return fmt.Errorf("%w: %s is no longer the file that was opened: something has replaced or removed it; start again from what is there, and leave it alone while trials are added", ErrDir, st.path)
	}
	return nil
}

// has tells whether all jobs of an item are finished.
func (st *store) has(item string, jobs []Job) bool {
	for _, j := range jobs {
		if _, ok := st.done[job{item, j.Key}]; !ok {
			return false
		}
	}
	return true
}

// part is the largest number n such that all jobs of trials 1 to n, and those
// that belong to no trial, are finished.
func (st *store) part(item string, jobs []Job) int {
	n := trialsOf(jobs)
	for _, j := range jobs {
		if _, ok := st.done[job{item, j.Key}]; !ok {
			n = min(n, max(j.Trial-1, 0))
		}
	}
	return n
}

func (st *store) close() error { return errors.Join(st.file.Close(), st.lock.release()) }
