package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/dp"
)

func newConvert() *cobra.Command {
	var from, to string
	cmd := &cobra.Command{
		Use:   "convert EVENT.json --from dp-accounting | --to dp-accounting",
		Short: "Events of the Python package dp-accounting, and back",
		Long: `Reads an event of the Python package dp-accounting 0.6.0 and prints it as an event, or the
other way round. docs/accounting.md has the form, and the script that writes and reads it in Python.
What has no counterpart is refused by name.`,
		Args: exactly(1, "one event file, or -"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (from == "dp-accounting") == (to == "dp-accounting") || from+to != "dp-accounting" {
				return usage(fmt.Errorf("account convert: --from is %q and --to is %q; want one of them, dp-accounting", from, to))
			}
			text, err := readInput(cmd, args[0])
			if err != nil {
				return err
			}
			if from != "" {
				e, err := dp.FromDPAccounting(text)
				if err != nil {
					return err
				}
				return printJSON(cmd.OutOrStdout(), e)
			}
			e, err := dp.ParseEvent(text)
			if err != nil {
				return err
			}
			out, err := dp.ToDPAccounting(e)
			if err != nil {
				return err
			}
			return printJSON(cmd.OutOrStdout(), json.RawMessage(out))
		},
	}
	f := cmd.Flags()
	f.StringVar(&from, "from", "", "what EVENT.json is: dp-accounting")
	f.StringVar(&to, "to", "", "what to print: dp-accounting")
	return cmd
}
