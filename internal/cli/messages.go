package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/cwriter"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// messagesFlag says how notices and errors are written.
const messagesFlag = "messages"

// messages is the form of notices and errors: text or json.
type messages string

// Set implements [pflag.Value].
func (m *messages) Set(text string) error {
	if text != "text" && text != "json" {
		return errors.New("want text or json")
	}
	*m = messages(text)
	return nil
}

// String implements [pflag.Value].
func (m *messages) String() string { return string(*m) }

// Type implements [pflag.Value].
func (m *messages) Type() string { return "form" }

// inJSON reports whether other programs read what a command says.
func inJSON(cmd *cobra.Command) bool {
	return cmd.Root().PersistentFlags().Lookup(messagesFlag).Value.String() == "json"
}

// reader is whom a notice is for.
type reader string

const (
	// forCurator marks what tells of the data, and must not leave their curator.
	forCurator reader = "curator"
	forAnyone  reader = ""
)

// notify tells what is no error.
func notify(cmd *cobra.Command, whom reader, text string) {
	head := "notice"
	if whom != forAnyone {
		head += fmt.Sprintf(" (for the %s)", whom)
	}
	say(cmd, head, whom, text)
}

// warn tells of a choice that is allowed and rarely meant.
func warn(cmd *cobra.Command, text string) { say(cmd, "warning", forAnyone, text) }

func say(cmd *cobra.Command, head string, whom reader, text string) {
	if inJSON(cmd) {
		line, _ := json.Marshal(struct { // strings alone
			Notice string `json:"notice"`
			For    reader `json:"for,omitempty"`
		}{printable(text), whom})
		fmt.Fprintf(cmd.ErrOrStderr(), "%s\n", line)
		return
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", head, printable(text))
}

// errorJSON is the JSON form of an error. The message and the fault name places of
// the data and no value of them.
type errorJSON struct {
	Message     string       `json:"message"`
	Exit        int          `json:"exit"`
	Interrupted bool         `json:"interrupted,omitempty"`
	Fault       *faultJSON   `json:"fault,omitempty"`
	Refused     *refusedJSON `json:"refused,omitempty"`
	Pending     *pendingJSON `json:"pending,omitempty"`
}

// faultJSON is the first thing that is wrong with data.
type faultJSON struct {
	File    string `json:"file,omitempty"`
	Row     int    `json:"row,omitempty"`
	Element int    `json:"element,omitempty"`
	Column  string `json:"column,omitempty"`
	What    string `json:"what"`
	Remedy  string `json:"remedy,omitempty"`
}

// refusedJSON is what a ledger would have taken: one more charge of at most Epsilon
// at Delta, 0 where none fits.
type refusedJSON struct {
	Dataset string  `json:"dataset"`
	Analyst string  `json:"analyst,omitempty"`
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

// pendingJSON is a charge of which no release came.
type pendingJSON struct {
	Dataset string `json:"dataset"`
	Entry   int64  `json:"entry"`
	Key     string `json:"key"`
}

func tellJSON(w io.Writer, err error) error {
	if err == nil {
		return nil
	}
	out := errorJSON{Message: wording(err), Exit: fault.Exit(err), Interrupted: errors.Is(err, context.Canceled)}
	var fault *trajectory.InputError
	if errors.As(err, &fault) {
		out.Fault = &faultJSON{printable(fault.File), fault.Row, fault.Element, printable(fault.Column), fault.What, fault.Remedy}
	}
	var refused *ledger.RefusedError
	if errors.As(err, &refused) {
		out.Refused = &refusedJSON{refused.Dataset, refused.Analyst, refused.Epsilon, refused.Delta}
	}
	var pending *ledger.PendingError
	if errors.As(err, &pending) {
		out.Pending = &pendingJSON{pending.Dataset, pending.Seq, pending.Key}
	}
	return json.NewEncoder(w).Encode(map[string]errorJSON{"error": out})
}

// progress shows how far reading has come, on a terminal. Elsewhere it is
// silent, so that logs stay clean.
type progress struct {
	bars *mpb.Progress
	bar  *mpb.Bar
	file int
}

func newProgress(w io.Writer) *progress {
	if !terminal(w) {
		return &progress{}
	}
	return &progress{bars: mpb.New(mpb.WithOutput(w), mpb.WithWidth(40)), file: -1}
}

// terminal says that people see what is written, or write what is read.
func terminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && cwriter.IsTerminal(int(f.Fd()))
}

// ticker writes how far a run has come: in place on a terminal, elsewhere a line every ten
// seconds and one at the end.
type ticker struct {
	w    io.Writer
	last time.Time
	open bool // the cursor is behind a line that is to be written over
}

// due says whether it is time for a line.
func (t *ticker) due(end bool) bool {
	every := 10 * time.Second
	if terminal(t.w) {
		every = 200 * time.Millisecond
	}
	if !end && time.Since(t.last) < every {
		return false
	}
	t.last = time.Now()
	return true
}

func (t *ticker) write(line string) {
	if t.open = terminal(t.w); t.open {
		fmt.Fprintf(t.w, "\r\x1b[K%s", line)
	} else {
		fmt.Fprintln(t.w, line)
	}
}

// end leaves the last line as it is.
func (t *ticker) end() {
	if t.open {
		fmt.Fprintln(t.w)
		t.open = false
	}
}

func (p *progress) update(at trajectory.Progress) {
	if p.bars == nil {
		return
	}
	if at.Index != p.file {
		p.finish()
		p.file = at.Index
		p.bar = p.bars.AddBar(at.Size,
			mpb.BarRemoveOnComplete(),
			mpb.PrependDecorators(decor.Name(fmt.Sprintf("reading %d/%d ", at.Index+1, at.Files))),
			mpb.AppendDecorators(decor.AverageETA(decor.ET_STYLE_GO)))
	}
	p.bar.SetCurrent(at.Bytes)
}

// finish ends a bar wherever it stands: nobody fills the rest of one where reading was ended by
// a fault or a signal.
func (p *progress) finish() {
	if p.bar != nil {
		p.bar.Abort(true)
	}
}

// done takes the bars off the screen.
func (p *progress) done() {
	if p.bars == nil {
		return
	}
	p.finish()
	p.bars.Wait()
}
