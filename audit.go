package discreet

import (
	"context"

	"github.com/discreet-rl/discreet/evaluate/examine"
)

// AuditOptions are those of [Audit].
type AuditOptions struct {
	// Seed makes another audit; the same one gets the same answer.
	Seed uint64
	// Runs of the plan on each of two neighbouring datasets; 0 for as many as are expected to
	// show 93% of the mu that is claimed, at most 400,000.
	Runs int
	// Progress is called before each part of the audit; nil for none.
	Progress func(part string)
}

// Audit holds what an evaluation does against what its plan claims, without the data: on
// neighbouring datasets that are made up from public facts, see package examine. It
// opens no data and no ledger, and releases nothing. What refutes the claim is in the
// report, not in the error.
func Audit(ctx context.Context, c Config, o AuditOptions) (*examine.Report, error) {
	j, err := newJob(c)
	if err != nil {
		return nil, err
	}
	return examine.Plan(ctx, examine.Job{
		Estimator: j.estimator, Public: j.public, Columns: j.options.Observations, Behaviour: j.behaviour,
		Seed: o.Seed, Runs: o.Runs, Progress: o.Progress,
	})
}
