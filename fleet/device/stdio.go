package device

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/discreet-rl/discreet/train"
)

// mostLine is the longest line of a learner.
const mostLine = 64 << 20

// Stdio is a learner in another process, which speaks JSON, a line a message, and speaks first:
//
//	{"op":"run"}                               asks, if it likes, what the run is about, before it takes part
//	  {"run":"5e..","dimension":112,"local":{..}}
//	{"op":"next"}                              waits for a round; takes part from the first of these on
//	  {"round":3,"kind":"train","weights":[..],"numbers":112,"seed":"..","deadline":1800000001000,"send_at":..,"local":{..}}
//	{"op":"report","round":3,"vector":[..]}    answers it: the direction of descent, or a score
//	  {"round":3,"state":"trained","send_at":1800000003000}
//
// Times are in milliseconds since 1970. The kind is "train" or "evaluate", with "threshold"; "numbers" is how long the vector has to be. An answer that cannot be used, or that is
// late, is answered with "error", and the report is on the zero vector. At the end of a run, next is answered with
// {"state":"ended"}. Whatever else comes is answered with "error" alone. When the input ends, the agent finishes the round
// and ends.
type Stdio struct {
	in     *bufio.Reader
	out    io.Writer
	work   chan assignment
	known  chan struct{} // closed when what follows is set
	ready  chan struct{}
	ended  chan struct{}
	closed chan struct{}
	once   sync.Once
	met    sync.Once
	run    reply
	bit    float64
}

// assignment is work that waits for its answer.
type assignment struct {
	Work
	ctx    context.Context
	answer chan []float64 // room for one
}

// NewStdio returns a learner at the other end of in and out. [Stdio.Serve] carries what is said.
func NewStdio(in io.Reader, out io.Writer) *Stdio {
	return &Stdio{in: bufio.NewReader(in), out: out, work: make(chan assignment), known: make(chan struct{}), ready: make(chan struct{}),
		ended: make(chan struct{}), closed: make(chan struct{})}
}

// Prepare implements [Learner].
func (s *Stdio) Prepare(run *Run) error {
	s.met.Do(func() {
		s.run = reply{Run: hex.EncodeToString(run.ID[:]), Dim: run.Dim, Local: run.Local}
		if run.Randomizer.Mechanism == train.OneBit {
			s.bit = run.Randomizer.Clip
		}
		close(s.known)
	})
	return nil
}

// Ready is closed when the program has asked for its first round.
func (s *Stdio) Ready() <-chan struct{} { return s.ready }

// Closed is closed when the program has left, or asked to.
func (s *Stdio) Closed() <-chan struct{} { return s.closed }

// End tells the learner, when it asks for the next round, that there is none.
func (s *Stdio) End() { s.once.Do(func() { close(s.ended) }) }

