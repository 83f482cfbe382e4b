package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/report"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

func newValidate() *cobra.Command {
	var schema, format, configuration, page string
	var overrides []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "validate DATA | validate CONFIG.yaml",
		Short: "Check data against the schema; for its curator, nothing is released",
		Long: `Check data, a file or a glob, against the canonical schema or the one in
--schema, or check the data of a configuration (a file named .yaml or .yml, or
--config) as evaluate would read it. What is wrong is reported all at once: the first 20 faults by file, row and column,
and how many there are of each kind. What this prints is for the curator of the
data: counts are as private as the data itself.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if configuration == "" && len(args) == 1 && isConfiguration(args[0]) {
				configuration, args = args[0], nil
			}
			if (configuration == "") == (len(args) != 1) {
				return usage(fmt.Errorf("validate: want one file or glob of data, or one configuration"))
			}
			if configuration != "" && (schema != "" || format != "") {
				return usage(fmt.Errorf("validate: --schema and --format are for data without a configuration; write data.columns and data.format into %s", configuration))
			}
			if configuration == "" && len(overrides) > 0 {
				return usage(fmt.Errorf("validate: --set overrides a key of a configuration; name one with --config"))
			}
			if _, err := os.Lstat(page); page != "" && err == nil { // before the data are read
				return usage(fmt.Errorf("%s exists and is not overwritten; choose another name, or remove it", page))
			}
			bar := newProgress(cmd.ErrOrStderr())
			v, err := validate(cmd, args, configuration, overrides, schema, format, bar.update)
			bar.done()
			told := printSummary(cmd, v, err, asJSON)
			if page == "" || v == nil { // nothing was looked at
				return told
			}
			err = writeLook(page, cmp.Or(configuration, strings.Join(args, " ")), v, err)
			if err == nil && !asJSON {
				fmt.Fprintf(cmd.OutOrStdout(), "written   %s\n", page)
			}
			return errors.Join(told, err)
		},
	}
	cmd.Flags().StringVar(&configuration, "config", "", "a configuration, whose data is read as evaluate would")
	cmd.Flags().StringArrayVar(&overrides, "set", nil, "override a key of the configuration, key.key=value")
	cmd.Flags().StringVar(&schema, "schema", "", "what the data must hold (YAML, see docs/data.md); the canonical schema by default")
	cmd.Flags().StringVar(&format, "format", "", "format of the data; by default the extension says it")
	cmd.Flags().StringVar(&page, "html", "", "a page to write as well, for the curator alone; a new file")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON and nothing else")
	return cmd
}

// isConfiguration tells a configuration from data by its name: no format of data has
// this extension.
func isConfiguration(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".yaml" || ext == ".yml"
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
	o.Progress, o.Faults = progress, toldFaults
	sum, err := file.Validate(cmd.Context(), args, format, o)
	if err != nil && strings.Contains(err.Error(), "data.") {
		sum.Notices = append(sum.Notices, "keys data.… belong into a configuration (discreet init drafts one) that validate --config reads; a file for --schema holds columns, one_row_episodes, multiline, observations, need, reward, missing and means without data. before them (docs/data.md)")
	}
	return &discreet.Validation{Summary: sum}, err
}

// writeLook writes the page of what was found. Only its owner may read it.
func writeLook(path, of string, v *discreet.Validation, found error) error {
	l := report.Look{Of: of, Summary: v.Summary, Unit: v.Unit, Rule: v.Rule, Overview: v.Overview, Found: found}
	for _, n := range v.NotUsed {
		l.NotUsed = append(l.NotUsed, many(n.Decisions, "decision")+": "+n.Why)
	}
	return newFile(path, 0o600, func(w io.Writer) error { return report.WriteLook(w, l) })
}

// toldFaults is how many faults of the data are told with their rows at once.
const toldFaults = 20

// addFaults adds the faults of rows and columns, those with their places and the
// number of each kind.
func addFaults(out map[string]any, found error) {
	var several *trajectory.FaultsError
	if !errors.As(found, &several) {
		var one *trajectory.InputError
		if !errors.As(found, &one) {
			return
		}
		several = &trajectory.FaultsError{First: []*trajectory.InputError{one}, Kinds: []trajectory.FaultKind{{Column: one.Column, What: one.What, Faults: 1}}, Total: 1}
	}
	var faults []map[string]any
	for _, f := range several.First {
		faults = append(faults, map[string]any{"file": f.File, "row": f.Row, "column": f.Column, "what": f.What, "remedy": f.Remedy})
	}
	out["faults"], out["kinds"] = faults, kindsJSON(several.Kinds)
}

func kindsJSON(kinds []trajectory.FaultKind) []map[string]any {
	var out []map[string]any
	for _, k := range kinds {
		out = append(out, map[string]any{"column": k.Column, "what": k.What, "faults": k.Faults})
	}
	return out
}

// printSummary reports what was found. An error about the data is part of the
// JSON and the command's error as well.
func printSummary(cmd *cobra.Command, s *discreet.Validation, found error, asJSON bool) error {
	if s == nil {
		s = &discreet.Validation{}
	}
	if asJSON {
		out := map[string]any{
			"valid": found == nil, "files": s.Files, "episodes": s.Episodes, "rows": s.Rows, "records": s.Records,
			"notices": append([]string{}, s.Notices...), "not_used": append([]discreet.NotUsed{}, s.NotUsed...),
			"repaired": map[string]any{"rewards": s.Repaired.Rewards, "observations": s.Repaired.Observations, "episodes_left_out": s.Repaired.Episodes, "kinds": append([]map[string]any{}, kindsJSON(s.Repaired.Kinds)...)},
		}
		if s.Whole && s.Lines > 0 {
			out["lines"] = s.Lines
		}
		if s.Overview != nil {
			out["overview"] = s.Overview
		}
		if s.Unit == "" || s.Unit == evaluate.Person {
			out["persons"] = s.Persons
		}
		if found != nil {
			out["error"] = found.Error()
			addFaults(out, found)
		}
		return errors.Join(found, printJSON(cmd.OutOrStdout(), out))
	}
	for _, n := range s.Notices {
		notify(cmd, forAnyone, n)
	}
	if found != nil {
		if s.Overview != nil {
			printOverview(cmd.OutOrStdout(), s.Overview)
		}
		return found
	}
	persons := many(s.Persons, "person") + ", "
	if s.Unit != "" && s.Unit != evaluate.Person {
		persons = "" // the units are the episodes, or rows, that follow
	}
	fmt.Fprintf(cmd.OutOrStdout(), "valid: %s%s, %s in %s (for the curator alone)\n", persons, many(s.Episodes, "episode"), many(s.Rows, "row"), many(s.Files, "file"))
	if s.Lines > 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "lines  %d, with %s beside header and empty lines\n", s.Lines, many(s.Records, "record"))
	}
	for _, n := range s.NotUsed {
		fmt.Fprintf(cmd.OutOrStdout(), "not used: %s: %s\n", many(n.Decisions, "decision"), printable(n.Why))
	}
	printLeftOut(cmd.OutOrStdout(), s.Repaired)
	if s.Overview != nil {
		printOverview(cmd.OutOrStdout(), s.Overview)
	}
	return nil
}

// printLeftOut lists the first reasons to leave out an episode and, where there are
// more, the number of each kind.
func printLeftOut(w io.Writer, r trajectory.Repaired) {
	for _, err := range r.First {
		fmt.Fprintf(w, "left out: the episode of %s\n", printable(err.Error()))
	}
	total := 0
	for _, k := range r.Kinds {
		total += k.Faults
	}
	if total == len(r.First) {
		return
	}
	fmt.Fprintf(w, "left out: and for %d more reasons; in all, of %s:\n", total-len(r.First), many(r.Episodes, "episode"))
	for _, k := range r.Kinds {
		fmt.Fprintf(w, "%8d  %s\n", k.Faults, printable(k.String()))
	}
}
