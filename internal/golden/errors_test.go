package golden

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet"
)

// wrongKeys are edits of a configuration that make it wrong, or ask for something else.
var wrongKeys = []string{
	"problem.gamma=2", "problem.gamma=null", "problem.persons=0", "problem.persons=3", "problem.horizon=0", "problem.horizon=2", "problem.episodes=1", "problem.episodes=-1",
	"problem.reward.min=2", "problem.reward.max=.nan", "problem.reward.max=0.5", "problem.reward.outside=pray", "problem.return={min: 1, max: 0}", "problem.end=never", "problem.end=terminated",
	"problem.records=complete", "problem.records=some", "problem.discounts=true",
	"privacy.epsilon=-1", "privacy.epsilon=null", "privacy.epsilon=1e-9", "privacy.delta=1", "privacy.delta=0.5", "privacy.delta=0", "privacy.unit=house", "privacy.unit=row", "privacy.adjacency=null", "privacy.adjacency=near", "privacy.noise=loud", "privacy.noise=fast", "privacy=none",
	"method.name=dp-nothing", "method.name=dp-refine", "method.name=dp-dr", "method.name=dp-fqe", "method.name=gpope", "method.name=wis", "method.clip=-1", "method.clip=auto", "method.max_weight=0", "method.diagnostics=2", "method.unknown=1", "method.confounding=0.5", "method.guess=7",
	"target.kind=none", "target={kind: constant, action: 9}", "target={kind: constant}", "target={kind: table, path: gone.csv, column: obs_state}", "target={kind: uniform, actions: 2}", "target=null",
	"data.path=gone.csv", "data.format=xml", "data.format=parquet", "data.behavior.source=none", "data.behavior=null", "data.behavior={kind: estimate, column: obs_none, states: 5, actions: 4, once: false}", "data.on_violation=pray", "data.on_violation=repair", "data.columns={action: nothing}", "data.columns={nothing: action}", "data.actions=[off, on]", "data.separator=ab",
	"features={kind: tabular, states: 5, column: obs_none}", "features={kind: tabular, states: 2, column: obs_state}", "features={kind: cubes}",
	"by={column: obs_state, values: [0, 1]}", "by={column: obs_none, values: [0, 1], group: may_change}", "by={column: obs_state, values: [0, 0], group: may_change}",
	"targets=[]", "targets=[{name: a, kind: uniform, actions: 4}]", "select=best", "levels=[x]", "contrasts=all", "start={state: 9}", "output.dir=/proc/none", "unknown=1",
}

// wrongTogether are those of which every pair is tried: it matters which one is named.
var wrongTogether = []string{
	"problem.gamma=2", "problem.persons=0", "problem.horizon=0", "problem.reward.max=.nan", "privacy.epsilon=-1", "privacy.adjacency=near", "method.name=dp-nothing", "method.max_weight=0",
	"target={kind: constant, action: 9}", "data.path=gone.csv", "data.columns={action: nothing}", "features={kind: cubes}", "contrasts=all",
}

// wrongCells change cells of a log: the value of a column, in the record of a number.
type wrongCell struct {
	record        int
	column, value string
}

var wrongCells = []wrongCell{
	{5, "reward", "x"}, {5, "reward", ""}, {5, "reward", "NaN"}, {5, "reward", "1e400"}, {5, "reward", "9"},
	{6, "action", "-1"}, {6, "action", "1.5"}, {6, "action", "99"}, {6, "action", ""},
	{7, "behavior_prob", "0"}, {7, "behavior_prob", "1.5"}, {7, "behavior_prob", ""}, {7, "target_prob", "-0.5"},
	{8, "obs_state", "17"}, {8, "obs_state", ""}, {8, "obs_state", "0.5"}, {8, "obs_x", "Inf"},
	{9, "step", "40"}, {9, "step", "-1"}, {9, "unit_id", ""}, {9, "unit_id", " p1"}, {9, "unit_id", "p\u200b1"}, {9, "episode_id", "e1"}, {9, "unit_id", "p9999"},
	{10, "terminated", "perhaps"}, {10, "discount", "2"}, {10, "discount", ""}, {11, "reward", `"1`}, {11, "reward", "1,1"},
}

