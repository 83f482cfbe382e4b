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
	"regexp"
	"slices"

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

// marker names the file that says of a directory that it is a run's. Nothing is read from
// it, and nothing is removed from a directory that does not have it.
const marker = ".discreet-run"

// claim makes a directory that of a run. One that holds anything and is no run is refused
// and left as it is.
func claim(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("%w: %w", ErrRun, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRun, err)
	}
	marked := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == marker && e.Type().IsRegular() })
	switch {
	case marked:
		return nil
	case len(entries) > 0:
		return fmt.Errorf("%w: %s holds files and is no run directory; nothing in it was touched: name a new or an empty directory", ErrRun, dir)
	}
	f, err := os.OpenFile(filepath.Join(dir, marker), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRun, err)
	}
	return errors.Join(f.Sync(), f.Close(), syncDir(dir))
}

// The names of what a driver has unfinished: a directory of partials, by round, and a
// file that is being written.
var (
	partsName   = regexp.MustCompile(`^parts-([0-9]{4,5})-[0-9]+$`)
	writingName = regexp.MustCompile(`^\.writing-[0-9]+$`)
	sumName     = regexp.MustCompile(`^sum-[0-9]{4,5}\.json$`)
)

// tidy removes what a driver that was killed left unfinished in a directory that [claim]
// passed: partials, and draws that were not durable and that nobody saw.
func (s store) tidy() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() && partsName.MatchString(e.Name()) || e.Type().IsRegular() && writingName.MatchString(e.Name()) {
			if err := os.RemoveAll(filepath.Join(s.dir, e.Name())); err != nil {
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
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, nil, err
	}
	sums := 0
	for _, e := range entries {
		if sumName.MatchString(e.Name()) {
			sums++
		}
	}
	switch {
	case sums != len(transcript):
		return nil, nil, fmt.Errorf("%w: %s has %d noisy sums, and %d of them in a row; the run cannot go on", ErrRun, s.dir, sums, len(transcript))
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
