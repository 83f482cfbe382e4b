package spec

import (
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// toldFaults is how many faults of the data are told with their rows at once.
const toldFaults = 20

// reading builds the options to read the data with: only what the method, the
// features and the target use.
func readingOptions(c config.Config, p evaluate.Public, behaviour policy.Policy, m evaluate.Method) (trajectory.Options, error) {
	single, joined := Columns(c.Data.Columns)
	o := trajectory.Options{
		Columns:           single,
		Joined:            joined,
		Observations:      observations(p, behaviour),
		Need:              m.Need,
		OneRowEpisodes:    c.Data.OneRowEpisodes,
		Means:             c.Data.Means,
		Horizon:           int(p.Horizon),
		EpisodesPerPerson: int(p.Episodes),
		EpisodeDecisions:  int(p.EpisodeHorizon),
		Complete:          complete(c),
		Censored:          survival(c) != nil,
		Faults:            toldFaults,
	}
	for _, t := range policiesAsked(c) {
		switch t.Kind {
		case "logged":
		case "column":
			o.Need |= trajectory.BehaviorProb | trajectory.TargetProb
		default:
			o.Need |= trajectory.BehaviorProb | trajectory.Action
		}
	}
	if !Recorded(c.Data.Behavior) {
		o.Need &^= trajectory.BehaviorProb
		o.Need |= trajectory.Action
	}
	if b := c.Data.Behavior; Recorded(b) && drawnOnce(b) {
		o.Need |= trajectory.BehaviorProb
	}
	o.Densities = dense(c.Data.Behavior)
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
	if err := readEnd(c, &o); err != nil {
		return o, err
	}
	if name := targetColumn(c); name != "" {
		o.Columns = withColumn(o.Columns, "target_prob", name)
	}
	if b := c.Data.Behavior; b != nil && b.Name != "" {
		o.Columns = withColumn(o.Columns, "behavior_prob", b.Name)
	}
	if repairs(c) {
		o.Repair = true
	}
	o.Whole = slices.Concat(probabilityColumns(c), groupColumn(c), outcomeColumns(c))
	o.Deciding = decidingColumns(c, append(Policies(p), behaviour)...)
	if err := readRewards(c, &o); err != nil {
		return o, err
	}
	if err := readMissing(c, &o); err != nil {
		return o, err
	}
	if err := readSchema(c, &o); err != nil {
		return o, err
	}
	readGroups(c, &o)
	if err := readOutcome(c, &o); err != nil {
		return o, err
	}
	if err := readBounds(c, &o); err != nil {
		return o, err
	}
	return o, o.Validate()
}

// asTheyCome reads the keys that say how the data differ from the canonical schema.
func readSchema(c config.Config, o *trajectory.Options) (err error) {
	if o.Encode, err = vocabularies(c.Data); err != nil {
		return err
	}
	if o.Steps, err = readSteps(c.Data.Steps); err != nil {
		return err
	}
	if err := readCuts(c.Data, o); err != nil {
		return err
	}
	if o.Separator, err = separator(c.Data); err != nil {
		return err
	}
	o.Rows = c.Data.Rows
	o.NA, o.Multiline, o.EpisodePerPerson = c.Data.NA, c.Data.Multiline, c.Data.EpisodePerPerson
	return nil
}

// encode lists the vocabularies of the data.
func vocabularies(d config.Data) (map[string]trajectory.Vocabulary, error) {
	out := map[string]trajectory.Vocabulary{}
	for name, v := range d.Encode {
		if name == "action" {
			return nil, fmt.Errorf("%w: data.encode has a vocabulary of the action; write it as data.actions", config.ErrConfig)
		}
		out[name] = trajectory.Vocabulary(v)
	}
	if d.Actions != nil {
		out["action"] = trajectory.Vocabulary(*d.Actions)
	}
	return out, nil
}

// separator is the byte that a configuration names.
func separator(d config.Data) (byte, error) {
	switch d.Separator {
	case "":
		return 0, nil
	case ",", ";", "|", "\t":
		return d.Separator[0], nil
	case "tab":
		return '\t', nil
	}
	return 0, fmt.Errorf("%w: data.separator is %q; want \",\", \";\", \"|\" or tab", config.ErrConfig, d.Separator)
}

func readSteps(s *config.Steps) (trajectory.Steps, error) {
	switch {
	case s == nil:
		return trajectory.Steps{}, nil
	case s.Kind != "date" && s.Format != "":
		return trajectory.Steps{}, fmt.Errorf("%w: data.steps.format is for kind date; leave it out", config.ErrConfig)
	}
	format := s.Format
	if s.Kind == "date" && format == "" {
		format = "iso"
	}
	switch s.Kind {
	case "", "number", "ordered", "date":
		return trajectory.Steps{From: s.From, Ordered: s.Kind == "ordered", Date: format, Sort: s.Sort}, nil
	}
	return trajectory.Steps{}, fmt.Errorf("%w: data.steps.kind is %q; want number, ordered or date", config.ErrConfig, s.Kind)
}

// end reads what the last row of an episode means.
func readEnd(c config.Config, o *trajectory.Options) error {
	switch c.Problem.End {
	case "", "column":
	case "terminated":
		o.End = trajectory.EndTerminated
	case "truncated":
		if c.Data.OneRowEpisodes {
			return fmt.Errorf("%w: problem.end is truncated, and one-row episodes terminate; leave the key out", config.ErrConfig)
		}
		o.End = trajectory.EndTruncated
	default:
		return fmt.Errorf("%w: problem.end is %q; want terminated, truncated or column", config.ErrConfig, c.Problem.End)
	}
	return nil
}

func readBounds(c config.Config, o *trajectory.Options) error {
	b := c.Problem.Reward
	if b == nil {
		return nil
	}
	o.Reward = &trajectory.Range{Min: b.Min, Max: b.Max}
	switch outsideRule(c) {
	case "reject":
	case "clip":
		o.ClipRewards = true
	default:
		return fmt.Errorf("%w: problem.reward.outside is %q; want reject or clip", config.ErrConfig, b.Outside)
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
	if o := p.Outcome; o != nil && o.Event != "" {
		add([]string{o.Event})
	}
	if o := p.Outcome; o != nil && o.Strata != nil {
		add([]string{o.Strata.Column})
	}
	for _, pi := range append(Policies(p), behaviour) {
		add(columnsOf(pi))
	}
	return names
}

// Columns divides columns of the file by canonical name: into those of one, and the ids of
// several.
func Columns(all map[string]config.Names) (single map[string]string, joined map[string][]string) {
	single, joined = map[string]string{}, map[string][]string{}
	for canonical, names := range all {
		if len(names) == 1 {
			single[canonical] = names[0]
		} else {
			joined[canonical] = names
		}
	}
	return single, joined
}

func withColumn(columns map[string]string, canonical, name string) map[string]string {
	out := map[string]string{canonical: name}
	for k, v := range columns {
		out[k] = v
	}
	return out
}

// probabilityColumns are the observations in which no value may be replaced.
func probabilityColumns(c config.Config) []string {
	var names []string
	for _, t := range policiesAsked(c) {
		if t.Kind == "columns" {
			names = append(names, t.Names...)
		}
	}
	if b := c.Data.Behavior; b != nil && b.Kind == "columns" {
		names = append(names, b.Names...)
	}
	return names
}
