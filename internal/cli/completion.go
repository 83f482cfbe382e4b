package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newCompletion() *cobra.Command {
	return &cobra.Command{
		Use:       "completion bash|zsh|fish",
		Short:     "Print a script that completes commands and flags in a shell",
		ValidArgs: []string{"bash", "zsh", "fish"},
		Long: `Prints a script for a shell, which then completes commands and flags of discreet:

  bash   discreet completion bash > ~/.local/share/bash-completion/completions/discreet
  zsh    discreet completion zsh > DIR/_discreet, DIR a directory of $fpath
  fish   discreet completion fish > ~/.config/fish/completions/discreet.fish

bash needs the package bash-completion.`,
		Args: exactly(1, "bash, zsh or fish"),
		RunE: func(cmd *cobra.Command, args []string) error {
			w := cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return cmd.Root().GenBashCompletionV2(w, true)
			case "zsh":
				return cmd.Root().GenZshCompletion(w)
			case "fish":
				return cmd.Root().GenFishCompletion(w, true)
			}
			return usage(fmt.Errorf("no completion for %q; want bash, zsh or fish", args[0]))
		},
	}
}
