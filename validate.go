package discreet

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/scan"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// Validation is what [Validate] found. It is for the curator of the data alone.
type Validation struct {
	file.Summary
	// Unit is what Persons counts.
	Unit evaluate.Unit
	// Rule says in words what becomes of records that violate what is asked, "" where
	// they are rejected without privacy.
	Rule string
	// NotUsed lists decisions that the method would leave out.
	NotUsed []NotUsed
	// Overview describes the data as the evaluation would use them: the object that `discreet validate
	// --json` prints as overview; nil where they cannot be evaluated.
	Overview json.RawMessage
}

// NotUsed counts decisions that are left out for one reason.
type NotUsed struct {
	Decisions int    `json:"decisions"`
	Why       string `json:"why"`
}

// Validate reads the data as [Evaluate] would and says what is wrong with them, all
// faults at once ([trajectory.FaultsError]), what of them the method would not use,
// and how far they can answer the question. It reads the data twice. Nothing is
// released; counts and notices are for the curator alone.
//
// A configuration without target and method, such as a contract is made from, is
// looked at as far as no question is needed; a notice says so.
func Validate(ctx context.Context, c config.Config, options ...Option) (*Validation, error) {
	found, err := scan.Validate(ctx, c, Apply(options).Progress)
	if found == nil {
		return nil, err
	}
	v := &Validation{Summary: found.Summary, Unit: found.Unit, Rule: found.Rule}
	for _, n := range found.NotUsed {
		v.NotUsed = append(v.NotUsed, NotUsed(n))
	}
	if found.Overview != nil {
		text, failed := json.Marshal(found.Overview)
		v.Overview, err = text, errors.Join(err, failed)
	}
	return v, err
}
