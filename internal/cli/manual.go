package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/fault"
)

// The manual is made of the commands' own tables, so that it says what the commands
// take: pages for man, or the reference pages of the documentation.

func newManual() *cobra.Command {
	var out string
	var pages bool
	cmd := command("manual [--pages] -o DIR", "Write the manual: a page for man of each command, or the reference in Markdown",
		`Writes a page for man of each command into a directory, discreet.1, discreet-evaluate.1 and so on, which "man DIR/discreet.1" shows.
With --pages it writes command.md and methods.md, the reference pages of the documentation. Files of these names are replaced.`, exactly(0, "none"),
		func(cmd *cobra.Command, _ []string) error {
			if out == "" {
				return usage(errors.New("manual: --output is missing; name a directory"))
			}
			files := manPages(cmd.Root())
			if pages {
				files = referencePages(cmd.Root())
			}
			if err := os.MkdirAll(out, 0o755); err != nil {
				return fmt.Errorf("making the directory of the manual: %w", err)
			}
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(out, name), []byte(text), 0o644); err != nil {
					return fmt.Errorf("writing the manual: %w", err)
				}
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%d pages are in %s\n", len(files), out)
			return nil
		})
	cmd.Flags().BoolVar(&pages, "pages", false, "write the reference pages in Markdown")
	cmd.Flags().StringVarP(&out, "output", "o", "", "directory to write to; made where there is none")
	return cmd
}

// everyCommand calls visit for a command and all below it that people are shown. Cobra
// gives a command its flag --help when it is run; here all have it, so that a usage line is
// the same in every process.
func everyCommand(c *cobra.Command, visit func(*cobra.Command)) {
	c.InitDefaultHelpFlag()
	visit(c)
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			everyCommand(sub, visit)
		}
	}
}

// about is what a command says of itself.
func about(c *cobra.Command) string {
	if c.Long != "" {
		return strings.TrimSpace(c.Long)
	}
	return c.Short + "."
}

// flagsOf are the flags that a command takes, those of the commands above it included,
// but for those that every command takes.
func flagsOf(c *cobra.Command) []*pflag.Flag {
	var flags []*pflag.Flag
	add := func(f *pflag.Flag) {
		if f.Name != "help" && f.Name != "version" && !f.Hidden && (f.Name != messagesFlag || !c.HasParent()) {
			flags = append(flags, f)
		}
	}
	c.LocalFlags().VisitAll(add)
	c.InheritedFlags().VisitAll(add)
	return flags
}

// flagText is how a flag is written, and what it says, with its default.
func flagText(f *pflag.Flag) (form, text string) {
	value, text := pflag.UnquoteUsage(f)
	form = "--" + f.Name
	if f.Shorthand != "" {
		form = "-" + f.Shorthand + ", " + form
	}
	if value != "" {
		form += " " + value
	}
	switch f.DefValue {
	case "", "false", "0", "[]", "0s", "NaN": // nothing, or a value that has to be given
	default:
		text += " (default " + f.DefValue + ")"
	}
	return form, text
}

var exitMeanings = [...]string{fault.ExitDone: "done", fault.ExitFailed: "failed", fault.ExitInput: "bad usage or input", fault.ExitRefused: "refused by the budget's ledger",
	fault.ExitPartial: "nothing wrong was found, and not all could be checked (`verify`)"}

// manPages are the pages for man, by file name.
func manPages(root *cobra.Command) map[string]string {
	files := map[string]string{}
	everyCommand(root, func(c *cobra.Command) {
		name := strings.ReplaceAll(c.CommandPath(), " ", "-")
		files[name+".1"] = manPage(c, name)
	})
	return files
}

func manPage(c *cobra.Command, name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" %s \"discreet manual\"\n", roffArgument(strings.ToUpper(name)), roffArgument("discreet"))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roffText(name), roffText(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roffText(c.UseLine()))
	fmt.Fprintf(&b, ".SH DESCRIPTION\n.nf\n%s\n.fi\n", roffText(about(c)))
	if c.HasAvailableSubCommands() {
		b.WriteString(".SH COMMANDS\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roffText(sub.Name()), roffText(sub.Short))
			}
		}
	}
	if flags := flagsOf(c); len(flags) > 0 {
		b.WriteString(".SH OPTIONS\n")
		for _, f := range flags {
			form, text := flagText(f)
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roffText(form), roffText(text))
		}
	}
	b.WriteString(".SH EXIT STATUS\n")
	for code, means := range exitMeanings {
		fmt.Fprintf(&b, ".TP\n.B %d\n%s\n", code, means)
	}
	if c.HasParent() {
		fmt.Fprintf(&b, ".SH SEE ALSO\n.BR %s (1)\n", roffText(strings.ReplaceAll(c.Parent().CommandPath(), " ", "-")))
	}
	return b.String()
}

// roffText is a text in which roff reads nothing as its own: backslashes and hyphens
// are escaped, and lines begin with no control character.
func roffText(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

func roffArgument(text string) string {
	return `"` + strings.ReplaceAll(roffText(text), `"`, `\(dq`) + `"`
}

// made is the first line of a page that nobody is to edit.
const made = "<!-- Made by go generate ./internal/cli from the code; a test compares. -->\n\n"

// referencePages are the reference pages of the documentation, by file name.
func referencePages(root *cobra.Command) map[string]string {
	return map[string]string{"command.md": commandPage(root), "methods.md": methodsPage()}
}

func commandPage(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(made + "# The command\n\nEvery command with its flags, as `discreet COMMAND --help` prints them. `discreet manual -o DIR` writes the same as pages for man.\n\n")
	b.WriteString("| exit code | meaning |\n|---|---|\n")
	for code, means := range exitMeanings {
		fmt.Fprintf(&b, "| %d | %s |\n", code, means)
	}
	everyCommand(root, func(c *cobra.Command) {
		fmt.Fprintf(&b, "\n## %s\n\n```text\n%s\n```\n\n%s\n", c.CommandPath(), c.UseLine(), fenced(c))
		if flags := flagsOf(c); len(flags) > 0 {
			b.WriteString("\n| flag | meaning |\n|---|---|\n")
			for _, f := range flags {
				form, text := flagText(f)
				fmt.Fprintf(&b, "| `%s` | %s |\n", form, cell(text))
			}
		}
	})
	return b.String()
}

// fenced is what a command says of itself: as it is where its lines are laid out.
func fenced(c *cobra.Command) string {
	if strings.Contains(about(c), "\n") {
		return "```text\n" + about(c) + "\n```"
	}
	return cell(about(c))
}

func methodsPage() string {
	var b strings.Builder
	b.WriteString(made + "# Methods\n\nThe estimators, as `discreet methods` prints them: what each releases, what it assumes, and its parameters under `method:` of a configuration.\n")
	for _, m := range evaluate.Methods() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\nAssumes: %s\n", m.Name, cell(m.Releases), cell(m.Assumes))
		if len(m.Parameters) > 0 {
			b.WriteString("\n")
		}
		for _, p := range m.Parameters {
			fmt.Fprintf(&b, "- %s\n", cell(p))
		}
	}
	return b.String()
}

// cell is a text in which Markdown reads nothing as its own.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`, "[", `\[`, "\n", " ").Replace(text)
}
