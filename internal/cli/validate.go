package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/evaluate/overview"
	"github.com/discreet-rl/discreet/internal/report"
	"github.com/discreet-rl/discreet/internal/scan"
	"github.com/discreet-rl/discreet/internal/spec"
	"github.com/discreet-rl/discreet/internal/yamlfile"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

func newValidate() *cobra.Command {
	var schema, format, configuration, page string
	cmd := command("validate DATA | validate CONFIG.yaml", "Check data against the schema; for its curator, nothing is released",
		`Check data, a file or a glob, against the canonical schema or the one in
--schema, or check the data of a configuration (a file named .yaml or .yml, or
--config) as evaluate would read it. What is wrong is reported all at once: the first 20 faults by file, row and column,
and how many there are of each kind. What this prints is for the curator of the
data: counts are as private as the data itself.`, nil,
		func(cmd *cobra.Command, args []string) error {
			if configuration == "" && len(args) == 1 && isConfiguration(args[0]) {
				configuration, args = args[0], nil
			}
			switch {
			case (configuration == "") == (len(args) != 1):
				return usage(errors.New("validate: want one file or glob of data, or one configuration"))
			case configuration != "" && (schema != "" || format != ""):
				return usage(fmt.Errorf("validate: --schema and --format are for data without a configuration; write data.columns and data.format into %s", configuration))
			case configuration == "" && len(overrides(cmd)) > 0:
				return usage(errors.New("validate: --set overrides a key of a configuration; name one with --config"))
			}
			if _, err := os.Lstat(page); page != "" && err == nil { // before the data are read
				return usage(fmt.Errorf("%s exists and is not overwritten; choose another name, or remove it", page))
			}
			bar := newProgress(cmd.ErrOrStderr())
			v, err := validate(cmd, args, configuration, schema, format, bar.update)
			bar.done()
			told := printSummary(cmd, v, err)
			if page == "" || v == nil { // nothing was looked at
				return told
			}
			err = writeLook(page, cmp.Or(configuration, strings.Join(args, " ")), v, err)
			if err == nil && !wantsJSON(cmd) {
				fmt.Fprintf(cmd.OutOrStdout(), "written   %s\n", page)
			}
			return errors.Join(told, err)
		})
	cmd.Flags().StringVar(&configuration, "config", "", "a configuration, whose data is read as evaluate would")
	setFlag(cmd)
	cmd.Flags().StringVar(&schema, "schema", "", "what the data must hold (YAML, see docs/data.md); the canonical schema by default")
	cmd.Flags().StringVar(&format, "format", "", "format of the data; by default the extension says it")
	cmd.Flags().StringVar(&page, "html", "", "a page to write as well, for the curator alone; a new file")
	jsonFlag(cmd, "JSON")
	return cmd
}

// isConfiguration tells a configuration from data by its name: no format of data has
// this extension.
func isConfiguration(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".yaml" || ext == ".yml"
}

func validate(cmd *cobra.Command, args []string, configuration, schema, format string, progress func(trajectory.Progress)) (*scan.Validation, error) {
	if configuration != "" {
		c, err := load(cmd, configuration, overrides(cmd)...)
		if err == nil {
			err = fromStandardInput(cmd, &c)
		}
		if err != nil {
			return nil, err
		}
		return scan.Validate(cmd.Context(), c, progress)
	}
	o, err := loadSchema(schema)
	if err != nil {
		return nil, err
	}
	o.Progress, o.Faults = progress, toldFaults
	if len(args) == 1 && args[0] == piped {
		path, err := received(cmd, format)
		if err != nil {
			return nil, err
		}
		args = []string{path}
	}
	sum, err := file.Validate(cmd.Context(), args, format, o)
	switch {
	case err == nil:
	case strings.Contains(err.Error(), "data."):
		sum.Notices = append(sum.Notices, "keys data.… belong into a configuration (discreet init drafts one) that validate --config reads; a file for --schema holds columns, one_row_episodes, sort, multiline, densities, observations, need, reward, missing and means without data. before them (docs/data.md)")
	case schema == "" && strings.Contains(err.Error(), "the file has no such column"):
		sum.Notices = append(sum.Notices, "for columns of other names discreet init drafts a configuration that maps them, and validate --config reads it")
	}
	return &scan.Validation{Summary: sum}, err
}

