package discreet

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/rl/feature"
)

// ErrConfig marks a configuration that is incomplete or contradicts itself.
var ErrConfig = fault.Input("invalid configuration")

// Config is one evaluation. Its fields are the keys of the YAML form.
type Config struct {
	Data     Data          `yaml:"data"`
	Problem  Problem       `yaml:"problem"`
	Features *feature.Spec `yaml:"features"`
	Target   Target        `yaml:"target"`
	// Targets are several policies, in place of Target; Levels, Contrasts and Select say
	// what is asked about them.
	Targets   []NamedTarget `yaml:"targets"`
	Levels    *Levels       `yaml:"levels"`
	Contrasts *Contrasts    `yaml:"contrasts"`
	// Select may ask which policy is best: of those in Levels, as far as the intervals
	// tell, or of all by permute-and-flip, without a value.
	Select *Select `yaml:"select"`
	// By asks for the value in each of several groups of persons, in one release.
	By *By `yaml:"by"`

	// Start is a public distribution of first states, under which a value function is
	// averaged too.
	Start *Start `yaml:"start"`

	Method  Method  `yaml:"method"`
	Privacy Privacy `yaml:"privacy"`
	Ledger  *Ledger `yaml:"ledger"`
	Output  Output  `yaml:"output"`
	// Contract says what a contract that is made from this configuration allows.
	Contract *Terms `yaml:"contract"`
	// Justification explains this question and this guarantee: free text that the
	// release repeats for its reviewers. It must say nothing about the data.
	Justification string `yaml:"justification"`
	// Sign is the file of an Ed25519 private key that signs the release; empty
	// leaves it unsigned.
	Sign string `yaml:"sign"`

	// Dir is what relative paths are relative to: the directory of the file that
	// the configuration came from. Empty means the working directory.
	Dir string `yaml:"-"`
}

// Data says where the trajectories are and how to read them.
type Data struct {
	// Path is a file, a glob, or a list of either.
	Path Paths `yaml:"path"`
	// Format is csv, parquet, ndjson or minari; empty goes by the file's extension.
	Format string `yaml:"format"`
	// Columns maps a canonical column name to the name in the file, or to none if there
	// is no such column.
	Columns map[string]string `yaml:"columns"`
	// Actions is the vocabulary of the actions, whose numbers are 0 or above.
	Actions *Vocabulary `yaml:"actions" json:",omitempty"`
	// Encode holds the vocabularies of reward, terminated, truncated and observations.
	Encode map[string]Vocabulary `yaml:"encode" json:",omitempty"`
	// Steps says how the column step orders decisions; by default 0, 1, 2, ...
	Steps *Steps `yaml:"steps" json:",omitempty"`
	// EpisodePerPerson treats all rows of a person as one episode.
	EpisodePerPerson bool `yaml:"episode_per_person" json:",omitempty"`
	// Separator is the separator of fields in a CSV file: "," (the default), ";", "|"
	// or tab.
	Separator string `yaml:"separator" json:",omitempty"`
	// NA lists the texts that mean a missing value in a CSV file.
	NA Markers `yaml:"na" json:",omitempty"`
	// Multiline states of a CSV file that the program that wrote it puts quotes around
	// every text that could hold a quote or a line end, and doubles the quotes inside; a
	// field in quotes may then hold line ends. Where that is false, one person's text can
	// swallow the records of others.
	Multiline bool `yaml:"multiline" json:",omitempty"`
	// OneRowEpisodes reads every row as an episode of one decision (logs of
	// contextual bandits).
	OneRowEpisodes bool `yaml:"one_row_episodes"`
	// Behavior says where the probabilities of the logged actions come from; an
	// off-policy method needs it.
	Behavior *Behavior `yaml:"behavior"`
	// OnViolation says how to treat an invalid record: repair changes it or leaves it out by
	// a public rule that uses the record alone; reject makes the run fail, which reveals one
	// bit about the data. The default is repair with privacy and reject without.
	OnViolation string `yaml:"on_violation" json:",omitempty"`
	// Missing says how to treat missing observations: reject, zero, or mean, which uses the
	// public mean in Means. The default is zero if violations are repaired, and
	// reject if they are rejected.
	Missing string             `yaml:"missing"`
	Means   map[string]float64 `yaml:"means"`
}

// Paths is a list of files or globs; YAML may give a single one as a string.
type Paths []string

// UnmarshalYAML accepts a string or a list of strings.
func (p *Paths) UnmarshalYAML(decode func(any) error) error {
	var one string
	if decode(&one) == nil {
		*p = Paths{one}
		return nil
	}
	var many []string
	if err := decode(&many); err != nil {
		return errors.New("data.path: want a file, a glob, or a list of them")
	}
	*p = many
	return nil
}

