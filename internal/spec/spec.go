package spec

import (
	"fmt"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Spec is one evaluation, as its configuration says. It is not changed after it was made.
type Spec struct {
	// Config is the configuration as it was written, which contracts and hashes are about.
	Config config.Config
	// Hash is that of the configuration. The release names it.
	Hash      string
	Method    evaluate.Method
	Estimator evaluate.Estimator
	Public    evaluate.Public
	// Behavior is the behaviour policy, nil where its probabilities are a column of the data.
	Behavior policy.Policy
	// Paths and Format are those of the data, and Reading says what is read of them.
	Paths   []string
	Format  string
	Reading trajectory.Options
}

// New checks a configuration and makes what follows from it without the data. It opens
// policy files, which are public.
func New(c config.Config) (*Spec, error) {
	asked := c
	c, err := withOutcome(asked)
	if err != nil {
		return nil, err
	}
	if err := Validate(c); err != nil {
		return nil, err
	}
	s := Spec{Config: asked, Format: c.Data.Format}
	if s.Method, s.Estimator, err = estimator(c.Method); err != nil {
		return nil, err
	}
	if s.Public, err = publicFacts(c); err != nil {
		return nil, err
	}
	if s.Method.NeedFeatures && s.Public.Features == nil {
		if s.Method.Learns {
			return nil, fmt.Errorf("%w: method %s needs features to decide by: {kind: columns, names: [obs_age], low: [20], high: [90]}, or numbered states, {kind: tabular, states: 40, column: obs_state}", config.ErrConfig, s.Method.Name)
		}
		return nil, fmt.Errorf("%w: method %s estimates a value function and needs features, such as {kind: tabular, states: 40, column: obs_state}", config.ErrConfig, s.Method.Name)
	}
	// The release names it, so it must not fail once there is one.
	if s.Hash, err = asked.Hash(); err != nil {
		return nil, err
	}
	if s.Behavior, err = BehaviorPolicy(c.Data.Behavior, c); err != nil {
		return nil, fmt.Errorf("data.behavior: %w", err)
	}
	if err := inOneEntry(c.Data.Behavior, s.Public); err != nil {
		return nil, err
	}
	if b := c.Data.Behavior; !Recorded(b) {
		if s.Public.Targets != nil {
			s.Public.Targets.Drawn = s.Behavior
		}
		asked := Policies(s.Public)
		if c.Target.Kind == learnedKind {
			if s.Behavior != nil && s.Behavior.Actions() > 0 && s.Behavior.Actions() != c.Target.Actions {
				return nil, fmt.Errorf("%w: target.actions is %d, and data.behavior has %d actions: the best constant action would be sought among some of them; give the same number", config.ErrConfig, c.Target.Actions, s.Behavior.Actions())
			}
			asked = constants(c.Target.Actions)
		}
		s.Public.Design = evaluate.NewDesign(s.Behavior, b.Source == "design", asked...)
	}
	for i, p := range Policies(s.Public) {
		if err := checkCovers(c.Data, c.TargetKey(i), p); err != nil {
			return nil, err
		}
	}
	if err := checkCovers(c.Data, "data.behavior", s.Behavior); err != nil {
		return nil, err
	}
	for _, p := range c.Data.Path {
		s.Paths = append(s.Paths, c.Resolve(p))
	}
	if s.Reading, err = readingOptions(c, s.Public, s.Behavior, s.Method); err == nil && c.Method.Sums != nil {
		s.Reading, err = foreignReading(s.Reading, c.Method, s.Public)
	}
	return &s, err
}

// ForCurator is the evaluation that a configuration asks for or, where it asks nothing,
// one that lets the curator look at the data.
func ForCurator(c config.Config) (*Spec, error) {
	if !AsksNothing(c) {
		return New(c)
	}
	s, err := New(standIn(c))
	if err != nil {
		return nil, err
	}
	s.Reading.Need |= statedColumns(c.Data)
	return s, nil
}

// Counted is the evaluation with a number of persons that the data told.
func (s Spec) Counted(persons int) *Spec {
	s.Public.Persons = int64(persons)
	return &s
}

// ForShard is the evaluation of the data in one shard, whose rows are in order by ids as texts, or where format is empty of
// rows as the configuration has them. The number of persons in the configuration is that of all shards.
func (s Spec) ForShard(path, format string) *Spec {
	s.Paths = []string{path}
	if format != "" {
		s.Format, s.Reading.Steps.Sort = format, false
	}
	s.Config.Problem.Persons = 0
	s.Reading.Alone = true
	return &s
}

// Unclipped is the evaluation with rewards as they are in the data.
func (s Spec) Unclipped() *Spec {
	s.Reading.Reward, s.Reading.ClipRewards = nil, false
	return &s
}

// readBy is the evaluation of the data as other options read them.
func (s Spec) readBy(o trajectory.Options) *Spec {
	s.Reading = o
	return &s
}

// Plan plans the evaluation.
func (s *Spec) Plan() (*evaluate.Plan, error) { return s.Estimator.Plan(s.Public) }

// Policies are all that are evaluated.
func (s *Spec) Policies() []policy.Policy { return Policies(s.Public) }
