package discreet

import (
	"errors"
	"fmt"
	"os"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// public builds the public facts of a configuration. It opens policy files,
// which are public, and no data.
func (c Config) public() (evaluate.Public, error) {
	p := evaluate.Public{
		Persons:   c.Problem.Persons,
		Gamma:     c.Problem.Gamma,
		Discounts: c.Problem.Discounts,
		Return:    c.Problem.Return,
		Horizon:   c.Problem.Horizon,
		Episodes:  c.Problem.Episodes,
		Complete:  c.complete(),
		Labels:    map[string]any{},

		OneDecision: c.Data.OneRowEpisodes,
	}
	if c.Problem.Reward != nil {
		p.Reward = c.Problem.Reward.Range
	}
	if c.Data.OneRowEpisodes && p.Gamma == 0 {
		p.Gamma = 1 // a single reward is not discounted
	}
	if c.Data.Behavior != nil {
		p.Labels["behavior"] = c.Data.Behavior.label()
		p.Behavior = c.Data.Behavior.estimated()
	}
	if c.Problem.End != "" {
		p.Labels["end"] = c.Problem.End
	}
	if c.Data.EpisodePerPerson && p.Episodes == 0 {
		p.Episodes = 1
	}
	if words := c.violationWords(); words != "" {
		p.Labels["on_violation"] = words
	}
	var err error
	if c.Features != nil {
		p.Labels["features"] = *c.Features
		if p.Features, err = c.Features.Map(); err != nil {
			return p, fmt.Errorf("features: %w", err)
		}
		if names := c.stateNames(p.Features); names != nil {
			p.Labels["state_names"] = names
		}
	}
	if p.Start, err = c.distribution(p); err != nil {
		return p, fmt.Errorf("start: %w", err)
	}
	if p.Targets, err = c.targets(); err != nil {
		return p, err
	}
	if p.Targets == nil {
		if p.Target, err = c.policy(); err != nil {
			return p, fmt.Errorf("target: %w", err)
		}
	}
	p.Labels["target"] = c.label(p.Targets)
	if p.By, err = c.groups(); err != nil {
		return p, err
	}
	if p.Privacy, err = c.guarantee(); err != nil {
		return p, err
	}
	return p, nil
}

// policy builds the target policy.
func (c Config) policy() (policy.Policy, error) {
	t := c.Target
	switch t.Kind {
	case "logged":
		return policy.Logged{}, nil
	case "uniform":
		return policy.NewUniform(t.Actions)
	case "constant":
		action, err := c.action()
		if err != nil {
			return nil, err
		}
		return policy.NewConstant(action)
	case "column":
		return policy.ProbColumn{}, nil
	case "columns":
		return policy.NewColumns(t.Names)
	case "tree":
		return readPolicy(c.path(t.Path), func(f *os.File) (policy.Policy, error) { return policy.ReadTree(f, t.Path) })
	case "table":
		return readPolicy(c.path(t.Path), func(f *os.File) (policy.Policy, error) { return policy.ReadTable(f, t.Path, t.Column) })
	case "soft-greedy":
		return readPolicy(c.path(t.Path), func(f *os.File) (policy.Policy, error) { return policy.ReadSoftGreedy(f, t.Path) })
	case "softmax":
		return readPolicy(c.path(t.Path), func(f *os.File) (policy.Policy, error) { return policy.ReadSoftmax(f, t.Path) })
	}
	return nil, fmt.Errorf("%w: kind is %q; want logged, uniform, constant, column, columns, table, tree, softmax or soft-greedy", ErrConfig, t.Kind)
}

// largestPolicy bounds, in bytes, the file of a policy.
const largestPolicy = 64 << 20

func readPolicy(path string, read func(*os.File) (policy.Policy, error)) (policy.Policy, error) {
	if path == "" {
		return nil, fmt.Errorf("%w: path is missing; name the policy's file", ErrConfig)
	}
	f, err := openBounded(path, largestPolicy)
	if err != nil {
		return nil, fmt.Errorf("%w: %w; name the file of a policy", ErrConfig, err)
	}
	p, err := read(f)
	return p, errors.Join(err, f.Close())
}

// guarantee builds the privacy that is asked for, nil for none.
func (c Config) guarantee() (*evaluate.Privacy, error) {
	if c.Privacy.None {
		return nil, nil
	}
	switch c.Privacy.unit() {
	case "", evaluate.Person, evaluate.Episode, evaluate.Row:
	default:
		return nil, fmt.Errorf("%w: privacy.unit is %q; want person, episode or row", ErrConfig, c.Privacy.Unit)
	}
	if c.Privacy.Adjacency == "" {
		return nil, fmt.Errorf("%w: privacy.adjacency is missing; want replace_one (%s is public) or add_remove_one (it is not)", ErrConfig, c.Privacy.unit().Words("the number of persons"))
	}
	adjacency, err := dp.ParseAdjacency(c.Privacy.Adjacency)
	if err != nil {
		return nil, fmt.Errorf("privacy.adjacency: %w", err)
	}
	g := &evaluate.Privacy{Unit: c.Privacy.unit(), Adjacency: adjacency, Budget: dp.Budget{Epsilon: c.Privacy.Epsilon, Delta: c.Privacy.Delta}, LargeDelta: c.Privacy.LargeDelta}
	switch c.Privacy.Noise {
	case "", "exact":
	case "fast":
		g.Noise = evaluate.FastNoise
	default:
		return nil, fmt.Errorf("%w: privacy.noise is %q; want exact or fast", ErrConfig, c.Privacy.Noise)
	}
	return g, nil
}

// toldFaults is how many faults of the data are told with their rows at once.
const toldFaults = 20

// reading builds the options to read the data with: only what the method, the
// features and the target use.
func (c Config) reading(p evaluate.Public, behaviour policy.Policy, m evaluate.Method) (trajectory.Options, error) {
	o := trajectory.Options{
		Columns:           c.Data.Columns,
		Observations:      observations(p, behaviour),
		Need:              m.Need,
		OneRowEpisodes:    c.Data.OneRowEpisodes,
		Means:             c.Data.Means,
		Horizon:           int(p.Horizon),
		EpisodesPerPerson: int(p.Episodes),
		Complete:          c.complete(),
		Faults:            toldFaults,
	}
	for _, t := range c.asked() {
		switch t.Kind {
		case "logged":
		case "column":
			o.Need |= trajectory.BehaviorProb | trajectory.TargetProb
		default:
			o.Need |= trajectory.BehaviorProb | trajectory.Action
		}
	}
	if !c.Data.Behavior.recorded() {
		o.Need &^= trajectory.BehaviorProb
		o.Need |= trajectory.Action
	}
	if b := c.Data.Behavior; b.recorded() && b.once() {
		o.Need |= trajectory.BehaviorProb
	}
	if p.Discounts {
		o.Need |= trajectory.Discount
	}
	if p.Features != nil && !c.Data.OneRowEpisodes {
		o.Optional |= trajectory.Final
	}
	if p.Privacy != nil {
		o.Unit = map[evaluate.Unit]trajectory.Unit{
			"": trajectory.UnitPerson, evaluate.Person: trajectory.UnitPerson, evaluate.Episode: trajectory.UnitEpisode, evaluate.Row: trajectory.UnitRow,
		}[p.Privacy.Unit]
	}
	if err := c.end(&o); err != nil {
		return o, err
	}
	if name := c.targetColumn(); name != "" {
		o.Columns = withColumn(o.Columns, "target_prob", name)
	}
	if b := c.Data.Behavior; b != nil && b.Name != "" {
		o.Columns = withColumn(o.Columns, "behavior_prob", b.Name)
	}
	if c.repairs() {
		o.Repair = true
	}
	o.Whole = append(probabilityColumns(c), c.groupColumn()...)
	if err := c.missing(&o); err != nil {
		return o, err
	}
	if err := c.asTheyCome(&o); err != nil {
		return o, err
	}
	c.readGroups(&o)
	if err := c.bounds(&o); err != nil {
		return o, err
	}
	return o, o.Validate()
}

// asTheyCome reads the keys that say how the data differ from the canonical schema.
func (c Config) asTheyCome(o *trajectory.Options) (err error) {
	if o.Encode, err = c.Data.encode(); err != nil {
		return err
	}
	if o.Steps, err = c.Data.Steps.reading(); err != nil {
		return err
	}
	if o.Separator, err = c.Data.separator(); err != nil {
		return err
	}
	o.NA, o.Multiline, o.EpisodePerPerson = c.Data.NA, c.Data.Multiline, c.Data.EpisodePerPerson
	return nil
}

// end reads what the last row of an episode means.
func (c Config) end(o *trajectory.Options) error {
	switch c.Problem.End {
	case "", "column":
	case "terminated":
		o.End = trajectory.EndTerminated
	case "truncated":
		if c.Data.OneRowEpisodes {
			return fmt.Errorf("%w: problem.end is truncated, and one-row episodes terminate; leave the key out", ErrConfig)
		}
		o.End = trajectory.EndTruncated
	default:
		return fmt.Errorf("%w: problem.end is %q; want terminated, truncated or column", ErrConfig, c.Problem.End)
	}
	return nil
}

func (c Config) missing(o *trajectory.Options) error {
	switch c.missingRule() {
	case "reject":
	case "zero":
		o.Missing = trajectory.MissingZero
	case "mean":
		o.Missing = trajectory.MissingMean
		if c.repairs() {
			return c.allMeans(o)
		}
	default:
		return fmt.Errorf("%w: data.missing is %q; want reject, zero or mean", ErrConfig, c.Data.Missing)
	}
	return nil
}

func (c Config) bounds(o *trajectory.Options) error {
	b := c.Problem.Reward
	if b == nil {
		return nil
	}
	o.Reward = &trajectory.Range{Min: b.Min, Max: b.Max}
	switch c.outsideRule() {
	case "reject":
	case "clip":
		o.ClipRewards = true
	default:
		return fmt.Errorf("%w: problem.reward.outside is %q; want reject or clip", ErrConfig, b.Outside)
	}
	return nil
}

// observations lists the columns that features, target and behaviour policy read.
func observations(p evaluate.Public, behaviour policy.Policy) []string {
	names := []string{}
	seen := map[string]bool{}
	add := func(columns []string) {
		for _, c := range columns {
			if !seen[c] {
				seen[c] = true
				names = append(names, c)
			}
		}
	}
	if p.Features != nil {
		add(p.Features.Columns())
	}
	if p.Behavior != nil && p.Behavior.Column != "" {
		add([]string{p.Behavior.Column})
	}
	if p.By != nil {
		add([]string{p.By.Column})
	}
	for _, pi := range append(policies(p), behaviour) {
		add(columnsOf(pi))
	}
	return names
}

// targetColumn is the column of a policy's probabilities of the taken actions, "" where
// it has the canonical name or none is asked for.
func (c Config) targetColumn() string {
	for _, t := range c.asked() {
		if t.Name != "" {
			return t.Name
		}
	}
	return ""
}

// checkNames refuses two names for one column.
func (c Config) checkNames() error {
	named := map[string]string{"target_prob": c.targetColumn()}
	if b := c.Data.Behavior; b != nil {
		named["behavior_prob"] = b.Name
	}
	for canonical, name := range named {
		if mapped := c.Data.Columns[canonical]; name != "" && mapped != "" && mapped != name {
			return fmt.Errorf("%w: data.columns maps %s to %s, and target.name or data.behavior.name says %s; leave one of them out", ErrConfig, canonical, mapped, name)
		}
	}
	return nil
}

func withColumn(columns map[string]string, canonical, name string) map[string]string {
	out := map[string]string{canonical: name}
	for k, v := range columns {
		out[k] = v
	}
	return out
}
