package figure

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// storeName is the file of finished jobs: one JSON object a line, the first
// naming the study.
const storeName = "trials.ndjson"

type header struct {
	Paper   string `json:"paper"`
	Version int    `json:"version"`
}

type record struct {
	Item    string   `json:"item"`
	Key     string   `json:"key"`
	Samples []Sample `json:"samples"`
}

type job struct{ item, key string }

// store keeps finished jobs in an append-only file. A line is written by one
// call, so that an interruption leaves at most one line without its end.
type store struct {
	mu   sync.Mutex
	file *os.File
	done map[job][]Sample
}

func openStore(dir string, s Study) (*store, error) {
	path := filepath.Join(dir, storeName)
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	// What follows the last newline is a line whose writer was interrupted.
	whole := bytes.LastIndexByte(text, '\n') + 1
	st := &store{done: map[job][]Sample{}}
	if err := st.load(path, text[:whole], s); err != nil {
		return nil, err
	}
	if st.file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
		return nil, err
	}
	err = st.file.Truncate(int64(whole))
	if err == nil {
		_, err = st.file.Seek(int64(whole), 0)
	}
	if err == nil && whole == 0 {
		err = st.line(header{s.Paper, s.Version})
	}
	if err != nil {
		return nil, errors.Join(err, st.file.Close())
	}
	return st, nil
}

func (st *store) load(path string, text []byte, s Study) error {
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if n == 1 {
			var h header
			if err := json.Unmarshal(line, &h); err != nil || h != (header{s.Paper, s.Version}) {
				return fmt.Errorf("%w: %s is not of this version of %s; name another directory or remove the file", ErrDir, path, s.Paper)
			}
			continue
		}
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			return fmt.Errorf("%w: %s:%d: not a trial (%w); remove the line or the file", ErrDir, path, n, err)
		}
		st.done[job{r.Item, r.Key}] = r.Samples
	}
	return nil
}

// add keeps a finished job.
func (st *store) add(item, key string, samples []Sample) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if err := st.line(record{item, key, samples}); err != nil {
		return err
	}
	st.done[job{item, key}] = samples
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

func (st *store) line(v any) error {
	text, err := json.Marshal(v)
	if err == nil {
		_, err = st.file.Write(append(text, '\n'))
	}
	return err
}

func (st *store) close() error { return st.file.Close() }
