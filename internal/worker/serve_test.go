package worker

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// Example asks a worker to run one command.
func Example() {
	in := new(bytes.Buffer)
	_ = writeFrame(in, request{ID: 1, Args: []string{"greet"}, Bytes: 3}, []byte("ann"))
	out := new(bytes.Buffer)
	err := Serve(context.Background(), in, out, Host{Version: "1", Keep: memory, Run: func(_ context.Context, c Call, stdout, _ io.Writer) int {
		name, _ := io.ReadAll(c.Input)
		fmt.Fprintf(stdout, "%s, %s", c.Args[0], name)
		return 0
	}})
	fmt.Println(frames(out), err)
	// Output: [{"worker":1,"version":"1"} {"id":1,"exit":0,"stdout":10,"stderr":0}greet, ann] <nil>
}

// held is an input in memory.
type held struct{ *bytes.Reader }

func (h held) Begin() (io.Reader, error) { return h.Reader, nil }
func (held) End() error                  { return nil }

func memory(r io.Reader) (Input, error) {
	b, err := io.ReadAll(r)
	return held{bytes.NewReader(b)}, err
}

// frames splits a stream of answers.
func frames(r io.Reader) (out []string) {
	for {
		var size [4]byte
		if _, err := io.ReadFull(r, size[:]); err != nil {
			return out
		}
		text := make([]byte, binary.BigEndian.Uint32(size[:]))
		_, _ = io.ReadFull(r, text)
		var d struct{ Stdout, Stderr, Bytes int }
		_ = json.Unmarshal(text, &d)
		follows := make([]byte, d.Stdout+d.Stderr+d.Bytes)
		_, _ = io.ReadFull(r, follows)
		out = append(out, string(text)+string(follows))
	}
}

// talk is a caller of a worker.
type talk struct {
	t     *testing.T
	to    *io.PipeWriter
	from  *io.PipeReader
	ended chan error
}

func start(t *testing.T, run func(context.Context, Call, io.Writer, io.Writer) int) *talk {
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	c := &talk{t, inWrite, outRead, make(chan error, 1)}
	go func() {
		err := Serve(context.Background(), inRead, outWrite, Host{Keep: memory, Run: run})
		inRead.Close()
		outWrite.Close()
		c.ended <- err
	}()
	c.next()
	return c
}

func (c *talk) send(head any, follows ...[]byte) {
	c.t.Helper()
	if err := writeFrame(c.to, head, follows...); err != nil {
		c.t.Fatal(err)
	}
}

func (c *talk) next() (d struct {
	ID     int64           `json:"id"`
	Exit   int             `json:"exit"`
	Stdout int             `json:"stdout"`
	Ask    json.RawMessage `json:"ask"`
	Bytes  int             `json:"bytes"`
	text   string
}) {
	c.t.Helper()
	var size [4]byte
	if _, err := io.ReadFull(c.from, size[:]); err != nil {
		c.t.Fatal(err)
	}
	text := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(c.from, text); err != nil {
		c.t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		c.t.Fatal(err)
	}
	follows := make([]byte, d.Stdout+d.Bytes)
	if _, err := io.ReadFull(c.from, follows); err != nil {
		c.t.Fatal(err)
	}
	d.text = string(follows)
	return d
}

// echo prints what a call was given; "wait" waits until it is cancelled.
func echo(ctx context.Context, c Call, stdout, _ io.Writer) int {
	if c.Args[0] == "wait" {
		<-ctx.Done()
		fmt.Fprint(stdout, context.Cause(ctx))
		return 1
	}
	in, _ := io.ReadAll(c.Input)
	fmt.Fprintf(stdout, "%q %s %v", c.Args, in, ctx.Err())
	return 0
}

// A cancelled call leaves nothing to the next one, nor does the cancelling of one that was
// answered; nobody reads the input of another.
func TestACallLeavesNothingToTheNext(t *testing.T) {
	c := start(t, echo)
	c.send(request{ID: 1, Args: []string{"wait"}, Bytes: 6}, []byte("secret"))
	c.send(request{ID: 1, Cancel: true})
	if d := c.next(); d.ID != 1 || d.Exit != 1 || !strings.Contains(d.text, "cancelled") {
		t.Errorf("%+v", d)
	}
	for id := int64(2); id < 20; id++ {
		c.send(request{ID: id, Args: []string{"a"}})
		if d := c.next(); d.ID != id || d.text != `["a"]  <nil>` {
			t.Errorf("%+v", d)
		}
		c.send(request{ID: id, Cancel: true})
		c.send(request{ID: id, Reply: json.RawMessage("1"), Bytes: 8}, make([]byte, 8)) // late: of nobody
	}
	c.to.Close()
	if err := <-c.ended; err != nil {
		t.Error(err)
	}
}