// Learn implements [Learner].
func (s *Stdio) Learn(ctx context.Context, w Work) ([]float64, error) {
	a := assignment{w, ctx, make(chan []float64, 1)}
	select {
	case s.work <- a:
	case <-s.closed:
		return nil, fmt.Errorf("%w: the learner has left", errLearner)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case v := <-a.answer:
		return v, nil
	case <-s.closed:
		return nil, fmt.Errorf("%w: the learner has left", errLearner)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// request is what a learner says.
type request struct {
	Op     string    `json:"op"`
	Round  uint64    `json:"round"`
	Vector []float64 `json:"vector"`
}

// parseRequest reads a line; an unknown key is an error.
func parseRequest(line []byte) (request, error) {
	var r request
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return request{Op: r.Op, Round: r.Round}, fmt.Errorf("%w: %w", errLearner, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return request{}, fmt.Errorf("%w: something follows the message", errLearner)
	}
	if r.Op != "run" && r.Op != "next" && r.Op != "report" {
		return request{}, fmt.Errorf(`%w: want {"op":"run"}, {"op":"next"} or {"op":"report","round":..,"vector":[..]}`, errLearner)
	}
	return r, nil
}

// reply is what a learner is told.
type reply struct {
	Run       string          `json:"run,omitempty"`
	Dim       int             `json:"dimension,omitempty"`
	Round     uint64          `json:"round,omitempty"`
	Kind      string          `json:"kind,omitempty"`
	Threshold *float64        `json:"threshold,omitempty"`
	Weights   []float64       `json:"weights,omitempty"`
	Numbers   int             `json:"numbers,omitempty"`
	Seed      string          `json:"seed,omitempty"`
	Clip      float64         `json:"clip,omitempty"`
	Deadline  int64           `json:"deadline,omitempty"`
	SendAt    int64           `json:"send_at,omitempty"`
	Local     json.RawMessage `json:"local,omitempty"`
	State     string          `json:"state,omitempty"`
	Error     string          `json:"error,omitempty"`
}

// Serve carries messages until the input ends or ctx does. The error is that of the output.
func (s *Stdio) Serve(ctx context.Context) error {
	defer close(s.closed)
	lines, left := make(chan []byte), make(chan struct{})
	go func() {
		defer close(left)
		defer close(lines)
		for {
			line, err := readLine(s.in)
			if len(bytes.TrimSpace(line)) > 0 {
				select {
				case lines <- line:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	var current *assignment
	started := false
	for {
		var line []byte
		var ok bool
		select {
		case line, ok = <-lines:
		case <-ctx.Done():
			return nil
		}
		if !ok {
			return nil
		}
		r, err := parseRequest(line)
		var told reply
		switch {
		case r.Op == "run" && err == nil:
			told = s.about(ctx, left)
		case r.Op == "next" && err == nil:
			if !started {
				started = true
				close(s.ready)
			}
			a, more := s.next(ctx, left)
			if told = (reply{State: "ended"}); more {
				current, told = &a, s.describe(a)
			}
		case r.Op == "report":
			var taken bool
			if told, taken = take(current, r, err); taken {
				current = nil
			}
		default:
			told.Error = err.Error()
		}
		text, err := json.Marshal(told)
		if err != nil {
			return err
		}
		if _, err := s.out.Write(append(text, '\n')); err != nil {
			return err
		}
	}
}

// readLine reads a line of at most mostLine bytes; a longer one is an end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if err == bufio.ErrBufferFull && len(line) < mostLine {
			continue
		}
		return line, err
	}
}

// about waits until the run is known, and says what it is.
func (s *Stdio) about(ctx context.Context, left <-chan struct{}) reply {
	select {
	case <-s.known:
		return s.run
	case <-s.ended:
	case <-left:
	case <-ctx.Done():
	}
	return reply{State: "ended"}
}

// next waits for a round; more is false at the end.
func (s *Stdio) next(ctx context.Context, left <-chan struct{}) (a assignment, more bool) {
	select {
	case a := <-s.work:
		return a, true
	case <-s.ended:
	case <-left:
	case <-ctx.Done():
	}
	return assignment{}, false
}

func (s *Stdio) describe(a assignment) reply {
	told := reply{Round: a.Round, Kind: "train", Weights: a.Theta, Numbers: a.Len, Seed: hex.EncodeToString(a.Seed[:]), Clip: s.bit,
		Deadline: a.Until.UnixMilli(), SendAt: a.SendAt.UnixMilli(), Local: s.run.Local}
	if a.Evaluate {
		told.Kind, told.Threshold, told.Clip = "evaluate", &a.Threshold, 0
	}
	return told
}

// take hands an answer over. One that cannot be used is handed over too, as none.
func take(current *assignment, r request, unread error) (told reply, taken bool) {
	told.Round = r.Round
	// What ends the context of an assignment is its time or its answer, so that it is read before the answer is handed over.
	late := current != nil && (current.ctx.Err() != nil || !time.Now().Before(current.Until))
	switch {
	case current == nil || unread == nil && r.Round != current.Round:
		told.Error = "there is no such round to report on; ask for the next"
		return told, false
	case unread != nil:
		told.Round, told.Error = current.Round, unread.Error()
		current.answer <- nil
	default:
		if err := usable(current.Work, r.Vector); err != nil {
			told.Error = err.Error()
		}
		current.answer <- r.Vector
	}
	if late {
		told.Error = "late"
	}
	if told.Error != "" {
		told.Error += "; the report will be on the zero vector"
	}
	told.State, told.SendAt = "trained", current.SendAt.UnixMilli()
	return told, true
}
