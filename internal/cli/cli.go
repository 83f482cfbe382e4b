// Package cli is the command line: one file a command. Commands call package
// discreet and packages below it; they hold no logic of their own but reading
// arguments and printing.
//
// Results go to standard output, everything else to standard error. Exit codes:
// 0 done, 1 failed, 2 bad usage or input, 3 budget refused.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// The exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitInput  = 2
	exitBudget = 3
)

// Main runs the command line and returns the exit code. Ctrl-C cancels the
// context that commands run under.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	// A second Ctrl-C ends the process at once.
	context.AfterFunc(ctx, stop)
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "discreet: interrupted; nothing was released")
	case err != nil:
		fmt.Fprintf(stderr, "discreet: %v\n", err)
	}
	return exitCode(err)
}

func newRoot() *cobra.Command {
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
	root.Version = version()
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err) })
	root.AddCommand(newEvaluate(), newPlan(), newValidate(), newMethods(), newSimulate(), newReport(), newAccount(), newReproduce())
	return root
}

// version is that of the module, or the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return info.Main.Version
}

// usageError marks a command line that cannot be understood.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usage(err error) error { return usageError{err} }

// exactly wants n arguments.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usage(fmt.Errorf("%s: got %d arguments; want %s", cmd.CommandPath(), len(args), what))
		}
		return nil
	}
}

// printJSON writes one JSON object and a newline.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// exitCode maps an error to the code that scripts go by.
func exitCode(err error) int {
	if err == nil {
		return exitDone
	}
	if errors.As(err, &usageError{}) {
		return exitInput
	}
	for _, sentinel := range inputErrors() {
		if errors.Is(err, sentinel) {
			return exitInput
		}
	}
	return exitFailed
}
