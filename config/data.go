package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// Data says where the trajectories are and how to read them.
type Data struct {
	// Path is a file, a directory, a glob, or a list of these; "-" is standard input.
	Path Names `yaml:"path"`
	// Format is csv, parquet, ndjson, arrow or minari; empty goes by the file's extension.
	Format string `yaml:"format"`
	// Columns maps a canonical column name to the name in the file, or to none if there
	// is no such column. An id may be of several columns.
	Columns map[string]Names `yaml:"columns"`
	// Actions is the vocabulary of the actions, whose numbers are 0 or above.
	Actions *Vocabulary `yaml:"actions" json:",omitempty"`
	// Encode holds the vocabularies of reward, terminated, truncated and observations.
	Encode map[string]Vocabulary `yaml:"encode" json:",omitempty"`
	// Steps says how the column step orders decisions; by default 0, 1, 2, ...
	Steps *Steps `yaml:"steps" json:",omitempty"`
	// EpisodePerPerson treats all rows of a person as one episode.
	EpisodePerPerson bool `yaml:"episode_per_person" json:",omitempty"`
	// Episodes cuts the rows of a person into episodes: gap is the time without a row that
	// ends one, such as 30d or 12h, and restart, of which the value is step, has one begin
	// where the number of the step is not above that before it.
	Episodes map[string]string `yaml:"episodes" json:",omitempty"`
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
	// Rows is the key of a list in each line of NDJSON whose elements are the rows; the other
	// keys of the line belong to each of them. A column in an object is named by its keys with dots between them.
	Rows string `yaml:"rows" json:",omitempty"`
	// OneRowEpisodes reads every row as an episode of one decision (logs of
	// contextual bandits).
	OneRowEpisodes bool `yaml:"one_row_episodes"`
	// Reward says on which rows the reward stands, and what an empty one means.
	Reward *struct {
		// On may be last_row: the reward stands on the last row of an episode, and other rows
		// have it empty, which is 0. Without it a last row has no outcome: its episode cannot
		// be used.
		On string `yaml:"on" json:",omitempty"`
		// Missing may be zero: whoever curates the data states that an empty reward is 0.
		Missing string `yaml:"missing" json:",omitempty"`
	} `yaml:"reward" json:",omitempty"`
	// Outcome asks for survival: it says what is the time to which event.
	Outcome *Outcome `yaml:"outcome" json:",omitempty"`
	// Behavior says where the probabilities of the logged actions come from; an
	// off-policy method needs it.
	Behavior *Behavior `yaml:"behavior"`
	// OnViolation says how to treat an invalid record: repair changes it or leaves it out by
	// a public rule that uses the record alone; reject makes the run fail, which reveals one
	// bit about the data. The default is repair with privacy and reject without.
	OnViolation string `yaml:"on_violation" json:",omitempty"`
	// Missing says how to treat missing observations: reject, zero, mean, which uses the
	// public mean in Means, mean_of_range, the middle of the public range of a feature, or indicator,
	// which is that beside an observation x_missing for each x. The default is zero if violations are repaired, and
	// reject if they are rejected.
	Missing string             `yaml:"missing"`
	Means   map[string]float64 `yaml:"means"`
}

// Column is the name in the file of a canonical column that is of one, else empty.
func (d Data) Column(canonical string) string {
	if names := d.Columns[canonical]; len(names) == 1 {
		return names[0]
	}
	return ""
}

// MarshalJSON writes a column of one name as that name, as it was before there were others:
// configurations keep their hashes.
func (d Data) MarshalJSON() ([]byte, error) {
	type bare Data
	plain := struct {
		bare
		Columns map[string]any
	}{bare: bare(d)}
	if d.Columns != nil {
		plain.Columns = map[string]any{}
	}
	for canonical, names := range d.Columns {
		plain.Columns[canonical] = []string(names)
		if len(names) == 1 {
			plain.Columns[canonical] = names[0]
		}
	}
	return json.Marshal(plain)
}

// Names are of files, globs or columns; YAML may give a single one as a string.
type Names []string

// UnmarshalYAML accepts a string or a list of strings.
func (n *Names) UnmarshalYAML(decode func(any) error) error {
	var one string
	if decode(&one) == nil {
		*n = Names{one}
		return nil
	}
	var many []string
	if err := decode(&many); err != nil {
		return errors.New("want a name, or a list of them")
	}
	*n = many
	return nil
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
	// Format is the form of dates that are texts: iso (the default: ISO 8601 without a
	// zone), iso_zone, or such as %d.%m.%Y.
	Format string `yaml:"format" json:",omitempty"`
	// Sort puts the rows in order by person, episode and step.
	Sort bool `yaml:"sort" json:",omitempty"`
}
