package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// messagesFlag says how notices and errors are written.
const messagesFlag = "messages"

// messages is the form of notices and errors: text, the zero value, or json.
type messages bool

// Set implements [pflag.Value].
func (m *messages) Set(text string) error {
	switch text {
	case "text", "json":
		*m = text == "json"
		return nil
	}
	return errors.New("want text or json")
}

// String implements [pflag.Value].
func (m *messages) String() string {
	if *m {
		return "json"
	}
	return "text"
}

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

// noticeJSON is the JSON form of a notice.
type noticeJSON struct {
	Notice string `json:"notice"`
	For    reader `json:"for,omitempty"`
}

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
		line, _ := json.Marshal(noticeJSON{printable(text), whom}) // strings alone
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
	File   string `json:"file,omitempty"`
	Row    int    `json:"row,omitempty"`
	Column string `json:"column,omitempty"`
	What   string `json:"what"`
	Remedy string `json:"remedy,omitempty"`
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

// tellJSON writes an error for other programs.
func tellJSON(w io.Writer, err error) error {
	if err == nil {
		return nil
	}
	out := errorJSON{Message: wording(err), Exit: fault.Exit(err), Interrupted: errors.Is(err, context.Canceled)}
	var fault *trajectory.InputError
	if errors.As(err, &fault) {
		out.Fault = &faultJSON{printable(fault.File), fault.Row, printable(fault.Column), fault.What, fault.Remedy}
	}
	var refused *ledger.RefusedError
	if errors.As(err, &refused) {
		out.Refused = &refusedJSON{refused.Dataset, refused.Analyst, refused.Epsilon, refused.Delta}
	}
	var pending *discreet.PendingError
	if errors.As(err, &pending) {
		out.Pending = &pendingJSON{pending.Dataset, pending.Seq, pending.Key}
	}
	return json.NewEncoder(w).Encode(map[string]errorJSON{"error": out})
}
