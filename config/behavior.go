package config

// Behavior says where the probabilities of the logged actions come from. An
// off-policy evaluation divides by them. If they were fitted on the same
// persons, one person's record changes the weights of others, and the stated
// guarantee is void.
type Behavior struct {
	// Source is design (actions were drawn with probabilities fixed beforehand),
	// logged (each probability was recorded when its action was drawn) or model
	// (fitted afterwards). There is no default.
	Source string `yaml:"source"`
	// TrainedOn says for source model whose data the model was fitted on:
	// other_persons or public.
	TrainedOn string `yaml:"trained_on"`
	// Note is free text that the release repeats. It must say nothing about the data.
	Note string `yaml:"note"`

	// Kind is column (the default: behavior_prob), columns, uniform,
	// constant_by_step, table, softmax or tree; density, of continuous actions, which is a
	// column that may be above 1, and so is the target's; or estimate, if the probabilities were not
	// recorded: they are then estimated privately from the same persons, in public cells
	// (see [evaluate.EstimatedBehavior]), and source is left out.
	Kind string `yaml:"kind"`
	// Name is the column of the logged action's probability (column, density).
	Name string `yaml:"name"`
	// Precision is by how much a recorded probability may differ from the true one: one unit
	// of the last recorded digit, or half of it if the writer rounded to the nearest (column).
	Precision float64 `yaml:"precision" json:",omitempty"`
	// Once says that one draw fixed all actions of an episode, as the arm of a trial does:
	// the probability applies to decision 0, and later decisions have probability 1
	// (column; required for estimate).
	Once *bool `yaml:"once" json:",omitempty"`
	// Names are the columns of all actions' probabilities (columns).
	Names []string `yaml:"names"`
	// Actions is the number of actions (uniform, estimate).
	Actions int `yaml:"actions"`
	// Probs are the probabilities at each decision of an episode, the last for all
	// later decisions too (constant_by_step).
	Probs StepProbs `yaml:"probs"`
	// Path is the policy's file (table, softmax, tree).
	Path string `yaml:"path"`
	// Column holds the state number (table), or that of the cell (estimate).
	Column string `yaml:"column"`
	// By may be features: a regression on the features replaces the cells (estimate).
	By string `yaml:"by" json:",omitempty"`
	// States is the number of cells (estimate).
	States int `yaml:"states" json:",omitempty"`
	// Floor is the smallest upper limit of a probability (estimate).
	Floor float64 `yaml:"floor" json:",omitempty"`
	// Share is the fraction of the budget that pays for the estimate (estimate).
	Share float64 `yaml:"share" json:",omitempty"`
}
