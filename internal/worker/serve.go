package worker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Protocol is the version of the frames.
const Protocol = 1

// Call is a command to run.
type Call struct {
	Args []string
	// Input is its standard input.
	Input io.Reader
	// Method is the method of sums that the caller brings, in JSON; nil for none.
	Method json.RawMessage
	// Ask asks the caller something, with numbers beside it, and waits for the reply.
	Ask func(question any, numbers []byte) (reply json.RawMessage, given []byte, err error)
	// Abort cancels the call because of err, for a reader of the context that cannot return it.
	Abort func(err error)
}

// Host is what the process around a worker does.
type Host struct {
	Version string
	// Run runs a command, prints to stdout and stderr, and returns the exit code.
	Run func(ctx context.Context, c Call, stdout, stderr io.Writer) int
	// Keep takes the standard input of a call, which it reads to its end.
	Keep func(io.Reader) (Input, error)
}

// Input is the standard input of a call that is yet to begin.
type Input interface {
	// Begin puts it where commands find it, and End gives it up.
	Begin() (io.Reader, error)
	End() error
}

// Serve reads requests and answers them one after another until the stream or the context ends.
// The command that runs then is finished: its charge may be committed. A stream that cannot be
// understood is an error that wraps [ErrFrame].
func Serve(ctx context.Context, in io.Reader, out io.Writer, h Host) error {
	s := &server{host: h, in: bufio.NewReaderSize(in, 1<<16), out: out, calls: make(chan *call, 1), ended: make(chan struct{})}
	if err := writeFrame(out, hello{Protocol, h.Version}); err != nil {
		return err
	}
	go s.read(ctx)
	for {
		select {
		case c, more := <-s.calls:
			if !more {
				return s.broken
			}
			if err := s.answer(c); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// server is a worker. One goroutine reads, another runs commands.
type server struct {
	host   Host
	in     *bufio.Reader
	out    io.Writer
	calls  chan *call
	ended  chan struct{} // closed where nothing more is read
	broken error         // why; set before calls is closed
}

// call is a request that is to be run.
type call struct {
	request
	ctx     context.Context
	cancel  context.CancelCauseFunc
	input   Input // nil for none
	replies chan reply
}

type reply struct {
	text    json.RawMessage
	numbers []byte
}

var (
	errCancelled = fmt.Errorf("the caller cancelled the call: %w", context.Canceled)
	errGone      = errors.New("the caller is gone")
)

// read reads frames until there are no more.
func (s *server) read(ctx context.Context) {
	defer close(s.ended)
	defer close(s.calls)
	var last *call
	for {
		q, err := readHead(s.in)
		if err == nil {
			last, err = s.take(ctx, q, last)
		}
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			s.broken = err
			return
		}
	}
}

// take does what a frame asks; last is the call that was asked for last.
func (s *server) take(ctx context.Context, q request, last *call) (*call, error) {
	follows := &io.LimitedReader{R: s.in, N: q.Bytes}
	switch {
	case q.Args != nil:
		c := &call{request: q, replies: make(chan reply, 1)}
		c.ctx, c.cancel = context.WithCancelCause(ctx)
		if q.Bytes > 0 {
			var err error
			if c.input, err = s.host.Keep(follows); err != nil {
				return last, err
			}
			if follows.N > 0 {
				return last, fmt.Errorf("%w: it ends %d bytes before the end of a call's input", ErrFrame, follows.N)
			}
		}
		select {
		case s.calls <- c:
			return c, nil
		default:
			return last, fmt.Errorf("%w: call %d comes before call %d was answered", ErrFrame, q.ID, last.ID)
		}
	case q.Cancel:
		if last != nil && last.ID == q.ID { // one that was answered meanwhile is not the next one
			last.cancel(errCancelled)
		}
		return last, nil
	}
	numbers, err := io.ReadAll(follows)
	if err == nil && follows.N > 0 {
		err = fmt.Errorf("%w: it ends in a reply", ErrFrame)
	}
	if err != nil {
		return last, err
	}
	if last != nil && last.ID == q.ID {
		select {
		case last.replies <- reply{q.Reply, numbers}:
		default:
			return last, fmt.Errorf("%w: a reply to no question", ErrFrame)
		}
	}
	return last, nil
}

// answer runs a call and writes what came of it.
func (s *server) answer(c *call) (err error) {
	defer c.cancel(nil)
	var in io.Reader = bytes.NewReader(nil)
	if c.input != nil {
		if in, err = c.input.Begin(); err != nil {
			return err
		}
	}
	var stdout, stderr bytes.Buffer
	exit := s.host.Run(c.ctx, Call{Args: c.Args, Input: in, Method: c.Method, Ask: s.asking(c), Abort: c.cancel}, &stdout, &stderr)
	if c.input != nil {
		err = c.input.End()
	}
	// What came of it is given out in any case: it may have been paid for.
	return errors.Join(writeFrame(s.out, done{c.ID, exit, stdout.Len(), stderr.Len()}, stdout.Bytes(), stderr.Bytes()), err)
}

// asking is how a call asks its caller. One question is asked at a time.
func (s *server) asking(c *call) func(any, []byte) (json.RawMessage, []byte, error) {
	var one sync.Mutex
	return func(question any, numbers []byte) (json.RawMessage, []byte, error) {
		one.Lock()
		defer one.Unlock()
		if err := context.Cause(c.ctx); err != nil {
			return nil, nil, err
		}
		if err := writeFrame(s.out, ask{c.ID, question, len(numbers)}, numbers); err != nil {
			return nil, nil, err
		}
		select {
		case r := <-c.replies:
			return r.text, r.numbers, nil
		case <-c.ctx.Done():
			return nil, nil, context.Cause(c.ctx)
		case <-s.ended:
			return nil, nil, errGone
		}
	}
}
