package draft

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/discreet-rl/discreet/internal/yamlfile"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// draft is a configuration in the making.
type draft struct {
	bytes.Buffer
	columns   []file.Column
	left      int // columns that are not among them
	separator byte
	listed    string // the list whose elements are rows
	answers   Answers
}

// Configuration writes a commented configuration for the data at a path, in a
// format, empty where the extension says it. The path is written as it is given. What
// nobody answered is left open.
func Configuration(path, format string, of *file.Description, a Answers) []byte {
	d := &draft{columns: a.assigned(of.Columns), left: of.Left, separator: of.Separator, listed: of.Rows, answers: a}
	d.head(path)
	d.data(path, format)
	d.problem()
	d.privacy()
	d.question()
	return d.Bytes()
}

func (d *draft) line(format string, args ...any) { fmt.Fprintf(d, format+"\n", args...) }

// open is what stands in a place that somebody has to fill in.
func (d *draft) open(place string) string {
	if answer, ok := d.answers.Facts[place]; ok {
		return answer
	}
	return yamlfile.Open
}

// given tells whether a place was answered.
func (d *draft) given(place string) bool {
	_, ok := d.answers.Facts[place]
	return ok
}

// mapped gives the columns that are read as a canonical one.
func (d *draft) mapped(canonical string) []file.Column {
	var out []file.Column
	for _, c := range d.columns {
		if c.Canonical == canonical {
			out = append(out, c)
		}
	}
	return out
}

func (d *draft) has(canonical string) bool { return len(d.mapped(canonical)) > 0 }

// head says what the draft was made from.
func (d *draft) head(path string) {
	d.line("# A draft for %s, from the names and types of its columns and nothing else.", scalar(path))
	d.line("# Every %s is refused until something else stands there. What stands there must be public:", yamlfile.Open)
	d.line("# known from the protocol, from physics or from earlier publications, never read off these data.")
	d.line("# A range or a number that was looked up in the data voids the guarantee.")
	d.line("#")
	d.line("# The columns, their types by the first rows, and how discreet will read them:")
	for _, c := range d.columns {
		taken := ""
		switch {
		case c.Canonical == c.Name:
			taken = "  known by this name"
		case c.Canonical != "":
			taken = "  read as " + c.Canonical
		}
		d.line("#   %-7s  %s%s", c.Type, scalar(c.Name), taken)
	}
	if d.left > 0 {
		d.line("#   and %d more, which are not listed", d.left)
	}
	d.line("")
	d.line("# The contract: what the data are, which their steward answers for.")
}

// data writes where the data are and how they are read.
func (d *draft) data(path, format string) {
	d.line("data:")
	d.line("  path: %s", scalar(path))
	if format != "" {
		d.line("  format: %s", scalar(format))
	}
	if d.separator != 0 {
		d.line("  separator: %s", strconv.QuoteToASCII(string(d.separator)))
	}
	if d.listed != "" {
		d.line("  rows: %s    # PROPOSED, to be confirmed: a row is an element of that list in a line", scalar(d.listed))
	}
	d.line("  # na: [NA, \".\"]               # texts that stand for a missing value, where there are some")
	d.episodes()
	named := d.answers.named()
	if mapping := d.mapping(); len(mapping) > 0 || len(named) > 0 || d.unknownRows() && !d.given(rows) {
		d.line("  columns:                      # the column of the file that holds each of these")
		for _, name := range named {
			d.line("    %s: %s", name, columns(d.answers.Columns[name]))
		}
		for _, name := range mapping {
			d.line("    %s: %s", name, yamlfile.Open)
		}
		for _, name := range []string{"unit_id", "episode_id", "step"} {
			if d.unknownRows() && !d.given(rows) && !d.has(name) {
				d.line("    # %s: ...", name)
			}
		}
	}
	words := d.words()
	switch a := d.mapped("action"); {
	case len(a) == 1 && a[0].Type == "text":
		d.line("  actions: %s              # the words in that column, all that there can be: [placebo, drug] makes them 0, 1", d.open(actions))
	case len(a) != 1 && len(words) > 0:
		d.line("  # actions: [placebo, drug]    # where the column of the action holds words: all that there can be; they become 0, 1")
	}
	if d.given(outcomes) {
		d.line("  reward: %s", d.open(outcomes))
	}
	if d.given(elsewhere) {
		d.line("  outcome: %s", d.open(elsewhere))
	}
	if !d.given(elsewhere) && len(d.mapped("reward")) == 0 {
		d.line("  # outcome: {path: ..., by: unit_id, column: ...}    # of outcomes in a file of their own, in place of columns.reward; give problem.return too")
		d.line("  # outcome: {time: ..., event: ..., causes: {death: ...}, censored: ..., every: ..., until: ...}    # of times under censoring, in place of columns.reward; problem then has persons alone: docs/survival.md")
	}
	d.behavior()
	switch {
	case d.given(worth):
		d.line("  encode: {reward: %s}", d.open(worth))
	case len(words) > 0:
		d.line("  # encode: {%s}    # for columns of words that are read: all that there can be, such as [f, m], which become 0, 1", strings.Join(words, ", "))
	}
	if len(d.observations()) > 0 {
		d.line("  # missing: mean               # a missing observation becomes 0, or its public mean (means: {NAME: 50}). reject makes the run fail, which reveals something about the data")
	}
}