// writeLook writes the page of what was found. Only its owner may read it.
func writeLook(path, of string, v *scan.Validation, found error) error {
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
		one := map[string]any{"file": f.File, "row": f.Row, "column": f.Column, "what": f.What, "remedy": f.Remedy}
		if f.Element > 0 {
			one["element"] = f.Element
		}
		faults = append(faults, one)
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
func printSummary(cmd *cobra.Command, s *scan.Validation, found error) error {
	if s == nil {
		s = &scan.Validation{}
	}
	if wantsJSON(cmd) {
		out := map[string]any{
			"valid": found == nil, "files": s.Files, "episodes": s.Episodes, "rows": s.Rows, "records": s.Records,
			"notices": append([]string{}, s.Notices...), "not_used": append([]scan.NotUsed{}, s.NotUsed...),
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
	fmt.Fprintf(w, "left out: %d more faults; in all, of %s:\n", total-len(r.First), many(r.Episodes, "episode"))
	for _, k := range r.Kinds {
		fmt.Fprintf(w, "%8d  %s\n", k.Faults, printable(k.String()))
	}
}

// printOverview prints what a curator should know of the data before an
// evaluation.
func printOverview(out io.Writer, r *overview.Report) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(what string, s overview.Spread, more string) {
		fmt.Fprintf(w, "%s\tmin %.4g\tmedian %.4g\tmean %.4g\tmax %.4g\t%s\n", what, s.Min, s.Median, s.Mean, s.Max, more)
	}
	row("episodes", r.EpisodesPerPerson, "a person")
	row("decisions", r.Lengths, "an episode")
	if r.Outcome == nil {
		row("reward", r.Rewards.Spread, within(r.Rewards))
		row("return", r.Returns.Spread, within(r.Returns))
	}
	if p := r.Propensity; p != nil {
		row("behaviour prob.", p.Spread, "of the logged actions")
	}
	if v := r.Weights; v != nil {
		of := "of an episode"
		if v.Uniform {
			of += ", of uniform actions"
		}
		row("weight", v.Spread, fmt.Sprintf("%s; mean should be 1 (standard error %.2g)", of, v.StdErr))
	}
	_ = w.Flush() // out reports its own errors when the command ends
	if v := r.Weights; v != nil {
		fmt.Fprintf(out, "overlap  effective sample size %.4g of %s; %d of weight 0", v.EffectiveSize, many(r.Episodes, "episode"), v.Zero)
		if v.Cap > 0 {
			fmt.Fprintf(out, "; %s of episodes beyond the cap %.4g, which cuts off %s of the weight", overview.Percent(v.BeyondShare), v.Cap, overview.Percent(v.BeyondMass))
		}
		fmt.Fprintln(out)
	}
	printActions(out, r)
	for _, line := range r.Outcome.Lines() {
		fmt.Fprintf(out, "outcome  %s\n", printable(line))
	}
	for _, warning := range r.Warnings {
		fmt.Fprintln(out, alarm(out, "warning  "+printable(warning)))
	}
}

func within(b overview.Bounded) string {
	if b.Range == nil {
		return ""
	}
	return fmt.Sprintf("public range [%g, %g], %d outside", b.Range.Min, b.Range.Max, b.Outside)
}

// printActions prints how often each action was taken, in all and at the first
// decisions.
func printActions(out io.Writer, r *overview.Report) {
	if len(r.Actions) == 0 {
		return
	}
	fmt.Fprintf(out, "actions  %s\n", counts(r, r.Actions))
	for _, s := range r.Steps {
		fmt.Fprintf(out, "         decision %d of %s: %s\n", s.Step, many(s.Episodes, "episode"), counts(r, s.Actions))
	}
	if more := int(r.Lengths.Max) - len(r.Steps); more > 0 {
		fmt.Fprintf(out, "         and %s, the last of them %d\n", many(more, "more decision"), int(r.Lengths.Max)-1)
	}
}

func counts(r *overview.Report, actions []int) string {
	words := make([]string, len(actions))
	for a, n := range actions {
		words[a] = fmt.Sprintf("%s: %d", printable(r.Name(a)), n)
	}
	return strings.Join(words, ", ")
}

// dataSchema says what a data file must hold; it is what `validate --schema` reads:
//
//	columns: {reward: click, behavior_prob: propensity_score}
//	one_row_episodes: true
//	need: [action, behavior_prob]
//	reward: {min: 0, max: 1}
//	missing: zero
type dataSchema struct {
	Columns        map[string]config.Names `yaml:"columns"`
	OneRowEpisodes bool                    `yaml:"one_row_episodes"`
	Sort           bool                    `yaml:"sort"`
	Multiline      bool                    `yaml:"multiline"`
	Densities      bool                    `yaml:"densities"`
	Observations   []string                `yaml:"observations"`
	Need           []string                `yaml:"need"`
	Reward         *schemaReward           `yaml:"reward"`
	Missing        string                  `yaml:"missing"`
	Means          map[string]float64      `yaml:"means"`
}

// schemaReward says of rewards what problem.reward and data.reward say.
type schemaReward struct {
	config.Bounds `yaml:",inline"`
	On            string `yaml:"on"`
	Missing       string `yaml:"missing"`
}

// loadSchema reads a schema from a file. An empty path is the canonical schema:
// every part is checked where it is there, and none is required.
func loadSchema(path string) (trajectory.Options, error) {
	s := dataSchema{Missing: "zero"} // the canonical schema leaves missing observations to the evaluation
	if path != "" {
		var err error
		if s, err = yamlfile.Load[dataSchema](path, nil); err != nil {
			return trajectory.Options{}, err
		}
	}
	columns, joined := spec.Columns(s.Columns)
	o := trajectory.Options{
		Columns:        columns,
		Joined:         joined,
		Observations:   s.Observations,
		OneRowEpisodes: s.OneRowEpisodes,
		Steps:          trajectory.Steps{Sort: s.Sort},
		Multiline:      s.Multiline,
		Means:          s.Means,
		Optional:       trajectory.AllParts,
		Densities:      s.Densities,
	}
	if s.Densities {
		o.Optional = trajectory.AllParts &^ (trajectory.Action | trajectory.ActionProbs)
	}
	if s.OneRowEpisodes {
		o.Optional &^= trajectory.Final
	}
	for _, part := range s.Need {
		p, ok := parts[part]
		if !ok {
			return o, fmt.Errorf("%w: %s: need: unknown part %q; want action, behavior_prob, action_probs, target_prob, discount or final", discreet.ErrSyntax, path, part)
		}
		o.Need |= p
	}
	if r := s.Reward; r != nil && (r.On != "" || r.Missing != "") {
		if r.On != "" && r.On != "last_row" || r.Missing != "" && r.Missing != "zero" {
			return o, fmt.Errorf("%w: %s: reward.on is %q and reward.missing %q; want last_row, or zero", discreet.ErrSyntax, path, r.On, r.Missing)
		}
		o.RewardOnLast, o.EmptyIsZero = r.On != "", r.Missing != ""
	}
	if s.Reward != nil && s.Reward.Bounds != (config.Bounds{}) {
		o.Reward = &trajectory.Range{Min: s.Reward.Min, Max: s.Reward.Max}
		switch s.Reward.Outside {
		case "", "reject":
		case "clip":
			o.ClipRewards = true
		default:
			return o, fmt.Errorf("%w: %s: reward.outside is %q; want reject or clip", discreet.ErrSyntax, path, s.Reward.Outside)
		}
	}
	if s.Missing == "indicator" {
		s.Missing, o.Indicators = "mean", true
	}
	var known bool
	if o.Missing, known = missing[s.Missing]; !known {
		return o, fmt.Errorf("%w: %s: missing is %q; want reject, zero, mean or indicator", discreet.ErrSyntax, path, s.Missing)
	}
	return o, nil
}

var missing = map[string]trajectory.Missing{
	"": trajectory.MissingReject, "reject": trajectory.MissingReject, "zero": trajectory.MissingZero, "mean": trajectory.MissingMean,
}

var parts = map[string]trajectory.Parts{
	"action": trajectory.Action, "behavior_prob": trajectory.BehaviorProb, "action_probs": trajectory.ActionProbs,
	"target_prob": trajectory.TargetProb, "discount": trajectory.Discount, "final": trajectory.Final,
}
