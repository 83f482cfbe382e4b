package spec

import (
	"errors"
	"fmt"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/source"
)

// Validate checks what can be checked without opening a file.
func Validate(c config.Config) error {
	switch {
	case len(c.Data.Path) == 0:
		return fmt.Errorf("%w: data.path is missing; name the file with the trajectories", config.ErrConfig)
	case source.Remote(c.Output.Dir):
		return fmt.Errorf("%w: output.dir is no directory of this machine; name one, and copy the release from there", config.ErrConfig)
	case c.Method.Name == "":
		return fmt.Errorf("%w: method.name is missing; `discreet methods` lists them", config.ErrConfig)
	case c.Privacy == config.Privacy{}:
		return fmt.Errorf("%w: privacy is missing; give adjacency, epsilon and delta, or say `privacy: none` for a non-private reference", config.ErrConfig)
	case evaluate.Unit(c.Privacy.Unit) == evaluate.Row && !c.Data.OneRowEpisodes:
		return fmt.Errorf("%w: privacy.unit is row, which is for logs whose rows are episodes of one decision (data.one_row_episodes: true); use person or episode", config.ErrConfig)
	case evaluate.Unit(c.Privacy.Unit) == evaluate.Episode && c.Data.OneRowEpisodes:
		return fmt.Errorf("%w: privacy.unit is episode, and with data.one_row_episodes an episode is a row; say row, or person where unit_id names persons", config.ErrConfig)
	case c.Ledger != nil && c.Privacy.None:
		return fmt.Errorf("%w: privacy is none and there is a section ledger: a reference without privacy reads the data and nothing charges for it; leave the section out (--set ledger=null), or give privacy an adjacency, epsilon and delta", config.ErrConfig)
	case c.Ledger != nil && c.Ledger.Path == "":
		return fmt.Errorf("%w: ledger.path is missing; name the file that `discreet ledger init` made, or leave the section out, and the release will say that no ledger was charged", config.ErrConfig)
	}
	if err := validateTargets(c); err != nil {
		return err
	}
	if err := validateGroups(c.By, c); err != nil {
		return err
	}
	if err := checkNames(c); err != nil {
		return err
	}
	switch c.Data.OnViolation {
	case "", onViolationRepair, onViolationReject:
	default:
		return fmt.Errorf("%w: data.on_violation is %q; want repair or reject", config.ErrConfig, c.Data.OnViolation)
	}
	if err := validateRecords(c); err != nil {
		return err
	}
	return errors.Join(ValidateBehavior(c.Data.Behavior, offPolicy(c) && c.Method.Name != "constant"), validateDensity(c))
}

// validateRecords refuses keys that repair what is stated to need no repair.
func validateRecords(c config.Config) error {
	if !complete(c) {
		if c.Problem.Records != "" {
			return fmt.Errorf("%w: problem.records is %q; want complete, or leave the key out", config.ErrConfig, c.Problem.Records)
		}
		return nil
	}
	refuse := func(key, value string) error {
		if value == "" || value == onViolationReject {
			return nil
		}
		return fmt.Errorf("%w: problem.records is complete, so that nothing is repaired, and %s is %s; leave one of them out", config.ErrConfig, key, value)
	}
	missing := c.Data.Missing
	if missing == missingIndicator || c.Method.Name == "dp-experiment" {
		missing = "" // it tells what is missing; and any public number in the place of a covariate adjusts
	}
	return errors.Join(refuse("data.on_violation", c.Data.OnViolation), refuse("data.missing", missing))
}

// targetColumn is the column of a policy's probabilities of the taken actions, "" where
// it has the canonical name or none is asked for.
func targetColumn(c config.Config) string {
	for _, t := range policiesAsked(c) {
		if t.Name != "" {
			return t.Name
		}
	}
	return ""
}

// checkNames refuses two names for one column.
func checkNames(c config.Config) error {
	named := map[string]string{"target_prob": targetColumn(c)}
	if b := c.Data.Behavior; b != nil {
		named["behavior_prob"] = b.Name
	}
	for canonical, name := range named {
		if mapped := c.Data.Column(canonical); name != "" && mapped != "" && mapped != name {
			return fmt.Errorf("%w: data.columns maps %s to %s, and target.name or data.behavior.name says %s; leave one of them out", config.ErrConfig, canonical, mapped, name)
		}
	}
	return nil
}
