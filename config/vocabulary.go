package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Vocabulary is the public list of the values of a column, and what is read for
// them. In YAML it is a list, whose values are read as 0, 1, 2, ... in that order; a
// mapping of values to numbers; {one_hot: [...]}; or {values: [...], other: true} (or one_hot),
// where every other value, and a missing one, is the further category other. Values without quotes that are
// all numbers are compared as numbers; they are not mixed with text.
type Vocabulary trajectory.Vocabulary

// otherWord is the category of all values that a vocabulary does not list.
const otherWord = "other"

// UnmarshalYAML accepts the forms.
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
	if m, ok := form.(map[string]any); ok && m[otherWord] == true && len(m) == 2 {
		for key, value := range m {
			if list, ok := value.([]any); ok && (key == "values" || key == "one_hot") {
				v.OneHot, v.Other = key == "one_hot", true
				err := v.list(list)
				v.Words = append(v.Words, otherWord)
				return err
			}
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
	return errors.New("want a list of values, a mapping of values to numbers, {one_hot: [...]}, or either list with other: true")
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