// Problem is what is publicly known. None of it may be read off the data.
type Problem struct {
	// Persons is the public number of persons, or of the units of Privacy.Unit; under
	// add_remove_one a public lower bound on it. It is optional under replace_one without
	// a ledger: the check then counts them.
	Persons int64 `yaml:"persons"`
	// Gamma is the discount in (0, 1].
	Gamma float64 `yaml:"gamma"`
	// Discounts reads a discount for each decision from the data instead.
	Discounts bool `yaml:"discounts"`
	// Reward bounds one reward.
	Reward *Bounds `yaml:"reward"`
	// Return is an optional tighter bound on a trajectory's discounted return.
	Return *evaluate.Range `yaml:"return"`
	// Horizon is the largest number of decisions that a person contributes.
	Horizon int64 `yaml:"horizon"`
	// Episodes is the largest number of trajectories that a person contributes; 0
	// means no cap other than Horizon.
	Episodes int64 `yaml:"episodes"`
	// End is what the last row of an episode means: terminated, truncated, or column (the
	// default), which reads the columns with these names. Methods that bootstrap from
	// the observation after the last decision require it.
	End string `yaml:"end" json:",omitempty"`
	// Records may be complete: the curator states that the file holds every decision of
	// every person, and that each is used unchanged. The check refuses data from
	// which anything would be left out or replaced.
	Records string `yaml:"records" json:",omitempty"`
}

// Bounds is a closed interval of public bounds on one reward.
type Bounds struct {
	evaluate.Range `yaml:",inline"`
	// Outside says how to treat a reward outside the bounds: clip or reject. The default is
	// clip if violations are repaired (Data.OnViolation), and reject if they are rejected.
	Outside string `yaml:"outside"`
}

// Target is the policy to evaluate.
type Target struct {
	// Kind is logged, uniform, constant, column, columns, table, tree, softmax or
	// soft-greedy.
	Kind string `yaml:"kind"`
	// Actions is the number of actions (uniform).
	Actions int `yaml:"actions"`
	// Action is the action that is always taken, by number or by word (constant).
	Action *Action `yaml:"action"`
	// Name is the column of target probabilities (column); target_prob by default.
	Name string `yaml:"name"`
	// Names are the columns of all actions' probabilities, in the order of the
	// actions' numbers (columns).
	Names []string `yaml:"names"`
	// Path is the policy's file (table, tree, softmax, soft-greedy).
	Path string `yaml:"path"`
	// Column holds the state number (table).
	Column string `yaml:"column"`
}

// String describes the policy in a few words, such as "constant: action 1".
func (t Target) String() string {
	switch {
	case t.Kind == "logged":
		return "the policy that made the data"
	case t.Kind == "uniform":
		return fmt.Sprintf("uniform over %d actions", t.Actions)
	case t.Kind == "constant" && t.Action != nil && t.Action.Word != "":
		return "constant: action " + t.Action.Word
	case t.Kind == "constant" && t.Action != nil:
		return fmt.Sprintf("constant: action %d", t.Action.Number)
	case t.Path != "":
		return t.Kind + ": " + filepath.Base(t.Path)
	case t.Name != "":
		return t.Kind + ": " + t.Name
	case len(t.Names) > 0:
		return t.Kind + ": " + strings.Join(t.Names, ", ")
	}
	return t.Kind
}

// onlyItsOwn refuses a field that the kind does not use. Of a kind that is not known
// more is said where the policy is made.
func (t Target) onlyItsOwn(key string) error {
	uses, known := map[string]string{
		"logged": "", "uniform": "actions", "constant": "action", "column": "name", "columns": "names",
		"table": "path column", "tree": "path", "softmax": "path", "soft-greedy": "path",
	}[t.Kind]
	if !known {
		return nil
	}
	return unused(key, t.Kind, uses, []given{
		{"name", t.Name != ""}, {"names", len(t.Names) > 0}, {"actions", t.Actions != 0},
		{"action", t.Action != nil}, {"path", t.Path != ""}, {"column", t.Column != ""},
	})
}

// Method is an estimator by name, with its parameters; see evaluate.Methods.
type Method struct {
	// Name is the method's name; `discreet methods` lists them.
	Name string `yaml:"name"`
	// Params are the method's parameters, which docs/reference/methods.md lists.
	Params map[string]any `yaml:",inline"`
}