// words names the first columns of text that may be observations, the reward or the
// action, each with an empty list for its words.
func (d *draft) words() []string {
	var out []string
	for _, c := range d.columns {
		known := c.Canonical != "" && !strings.HasPrefix(c.Canonical, "obs_") && c.Canonical != "reward"
		if len(out) < mostCandidates && c.Type == "text" && !known && !timely().MatchString(c.Name) {
			out = append(out, scalar(c.Name)+": [...]")
		}
	}
	return out
}

// timely is how columns of dates and times are called, which are no words.
var timely = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)date|time|_at$|^ts$|^day$`) })

// episodes says what an episode is where no column does. Where it is not known what a
// row is, the draft asks: each answer is another question to the data.
func (d *draft) episodes() {
	switch {
	case d.given(gap):
		d.steps()
		d.line("  episodes: {gap: %s}", d.open(gap))
	case d.given(rows):
		d.steps()
		d.line("  %s: true", d.open(rows))
	case d.has("episode_id"):
		d.steps()
	case d.has("unit_id") && d.has("step"):
		d.steps()
		d.line("  episode_per_person: true      # PROPOSED, to be confirmed: no column names an episode, so that all rows of a person would be one")
	case d.unknownRows():
		d.line("  # No column is known to name an episode or to order its decisions. What is a row?")
		d.line("  #   a decision on its own, with one reward:            one_row_episodes: true")
		d.line("  #   one of the decisions of a person, in their order:  episode_per_person: true, with unit_id and step under columns")
		d.line("  #   one of an episode that a column names:             episode_id and step under columns")
		d.line("  # steps: {from: 1}            # where the first step is 1; {kind: ordered} for days, {kind: date} for dates; sort: true for rows in any order")
		d.line("  one_row_episodes: %s    # true; or put one of the other two in place of this line", yamlfile.Open)
	}
}

// steps offers other ways to count, where a column orders decisions.
func (d *draft) steps() {
	switch {
	case d.given(steps):
		d.line("  steps: %s", d.open(steps))
	case d.has("step"):
		d.line("  # steps: {from: 1}            # where the first step is 1; {kind: ordered} for days, {kind: date} for dates; sort: true for rows in any order")
	}
}

// person is how columns that name the person may be called.
var person = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)patient|subject|person|participant|customer|client|user|^mrn$|^uid$`)
})

// unknownRows tells whether nothing says what a row is.
func (d *draft) unknownRows() bool { return !d.has("episode_id") && !d.has("step") }

// mostCandidates bounds the columns that are offered for one purpose.
const mostCandidates = 6

