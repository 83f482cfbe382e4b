package scale

import (
	"bytes"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/internal/shards"
)

// runSchema names the form of the file run.json.
const runSchema = "discreet/run/v2"

// mostRounds bounds the rounds of a run.
const mostRounds = 10000

// begun is what run.json holds. It is private: it has exact counts.
type begun struct {
	Schema string `json:"schema"`
	Run    Hash   `json:"run"`
	shards.Begun
	Persons int64  `json:"persons"`
	Data    uint64 `json:"data"` // digests of the shards, added up
	// Set is that of the shards. Runs of earlier versions have none.
	Set Hash `json:"set,omitzero"`
}

// sumFile is what a file of a noisy sum holds.
type sumFile struct {
	Run Hash `json:"run"`
	noisySum
}

// count is what rounds.json holds: how many noisy sums were durable. It only grows.
type count struct {
	Run  Hash `json:"run"`
	Sums int  `json:"sums"`
}

// store is the directory of a run: run.json from the charge on, a file for each noisy sum,
// and their number. A file has its name from the moment on at which it is whole and
// durable, and no name of a sum is given twice: of two drivers of one run one draws for a
// round, and the other goes on with that. Every file has a MAC under the run key.
type store struct {
	dir string
	key RunKey
	run Hash // from the charge on
}

func (s store) started() string     { return filepath.Join(s.dir, "run.json") }
func (s store) rounds() string      { return filepath.Join(s.dir, "rounds.json") }
func (s store) sum(k int) string    { return filepath.Join(s.dir, fmt.Sprintf("sum-%04d.json", k)) }
func (s store) taskOf(k int) string { return filepath.Join(s.dir, fmt.Sprintf("task-%04d.json", k)) }

// sealed is the one form of a file of the run: a value, and its MAC with the file's name.
type sealed struct {
	Of  json.RawMessage `json:"of"`
	MAC Hash            `json:"mac"`
}

// text is what a file of the run holds.
func (s store) text(path string, v any) ([]byte, error) {
	of, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(sealed{of, s.key.authenticate(filepath.Base(path), of)})
	return append(text, '\n'), err
}

// create makes a file that must not exist, durably: when it returns, a crash of the
// machine does not lose it.
func (s store) create(path string, v any) error { return s.put(path, v, atomicfile.Create) }

// replace makes a file, or puts it in the place of what is there, durably.
func (s store) replace(path string, v any) error { return s.put(path, v, atomicfile.Write) }