// Cancelling ends the call of its number, and not the one that runs since.
func TestACallIsCancelledByItsOwnNumber(t *testing.T) {
	going := make(chan struct{})
	c := start(t, func(ctx context.Context, c Call, stdout, _ io.Writer) int {
		if c.Args[0] == "long" {
			<-going
		}
		fmt.Fprint(stdout, ctx.Err())
		return 0
	})
	c.send(request{ID: 1, Args: []string{"short"}})
	c.next()
	c.send(request{ID: 2, Args: []string{"long"}})
	c.send(request{ID: 1, Cancel: true})
	c.send(request{ID: 9, Cancel: true}) // when this is read, the one before was taken
	close(going)
	if d := c.next(); d.ID != 2 || d.text != "<nil>" {
		t.Errorf("%+v", d)
	}
}

// A call that runs when its caller goes is finished: it may have been charged. One that asks is
// told that nobody answers.
func TestACallerThatGoes(t *testing.T) {
	finished := make(chan error, 2)
	c := start(t, func(ctx context.Context, c Call, _, _ io.Writer) int {
		_, _, err := c.Ask("who?", nil) // until the worker has seen that the caller went
		finished <- err
		finished <- ctx.Err()
		return 0
	})
	c.send(request{ID: 1, Args: []string{"ask"}})
	c.next()
	c.to.Close()
	if err := <-finished; !errors.Is(err, errGone) {
		t.Errorf("%v; want errGone", err)
	}
	if err := <-finished; err != nil {
		t.Errorf("the context of a call whose caller went: %v", err)
	}
	c.next()
}

// What a call asks is answered with numbers; a call that is cancelled asks in vain.
func TestACallAsks(t *testing.T) {
	c := start(t, func(ctx context.Context, c Call, stdout, _ io.Writer) int {
		for {
			text, numbers, err := c.Ask(map[string]int{"round": 1}, []byte{1, 2})
			if err != nil {
				fmt.Fprintf(stdout, "%v", err)
				return 1
			}
			if string(text) == `"end"` {
				fmt.Fprintf(stdout, "%v", numbers)
				return 0
			}
		}
	})
	c.send(request{ID: 1, Args: []string{"x"}, Method: json.RawMessage(`{}`)})
	for i := range 3 {
		if d := c.next(); string(d.Ask) != `{"round":1}` || d.text != "\x01\x02" {
			t.Fatalf("%+v", d)
		}
		word := `"on"`
		if i == 2 {
			word = `"end"`
		}
		c.send(request{ID: 1, Reply: json.RawMessage(word), Bytes: 1}, []byte{7})
	}
	if d := c.next(); d.text != "[7]" {
		t.Errorf("%+v", d)
	}
	c.send(request{ID: 2, Args: []string{"x"}})
	c.next()
	c.send(request{ID: 2, Cancel: true})
	if d := c.next(); d.Exit != 1 || !strings.Contains(d.text, "cancelled") {
		t.Errorf("%+v", d)
	}
}

// A stream that holds no frame ends the worker with an error, whatever it holds.
func TestADamagedStreamIsRefused(t *testing.T) {
	frame := func(text string, follows ...byte) []byte {
		return slices.Concat(binary.BigEndian.AppendUint32(nil, uint32(len(text))), []byte(text), follows)
	}
	for name, stream := range map[string][]byte{
		"no length":            {0, 0},
		"a head of 4 GB":       {255, 255, 255, 255},
		"no head":              {0, 0, 0, 9},
		"no JSON":              frame("hello"),
		"a negative length":    frame(`{"id":1,"args":[],"bytes":-1}`),
		"input that is cut":    frame(`{"id":1,"args":["a"],"bytes":5}`, 1, 2),
		"a reply that is cut":  frame(`{"id":1,"reply":1,"bytes":5}`, 1, 2),
		"a head of other type": frame(`{"id":"one"}`),
	} {
		if err := Serve(context.Background(), bytes.NewReader(stream), io.Discard, Host{Keep: memory, Run: echo}); !errors.Is(err, ErrFrame) {
			t.Errorf("%s: %v; want ErrFrame", name, err)
		}
	}
}

// FuzzServe: whatever the bytes, a worker ends.
func FuzzServe(f *testing.F) {
	var b bytes.Buffer
	_ = writeFrame(&b, request{ID: 1, Args: []string{"a"}, Bytes: 2}, []byte("xy"))
	_ = writeFrame(&b, request{ID: 1, Cancel: true})
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		run := func(context.Context, Call, io.Writer, io.Writer) int { return 0 }
		err := Serve(context.Background(), bytes.NewReader(data), io.Discard, Host{Keep: memory, Run: run})
		if err != nil && !errors.Is(err, ErrFrame) {
			t.Fatal(err)
		}
	})
}
