package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/internal/config"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

func newValidate() *cobra.Command {
	var schema, format string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "validate DATA",
		Short: "Check data against the schema; for its curator, nothing is released",
		Long: `Check data, a file or a glob, against the canonical schema or the one in
--schema. The first thing that is wrong is reported by file, row and column.
What this prints is for the curator of the data: counts are as private as the
data itself.`,
		Args: exactly(1, "one file or glob"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := config.LoadSchema(schema)
			if err != nil {
				return err
			}
			bar := newProgress(cmd.ErrOrStderr())
			o.Progress = bar.update
			sum, err := file.Validate(cmd.Context(), args, format, o)
			bar.done()
			if err != nil {
				return err
			}
			return printSummary(cmd, sum, asJSON)
		},
	}
	cmd.Flags().StringVar(&schema, "schema", "", "what the data must hold (YAML); the canonical schema by default")
	cmd.Flags().StringVar(&format, "format", "", "csv or parquet; by default the extension says it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON and nothing else")
	return cmd
}

func printSummary(cmd *cobra.Command, s file.Summary, asJSON bool) error {
	if asJSON {
		return printJSON(cmd.OutOrStdout(), map[string]any{
			"valid": true, "files": s.Files, "persons": s.Persons, "episodes": s.Episodes, "rows": s.Rows, "notices": s.Notices,
		})
	}
	for _, n := range s.Notices {
		fmt.Fprintf(cmd.ErrOrStderr(), "notice: %s\n", n)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "valid: %d persons, %d episodes, %d rows in %d files (for the curator alone)\n", s.Persons, s.Episodes, s.Rows, s.Files)
	return nil
}
