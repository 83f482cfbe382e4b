package discreet_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/internal/spec"

	"github.com/discreet-rl/discreet/config"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/feature"
)

const whole = `
data:
  path: [a.csv, "b/*.csv"]
  format: csv
  columns: {reward: click}
  one_row_episodes: true
  missing: mean
  means: {obs_age: 50}
problem:
  persons: 312
  gamma: 0.99
  reward: {min: -1, max: 1, outside: clip}
  return: {min: 0, max: 1}
  horizon: 200
  episodes: 3
features: {kind: tabular, states: 40, column: obs_state}
target: {kind: constant, action: 0}
method: {name: dp-wis, max_weight: 2, clip_share: 0.2}
privacy: {unit: person, adjacency: replace_one, epsilon: 1, delta: 1e-5, noise: exact}
ledger: {path: budget.db, dataset: trial, analyst: ada, purpose: first look}
justification: The board asked.
sign: key.pem
output: {dir: out}
`

func TestEveryKeyArrives(t *testing.T) {
	want := config.Config{
		Data: config.Data{Path: config.Names{"a.csv", "b/*.csv"}, Format: "csv", Columns: map[string]config.Names{"reward": {"click"}},
			OneRowEpisodes: true, Missing: "mean", Means: map[string]float64{"obs_age": 50}},
		Problem: config.Problem{Persons: 312, Gamma: 0.99, Horizon: 200, Episodes: 3,
			Reward: &config.Bounds{Range: evaluate.Range{Min: -1, Max: 1}, Outside: "clip"}, Return: &evaluate.Range{Min: 0, Max: 1}},
		Features: &feature.Spec{Kind: "tabular", States: 40, Column: "obs_state"},
		Target:   config.Target{Kind: "constant", Action: &config.Action{Number: 0}},
		Method:   config.Method{Name: "dp-wis", Params: map[string]any{"max_weight": 2, "clip_share": 0.2}},
		Privacy:  config.Privacy{Unit: "person", Adjacency: "replace_one", Epsilon: 1, Delta: 1e-5, Noise: "exact"},
		Ledger:   &config.Ledger{Path: "budget.db", Dataset: "trial", Analyst: "ada", Purpose: "first look"},
		Output:   config.Output{Dir: "out"}, Justification: "The board asked.", Sign: "key.pem",
	}
	got, err := discreet.Parse("x.yaml", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// TestGuideListsEveryKey: the listing in docs/configuration.md has a line for every key of its sections. A key
// that ends up in a comment is not missed by a reader of YAML, which is why the list comes from the types.
func TestGuideListsEveryKey(t *testing.T) {
	guide, err := os.ReadFile("docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(guide), "```yaml\n")
	listing, _, _ := strings.Cut(rest, "```")
	var sections map[string]any
	if err := yaml.Unmarshal([]byte(listing), &sections); err != nil {
		t.Fatal(err)
	}
	for section, is := range map[string]reflect.Type{
		"": reflect.TypeFor[config.Config](), "data": reflect.TypeFor[config.Data](), "problem": reflect.TypeFor[config.Problem](),
		"privacy": reflect.TypeFor[config.Privacy](), "ledger": reflect.TypeFor[config.Ledger](),
	} {
		listed := sections
		if section != "" {
			listed, _ = sections[section].(map[string]any)
		}
		for i := range is.NumField() {
			key, _, _ := strings.Cut(is.Field(i).Tag.Get("yaml"), ",")
			if _, found := listed[key]; !found && key != "-" && key != "" {
				t.Errorf("%s.%s has no line", section, key)
			}
		}
	}
}

func TestOverrides(t *testing.T) {
	got, err := discreet.Parse("x.yaml", []byte(whole), "privacy.epsilon=0.5", "data.path=c.csv", "method={name: dp-is}", "problem.return=null", "output.dir=elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	if got.Privacy.Epsilon != 0.5 || got.Data.Path[0] != "c.csv" || len(got.Data.Path) != 1 || got.Method.Name != "dp-is" ||
		len(got.Method.Params) != 0 || got.Problem.Return != nil || got.Output.Dir != "elsewhere" || got.Problem.Persons != 312 {
		t.Errorf("overrides give %+v", got)
	}
	if got, err = discreet.Parse("x.yaml", []byte(whole), "privacy=none"); err != nil || !got.Privacy.None {
		t.Errorf("privacy=none gives %+v, %v", got.Privacy, err)
	}
}

func TestErrorsNameFileAndLine(t *testing.T) {
	for text, want := range map[string]string{
		"data: {path: a}\nprivcy: none\n":         `x.yaml:2: unknown key "privcy" in the configuration`,
		"problem:\n  persons: 3\n  gama: 1\n":     `x.yaml:3: unknown key "gama" in problem`,
		"features: {kind: tabular, state: 3}\n":   `unknown key "state" in features`,
		"privacy:\n  epsilon: 1\n  delt: 3\n":     `x.yaml:3: unknown key "delt" in privacy`,
		"ledger: {path: a, datset: b}\n":          `unknown key "datset" in ledger`,
		"problem:\n  persons: many\n":             "x.yaml:2: problem.persons is `many`; want a whole number",
		"privacy:\n  epsilon: one\n":              "x.yaml:2: privacy.epsilon is `one`; want a number",
		"problem: {gamma: 1, return: {min: a}}\n": "x.yaml:1: problem.return.min is `a`; want a number",
		"features: {kind: columns, names: 3}\n":   "x.yaml:1: features.names is `3`; want a list",
		"problem: {gamma: {a: 1}}\n":              "x.yaml:1: problem.gamma is a section; want a number",
		"data: [1, 2]\n":                          `x.yaml:1:`,
		"data: {path: {a: b}}\n":                  `data.path: want a name, or a list of them`,
		"privacy: all\n":                          `"all"; want a mapping`,
		"data: {path: a}\ndata: {path: b}\n":      `x.yaml:2:`,
		"data: {path: a}\n---\ndata: {path: b}\n": `x.yaml`,
		"":                            `x.yaml`,
		"data: {path: a":              `x.yaml`,
		"a: &a [*a]":                  `x.yaml`,
		"problem: {persons: 1e400}\n": `x.yaml`,
		strings.Repeat("[", 20000) + strings.Repeat("]", 20000): `x.yaml`,
	} {
		_, err := discreet.Parse("x.yaml", []byte(text))
		if !errors.Is(err, discreet.ErrSyntax) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("Parse(%.60q): %.300v; want ErrSyntax with %q", text, err, want)
		}
	}
	for _, set := range []string{"", "x", "=1", "data.path.x=1", "privacy.epsilon=[", "no.such=1"} {
		if _, err := discreet.Parse("x.yaml", []byte("data: {path: a}\n"), set); !errors.Is(err, discreet.ErrSyntax) {
			t.Errorf("--set %q: %v; want ErrSyntax", set, err)
		}
	}
}

// Numbers that are not finite have no meaning anywhere, and a whole number is written
// in digits: the key is named, and what to write.
func TestNumbersThatAreNotFiniteOrNotWholeAreRefused(t *testing.T) {
	const finite, whole = "; write a finite number, or text in quotes", "; want a whole number, in digits alone"
	for text, want := range map[string]string{
		"method: {name: dp-is, max_weight: .nan}\n":                 "x.yaml:1: method.max_weight is `.nan`" + finite,
		"problem:\n  gamma: -.Inf\n":                                "x.yaml:2: problem.gamma is `-.Inf`" + finite,
		"privacy: {epsilon: .inf}\n":                                "x.yaml:1: privacy.epsilon is `.inf`" + finite,
		"features: {kind: columns, low: [0, .NAN]}\n":               "x.yaml:1: features.low is `.NAN`" + finite,
		"problem: {persons: 1e3}\n":                                 "x.yaml:1: problem.persons is `1e3`" + whole,
		"problem: {horizon: 3.0}\n":                                 "x.yaml:1: problem.horizon is `3.0`" + whole,
		"targets: [{kind: constant}, {kind: uniform, actions: 2.}]": "x.yaml:1: targets.actions is `2.`" + whole,
	} {
		if _, err := discreet.Parse("x.yaml", []byte(text)); !errors.Is(err, discreet.ErrSyntax) || !strings.HasSuffix(fmt.Sprint(err), want) {
			t.Errorf("Parse(%q): %v; want %q", text, err, want)
		}
	}
	for set, want := range map[string]string{"privacy.epsilon=.nan": "--set privacy.epsilon: `.nan`" + finite, "problem.persons=1e3": "--set problem.persons: `1e3`" + whole} {
		if _, err := discreet.Parse("x.yaml", []byte("data: {path: a}\n"), set); !errors.Is(err, discreet.ErrSyntax) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("--set %s: %v; want %q", set, err, want)
		}
	}
	for _, text := range []string{"data: {na: [\".nan\"]}\n", "problem: {gamma: 1e-1, persons: 1000}\n"} {
		if _, err := discreet.Parse("x.yaml", []byte(text)); err != nil {
			t.Errorf("Parse(%q): %v", text, err)
		}
	}
}

// A few kilobytes of aliases stand for as many values as a machine can hold, and cost
// nothing to refuse.
func TestAliasesAreBounded(t *testing.T) {
	list := "[" + strings.TrimSuffix(strings.Repeat("x,", 10_000), ",") + "]"
	many := func(n int) string {
		return "features: {kind: columns, names: &a " + list + "}\nmethod: {name: dp-is, guess: [" + strings.TrimSuffix(strings.Repeat("*a,", n), ",") + "]}\n"
	}
	deep := "features: {kind: columns, names: &a0 [x, x]}\nmethod: {name: dp-is"
	for i := range 40 { // 2^40 values
		deep += fmt.Sprintf(", k%d: &a%d [*a%d, *a%d]", i, i+1, i, i)
	}
	for name, text := range map[string]string{"a list, often": many(15_000), "lists of lists": deep + "}\n"} {
		_, err := discreet.Parse("x.yaml", []byte(text))
		if !errors.Is(err, discreet.ErrSyntax) || !strings.Contains(fmt.Sprint(err), "stand for more than 100000 values; write lists of such length into files") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := discreet.Parse("x.yaml", []byte("features: {kind: columns, names: [a], low: &l [0], high: *l}\n")); err != nil {
		t.Error(err)
	}
}

// A number that YAML reads otherwise than it looks is refused, wherever it
// stands; as text it can be written in quotes.
func TestNumbersThatReadOtherwiseAreRefused(t *testing.T) {
	const remedy = "; write a decimal number without underscores, leading zeros or a plus sign, or text in quotes"
	for text, want := range map[string]string{
		"problem:\n  persons: 1_0\n":               "x.yaml:2: problem.persons is `1_0`" + remedy,
		"problem:\n  persons: 0470\n":              "x.yaml:2: problem.persons is `0470`" + remedy,
		"problem: {horizon: -017}\n":               "x.yaml:1: problem.horizon is `-017`" + remedy,
		"privacy:\n  epsilon: 0_1.5\n":             "x.yaml:2: privacy.epsilon is `0_1.5`" + remedy,
		"privacy:\n  epsilon: 00.5\n":              "x.yaml:2: privacy.epsilon is `00.5`" + remedy,
		"method: {name: dp-is, max_weight: 1_0}\n": "x.yaml:1: method.max_weight is `1_0`" + remedy,
		"data:\n  na: [NA, 0x10]\n":                "x.yaml:2: data.na is `0x10`" + remedy,
		"data: {na: [+9]}\n":                       "x.yaml:1: data.na is `+9`" + remedy,
		"problem: {horizon: 0o17}\n":               "x.yaml:1: problem.horizon is `0o17`" + remedy,
		"ledger: {dataset: 0470}\n":                "x.yaml:1: ledger.dataset is `0470`" + remedy,
	} {
		_, err := discreet.Parse("x.yaml", []byte(text))
		if !errors.Is(err, discreet.ErrSyntax) || !strings.HasSuffix(fmt.Sprint(err), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
	for _, set := range []string{"problem.persons=1_0", "problem.persons=0470", "problem={persons: 0470}"} {
		if _, err := discreet.Parse("x.yaml", []byte(whole), set); !errors.Is(err, discreet.ErrSyntax) || !strings.HasSuffix(fmt.Sprint(err), remedy) {
			t.Errorf("--set %s: %v", set, err)
		}
	}
	c, err := discreet.Parse("x.yaml", []byte("privacy: {epsilon: 0.5, delta: 1e-05}\nproblem: {persons: 10, gamma: 0}\nledger: {dataset: '0470', analyst: a_1}\n"))
	if err != nil || c.Privacy.Epsilon != .5 || c.Privacy.Delta != 1e-5 || c.Problem.Persons != 10 || c.Ledger.Dataset != "0470" {
		t.Errorf("numbers that are plain: %+v, %v", c, err)
	}
}

// Contrasts of all policies grow with the square of their number: their number is looked at first.
func TestMoreTargetsThanAnswersCanNameAreRefused(t *testing.T) {
	cfg, err := discreet.Load("examples/pbc/evaluate.yaml", "output=null", "contrasts=all")
	if err != nil {
		t.Fatal(err)
	}
	one := cfg.Targets[0]
	cfg.Targets = nil
	for i := range 100_000 { // as many pairs of them would fill a terabyte
		one.Name = fmt.Sprint("policy ", i)
		cfg.Targets = append(cfg.Targets, one)
	}
	for n, want := range map[int]string{100_000: "want at most 200", 200: "20100 answers in one release", 14: "105 answers in one release"} {
		few := cfg
		few.Targets = cfg.Targets[:n]
		few.Levels = nil
		if _, err := discreet.Plan(few); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d policies: %v; want %q", n, err, want)
		}
	}
}

// A configuration is small: a file of any length, or without an end, is refused
// before it is read whole.
func TestLongFilesAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "long.yaml")
	if err := os.WriteFile(path, bytes.Repeat([]byte("# nothing\n"), 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{path, "/dev/zero"} {
		_, one := discreet.Load(path)
		_, two := discreet.LoadTraining(path)
		for _, err := range []error{one, two} {
			if want := path + ": is longer than 4 MiB, the limit of a configuration; keep tables and data in files of their own"; !errors.Is(err, discreet.ErrSyntax) || !strings.HasSuffix(fmt.Sprint(err), want) {
				t.Errorf("%v; want %s", err, want)
			}
		}
	}
}

// An override that is of the wrong type is named by its key.
func TestErrorsOfOverridesNameTheKey(t *testing.T) {
	_, err := discreet.Parse("x.yaml", []byte(whole), "privacy.epsilon=one")
	if want := "--set: privacy.epsilon is `one`; want a number"; !errors.Is(err, discreet.ErrSyntax) || !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("%v; want %q", err, want)
	}
}

// FuzzParse looks for text that makes the parser, or the validation behind it,
// panic or hang.
func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("privacy: none\n"))
	f.Add([]byte("a: &a {b: *a}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := discreet.Parse("x.yaml", text)
		if err == nil {
			err = spec.Validate(c)
		}
		_ = err
	})
}
