package train

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/discreet-rl/discreet/internal/atomicfile"
)

// Journal keeps a run on disk, so that it can be taken up again: every accepted
// report in the order of acceptance (reports.log), a snapshot of the aggregator
// from time to time (snapshot.json, which holds the secret of the tokens), and, as
// the simulation's own affair, the scores (scores.bin). One process at a time may
// use a directory.
type Journal struct {
	dir    string
	name   string
	every  time.Duration
	saved  time.Time
	log    *os.File
	out    *bufio.Writer
	frame  []byte
	scores []byte // not written yet
}

const (
	logMagic     = "discreet reports 1\n"
	logHeader    = len(logMagic) + sha256.Size + 4
	snapshotName = "snapshot.json"
	snapshotKind = "discreet/train-snapshot/v1"
)

// OpenJournal opens or makes the directory. A snapshot is taken every two seconds.
func OpenJournal(dir string) (*Journal, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrState, err)
	}
	j := &Journal{dir: dir, every: 2 * time.Second}
	return j, j.christen()
}

// Name is the random name of the run in the directory; it stays the same when the
// run is taken up again.
func (j *Journal) Name() string { return j.name }

func (j *Journal) christen() error {
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
		return fmt.Errorf("%w: %w", ErrState, err)
	}
	j.name = string(name)
	return nil
}

// Close writes what is buffered and closes the files. A run that was interrupted
// need not have been closed.
func (j *Journal) Close() error {
	if j.log == nil {
		return nil
	}
	err := errors.Join(j.out.Flush(), j.log.Sync(), j.log.Close())
	j.log = nil
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

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// score notes the score of an accepted report's agent.
func (j *Journal) score(s float64) {
	j.scores = binary.LittleEndian.AppendUint64(j.scores, math.Float64bits(s))
}

// openLog opens the log for appending and returns the reports in it. What a crash
// left half written at its end is cut off.
func (j *Journal) openLog(run [32]byte, size int) ([][]byte, error) {
	f, err := os.OpenFile(j.path("reports.log"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrState, err)
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	header := append([]byte(logMagic), run[:]...)
	header = binary.LittleEndian.AppendUint32(header, uint32(size))
	end := len(header)
	switch {
	case len(data) < len(header) && bytes.HasPrefix(header, data): // new, or torn at once
		_, err = f.WriteAt(header, 0)
	case !bytes.HasPrefix(data, header):
		err = fmt.Errorf("%w: %s is the log of another run, or of other settings", ErrState, f.Name())
	}
	var reports [][]byte
	for err == nil && end+size+4 <= len(data) {
		report := data[end : end+size : end+size]
		if binary.LittleEndian.Uint32(data[end+size:]) != checksum(report) {
			break
		}
		reports = append(reports, report)
		end += size + 4
	}
	if err == nil {
		err = f.Truncate(int64(end))
	}
	if err == nil {
		_, err = f.Seek(int64(end), io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	j.log, j.out = f, bufio.NewWriterSize(f, 1<<16)
	return reports, nil
}

// discardEmptyLog removes what a crash before the first snapshot left. Reports
// without a snapshot cannot be read, for its secret is lost.
func (j *Journal) discardEmptyLog() error {
	info, err := os.Stat(j.path("reports.log"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%w: %w", ErrState, err)
	case info.Size() > int64(logHeader):
		return fmt.Errorf("%w: %s holds reports and no snapshot; restore %s or choose another directory", ErrState, j.dir, snapshotName)
	}
	return os.Remove(j.path("reports.log"))
}

// snapshot is all that a run needs to go on, but for the reports in the log.
type snapshot struct {
	Schema   string              `json:"schema"`
	Settings string              `json:"settings"` // fingerprint
	Server   json.RawMessage     `json:"aggregator"`
	Flights  []savedFlight       `json:"flights"`
	Arrivals uint64              `json:"arrivals"`
	Declined uint64              `json:"declined"`
	Idle     uint64              `json:"idle"`
	Spent    float64             `json:"spent"`
	Paid     map[uint64][]uint64 `json:"paid,omitempty"` // slots by agent; of wallets in memory
	Success  []Estimate          `json:"success"`
}

// savedFlight is an agent at work; Theta is what it was given.
type savedFlight struct {
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
		return fmt.Errorf("%w: %w", ErrState, err)
	}
	s.Schema = snapshotKind
	body, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrState, err)
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
		return nil, fmt.Errorf("%w: %w", ErrState, err)
	}
	var outer sealed
	var s snapshot
	if err := json.Unmarshal(data, &outer); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrState, j.path(snapshotName), err)
	}
	if sum := sha256.Sum256(outer.Body); hex.EncodeToString(sum[:]) != outer.SHA256 {
		return nil, fmt.Errorf("%w: %s: its checksum is wrong", ErrState, j.path(snapshotName))
	}
	if err := json.Unmarshal(outer.Body, &s); err != nil || s.Schema != snapshotKind {
		return nil, fmt.Errorf("%w: %s is not a snapshot of this version", ErrState, j.path(snapshotName))
	}
	return &s, nil
}

func (j *Journal) appendScores() error {
	f, err := os.OpenFile(j.path("scores.bin"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(j.scores)
	j.scores = j.scores[:0]
	return errors.Join(err, f.Close())
}

// loadScores returns the first n scores and forgets the others.
func (j *Journal) loadScores(n uint64) ([]float64, error) {
	data, err := os.ReadFile(j.path("scores.bin"))
	if errors.Is(err, fs.ErrNotExist) && n == 0 {
		return nil, nil
	}
	if err == nil && uint64(len(data)) < 8*n {
		err = fmt.Errorf("%d bytes for %d scores", len(data), n)
	}
	if err == nil {
		err = os.Truncate(j.path("scores.bin"), int64(8*n))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: scores.bin: %w", ErrState, err)
	}
	scores := make([]float64, n)
	for i := range scores {
		scores[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
	}
	return scores, nil
}
