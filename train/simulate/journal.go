package simulate

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/internal/filelock"
	"github.com/discreet-rl/discreet/train"
)

// Journal keeps a run on disk, so that it can be taken up again: every accepted
// report in the order of acceptance (reports.log), a snapshot of the aggregator
// from time to time (snapshot.json, which holds the secret of the tokens), and, as
// the simulation's own affair, the scores (scores.bin). One process at a time may
// use a directory: it holds a lock on the file lock in it, with flock where the
// system has it (Linux, macOS, the BSDs), so that the lock ends with the process;
// elsewhere the file's existence is the lock, and outlives a process that is
// killed.
type Journal struct {
	dir    string
	lock   *filelock.Lock // nil once closed
	name   string
	every  time.Duration
	saved  time.Time
	log    *os.File
	out    *bufio.Writer
	frame  []byte
	scores []byte // not written yet
}

// ErrInUse marks a directory that another process trains in.
var ErrInUse = errors.New("directory in use")

const (
	snapshotName = "snapshot.json"
	scoresName   = "scores.bin"
	snapshotKind = "discreet/train-snapshot/v1"
)

// OpenJournal opens or makes the directory and locks it until Close. A snapshot is
// taken every two seconds. The error wraps [ErrInUse] where another process, or
// another Journal of this one, holds the directory, else [train.ErrState].
func OpenJournal(dir string) (*Journal, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("%w: %w", train.ErrState, err)
	}
	j := &Journal{dir: dir, every: 2 * time.Second}
	var err error
	switch j.lock, err = filelock.Take(j.path("lock")); {
	case errors.Is(err, filelock.ErrHeld):
		return nil, fmt.Errorf("%w: another process trains in %s (%w); wait for it or choose another directory", ErrInUse, dir, err)
	case err != nil:
		return nil, fmt.Errorf("%w: lock: %w; choose a directory on a local disk", train.ErrState, err)
	}
	if err := j.chooseName(); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// Name is the random name of the run in the directory; it stays the same when the
// run is taken up again.
func (j *Journal) Name() string { return j.name }

func (j *Journal) chooseName() error {
	name, err := os.ReadFile(j.path("name"))
	if errors.Is(err, fs.ErrNotExist) {
		fresh := make([]byte, 16)
		_, _ = rand.Read(fresh) // it ends the process rather than fail
		name = []byte(hex.EncodeToString(fresh))
		err = atomicfile.Write(j.path("name"), 0o600, func(w io.Writer) error {
			_, err := w.Write(name)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("%w: %w", train.ErrState, err)
	}
	j.name = string(name)
	return nil
}

// Close writes what is buffered, closes the files and gives the directory free. A
// run that was interrupted need not have been closed.
func (j *Journal) Close() error {
	var err error
	if j.log != nil {
		err = errors.Join(j.out.Flush(), j.log.Sync(), j.log.Close())
		j.log = nil
	}
	if j.lock != nil {
		err = errors.Join(err, j.lock.Release())
		j.lock = nil
	}
	return err
}

func (j *Journal) path(name string) string { return filepath.Join(j.dir, name) }

func (j *Journal) due() bool { return time.Since(j.saved) >= j.every }

// Write appends one report with a checksum.
func (j *Journal) Write(report []byte) (int, error) {
	j.frame = append(j.frame[:0], report...)
	j.frame = binary.LittleEndian.AppendUint32(j.frame, checksum(report))
	if _, err := j.out.Write(j.frame); err != nil {
		return 0, err
	}
	return len(report), nil
}

// score notes the score of an accepted report's agent.
func (j *Journal) score(s float64) {
	j.scores = binary.LittleEndian.AppendUint64(j.scores, math.Float64bits(s))
}

// snapshot is all that a run needs to go on, but for the reports in the log.
type snapshot struct {
	Schema   string              `json:"schema"`
	Settings string              `json:"settings"` // fingerprint
	Stated   json.RawMessage     `json:"stated,omitempty"`
	Server   json.RawMessage     `json:"aggregator"`
	InFlight []savedTask         `json:"flights"`
	Arrivals uint64              `json:"arrivals"`
	Declined uint64              `json:"declined"`
	Idle     uint64              `json:"idle"`
	Forfeits uint64              `json:"forfeits,omitempty"`
	Spent    float64             `json:"spent"`
	Paid     map[uint64][]uint64 `json:"paid,omitempty"` // slots by agent; of wallets in memory
	Success  []Estimate          `json:"success"`
}

// savedTask is an agent at work; Theta is what it was given.
type savedTask struct {
	Slot    uint64    `json:"slot"`
	Version uint64    `json:"version"`
	Theta   []float64 `json:"theta"`
}

type sealed struct {
	SHA256 string          `json:"sha256"`
	Body   json.RawMessage `json:"body"`
}

// save makes what was accepted durable, then the snapshot that counts on it.
func (j *Journal) save(s *snapshot) error {
	if err := errors.Join(j.out.Flush(), j.log.Sync(), j.appendScores()); err != nil {
		return fmt.Errorf("%w: %w", train.ErrState, err)
	}
	s.Schema = snapshotKind
	body, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("%w: %w", train.ErrState, err)
	}
	sum := sha256.Sum256(body)
	err = atomicfile.Write(j.path(snapshotName), 0o600, func(w io.Writer) error {
		return json.NewEncoder(w).Encode(sealed{hex.EncodeToString(sum[:]), body})
	})
	j.saved = time.Now()
	return err
}

// load returns the snapshot, or nil if there is none.
func (j *Journal) load() (*snapshot, error) {
	data, err := os.ReadFile(j.path(snapshotName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("%w: %w", train.ErrState, err)
	}
	var outer sealed
	var s snapshot
	if err := json.Unmarshal(data, &outer); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", train.ErrState, j.path(snapshotName), err)
	}
	if sum := sha256.Sum256(outer.Body); hex.EncodeToString(sum[:]) != outer.SHA256 {
		return nil, fmt.Errorf("%w: %s: its checksum is wrong; put back a copy of the file, or begin in another directory", train.ErrState, j.path(snapshotName))
	}
	if err := json.Unmarshal(outer.Body, &s); err != nil || s.Schema != snapshotKind {
		return nil, fmt.Errorf("%w: %s is not a snapshot of this version", train.ErrState, j.path(snapshotName))
	}
	return &s, nil
}

func (j *Journal) appendScores() error {
	f, err := os.OpenFile(j.path(scoresName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(j.scores)
	j.scores = j.scores[:0]
	return errors.Join(err, f.Sync(), f.Close()) // the snapshot counts on them
}

// loadScores returns the first n scores. Those behind them are made again by replay.
func (j *Journal) loadScores(n uint64) ([]float64, error) {
	data, err := os.ReadFile(j.path(scoresName))
	if errors.Is(err, fs.ErrNotExist) && n == 0 {
		return nil, nil
	}
	if err == nil && uint64(len(data))/8 < n {
		err = fmt.Errorf("%s holds %d bytes; want %d scores; put back a copy of the file, or begin in another directory", j.path(scoresName), len(data), n)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", train.ErrState, err)
	}
	scores := make([]float64, n)
	for i := range scores {
		scores[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
	}
	return scores, nil
}

// cutScores forgets all but the first n.
func (j *Journal) cutScores(n int) error {
	err := os.Truncate(j.path(scoresName), int64(8*n))
	if errors.Is(err, fs.ErrNotExist) && n == 0 {
		return nil
	}
	return err
}
