package simulate

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"

	"github.com/discreet-rl/discreet/train"
)

const (
	logName   = "reports.log"
	logMagic  = "discreet reports 1\n"
	logHeader = len(logMagic) + sha256.Size + 4
	logSum    = 4 // bytes of checksum after each report
)

// reportLog is what a journal's log holds: the reports, and where they end. Bytes
// after that were half written when a process or the power failed.
type reportLog struct {
	header  []byte
	reports [][]byte
	end     int64
}

// readLog reads the log of a run whose snapshot counts on the first counted
// reports. It changes nothing. Only the end may be torn: a log is written in order
// and the counted reports were made durable before their snapshot, so damage
// anywhere else has another cause, and cutting there would destroy what is intact.
// The error wraps [train.ErrState].
func (j *Journal) readLog(run [32]byte, size int, counted uint64) (*reportLog, error) {
	path := j.path(logName)
	data, err := os.ReadFile(path)
	if err != nil && (counted > 0 || !errors.Is(err, fs.ErrNotExist)) {
		return nil, fmt.Errorf("%w: %w", train.ErrState, err)
	}
	l := &reportLog{header: append([]byte(logMagic), run[:]...)}
	l.header = binary.LittleEndian.AppendUint32(l.header, uint32(size))
	switch {
	case len(data) < logHeader && bytes.HasPrefix(l.header, data): // new, or torn at once
	case !bytes.HasPrefix(data, l.header):
		return nil, fmt.Errorf("%w: %s does not begin as the log of this run does; put back the one that belongs to %s", train.ErrState, path, snapshotName)
	default:
		data = data[logHeader:]
		for len(data) > 0 && intact(data, size) {
			l.reports = append(l.reports, data[:size:size])
			data = data[size+logSum:]
		}
	}
	n := len(l.reports)
	l.end = int64(logHeader + n*(size+logSum))
	switch after := intactAfter(data, size); {
	case after > 0:
		return nil, fmt.Errorf("%w: %s: report %d, at byte %d, is damaged and %d after it are not, which no crash does; nothing was changed: put back a copy of the file, or begin in another directory", train.ErrState, path, n+1, l.end, after)
	case uint64(n) < counted:
		return nil, fmt.Errorf("%w: %s holds %d whole reports and %s counts %d; nothing was changed: put back a copy of the file, or begin in another directory", train.ErrState, path, n, snapshotName, counted)
	}
	return l, nil
}

// intact tells whether data begins with a report and its checksum.
func intact(data []byte, size int) bool {
	return len(data) >= size+logSum && binary.LittleEndian.Uint32(data[size:]) == checksum(data[:size])
}

// intactAfter counts the intact reports behind the one that data begins with.
func intactAfter(data []byte, size int) int {
	n := 0
	for ; len(data) > size+logSum; data = data[size+logSum:] {
		if intact(data[size+logSum:], size) {
			n++
		}
	}
	return n
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// begin opens the log for appending after what was read of it. What is torn is cut
// off, and so are scores behind the first so many.
func (j *Journal) begin(l *reportLog, scores int) error {
	f, err := os.OpenFile(j.path(logName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("%w: %w", train.ErrState, err)
	}
	_, err = f.WriteAt(l.header, 0)
	if err == nil {
		err = f.Truncate(l.end)
	}
	if err == nil {
		_, err = f.Seek(l.end, io.SeekStart)
	}
	if err == nil {
		err = j.cutScores(scores)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", train.ErrState, errors.Join(err, f.Close()))
	}
	j.log, j.out = f, bufio.NewWriterSize(f, 1<<16)
	return nil
}

// discardEmptyLog removes what a crash before the first snapshot left. Reports
// without a snapshot cannot be read, for its secret is lost.
func (j *Journal) discardEmptyLog() error {
	info, err := os.Stat(j.path(logName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%w: %w", train.ErrState, err)
	case info.Size() > int64(logHeader):
		return fmt.Errorf("%w: %s holds reports and no snapshot; restore %s or choose another directory", train.ErrState, j.dir, snapshotName)
	}
	return os.Remove(j.path(logName))
}