// probability is how columns of probabilities are called.
var probability = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^p_|_p$|prob|propensity`) })

// behavior asks where the probabilities of the logged actions come from, and names
// the columns that may hold them.
func (d *draft) behavior() {
	if d.given(behavior) {
		if b := d.open(behavior); b != none {
			from := "where the probabilities of the logged actions come from"
			if strings.HasPrefix(b, "{kind: estimate") {
				from = "in one cell: alike for all decisions; where they depended on a column, give column and states too (docs/configuration.md)"
			}
			d.line("  behavior: %s    # %s", b, from)
		}
		return
	}
	d.line("  behavior:                     # where the probabilities of the logged actions come from; leave it out on-policy")
	d.line("    source: %s             # design (fixed beforehand), logged (recorded when drawn) or model", yamlfile.Open)
	if !d.has("behavior_prob") {
		d.line("    kind: %s               # column with its name; or, from a design, {kind: uniform, actions: 2}, constant_by_step, table, ...", yamlfile.Open)
		n := 0
		for _, c := range d.columns {
			if n < mostCandidates && (c.Type == "number" || c.Type == "integer") && probability().MatchString(c.Name) {
				d.line("    # name: %s    # the column of the probability of the action taken, if it is that", scalar(c.Name))
				n++
			}
		}
	}
	if !d.has("behavior_prob") {
		d.line("    # Where nobody recorded them, in place of source and kind, to be paid for: kind: estimate, column: ..., states: 3, actions: 2, once: false")
	}
	d.line("    # once: true                # for a column, where the arm was drawn once an episode and later rows repeat its probability")
}

// mapping lists the canonical columns that must be named: none is recognised, or
// several are.
func (d *draft) mapping() []string {
	var out []string
	for _, name := range []string{"episode_id", "unit_id", "step", "action", "reward"} {
		n := len(d.mapped(name))
		needed := name == "action" || name == "reward" || name == "episode_id" && d.has("step") && !d.has("unit_id")
		if n > 1 || n == 0 && needed && !slices.Equal(d.answers.Columns[name], []string{none}) {
			out = append(out, name)
		}
	}
	return out
}

// problem writes the public facts.
func (d *draft) problem() {
	d.line("problem:")
	d.line("  persons: %s             # how many there are by the study's public records; checked under replace_one", d.open(persons))
	d.line("  gamma: %s               # the discount of a step, above 0 and at most 1; 1 adds rewards up", d.open(gamma))
	d.line("  reward: {min: %s, max: %s}   # what a reward can be at all", d.open(least), d.open(most))
	if d.given(episodeHorizon) {
		d.line("  episodes: %s            # the most episodes of a person that count", d.open(episodes))
		d.line("  episode_horizon: %s     # the most decisions of one episode", d.open(episodeHorizon))
	} else {
		d.line("  horizon: %s             # the most decisions of a person that count, over all their episodes", d.open(horizon))
		d.line("  # episode_horizon: ...  # the most decisions of one episode, where a person may have several: intervals are narrower")
	}
	if d.open(outcomes) == onLastRow || d.given(elsewhere) {
		d.line("  return: {min: %s, max: %s}   # that of the one outcome", d.open(least), d.open(most))
	} else {
		d.line("  # return: {min: ..., max: ...}  # what a whole return can be at all, where that is less than the horizon times a reward")
	}
	if d.given(records) {
		d.line("  records: %s             # nothing is lost: every decision and outcome of every person is in the data", d.open(records))
	}
	if d.has("terminated") {
		d.line("  end: column                   # as the column of the data says; or terminated (nothing follows the last row), truncated (the record was cut off there)")
	} else {
		d.line("  end: %s                 # terminated (nothing follows the last row, as in one-row episodes) or truncated (the record was cut off there)", d.open(end))
	}
}

// privacy writes the guarantee.
func (d *draft) privacy() {
	d.line("privacy:")
	if d.has("unit_id") {
		d.line("  unit: person                  # whom unit_id names")
	} else {
		d.line("  unit: %s                # person needs a column unit_id (name it in data.columns); episode, or row, protects less", d.open(unit))
	}
	if !d.has("unit_id") {
		n := 0
		for _, c := range d.columns {
			if n < mostCandidates && person().MatchString(c.Name) {
				d.line("  # data.columns: {unit_id: %s}    # if that column names the person", scalar(c.Name))
				n++
			}
		}
	}
	d.line("  adjacency: replace_one        # the number of persons is public; add_remove_one where it is not")
	d.line("  epsilon: %s", d.open(epsilon))
	d.line("  delta: %s               # below 1/persons", d.open(delta))
	d.line("")
}

// question writes what an analyst asks.
func (d *draft) question() {
	d.line("# The question, which an analyst asks. `discreet methods` lists the methods, docs/policies.md the policies.")
	d.line("target: {kind: %s}        # logged, uniform, constant, column, columns, table, tree, softmax, soft-greedy or learned", d.open(target))
	d.line("# To compare policies, in place of target:")
	d.line("# targets: [{name: new, kind: ...}, {name: old, kind: ...}]")
	d.line("# contrasts: [[new, old]]")
	if d.given(by) {
		d.line("by: %s    # all arms that there were", d.open(by))
	}
	d.line("method: {name: %s}", d.open(method))
	if names := d.observations(); d.given(features) {
		d.line("features: %s    # public ranges", d.open(features))
	} else if len(names) > 0 {
		open := strings.TrimSuffix(strings.Repeat(yamlfile.Open+", ", len(names)), ", ")
		d.line("# For a method that needs features, with the public range of each:")
		d.line("# features: {kind: columns, names: [%s], low: [%s], high: [%s]}", strings.Join(names, ", "), open, open)
	}
	d.line("# output: {dir: out}            # release.json and report.html")
}

// mostObservations bounds the columns that are offered as features.
const mostObservations = 12

// observations names the numeric columns of observations.
func (d *draft) observations() []string {
	var names []string
	for _, c := range d.columns {
		if strings.HasPrefix(c.Canonical, "obs_") && (c.Type == "number" || c.Type == "integer") {
			names = append(names, scalar(c.Name))
		}
	}
	return names[:min(len(names), mostObservations)]
}

// columns writes the name of a column, or a list of them.
func columns(names []string) string {
	if len(names) == 1 {
		return scalar(names[0])
	}
	var out []string
	for _, name := range names {
		out = append(out, scalar(name))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// plain is what YAML takes for text as it stands.
var plain = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_./][A-Za-z0-9_./-]*$`) })

// scalar writes text as YAML, quoted where it could be anything else; what cannot be
// seen is written by its code.
func scalar(text string) string {
	reserved := []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
	if plain().MatchString(text) && !slices.Contains(reserved, strings.ToLower(text)) {
		return text
	}
	return strconv.QuoteToASCII(text)
}
