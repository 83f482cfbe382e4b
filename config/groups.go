package config

// By asks for the value of the policy in each of several public groups of persons.
type By struct {
	// Column is the observation that says which group a person is in, with or without
	// its "obs_".
	Column string `yaml:"column"`
	// Values are the values of the column, one group each; a person with another value is
	// in no group. Names are the groups' names, in the same order; by default
	// "column = value".
	Values *Vocabulary `yaml:"values"`
	Names  []string    `yaml:"names" json:",omitempty"`
	// Group is required under replace_one. With may_change, an exchanged record may be of
	// another group; with fixed it may not, group membership is not protected and the sizes
	// of the groups are public.
	Group string `yaml:"group" json:",omitempty"`
	// Persons are the public sizes of fixed groups, by value. Guess are public guesses of
	// the sizes of others, used only for forecasts and caps.
	Persons map[string]int64 `yaml:"persons" json:",omitempty"`
	Guess   map[string]int64 `yaml:"guess" json:",omitempty"`
}
