package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

func newValidate() *cobra.Command {
	var schema, format, configuration string
	var overrides []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "validate DATA | validate --config CONFIG.yaml",
		Short: "Check data against the schema; for its curator, nothing is released",
		Long: `Check data, a file or a glob, against the canonical schema or the one in
--schema, or check the data of a configuration as evaluate would read it. The
first thing that is wrong is reported by file, row and column. What this prints
is for the curator of the data: counts are as private as the data itself.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (configuration == "") == (len(args) != 1) {
				return usage(fmt.Errorf("validate: want one file or glob, or --config"))
			}
			if configuration == "" && len(overrides) > 0 {
				return usage(fmt.Errorf("validate: --set overrides a key of a configuration; name one with --config"))
			}
			bar := newProgress(cmd.ErrOrStderr())
			v, err := validate(cmd, args, configuration, overrides, schema, format, bar.update)
			bar.done()
			return printSummary(cmd, v, err, asJSON)
		},
	}
	cmd.Flags().StringVar(&configuration, "config", "", "a configuration, whose data is read as evaluate would")
	cmd.Flags().StringArrayVar(&overrides, "set", nil, "override a key of the configuration, key.key=value")
	cmd.Flags().StringVar(&schema, "schema", "", "what the data must hold (YAML, see docs/data.md); the canonical schema by default")
	cmd.Flags().StringVar(&format, "format", "", "format of the data; by default the extension says it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON and nothing else")
	return cmd
}

func validate(cmd *cobra.Command, args []string, configuration string, overrides []string, schema, format string, progress func(trajectory.Progress)) (*discreet.Validation, error) {
	if configuration != "" {
		c, err := discreet.Load(configuration, overrides...)
		if err != nil {
			return nil, err
		}
		return discreet.Validate(cmd.Context(), c, discreet.WithProgress(progress))
	}
	o, err := loadSchema(schema)
	if err != nil {
		return nil, err
	}
	o.Progress = progress
	sum, err := file.Validate(cmd.Context(), args, format, o)
	return &discreet.Validation{Summary: sum}, err
}

// printSummary reports what was found. An error about the data is part of the
// JSON and the command's error as well.
func printSummary(cmd *cobra.Command, s *discreet.Validation, found error, asJSON bool) error {
	if s == nil {
		s = &discreet.Validation{}
	}
	if asJSON {
		out := map[string]any{
			"valid": found == nil, "files": s.Files, "episodes": s.Episodes, "rows": s.Rows,
			"notices": append([]string{}, s.Notices...), "not_used": append([]discreet.NotUsed{}, s.NotUsed...),
		}
		if s.Overview != nil {
			out["overview"] = s.Overview
		}
		if s.Unit == "" || s.Unit == evaluate.Person {
			out["persons"] = s.Persons
		}
		if found != nil {
			out["error"] = found.Error()
		}
		return errors.Join(found, printJSON(cmd.OutOrStdout(), out))
	}
	if found != nil {
		if s.Overview != nil {
			printOverview(cmd.OutOrStdout(), s.Overview)
		}
		return found
	}
	for _, n := range s.Notices {
		fmt.Fprintf(cmd.ErrOrStderr(), "notice: %s\n", n)
	}
	persons := many(s.Persons, "person") + ", "
	if s.Unit != "" && s.Unit != evaluate.Person {
		persons = "" // the units are the episodes, or rows, that follow
	}
	fmt.Fprintf(cmd.OutOrStdout(), "valid: %s%s, %s in %s (for the curator alone)\n", persons, many(s.Episodes, "episode"), many(s.Rows, "row"), many(s.Files, "file"))
	for _, n := range s.NotUsed {
		fmt.Fprintf(cmd.OutOrStdout(), "not used: %s: %s\n", many(n.Decisions, "decision"), n.Why)
	}
	if s.Overview != nil {
		printOverview(cmd.OutOrStdout(), s.Overview)
	}
	return nil
}
