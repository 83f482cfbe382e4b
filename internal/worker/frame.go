package worker

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/discreet-rl/discreet/internal/fault"
)

// mostHead bounds the JSON of a frame, in bytes, so that a damaged length is no allocation.
const mostHead = 64 << 20

// ErrFrame marks a stream that holds no frame where one should start: nothing after it can be read.
var ErrFrame = fault.Input("the stream of requests is damaged")

// request is the head of a frame to the worker. One of Args, Cancel and Reply is set.
type request struct {
	ID int64 `json:"id"`
	// Args are those of a command; Method is a method of sums that asks the caller, or nil.
	Args   []string        `json:"args,omitempty"`
	Method json.RawMessage `json:"method,omitempty"`
	// Cancel ends the command of this ID.
	Cancel bool `json:"cancel,omitempty"`
	// Reply answers a question of this ID.
	Reply json.RawMessage `json:"reply,omitempty"`
	// Bytes are as many as follow: the standard input of a command, or the numbers of a reply.
	Bytes int64 `json:"bytes,omitempty"`
}

// hello is the head of the first frame from the worker.
type hello struct {
	Worker  int    `json:"worker"` // Protocol
	Version string `json:"version"`
}

// done is the head of the answer to a command. Standard output and standard error follow.
type done struct {
	ID     int64 `json:"id"`
	Exit   int   `json:"exit"`
	Stdout int   `json:"stdout"`
	Stderr int   `json:"stderr"`
}

// ask is the head of a question to the caller.
type ask struct {
	ID    int64 `json:"id"`
	Ask   any   `json:"ask"`
	Bytes int   `json:"bytes,omitempty"`
}

// writeFrame writes a head, its length before it, and what follows it.
func writeFrame(w io.Writer, head any, follows ...[]byte) error {
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	frame := append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
	for _, b := range follows {
		frame = append(frame, b...)
	}
	_, err = w.Write(frame)
	return err
}

// readHead reads the head of the next frame; io.EOF where the stream ends before it.
func readHead(r io.Reader) (request, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); errors.Is(err, io.EOF) {
		return request{}, io.EOF
	} else if err != nil {
		return request{}, fmt.Errorf("%w: it ends in a length: %v", ErrFrame, err)
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > mostHead {
		return request{}, fmt.Errorf("%w: a head of %d bytes; want at most %d", ErrFrame, n, mostHead)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return request{}, fmt.Errorf("%w: it ends in a head: %v", ErrFrame, err)
	}
	var q request
	if err := json.Unmarshal(text, &q); err != nil {
		return request{}, fmt.Errorf("%w: the head is not JSON of the form: %w", ErrFrame, err)
	}
	if q.Bytes < 0 {
		return request{}, fmt.Errorf("%w: %d bytes follow", ErrFrame, q.Bytes)
	}
	return q, nil
}
