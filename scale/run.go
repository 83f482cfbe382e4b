package scale

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/internal/atomicfile"
)

// runSchema names the form of the file run.json.
const runSchema = "discreet/run/v1"

// mostRounds bounds the rounds of a run.
const mostRounds = 10000

// begun is what run.json holds. It is private: it has exact counts.
type begun struct {
	Schema string `json:"schema"`
	Run    Hash   `json:"run"`
	discreet.Begun
	Persons int64  `json:"persons"`
	Data    uint64 `json:"data"` // digests of the shards, added up
}

// store is the directory of a run: run.json from the charge on, and a file for each
// noisy sum. A file has its name from the moment on at which it is whole and durable,
// and no name is given twice: of two drivers of one run one draws for a round, and the
// other goes on with that.
type store struct{ dir string }

func (s store) started() string     { return filepath.Join(s.dir, "run.json") }
func (s store) sum(k int) string    { return filepath.Join(s.dir, fmt.Sprintf("sum-%04d.json", k)) }
func (s store) taskOf(k int) string { return filepath.Join(s.dir, fmt.Sprintf("task-%04d.json", k)) }

// create makes a file that must not exist, durably: when it returns, a crash of the
// machine does not lose it.
func (s store) create(path string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	err = atomicfile.Create(path, 0o600, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
	if err != nil {
		return err
	}
	return syncDir(s.dir)
}

// tidy removes what a driver that was killed left unfinished: partials, and draws that
// were not durable and that nobody saw.
func (s store) tidy() error {
	for _, pattern := range []string{"parts-*", ".writing-*"} {
		names, err := filepath.Glob(filepath.Join(s.dir, pattern))
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := os.RemoveAll(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// read reads a file of the run, and reports whether it is there.
func (s store) read(path string, into any) (bool, error) {
	text, err := bounded(path, MostTask)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := strict(text, into); err != nil {
		return false, fmt.Errorf("%w: %s: %w", ErrRun, path, err)
	}
	if again, err := json.Marshal(into); err != nil || !bytes.Equal(append(again, '\n'), text) {
		return false, fmt.Errorf("%w: %s is not as it was written; the run cannot go on", ErrRun, path)
	}
	return true, nil
}

// load reads what an earlier driver left: nil where none charged.
func (s store) load() (*begun, []Noisy, error) {
	var b begun
	found, err := s.read(s.started(), &b)
	if err != nil {
		return nil, nil, err
	}
	if found && b.Schema != runSchema {
		return nil, nil, fmt.Errorf("%w: %s has schema %q; this program reads %s", ErrRun, s.started(), b.Schema, runSchema)
	}
	var transcript []Noisy
	for k := 1; k <= mostRounds; k++ {
		var n Noisy
		there, err := s.read(s.sum(k), &n)
		if err != nil {
			return nil, nil, err
		}
		if !there {
			break
		}
		transcript = append(transcript, n)
	}
	names, err := filepath.Glob(filepath.Join(s.dir, "sum-*.json"))
	if err != nil {
		return nil, nil, err
	}
	switch {
	case len(names) != len(transcript):
		return nil, nil, fmt.Errorf("%w: %s has %d noisy sums, and %d of them in a row; the run cannot go on", ErrRun, s.dir, len(names), len(transcript))
	case !found && len(transcript) > 0:
		return nil, nil, fmt.Errorf("%w: %s has noisy sums and no run.json; the run cannot go on", ErrRun, s.dir)
	case !found:
		return nil, nil, nil
	}
	return &b, transcript, nil
}

// keep makes the k-th noisy sum durable, or returns the one that another driver kept
// before.
func (s store) keep(k int, n Noisy) (Noisy, error) {
	err := s.create(s.sum(k), n)
	if !errors.Is(err, fs.ErrExist) {
		return n, err
	}
	var before Noisy
	if _, err := s.read(s.sum(k), &before); err != nil {
		return n, err
	}
	return before, nil
}
