// Package cli is the command line: a file a command, or a few that belong together, and
// command.go with what they share. Commands call package discreet and packages below it;
// they hold no logic of their own but reading arguments and printing.
//
// Results go to standard output, everything else to standard error. Exit codes:
// 0 done, 1 failed, 2 bad usage or input, 3 refused by the budget's ledger, 4 nothing
// wrong was found and not all could be checked.
package cli

//go:generate go run ../../cmd/discreet manual --pages -o ../../docs/reference

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/buildinfo"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/source"
)

// Main runs the command line and returns the exit code. Ctrl-C, and the signal
// that ends a service, cancel the context that commands run under. A program that links
// more than discreet does brings its engines.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, more ...Engine) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	return execute(ctx, args, stdin, stdout, stderr, more...)
}

// execute runs a command line under a context.
func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, more ...Engine) int {
	for _, e := range more {
		if e.Store != nil {
			ctx = source.With(ctx, e.Store)
		}
	}
	root := newRoot(more...)
	root.SetArgs(args)
	root.SetIn(stdin)
	out := &sticky{Writer: stdout}
	root.SetOut(out)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil && out.err != nil {
		err = fmt.Errorf("the output could not be written whole: %w; the command itself was done", out.err)
	}
	if inJSON(root) {
		err = errors.Join(err, tellJSON(stderr, err))
	} else {
		tell(stderr, err)
	}
	return fault.Exit(err)
}

// errNothing marks an interrupt before anything was charged or released.
var errNothing = errors.New("interrupted; nothing was released")

func tell(w io.Writer, err error) {
	if err != nil {
		fmt.Fprintf(w, "discreet: %s\n", wording(err))
	}
}

func wording(err error) string {
	var pending *ledger.PendingError
	switch {
	case errors.As(err, &pending), errors.Is(err, ledger.ErrUnknown), errors.Is(err, discreet.ErrNotWritten):
		// Interrupted or not: what matters is that budget is gone, or may be.
		return fault.Words(err)
	case errors.Is(err, errNothing):
		return errNothing.Error()
	case errors.Is(err, context.Canceled):
		return "interrupted"
	}
	return strings.TrimPrefix(fault.Words(err), "discreet ")
}

// printable is a text with nothing in it that would steer a terminal: an error may
// quote a file that somebody else wrote.
func printable(text string) string { return fault.Printable(text) }

func newRoot(more ...Engine) *cobra.Command {
	root := &cobra.Command{
		Use:           "discreet",
		Short:         "Reinforcement learning on people's data with proven privacy",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage(fmt.Errorf("unknown command %q; run discreet --help", args[0]))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.Version = discreet.Version()
	root.SetVersionTemplate(buildinfo.This().Lines("discreet"))
	form := messages("text")
	root.PersistentFlags().Var(&form, messagesFlag, "text, or json: what goes to standard error as JSON objects, one a line (docs/configuration.md)")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if cmd.HasSubCommands() { // a flag of a command that there is not
			if unknown := cmd.ValidateArgs(cmd.Flags().Args()); unknown != nil {
				err = unknown
			}
		}
		return usage(err)
	})
	root.AddCommand(newInit(), newEvaluate(more), newLearn(), newPlan(), newValidate(), newMethods(), newSimulate(), newReport(), newAccount(), newReproduce(), newTrain(), newLedger(), newVerify(), newAudit(), newImport(), newShard(more), newPartial(), newMerge(), newServe(), newRemote(), newFleet(), newHealth(), newVersion(), newCompletion(), newManual(), newWorker(more))
	for _, e := range more {
		root.AddCommand(e.Commands...)
	}
	decimals(root)
	return root
}

// classed is an error of a class of its own, whatever it wraps.
type classed struct {
	error
	class fault.Class
}

func (e classed) Unwrap() error { return e.error }

// Fault implements [fault.Marked].
func (e classed) Fault() fault.Class { return e.class }

// usage marks a command line that cannot be understood.
func usage(err error) error { return classed{err, fault.InputFault} }

// exactly wants n arguments.
func exactly(n int, what string) cobra.PositionalArgs { return between(n, n, what) }

// between wants so many arguments.
func between(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usage(fmt.Errorf("%s: got %d arguments; want %s", cmd.CommandPath(), len(args), what))
		}
		return nil
	}
}

// noOther are the arguments of a command that is there for those below it.
func noOther(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage(fmt.Errorf("%s: unknown command %q; run %s --help", strings.TrimPrefix(cmd.CommandPath(), "discreet "), args[0], cmd.CommandPath()))
	}
	return nil
}

// printJSON writes one JSON object and a newline.
func printJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escaped(b.Bytes()))
	return err
}

// escaped is JSON whose strings hold nothing that would steer a terminal: they hold the
// same characters, escaped. The encoder leaves those beyond ASCII as they are.
func escaped(text []byte) []byte {
	if bytes.IndexFunc(text, steers) < 0 {
		return text
	}
	var out []byte
	for _, r := range string(text) {
		if !steers(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}

func steers(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }
