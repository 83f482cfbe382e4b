package discreet

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Vocabulary is the public list of the values of a column, and what is read for
// them. In YAML it is a list, whose values are read as 0, 1, 2, ... in that order; a
// mapping of values to numbers; or {one_hot: [...]}. Values without quotes that are
// all numbers are compared as numbers; they are not mixed with text.
type Vocabulary trajectory.Vocabulary

// UnmarshalYAML accepts the three forms.
func (v *Vocabulary) UnmarshalYAML(decode func(any) error) error {
	var form any
	if err := decode(&form); err != nil {
		return err
	}
	if m, ok := form.(map[string]any); ok && len(m) == 1 {
		if list, ok := m["one_hot"].([]any); ok {
			v.OneHot = true
			return v.list(list)
		}
	}
	switch form := form.(type) {
	case []any:
		return v.list(form)
	case map[string]any:
		return vocabularyMap(v, form)
	case map[any]any:
		return vocabularyMap(v, form)
	}
	return errors.New("want a list of values, a mapping of values to numbers, or {one_hot: [...]}")
}

// list takes the values in their order.
func (v *Vocabulary) list(values []any) error {
	for _, value := range values {
		if err := v.add(value); err != nil {
			return err
		}
	}
	return nil
}

// add takes one value. Of a number among text it is not known how it was written:
// true and 1, or 1.0 and 1, are one value to YAML and two in a file.
func (v *Vocabulary) add(value any) error {
	word, number, err := wordOf(value)
	switch {
	case err != nil:
		return err
	case len(v.Words) == 0:
		v.Numeric = number
	case v.Numeric != number:
		return errors.New("want values that are all text or all numbers; put each in quotes, as it stands in the file")
	}
	v.Words = append(v.Words, word)
	return nil
}

// vocabularyMap takes the values in the order of their numbers.
func vocabularyMap[K comparable](v *Vocabulary, form map[K]any) error {
	codes := map[string]float64{}
	for value, code := range form {
		if err := v.add(value); err != nil {
			return err
		}
		word := v.Words[len(v.Words)-1]
		switch code := code.(type) {
		case int:
			codes[word] = float64(code)
		case float64:
			codes[word] = code
		case bool:
			codes[word] = 0
			if code {
				codes[word] = 1
			}
		default:
			return fmt.Errorf("want a number for the value %s", word)
		}
	}
	slices.SortFunc(v.Words, func(a, b string) int { return cmp.Or(cmp.Compare(codes[a], codes[b]), cmp.Compare(a, b)) })
	for _, word := range v.Words {
		v.Codes = append(v.Codes, codes[word])
	}
	return nil
}

// wordOf is the text of a value of a vocabulary, and whether it is a number.
func wordOf(value any) (string, bool, error) {
	switch value := value.(type) {
	case string:
		return value, false, nil
	case int:
		return strconv.Itoa(value), true, nil
	case float64:
		return strconv.FormatFloat(value, 'g', -1, 64), true, nil
	case bool:
		if value {
			return "1", true, nil
		}
		return "0", true, nil
	}
	return "", false, errors.New("want values that are text or numbers; put others in quotes")
}

// Markers are texts that stand for a missing value. YAML may give whole numbers.
type Markers []string

// mostMarkers bounds the markers: a file has a few.
const mostMarkers = 1000

// UnmarshalYAML accepts a list of texts and whole numbers.
func (m *Markers) UnmarshalYAML(decode func(any) error) error {
	var list []any
	if err := decode(&list); err != nil {
		return errors.New("want a list of texts")
	}
	if len(list) > mostMarkers {
		return fmt.Errorf("want at most %d texts", mostMarkers)
	}
	for _, value := range list {
		switch value := value.(type) {
		case string:
			*m = append(*m, value)
		case int:
			*m = append(*m, strconv.Itoa(value))
		default:
			return errors.New("want texts and whole numbers; put a marker in quotes, as it stands in the file")
		}
	}
	return nil
}

// Steps says how the column step orders the decisions of an episode.
type Steps struct {
	// From is the number of the first decision; the others count up by one.
	From int `yaml:"from" json:",omitempty"`
	// Kind is number (the default), ordered (increasing numbers, such as days) or date.
	Kind string `yaml:"kind" json:",omitempty"`
	// Format is the form of dates, such as %Y-%m-%d.
	Format string `yaml:"format" json:",omitempty"`
}

