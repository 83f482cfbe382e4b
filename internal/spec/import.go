package spec

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// ForImport is how data are read once and for all, as a table that many questions may be
// asked of: with all columns, as they are. Nothing is cut or moved into a range. Any fault is an
// error, and so is a missing observation, unless data.missing says what it becomes; with repair
// episodes that cannot be used are kept as such, and missing observations stay missing.
func ForImport(c config.Config, repair bool) (*Spec, error) {
	if survival(c) != nil {
		return nil, fmt.Errorf("%w: data.outcome is what a question reads as time and event; leave it out for the import, and let columns name the reward and the flags", config.ErrConfig)
	}
	if repair && c.Data.OnViolation == "reject" {
		return nil, fmt.Errorf("%w: data.on_violation is reject, and --repair keeps what it refuses; leave one of the two out", config.ErrConfig)
	}
	s, err := ForCurator(c)
	if err != nil {
		return nil, err
	}
	o := s.Reading
	o.Optional = trajectory.AllParts
	if o.OneRowEpisodes {
		o.Optional &^= trajectory.Final
	}
	if o.Densities { // of which the action is a dose, and is not read
		o.Optional &^= trajectory.Action | trajectory.ActionProbs
	}
	if o.Unit != trajectory.UnitEpisode && o.Unit != trajectory.UnitRow { // of which a table names nobody
		o.Unit = trajectory.UnitPerson
	}
	o.EndStated, o.End = o.End != trajectory.EndColumn, trajectory.EndColumn
	o.Horizon, o.EpisodesPerPerson, o.EpisodeDecisions, o.Reward, o.ClipRewards = 0, 0, 0, nil, false
	o.Repair, o.Keep, o.Complete, o.Censored = repair, repair, false, false
	if o.Encode, err = vocabularies(c.Data); err != nil { // without those of groups
		return nil, err
	}
	if c.Data.Missing == "" && !repair {
		o.Missing = trajectory.MissingReject
	}
	return s.readBy(o), o.Validate()
}

// ImportColumns are the observations to import where the data have those of the schema:
// these, in their order and as the configuration spells them, then what else it names.
func (s *Spec) ImportColumns(schema []string) []string {
	declared := slices.Clone(s.Reading.Observations)
	for _, key := range slices.Sorted(maps.Keys(s.Reading.Encode)) {
		switch v := s.Reading.Encode[key]; {
		case slices.Contains([]string{"action", "reward", "terminated", "truncated"}, key):
		case v.OneHot:
			for i := range v.Words {
				declared = append(declared, v.Column(key, i))
			}
		default:
			declared = append(declared, key)
		}
	}
	bare := func(name string) string { return strings.TrimPrefix(name, "obs_") }
	spelled := map[string]string{}
	for _, name := range slices.Concat(declared, schema) {
		if spelled[bare(name)] == "" {
			spelled[bare(name)] = name
		}
	}
	all := []string{}
	for _, name := range slices.Concat(schema, declared) {
		if name, ok := spelled[bare(name)]; ok {
			all = append(all, name)
			delete(spelled, bare(name))
		}
	}
	return all
}

// Mappings lists the keys of a configuration that say how columns of raw tables become
// those of the schema. What discreet import wrote has none to be mapped.
func Mappings(c config.Config) []string {
	var keys []string
	for _, name := range slices.Sorted(maps.Keys(c.Data.Columns)) {
		if !slices.Equal(c.Data.Columns[name], config.Names{name}) {
			keys = append(keys, "data.columns."+name)
		}
	}
	for key, is := range map[string]bool{
		"data.actions": c.Data.Actions != nil, "data.encode": len(c.Data.Encode) > 0, "data.episode_per_person": c.Data.EpisodePerPerson,
		"data.rows":          c.Data.Rows != "",
		"data.steps":         c.Data.Steps != nil && *c.Data.Steps != config.Steps{},
		"data.reward":        c.Data.Reward != nil && c.Data.Reward.On == "",
		"data.missing":       c.Data.Missing == missingIndicator, // of a table in which nothing is missing
		"data.outcome":       isReward(c.Data.Outcome),
		"data.behavior.name": c.Data.Behavior != nil && cmp.Or(c.Data.Behavior.Name, "behavior_prob") != "behavior_prob",
	} {
		if is {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