// Privacy is the guarantee to give. In YAML it may be the word none, which asks
// for a non-private reference.
type Privacy struct {
	// None asks for no guarantee.
	None bool `yaml:"-"`
	// Unit is what is protected: a person (the default), identified by the column
	// unit_id; an episode; or a row, in logs of one-row episodes.
	Unit string `yaml:"unit"`
	// Adjacency is replace_one or add_remove_one; there is no default.
	Adjacency string `yaml:"adjacency"`
	// Epsilon is the privacy loss that the release may cost; smaller is more private.
	Epsilon float64 `yaml:"epsilon"`
	// Delta is the probability with which Epsilon may be exceeded; it must be below 1/persons.
	Delta float64 `yaml:"delta"`
	// Noise is exact (the default) or fast, which does not rule out floating-point attacks.
	Noise string `yaml:"noise"`
	// LargeDelta accepts a delta of 1/persons or more, for comparisons with papers.
	LargeDelta bool `yaml:"large_delta"`
}

// UnmarshalYAML accepts the word none or a mapping.
func (p *Privacy) UnmarshalYAML(decode func(any) error) error {
	var word string
	if decode(&word) == nil {
		if word != "none" {
			return fmt.Errorf("privacy: %q; want a mapping with adjacency, epsilon and delta, or the word none", word)
		}
		*p = Privacy{None: true}
		return nil
	}
	type plain Privacy
	return decode((*plain)(p))
}

func (p Privacy) unit() evaluate.Unit { return evaluate.Unit(p.Unit) }

// Ledger names the budget to charge.
type Ledger struct {
	// Path is a SQLite file or a postgres:// URL.
	Path string `yaml:"path"`
	// Dataset names the budget in the store; it is optional if the store holds only
	// one.
	Dataset string `yaml:"dataset"`
	// Analyst is who asks, "unnamed" by default, and Purpose what for. Both go into
	// the ledger and into the release.
	Analyst string `yaml:"analyst"`
	Purpose string `yaml:"purpose"`
}

// Output says where a release is written.
type Output struct {
	// Dir is the directory for release.json and report.html; without it nothing is written.
	Dir string `yaml:"dir"`
}

// Validate checks what can be checked without opening a file.
func (c Config) Validate() error {
	switch {
	case len(c.Data.Path) == 0:
		return fmt.Errorf("%w: data.path is missing; name the file with the trajectories", ErrConfig)
	case c.Method.Name == "":
		return fmt.Errorf("%w: method.name is missing; `discreet methods` lists them", ErrConfig)
	case c.Privacy == Privacy{}:
		return fmt.Errorf("%w: privacy is missing; give adjacency, epsilon and delta, or say `privacy: none` for a non-private reference", ErrConfig)
	case c.Privacy.unit() == evaluate.Row && !c.Data.OneRowEpisodes:
		return fmt.Errorf("%w: privacy.unit is row, which is for logs whose rows are episodes of one decision (data.one_row_episodes: true); use person or episode", ErrConfig)
	case c.Privacy.unit() == evaluate.Episode && c.Data.OneRowEpisodes:
		return fmt.Errorf("%w: privacy.unit is episode, and with data.one_row_episodes an episode is a row; say row, or person where unit_id names persons", ErrConfig)
	case c.Ledger != nil && c.Privacy.None:
		return fmt.Errorf("%w: privacy is none and there is a section ledger: a reference without privacy reads the data and nothing charges for it; leave the section out (--set ledger=null), or give privacy an adjacency, epsilon and delta", ErrConfig)
	case c.Ledger != nil && c.Ledger.Path == "":
		return fmt.Errorf("%w: ledger.path is missing; name the file that `discreet ledger init` made, or leave the section out, and the release will say that no ledger was charged", ErrConfig)
	}
	if err := c.validateTargets(); err != nil {
		return err
	}
	if err := c.By.validate(c); err != nil {
		return err
	}
	if err := c.checkNames(); err != nil {
		return err
	}
	switch c.Data.OnViolation {
	case "", onViolationRepair, onViolationReject:
	default:
		return fmt.Errorf("%w: data.on_violation is %q; want repair or reject", ErrConfig, c.Data.OnViolation)
	}
	if err := c.validateRecords(); err != nil {
		return err
	}
	return c.Data.Behavior.validate(c.offPolicy() && c.Method.Name != "constant")
}

// location is where the ledger is: a URL as it stands, or a file.
func (c Config) location() string {
	if strings.Contains(c.Ledger.Path, "://") {
		return c.Ledger.Path
	}
	return c.path(c.Ledger.Path)
}

// path resolves a path of the configuration.
func (c Config) path(p string) string {
	if p == "" || filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(c.Dir, p)
}
