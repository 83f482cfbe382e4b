package device_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/discreet-rl/discreet/fleet/device"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/fuzzmain"
	"github.com/discreet-rl/discreet/train"
)

func TestMain(m *testing.M) { os.Exit(fuzzmain.Main(m)) }

// program is a learner at the other end of two pipes.
type program struct {
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Scanner
}

func (p program) say(line string) map[string]any {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
	if !p.out.Scan() {
		p.t.Fatalf("no answer to %s: %v", line, p.out.Err())
	}
	var told map[string]any
	if err := json.Unmarshal(p.out.Bytes(), &told); err != nil {
		p.t.Fatalf("%s: %v", p.out.Text(), err)
	}
	return told
}

// TestAProgramTakesPartByLines: rounds one after the other, one answered well, one that cannot be read, one late, and one after
// which the program leaves.
func TestAProgramTakesPartByLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plain := train.Randomizer{Mechanism: train.Laplace, Epsilon: 64, Clip: 2}
		s := newServer(t, plain, 1, []byte(`{"gamma":0.99}`))
		s.theta[0] = .1
		c := s.config(t.TempDir())
		c.Epsilon = 1000
		a := enrolled(t, s, c)
		defer a.Close()
		in, toAgent := io.Pipe()
		fromAgent, out := io.Pipe()
		l := device.NewStdio(in, out)
		go func() { _ = l.Serve(t.Context()) }()
		done := make(chan error)
		s.open(time.Minute, time.Minute, nil)
		go func() { done <- a.Run(t.Context(), s.services(), l) }()
		p := program{t, toAgent, bufio.NewScanner(fromAgent)}

		if told := p.say(`{"op":"report","round":1,"vector":[1]}`); told["error"] == nil || told["state"] != nil {
			t.Errorf("a report before there is a round: %v", told)
		}
		if told := p.say(`{"op":"sing"}`); told["error"] == nil {
			t.Errorf("another word: %v", told)
		}
		told := p.say(`{"op":"next"}`)
		if w, ok := told["weights"].([]any); !ok || len(w) != 1 || w[0] != .1 || told["round"] != 1. || told["kind"] != "train" || told["numbers"] != 1. ||
			told["deadline"] != float64(s.rounds[0].TrainBy.UnixMilli()) || told["local"].(map[string]any)["gamma"] != .99 {
			t.Errorf("the first round is %v", told)
		}
		if told := p.say(`{"op":"report","round":7,"vector":[1]}`); told["error"] == nil || told["state"] != nil {
			t.Errorf("a report on another round: %v", told)
		}
		if told := p.say(`{"op":"report","round":1,"vector":[1]}`); told["error"] != nil || told["state"] != "trained" || told["send_at"] == nil {
			t.Errorf("a good report: %v", told)
		}
		if told := p.say(`{"op":"report","round":1,"vector":[1]}`); told["error"] == nil {
			t.Errorf("a second report: %v", told)
		}
		time.Sleep(3 * time.Minute)
		s.open(time.Minute, time.Minute, nil)
		p.say(`{"op":"next"}`)
		if told := p.say(`{"op":"report","round":2,"vector":[NaN]}`); told["error"] == nil || told["state"] != nil {
			t.Errorf("a line that is no JSON: %v", told)
		}
		if told := p.say(`{"op":"report","round":2,"vector":[1e999]}`); told["error"] == nil || told["state"] != "trained" {
			t.Errorf("a number that is none: %v", told)
		}
		time.Sleep(3 * time.Minute)
		s.open(time.Minute, time.Minute, nil)
		p.say(`{"op":"next"}`)
		time.Sleep(61 * time.Second)
		if told := p.say(`{"op":"report","round":3,"vector":[1]}`); told["error"] == nil {
			t.Errorf("a late report: %v", told)
		}
		time.Sleep(3 * time.Minute)
		s.open(time.Minute, time.Minute, nil)
		p.say(`{"op":"next"}`)
		toAgent.Close() // in mid-round
		if err := <-done; err != nil {
			t.Errorf("the agent ended with %v", err)
		}
		for i, want := range []float64{1, 0, 0, 0} {
			r, got := s.rounds[i], make([]float64, 1)
			if err := r.Codec().Decode(got, s.body(r.Number), r.Seed(fleet.Nullifier(s.pseudonym, s.run.ID, r.Number))); err != nil {
				t.Fatal(err)
			}
			if math.Abs(got[0]-want) > .5 { // noise of scale 1/32
				t.Errorf("round %d reports %v; want %v", r.Number, got[0], want)
			}
		}
	})
}

// TestAProgramMayLookAtTheRunFirst: one that has no use for it leaves, and its device has met no round and paid nothing.
func TestAProgramMayLookAtTheRunFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, train.Randomizer{Mechanism: train.Laplace, Epsilon: 64, Clip: 2}, 1, []byte(`{"gamma":0.99}`))
		c := s.config(t.TempDir())
		c.Epsilon = 1000
		a := enrolled(t, s, c)
		defer a.Close()
		in, toAgent := io.Pipe()
		fromAgent, out := io.Pipe()
		l := device.NewStdio(in, out)
		go func() { _ = l.Serve(t.Context()) }()
		done := make(chan error)
		s.open(time.Minute, time.Minute, nil)
		go func() { done <- a.Run(t.Context(), s.services(), l) }()
		p := program{t, toAgent, bufio.NewScanner(fromAgent)}
		told := p.say(`{"op":"run"}`)
		if told["dimension"] != 1. || told["local"].(map[string]any)["gamma"] != .99 || told["run"] != fmt.Sprintf("%x", s.run.ID) || told["weights"] != nil {
			t.Errorf("the run is %v", told)
		}
		time.Sleep(10 * time.Minute) // the round is long over
		toAgent.Close()
		if err := <-done; err != nil {
			t.Errorf("the agent ended with %v", err)
		}
		if spent, err := a.Spent(t.Context()); err != nil || spent.Epsilon != 0 {
			t.Errorf("the device spent %v, %v", spent, err)
		}
	})
}

func TestTheEndOfARunIsTold(t *testing.T) {
	in, toAgent := io.Pipe()
	fromAgent, out := io.Pipe()
	l := device.NewStdio(in, out)
	go func() { _ = l.Serve(t.Context()) }()
	l.End()
	p := program{t, toAgent, bufio.NewScanner(fromAgent)}
	if told := p.say(`{"op":"next"}`); told["state"] != "ended" {
		t.Errorf("told %v", told)
	}
	toAgent.Close()
	<-l.Closed()
}

func FuzzRequest(f *testing.F) {
	for _, line := range []string{`{"op":"next"}`, `{"op":"report","round":1,"vector":[1,-2e9]}`, `{"op":"report"}{}`, `[]`} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		op, _, vector, err := device.ParseRequest(line)
		if err != nil {
			return
		}
		if op != "run" && op != "next" && op != "report" || !strings.Contains(string(line), "op") && !strings.Contains(strings.ToLower(string(line)), "op") && !strings.Contains(string(line), `\u`) {
			t.Errorf("%q is taken as %q", line, op)
		}
		for _, v := range vector {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%q has a number that is not finite", line)
			}
		}
	})
}
