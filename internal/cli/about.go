package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/buildinfo"
)

func newMethods() *cobra.Command {
	cmd := command("methods", "Estimators with their assumptions and parameters", "", exactly(0, "none"),
		func(cmd *cobra.Command, _ []string) error {
			methods := evaluate.Methods()
			return showBy(cmd, map[string]any{"methods": methods}, func(w io.Writer) {
				for _, m := range methods {
					fmt.Fprintf(w, "%-9s %s\n          %s\n", m.Name, m.Releases, m.Assumes)
					for _, p := range m.Parameters {
						fmt.Fprintf(w, "          - %s\n", p)
					}
				}
			})
		})
	jsonFlag(cmd, "JSON")
	return cmd
}

func newVersion() *cobra.Command {
	cmd := command("version", "Version of the module, commit, and the Go that built it", "", exactly(0, "none"),
		func(cmd *cobra.Command, _ []string) error {
			this := buildinfo.This()
			if wantsJSON(cmd) {
				return printJSON(cmd.OutOrStdout(), this)
			}
			_, err := fmt.Fprint(cmd.OutOrStdout(), this.Lines("discreet"))
			return err
		})
	jsonFlag(cmd, "JSON")
	return cmd
}

func newCompletion() *cobra.Command {
	cmd := command("completion bash|zsh|fish", "Print a script that completes commands and flags in a shell",
		`Prints a script for a shell, which then completes commands and flags of discreet:

  bash   discreet completion bash > ~/.local/share/bash-completion/completions/discreet
  zsh    discreet completion zsh > DIR/_discreet, DIR a directory of $fpath
  fish   discreet completion fish > ~/.config/fish/completions/discreet.fish

bash needs the package bash-completion.`, exactly(1, "bash, zsh or fish"),
		func(cmd *cobra.Command, args []string) error {
			switch w, root := cmd.OutOrStdout(), cmd.Root(); args[0] {
			case "bash":
				return root.GenBashCompletionV2(w, true)
			case "zsh":
				return root.GenZshCompletion(w)
			case "fish":
				return root.GenFishCompletion(w, true)
			}
			return usage(fmt.Errorf("no completion for %q; want bash, zsh or fish", args[0]))
		})
	cmd.ValidArgs = []string{"bash", "zsh", "fish"}
	return cmd
}
