package evaluate

import (
	"fmt"
	"regexp"
	"strings"
)

// Unit is the unit of privacy: what one record of neighbouring datasets is.
type Unit string

// The units. The zero value means Person.
const (
	// Person is whom unit_id names, with all of their trajectories.
	Person Unit = "person"
	// Episode is a single trajectory. Somebody who owns k of them is protected with
	// k times epsilon only.
	Episode Unit = "episode"
	// Row is a single decision, in logs whose rows are episodes of one decision.
	// Somebody who owns k of them is protected with k times epsilon only.
	Row Unit = "row"
)

// String is the unit's name, as in privacy.unit.
func (u Unit) String() string {
	if u == "" {
		return string(Person)
	}
	return string(u)
}

func (u Unit) validate() error {
	switch u {
	case "", Person, Episode, Row:
		return nil
	}
	return fmt.Errorf("%w: privacy.unit is %q; want person, episode or row", ErrPublic, string(u))
}

// person finds the word, with its article, but not in the name of a key.
var person = regexp.MustCompile(`(^|[^.\w])((?:[Aa] )?)([Pp])erson(s?)\b`)

// Words says a sentence that is written of persons of this unit.
func (u Unit) Words(text string) string {
	if u == "" || u == Person {
		return text
	}
	name := string(u)
	return person.ReplaceAllStringFunc(text, func(found string) string {
		m := person.FindStringSubmatch(found)
		before, article, word := m[1], m[2], name
		if m[3] == "P" {
			word = strings.ToUpper(name[:1]) + name[1:]
		}
		if article != "" && strings.ContainsAny(name[:1], "aeiou") {
			article = article[:1] + "n "
		}
		return before + article + word + m[4]
	})
}

// count is the name of the fact that tells how many there are: the number of
// persons, or of other units.
func (u Unit) count() string {
	if u == "" || u == Person {
		return "persons"
	}
	return "units"
}
