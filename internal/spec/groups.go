package spec

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// groups builds what is asked about groups, nil where it is of all persons.
func groupsOf(c config.Config) (*evaluate.Groups, error) {
	b := c.By
	if b == nil {
		return nil, nil
	}
	codes, err := groupCodes(c)
	if err != nil {
		return nil, err
	}
	g := &evaluate.Groups{Column: b.Column, Fixed: b.Group == byFixed}
	for i, word := range b.Values.Words {
		name := strings.TrimPrefix(b.Column, "obs_") + " = " + word
		if len(b.Names) > 0 {
			name = b.Names[i]
		}
		g.Of = append(g.Of, evaluate.Group{Name: name, Number: codes[i], Persons: b.Persons[word] + b.Guess[word]})
	}
	return g, nil
}

// vocabulary is that of the groups' column in data.encode.
func groupVocabulary(c config.Config) (trajectory.Vocabulary, bool) {
	bare := strings.TrimPrefix(c.By.Column, "obs_")
	for _, name := range []string{bare, "obs_" + bare} {
		if v, ok := c.Data.Encode[name]; ok {
			return trajectory.Vocabulary(v), true
		}
	}
	return trajectory.Vocabulary{}, false
}

// groupCodes are the numbers that are read for the values of groups.
func groupCodes(c config.Config) ([]float64, error) {
	v, given := groupVocabulary(c)
	var out []float64
	for i, word := range c.By.Values.Words {
		switch k := slices.Index(v.Words, word); {
		case given && v.OneHot:
			return nil, fmt.Errorf("%w: data.encode makes a column for each value of %s; name one of them in by.column, such as %s with values [0, 1]", config.ErrConfig, c.By.Column, v.Column(c.By.Column, 0))
		case given && k < 0:
			return nil, fmt.Errorf("%w: by.values lists %q, which is no value of %s in data.encode; the values are %s", config.ErrConfig, word, c.By.Column, strings.Join(v.Words, ", "))
		case given:
			out = append(out, v.Code(k))
		case c.By.Values.Numeric:
			number, err := strconv.ParseFloat(word, 64)
			if err != nil {
				return nil, fmt.Errorf("%w: by.values: %w", config.ErrConfig, err)
			}
			out = append(out, number)
		default:
			out = append(out, float64(i))
		}
	}
	return out, nil
}

// groupColumn is the observation that says which group a person is in, in which no value
// is replaced: nobody is put into a group by a value that is missing.
func groupColumn(c config.Config) []string {
	if c.By == nil {
		return nil
	}
	return []string{c.By.Column}
}

// readGroups has the words of the groups' column read as the numbers of their groups.
func readGroups(c config.Config, o *trajectory.Options) {
	if c.By == nil {
		return
	}
	if _, given := groupVocabulary(c); !given && !c.By.Values.Numeric {
		o.Encode[c.By.Column] = trajectory.Vocabulary{Words: c.By.Values.Words}
	}
}

// Values of by.group.
const (
	byFixed     = "fixed"
	byMayChange = "may_change"
)

// Validate checks the keys as far as they go without the data.
func validateGroups(b *config.By, c config.Config) error {
	if b == nil {
		return nil
	}
	replaced := c.Privacy.Adjacency == "replace_one"
	switch {
	case b.Column == "":
		return fmt.Errorf("%w: by.column is missing; name the column that says which group a person is in", config.ErrConfig)
	case b.Values == nil || len(b.Values.Words) == 0:
		return fmt.Errorf("%w: by.values is missing; list the values of %s that make a group each, such as [f, m]", config.ErrConfig, b.Column)
	case b.Values.Codes != nil || b.Values.OneHot:
		return fmt.Errorf("%w: by.values is a list of values, such as [f, m]; numbers for words belong into data.encode", config.ErrConfig)
	case len(b.Names) > 0 && len(b.Names) != len(b.Values.Words):
		return fmt.Errorf("%w: by.names has %d names for %d values; give one for each, in their order", config.ErrConfig, len(b.Names), len(b.Values.Words))
	case replaced && b.Group != byFixed && b.Group != byMayChange:
		return fmt.Errorf("%w: by.group is %q; under replace_one say may_change, which hides which group a person is in, or fixed, which does not and needs by.persons, the public sizes of the groups", config.ErrConfig, b.Group)
	case !replaced && b.Group != "" && !(c.Privacy.None && survival(c) != nil): // a reference of survival takes the question as it is
		return fmt.Errorf("%w: by.group is %q, and under %s nobody is exchanged for a person of another group; leave it out", config.ErrConfig, b.Group, orNone(c.Privacy.Adjacency))
	case b.Group == byFixed && b.Guess != nil:
		return fmt.Errorf("%w: by.guess is for sizes that are private, and fixed groups have public ones; leave it out, and give by.persons", config.ErrConfig)
	case b.Group != byFixed && b.Persons != nil:
		return fmt.Errorf("%w: by.persons states the sizes of fixed groups, and here they are private; for forecasts give a public guess as by.guess", config.ErrConfig)
	}
	return checkGroupSizes(b)
}

func orNone(adjacency string) string {
	if adjacency == "" {
		return "privacy: none"
	}
	return adjacency
}

// known refuses sizes of what is no group.
func checkGroupSizes(b *config.By) error {
	for key, sizes := range map[string]map[string]int64{"by.persons": b.Persons, "by.guess": b.Guess} {
		for _, value := range slices.Sorted(maps.Keys(sizes)) {
			if !slices.Contains(b.Values.Words, value) {
				return fmt.Errorf("%w: %s has a number for %q, which by.values does not list; the values are %s", config.ErrConfig, key, value, strings.Join(b.Values.Words, ", "))
			}
			if sizes[value] < 1 {
				return fmt.Errorf("%w: %s: %d persons of %q; want 1 or more, and leave a value out that nobody has", config.ErrConfig, key, sizes[value], value)
			}
		}
	}
	return nil
}
