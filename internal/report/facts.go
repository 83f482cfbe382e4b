package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"github.com/discreet-rl/discreet/evaluate"
)

// fact is a value of the public parameters or the diagnostics, ready to print:
// text, or fields of its own.
type fact struct {
	Text   string
	Fields []namedFact
}

// Short reports that the fact fits a narrow cell without a break.
func (f fact) Short() bool { return f.Fields == nil && len(f.Text) <= 24 }

// namedFact is a fact with its name in JSON and, where it is known, in words.
type namedFact struct {
	Name  string
	Words string
	fact
}

// normalise brings a map to what JSON would hold, so that a release that was
// just made and one that was read from a file print alike.
func normalise(field string, m map[string]any) (map[string]any, error) {
	if len(m) == 0 {
		return nil, nil
	}
	text, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrRelease, field, err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var out map[string]any
	if err := d.Decode(&out); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrRelease, field, err)
	}
	return out, nil
}

// knownFacts explains the public parameters in the order of the page.
var knownFacts = []struct{ name, words string }{
	{"target", "the policy, or the policies, that were evaluated"},
	{"by", "the groups of persons that each have an answer"},
	{"behavior", "where the probabilities of the logged actions come from"},
	{"estimated_behavior", "how these probabilities were estimated, within this release"},
	{"policies_by_cell", "what each policy does, by cell: the probabilities of its actions"},
	{"persons", "number of persons, or a public lower bound on it"},
	{"units", "number of units of privacy, or a public lower bound on it"},
	{"gamma", "discount a decision"},
	{"horizon", "most decisions that one person contributes"},
	{"episode_horizon", "most decisions of one episode"},
	{"one_decision", "whether every trajectory has one decision"},
	{"episodes", "most trajectories that one person contributes"},
	{"counted", "which decisions and trajectories of a person count"},
	{"reward", "range of one reward"},
	{"return", "range of a trajectory’s discounted return"},
	{"clip", "range to which one person’s contribution is clipped"},
	{"max_weight", "cap on an importance weight"},
	{"form", "curves, or limits alone"},
	{"outcome", "what ends the time, and the bins of time"},
	{"until", "time to which means are restricted"},
	{"control", "arm that the others are compared with"},
	{"noise_family", "law of the noise of a count"},
	{"noise_std", "standard deviation of the noise of a count, of gaussian_sums before it is shared between bins"},
	{"lambda", "penalty of the least squares"},
	{"states", "number of states"},
	{"dimension", "number of features"},
	{"alpha", "noise per unit of the smooth bound"},
	{"beta", "smoothness of the bound on the sensitivity"},
}

func publicFacts(m map[string]any) []namedFact {
	rest := make(map[string]any, len(m))
	for k, v := range m {
		rest[k] = v
	}
	var out []namedFact
	for _, k := range knownFacts {
		if v, ok := rest[k.name]; ok {
			out = append(out, namedFact{Name: k.name, Words: k.words, fact: newFact(v)})
			delete(rest, k.name)
		}
	}
	return append(out, namedFacts(rest)...)
}

func namedFacts(m map[string]any) []namedFact {
	var out []namedFact
	for k, v := range m {
		out = append(out, namedFact{Name: k, fact: newFact(v)})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

func newFact(v any) fact {
	switch v := v.(type) {
	case map[string]any:
		if lo, hi, ok := asRange(v); ok {
			return fact{Text: parameter(lo) + " to " + parameter(hi)}
		}
		if len(v) > 0 {
			return fact{Fields: namedFacts(v)}
		}
		return fact{Text: "none"}
	case []any:
		return fact{Text: list(v)}
	case json.Number:
		return fact{Text: parameterOf(v)}
	case string:
		return fact{Text: v}
	case bool:
		if v {
			return fact{Text: "yes"}
		}
		return fact{Text: "no"}
	}
	return fact{Text: "none"}
}

// line is the fact on one line: "uniform, actions 34" for a kind with fields.
func (f fact) line() string {
	if f.Fields == nil {
		return f.Text
	}
	var kind, rest []string
	for _, g := range f.Fields {
		if g.Name == "kind" {
			kind = append(kind, g.line())
			continue
		}
		rest = append(rest, g.Name+" "+g.line())
	}
	return strings.Join(append(kind, rest...), ", ")
}

// list prints up to eight items and says how many there are.
func list(items []any) string {
	const most = 8
	if len(items) == 0 {
		return "none"
	}
	var texts []string
	for _, item := range items[:min(len(items), most)] {
		f := newFact(item)
		if f.Fields != nil {
			f.Text = "(" + f.line() + ")"
		}
		if inner, ok := item.([]any); ok {
			f.Text = "(" + list(inner) + ")"
		}
		texts = append(texts, f.Text)
	}
	out := strings.Join(texts, ", ")
	if len(items) > most {
		out += fmt.Sprintf(", … (%d in all)", len(items))
	}
	return out
}

// parameterOf prints a public parameter: integers in full, others to six digits.
func parameterOf(n json.Number) string {
	if !strings.ContainsAny(n.String(), ".eE") {
		return typeset(n.String())
	}
	x, err := n.Float64()
	if err != nil {
		return n.String()
	}
	return parameter(x)
}

func parameter(x float64) string { return significant(x, 6, nearest) }

// asRange recognises {"min": a, "max": b}.
func asRange(m map[string]any) (lo, hi float64, ok bool) {
	if len(m) != 2 {
		return 0, 0, false
	}
	a, okA := number(m["min"])
	b, okB := number(m["max"])
	return a, b, okA && okB
}

func number(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	x, err := n.Float64()
	return x, err == nil
}

// returnRange is the public range of a return, nil where the release has none.
func returnRange(public map[string]any) *evaluate.Range {
	m, ok := public["return"].(map[string]any)
	if !ok {
		return nil
	}
	lo, hi, ok := asRange(m)
	if !ok || !(lo < hi) {
		return nil
	}
	return &evaluate.Range{Min: lo, Max: hi}
}

// expectedRow is one error that was known before the data was read.
type expectedRow struct{ Words, Value string }

func expectedRows(r *evaluate.Release) []expectedRow {
	x := r.Expected
	var rows []expectedRow
	add := func(words string, v float64, d direction) {
		if v != 0 {
			rows = append(rows, expectedRow{words, significant(v, digits, d)})
		}
	}
	add("standard deviation of the noise", x.StdPrivacy, up)
	add("standard deviation of sampling, about", x.StdSampling, up)
	interval := "the 95% interval"
	if len(r.Answers) > 1 {
		interval = "an interval"
	}
	add("expected half width of "+interval, x.HalfWidth, up)
	add("root mean squared error of the noise over the states", x.RMSE, up)
	value, difference := Constants(r)
	add("worst-case error of a constant chosen without data", value, up)
	add("worst-case error of the difference 0, chosen without data", difference, up)
	return rows
}