// wrongQuestions are those of which the texts are kept.
var wrongQuestions = []string{"dp-is-logged", "dp-wis", "dp-wis-estimated", "several-wis", "groups-wis", "dp-refine-off", "dp-fqe"}

// TestErrorsKeepTheirWords compares the texts of errors, and which of several faults is named,
// for configurations and logs with one fault and with two.
func TestErrorsKeepTheirWords(t *testing.T) {
	dir := writeData(t)
	n := open(t, "errors")
	for _, q := range private() {
		switch {
		case !slices.Contains(wrongQuestions, q.name):
			continue
		case !slices.Contains(toldQuestions, q.name) && !*regenerate:
			n.seen[q.name+".txt"] = true
			continue
		}
		t.Run(q.name, func(t *testing.T) {
			path := filepath.Join(dir, q.name+".yaml")
			if err := os.WriteFile(path, []byte(q.config("replace_one")), 0o600); err != nil {
				t.Fatal(err)
			}
			var told bytes.Buffer
			for _, edit := range wrongKeys {
				tell(&told, dir, path, edit)
			}
			for i, a := range wrongTogether {
				for _, b := range wrongTogether[i+1:] {
					tell(&told, dir, path, a, b)
				}
			}
			log := logOf(q)
			text, err := os.ReadFile(filepath.Join(dir, log))
			if err != nil {
				t.Fatal(err)
			}
			for i, cell := range wrongCells {
				tellOfLog(t, &told, dir, path, text, cell)
				tellOfLog(t, &told, dir, path, text, cell, wrongCells[(i+7)%len(wrongCells)])
			}
			n.compare(t, q.name+".txt", told.Bytes())
		})
	}
	n.close(t)
}

// logOf is the file that a question reads.
func logOf(q question) string {
	_, rest, _ := strings.Cut(logs[q.log], "path: ")
	return rest[:strings.IndexAny(rest, ",}")]
}

// tell writes what is said of a configuration with these edits.
func tell(told *bytes.Buffer, dir, path string, edits ...string) {
	fmt.Fprintf(told, "== %s\n", strings.Join(edits, "; "))
	c, err := discreet.Load(path, edits...)
	if err != nil {
		fmt.Fprintf(told, "load: %s\n", words(err, dir))
		return
	}
	c.Output.Dir = ""
	_, planned := discreet.Plan(c)
	fmt.Fprintf(told, "plan: %s\n", words(planned, dir))
	_, evaluated := discreet.Evaluate(context.Background(), c)
	if words(evaluated, dir) != words(planned, dir) {
		fmt.Fprintf(told, "evaluate: %s\n", words(evaluated, dir))
	}
	_, validated := discreet.Validate(context.Background(), c)
	if words(validated, dir) != words(evaluated, dir) {
		fmt.Fprintf(told, "validate: %s\n", words(validated, dir))
	}
}

// tellOfLog is tell with a log that has other cells.
func tellOfLog(t *testing.T, told *bytes.Buffer, dir, path string, log []byte, cells ...wrongCell) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(string(log), "\n"), "\n")
	names := strings.Split(lines[0], ",")
	for _, c := range cells {
		at := slices.Index(names, c.column)
		if at < 0 {
			return // a log without the column
		}
		values := strings.Split(lines[c.record], ",")
		if at >= len(values) {
			return
		}
		values[at] = c.value
		lines[c.record] = strings.Join(values, ",")
	}
	if err := os.WriteFile(filepath.Join(dir, "wrong.csv"), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(told, "-- %v\n", cells)
	tell(told, dir, path, "data.path=wrong.csv")
	tell(told, dir, path, "data.path=wrong.csv", "data.on_violation=repair")
}

func words(err error, dir string) string {
	if err == nil {
		return "none"
	}
	return strings.ReplaceAll(err.Error(), dir, "DIR")
}