func (s *Steps) reading() (trajectory.Steps, error) {
	switch {
	case s == nil:
		return trajectory.Steps{}, nil
	case s.Kind == "date" && s.Format == "":
		return trajectory.Steps{}, fmt.Errorf("%w: data.steps.format is missing; write the form of the dates, such as \"%%Y-%%m-%%d\"", ErrConfig)
	case s.Kind != "date" && s.Format != "":
		return trajectory.Steps{}, fmt.Errorf("%w: data.steps.format is for kind date; leave it out", ErrConfig)
	}
	switch s.Kind {
	case "", "number", "ordered", "date":
		return trajectory.Steps{From: s.From, Ordered: s.Kind == "ordered", Date: s.Format}, nil
	}
	return trajectory.Steps{}, fmt.Errorf("%w: data.steps.kind is %q; want number, ordered or date", ErrConfig, s.Kind)
}

// Action names an action: by its number, or by its word in the vocabulary of
// [Data.Actions].
type Action struct {
	Number int
	// Word is empty where the number is given.
	Word string
}

// UnmarshalYAML accepts a whole number or a word.
func (a *Action) UnmarshalYAML(decode func(any) error) error {
	if decode(&a.Number) == nil {
		return nil
	}
	a.Number = 0
	var value any
	if err := decode(&value); err != nil {
		return err
	}
	if word, ok := value.(string); ok && word != "" {
		a.Word = word
		return nil
	}
	return errors.New("want the number of an action, or its word in data.actions")
}

// MarshalJSON gives the number or the word.
func (a Action) MarshalJSON() ([]byte, error) {
	if a.Word != "" {
		return json.Marshal(a.Word)
	}
	return json.Marshal(a.Number)
}

// action is the number of the action that the target always takes.
func (c Config) action() (int, error) {
	a, v := c.Target.Action, c.Data.Actions
	switch {
	case a == nil:
		return 0, fmt.Errorf("%w: action is missing; name the action that is always taken", ErrConfig)
	case v == nil && a.Word != "":
		return 0, fmt.Errorf("%w: action is the word %q, and data.actions does not say which number it stands for", ErrConfig, a.Word)
	case v == nil:
		return a.Number, nil
	}
	for i, word := range v.Words {
		code := int(trajectory.Vocabulary(*v).Code(i))
		if a.Word != "" && word == a.Word || a.Word == "" && code == a.Number {
			return code, nil
		}
	}
	return 0, fmt.Errorf("%w: action is none of those that data.actions lists", ErrConfig)
}

// target describes the target policy in words, with that of its action.
func (c Config) target() string {
	k, err := c.action()
	if c.Target.Kind != "constant" || c.Data.Actions == nil || err != nil {
		return c.Target.String()
	}
	v := trajectory.Vocabulary(*c.Data.Actions)
	for i, word := range v.Words {
		if int(v.Code(i)) == k {
			return fmt.Sprintf("constant: action %d (%s)", k, word)
		}
	}
	return c.Target.String()
}

// encode lists the vocabularies of the data.
func (d Data) encode() (map[string]trajectory.Vocabulary, error) {
	out := map[string]trajectory.Vocabulary{}
	for name, v := range d.Encode {
		if name == "action" {
			return nil, fmt.Errorf("%w: data.encode has a vocabulary of the action; write it as data.actions", ErrConfig)
		}
		out[name] = trajectory.Vocabulary(v)
	}
	if d.Actions != nil {
		out["action"] = trajectory.Vocabulary(*d.Actions)
	}
	return out, nil
}

// words are those of the actions, by number.
func (d Data) words() map[int]string {
	if d.Actions == nil {
		return nil
	}
	v, out := trajectory.Vocabulary(*d.Actions), map[int]string{}
	for i, word := range v.Words {
		out[int(v.Code(i))] = word
	}
	return out
}

// separator is the byte that a configuration names.
func (d Data) separator() (byte, error) {
	switch d.Separator {
	case "":
		return 0, nil
	case ",", ";", "|", "\t":
		return d.Separator[0], nil
	case "tab":
		return '\t', nil
	}
	return 0, fmt.Errorf("%w: data.separator is %q; want \",\", \";\", \"|\" or tab", ErrConfig, d.Separator)
}

// covers checks that a policy over K actions and the vocabulary of actions speak of
// the same ones: each has a number below K, and each number a word.
func (d Data) covers(key string, p policy.Policy) error {
	switch p.(type) {
	case nil, policy.Constant, policy.Logged, policy.ProbColumn:
		return nil
	}
	if d.Actions == nil || p.Actions() == 0 {
		return nil
	}
	v := trajectory.Vocabulary(*d.Actions)
	for i := range v.Words {
		if v.Code(i) >= float64(p.Actions()) {
			return fmt.Errorf("%w: %s has %d actions, and data.actions gives one the number %g; number them from 0 without gaps, as the policy does", ErrConfig, key, p.Actions(), v.Code(i))
		}
	}
	if len(v.Words) != p.Actions() {
		return fmt.Errorf("%w: %s has %d actions, and data.actions lists %d; name them all", ErrConfig, key, p.Actions(), len(v.Words))
	}
	return nil
}
