package train

import (
	"encoding/binary"
	"fmt"

	"github.com/discreet-rl/discreet/dp/local"
)

// Report is an agent's answer to a task: what the task said, so that the
// aggregator need not remember it, and a body of a size known beforehand.
type Report struct {
	Slot     uint64
	Version  uint64
	Deadline int64
	Token    Token
	Body     []byte
}

const (
	reportVersion = 1
	reportHeader  = 1 + 8 + 8 + 8 + 16
)

// AppendBinary appends the report as it is sent.
func (r Report) AppendBinary(dst []byte) ([]byte, error) {
	le := binary.LittleEndian
	dst = append(dst, reportVersion)
	dst = le.AppendUint64(dst, r.Slot)
	dst = le.AppendUint64(dst, r.Version)
	dst = le.AppendUint64(dst, uint64(r.Deadline))
	dst = append(dst, r.Token[:]...)
	return append(dst, r.Body...), nil
}

// ParseReport reads a report; whether its body has the right size is its codec's to
// say. Body shares the memory of data. The error wraps [local.ErrReport].
func ParseReport(data []byte) (Report, error) {
	if len(data) < reportHeader || data[0] != reportVersion {
		return Report{}, fmt.Errorf("%w: %d bytes; want at least %d that begin with %d", local.ErrReport, len(data), reportHeader, reportVersion)
	}
	le := binary.LittleEndian
	r := Report{Slot: le.Uint64(data[1:]), Version: le.Uint64(data[9:]), Deadline: int64(le.Uint64(data[17:])), Body: data[reportHeader:]}
	copy(r.Token[:], data[25:])
	return r, nil
}
