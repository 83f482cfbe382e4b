package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/discreet-rl/discreet/internal/atomicfile"
)

// oneConfiguration are the arguments of a command that reads one.
var oneConfiguration = exactly(1, "one configuration")

// command is one that takes arguments and does something.
func command(use, short, long string, args cobra.PositionalArgs, run func(*cobra.Command, []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Long: long, Args: args, RunE: run}
}

// family is a command that is there for those below it.
func family(use, short, long string, below ...*cobra.Command) *cobra.Command {
	cmd := command(use, short, long, noOther, func(cmd *cobra.Command, _ []string) error { return cmd.Help() })
	cmd.AddCommand(below...)
	return cmd
}

// jsonFlag lets a command print JSON in place of words: "JSON", or such as "the plan as JSON".
func jsonFlag(cmd *cobra.Command, what string) {
	cmd.Flags().Bool("json", false, "print "+what+" and nothing else")
}

// wantsJSON says that --json was given.
func wantsJSON(cmd *cobra.Command) bool { return cmd.Flags().Lookup("json").Value.String() == "true" }

// show prints what a command found: as JSON, or in words.
func show(cmd *cobra.Command, found any, words string, args ...any) error {
	return showBy(cmd, found, func(w io.Writer) { fmt.Fprintf(w, words, args...) })
}

// showBy is show for words that take more than a format. An error of the output is told when the
// command has ended.
func showBy(cmd *cobra.Command, found any, print func(io.Writer)) error {
	if wantsJSON(cmd) {
		return printJSON(cmd.OutOrStdout(), found)
	}
	print(cmd.OutOrStdout())
	return nil
}

// words is where a command tells in words what it finds: nowhere, if it prints JSON.
func words(cmd *cobra.Command) io.Writer {
	if wantsJSON(cmd) {
		return io.Discard
	}
	return cmd.OutOrStdout()
}

// given counts the flags that were given, of some.
func given(cmd *cobra.Command, names ...string) int {
	n := 0
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			n++
		}
	}
	return n
}

// setFlag lets a command override keys of its configuration.
func setFlag(cmd *cobra.Command) {
	cmd.Flags().StringArray("set", nil, "override a key of the configuration, key.key=value")
}

// overrides are what --set was given.
func overrides(cmd *cobra.Command) []string {
	return cmd.Flags().Lookup("set").Value.(pflag.SliceValue).GetSlice()
}

// readInput reads a file that the command line names, or - for standard input.
func readInput(cmd *cobra.Command, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(cmd.InOrStdin())
	}
	return readNamed(name)
}

// readNamed reads a file that the command line names.
func readNamed(name string) ([]byte, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, usage(err)
	}
	return text, nil
}

// writeNew is newFile for a text.
func writeNew(path string, mode fs.FileMode, text []byte) error {
	return newFile(path, mode, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// newFile writes a file that must not exist yet: a slip in a command line must not
// cost a ledger, a key or a release. Under its name is the whole file or nothing.
func newFile(path string, mode fs.FileMode, write func(io.Writer) error) error {
	err := atomicfile.Create(path, mode, write)
	var place *fs.PathError
	switch {
	case errors.Is(err, fs.ErrExist):
		return usage(fmt.Errorf("%s exists and is not overwritten; choose another name, or remove it", path))
	case errors.Is(err, fs.ErrNotExist):
		return usage(fmt.Errorf("%s: the directory %s does not exist; make it, or choose another name", path, filepath.Dir(path)))
	case errors.As(err, &place) && place.Op == "open": // no such directory, or not ours
		return usage(err)
	}
	return err
}

// decimal is a flag that holds a number as people write it. Go's own reading takes 1_0 for
// 10, 0470 for 312 and 0x1p3 for 8: a slip in a budget would pass for another one.
type decimal struct{ pflag.Value }

var errDecimal = errors.New("write a decimal number without underscores, leading zeros or another base")

// Set implements [pflag.Value].
func (d decimal) Set(text string) error {
	digits := strings.TrimLeft(text, "+-")
	led := len(digits) > 1 && digits[0] == '0' && !strings.ContainsRune(".eE", rune(digits[1]))
	if led || strings.Contains(text, "_") {
		return errDecimal
	}
	return d.Value.Set(text)
}

// decimals makes every number among the flags of a command, and of those below it, one.
func decimals(cmd *cobra.Command) {
	each := func(f *pflag.Flag) {
		switch f.Value.Type() {
		case "float64", "int", "int32", "int64", "uint", "uint32", "uint64":
			if _, already := f.Value.(decimal); !already {
				f.Value = decimal{f.Value}
			}
		}
	}
	cmd.Flags().VisitAll(each)
	cmd.PersistentFlags().VisitAll(each)
	for _, sub := range cmd.Commands() {
		decimals(sub)
	}
}
