package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/internal/draft"
	"github.com/discreet-rl/discreet/internal/source"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

func newInit() *cobra.Command {
	var out, format string
	var yes bool
	cmd := command("init DATA", "Write a commented configuration for data, from the names and types of their columns",
		`Write a commented configuration for data, a file or a glob. It is made from the
names and types of the columns, and holds nothing else of the data. What must
come from public knowledge is left open as FILL IN, which evaluate refuses. On a
terminal it asks for it; --yes takes the columns that are likely by their names.`, exactly(1, "one file or glob"),
		func(cmd *cobra.Command, args []string) error {
			of, err := file.Describe(cmd.Context(), args, format)
			if err != nil {
				return err
			}
			path, err := relative(filepath.Dir(out), args[0])
			if err != nil {
				return err
			}
			var answers draft.Answers
			switch {
			case yes:
				answers = draft.Proposed(of)
			case terminal(cmd.InOrStdin()):
				answers = draft.Ask(cmd.InOrStdin(), cmd.OutOrStdout(), of, func(column string) string { return unique(cmd.Context(), of, column) })
			}
			if err := writeNew(out, 0o644, draft.Configuration(path, format, of, answers)); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: fill in what is open, from public knowledge, then run discreet validate --config %[1]s\n", out)
			return nil
		})
	cmd.Flags().StringVarP(&out, "output", "o", "evaluate.yaml", "the configuration to write; a new file")
	cmd.Flags().BoolVar(&yes, "yes", false, "ask nothing")
	cmd.Flags().StringVar(&format, "format", "", "format of the data; by default the extension says it")
	return cmd
}

// unique says how many values a column of ids has, "" where it cannot be read as ids.
func unique(ctx context.Context, of *file.Description, column string) string {
	values, rows, err := of.Distinct(ctx, column)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("has %d values in %d rows, of the first file", values, rows)
}

// relative is a path as a configuration in a directory writes it.
func relative(dir, path string) (string, error) {
	if filepath.IsAbs(path) || source.Remote(path) {
		return path, nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	path, err = filepath.Rel(dir, path)
	return filepath.ToSlash(path), err
}
