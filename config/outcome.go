package config

import (
	"errors"
)

// Outcome says what is observed of a person in a study of survival: the time to an event or to
// the end of follow-up, and which of the two it was. docs/survival.md is the guide. With Column it
// is the reward of an episode's last decision instead, in files of its own.
type Outcome struct {
	// Path names files in which the outcomes stand, a row for each id of By: unit_id or
	// episode_id, a column with the name that it has in the data.
	Path Names  `yaml:"path" json:",omitempty"`
	By   string `yaml:"by" json:",omitempty"`
	// Column is the column of these files with the reward of an episode's last decision. All other rewards are 0.
	Column string `yaml:"column" json:",omitempty"`
	// Absent states that a person, or an episode, without a row in these files has this outcome, as
	// where they list the dead alone. Without it such an outcome is missing.
	Absent *Value `yaml:"absent" json:",omitempty"`
	// Present is the outcome of whoever has a row, of files without Column.
	Present *Value `yaml:"present" json:",omitempty"`
	// Time is the column of the time, and Event the column that says what ended it, in a table
	// of one row a person. Without both, the time is the number of decisions of a person's
	// episode, and the event that it terminated.
	Time  string `yaml:"time" json:",omitempty"`
	Event string `yaml:"event" json:",omitempty"`
	// Unit is the unit of the time in words, such as days, which the release repeats.
	Unit string `yaml:"unit" json:",omitempty"`
	// Causes are the events by name, each with its value in Event; those of several names
	// compete. Censored is the value, or the list of values, of a time that ended without one.
	Causes   map[string]Value `yaml:"causes" json:",omitempty"`
	Censored Values           `yaml:"censored" json:",omitempty"`
	// Bins are the ends of the bins of time; or the ends are Every, twice Every, and so on to Until.
	Bins  []float64 `yaml:"bins" json:",omitempty"`
	Every float64   `yaml:"every" json:",omitempty"`
	Until float64   `yaml:"until" json:",omitempty"`
	// Strata divide every arm by a column: censoring may depend on the stratum.
	Strata *Strata `yaml:"strata" json:",omitempty"`
	// Censoring states, for a target policy, that leaving is independent of the time to the event
	// and of the decision to come (independent), or of that decision (unanticipated), or nothing (any).
	Censoring string `yaml:"censoring" json:",omitempty"`
	// Times are grouped (the default), where a bin is a range of times, or discrete, where
	// every time in a bin is its end and events come before censoring, as with visits.
	Times string `yaml:"times" json:",omitempty"`
}

// Strata are groups of persons by a column of baseline values.
type Strata struct {
	// Column is the column, and Values are those that make a stratum each.
	Column string      `yaml:"column"`
	Values *Vocabulary `yaml:"values"`
}

// Value is one value of a column: a text or a number.
type Value struct {
	// Word is the value as text, and Numeric says that it is a number.
	Word    string
	Numeric bool
}

// UnmarshalYAML accepts a text, a number, or true or false, which are 1 and 0.
func (v *Value) UnmarshalYAML(decode func(any) error) error {
	var value any
	if err := decode(&value); err != nil {
		return err
	}
	var err error
	v.Word, v.Numeric, err = wordOf(value)
	return err
}

// Values are values of a column. YAML may give a single one.
type Values []Value

// UnmarshalYAML accepts a value or a list of values.
func (v *Values) UnmarshalYAML(decode func(any) error) error {
	var one Value
	if decode(&one) == nil {
		*v = Values{one}
		return nil
	}
	var many []Value
	if err := decode(&many); err != nil {
		return errors.New("want a value, or a list of values")
	}
	*v = many
	return nil
}