func (s store) put(path string, v any, as func(string, fs.FileMode, func(io.Writer) error) error) error {
	text, err := s.text(path, v)
	if err != nil {
		return err
	}
	err = as(path, 0o600, func(w io.Writer) error {
		_, err := w.Write(text)
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
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil { // where releases are, too
		return fmt.Errorf("%w: %w", ErrRun, err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
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
	taskName    = regexp.MustCompile(`^task-([0-9]{4,5})\.json$`)
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
	text, err := bounded(path, mostTask)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var file sealed
	if err := strict(text, &file); err != nil {
		return false, fmt.Errorf("%w: %s: %w", ErrRun, path, err)
	}
	if mac := s.key.authenticate(filepath.Base(path), file.Of); !hmac.Equal(mac[:], file.MAC[:]) {
		return false, fmt.Errorf("%w: %s: its MAC is wrong: the file was changed, or the run key is another than the run began with; bring that key back; a changed run cannot go on", ErrRun, path)
	}
	if err := strict(file.Of, into); err != nil {
		return false, fmt.Errorf("%w: %s: %w", ErrRun, path, err)
	}
	if again, err := s.text(path, into); err != nil || !bytes.Equal(again, text) {
		return false, fmt.Errorf("%w: %s is not as it was written; the run cannot go on", ErrRun, path)
	}
	return true, nil
}

// load reads what an earlier driver left: nil where none charged. What is there must be
// all that was: a sum that was told to workers, or counted, and is gone would be drawn a
// second time for one charge.
func (s store) load() (*begun, []noisySum, error) {
	var b begun
	found, err := s.read(s.started(), &b)
	if err != nil {
		return nil, nil, err
	}
	if found && b.Schema != runSchema {
		return nil, nil, fmt.Errorf("%w: %s has schema %q; this program reads %s", ErrRun, s.started(), b.Schema, runSchema)
	}
	s.run = b.Run
	var transcript []noisySum
	for k := 1; k <= mostRounds; k++ {
		var n sumFile
		there, err := s.read(s.sum(k), &n)
		if err != nil {
			return nil, nil, err
		}
		if !there {
			break
		}
		if n.Run != s.run {
			return nil, nil, fmt.Errorf("%w: %s is of another run; the run cannot go on", ErrRun, s.sum(k))
		}
		transcript = append(transcript, n.noisySum)
	}
	if err := s.whole(found, transcript); err != nil {
		return nil, nil, err
	}
	if !found {
		return nil, nil, nil
	}
	return &b, transcript, s.counted(len(transcript))
}

// whole holds the noisy sums that are there against all else in the directory that knows
// of noisy sums.
func (s store) whole(found bool, transcript []noisySum) error {
	lost := func(name string) error {
		return fmt.Errorf("%w: %s: %s knows of noisy sums that are not there, or are others now; to draw them again would give two answers for one charge: put the whole directory back as it was last, or take a new one, which is charged anew", ErrRun, s.dir, name)
	}
	var c count
	if _, err := s.read(s.rounds(), &c); err != nil {
		return err
	}
	// A driver may have been killed between a sum and its counting.
	if c.Run != s.run && c != (count{}) || c.Sums != len(transcript) && c.Sums+1 != len(transcript) {
		return lost(filepath.Base(s.rounds()))
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	sums := 0
	for _, e := range entries {
		name := e.Name()
		if sumName.MatchString(name) {
			sums++
		}
		if m := partsName.FindStringSubmatch(name); m != nil && e.IsDir() {
			if k, err := strconv.Atoi(m[1]); err != nil || k > len(transcript)+1 || k > 0 && !found {
				return lost(name)
			}
		}
		m := taskName.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		k, err := strconv.Atoi(m[1])
		if err != nil || k == 0 { // the check knows of no sum
			continue
		}
		t, _, err := ReadTask(filepath.Join(s.dir, name))
		if err != nil {
			return err
		}
		if !found || t.Run != s.run || t.Round != k || k-1 > len(transcript) || !slices.EqualFunc(t.Transcript, transcript[:k-1], noisySum.equal) {
			return lost(name)
		}
	}
	switch {
	case sums != len(transcript):
		return fmt.Errorf("%w: %s has %d noisy sums, and %d of them in a row; the run cannot go on", ErrRun, s.dir, sums, len(transcript))
	case !found && sums > 0:
		return fmt.Errorf("%w: %s has noisy sums and no run.json; the run cannot go on", ErrRun, s.dir)
	}
	return nil
}

// equal tells whether two noisy sums are one.
func (n noisySum) equal(m noisySum) bool {
	return n.Step == m.Step && n.Sigma == m.Sigma && slices.Equal(n.Sum, m.Sum)
}

// counted makes durable that so many noisy sums are kept.
func (s store) counted(sums int) error {
	var c count
	if _, err := s.read(s.rounds(), &c); err != nil || c.Sums >= sums {
		return err
	}
	return s.replace(s.rounds(), count{s.run, sums})
}

// keep makes the k-th noisy sum durable, or returns the one that another driver kept
// before.
func (s store) keep(k int, n noisySum) (noisySum, error) {
	err := s.create(s.sum(k), sumFile{s.run, n})
	if errors.Is(err, fs.ErrExist) {
		var before sumFile
		if _, err := s.read(s.sum(k), &before); err != nil {
			return n, err
		}
		if before.Run != s.run {
			return n, fmt.Errorf("%w: %s is of another run; the run cannot go on", ErrRun, s.sum(k))
		}
		n, err = before.noisySum, nil
	}
	if err != nil {
		return n, err
	}
	return n, s.counted(k)
}
