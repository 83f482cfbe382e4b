package discreet

import (
	"context"
	"fmt"
	"strings"

	"github.com/discreet-rl/discreet/internal/evaluate/examine"
	"github.com/discreet-rl/discreet/internal/rl/trajectory/probe"
	trainexamine "github.com/discreet-rl/discreet/internal/train/examine"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
	"github.com/discreet-rl/discreet/train"
)

// AuditOptions are those of [Audit] and [AuditTraining].
type AuditOptions struct {
	// Seed makes another audit; the same one gets the same answer.
	Seed uint64
	// OneRun has many canaries report in one run as well; of training alone.
	OneRun bool
	// Runs of the plan on each of two neighbouring datasets; 0 for as many as are expected to
	// show 93% of the mu that is claimed, at most 400,000. Of training, reports on each of two vectors; 0 for 20,000.
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
		Seed: o.Seed, Runs: o.Runs, Progress: o.Progress, Reading: j.reading(o.Seed),
	})
}

// reading is how the data of a job are read, for an audit of small files that it makes
// up: format, options, and what is left out after reading.
func (j *job) reading(seed uint64) *probe.Job {
	r := &probe.Job{Format: j.format(), Options: j.options, After: j.fit, Seed: seed}
	if j.behaviour != nil {
		r.Actions = j.behaviour.Actions()
	}
	for _, p := range policies(j.public) {
		r.Actions = max(r.Actions, p.Actions())
	}
	return r
}

// format is the name of the format of the data, by the configuration alone; "" where no
// format has the extension of the first path.
func (j *job) format() string {
	if name := j.config.Data.Format; name != "" {
		return name
	}
	for _, f := range file.Formats() {
		for _, extension := range f.Extensions {
			if len(j.config.Data.Path) > 0 && strings.HasSuffix(strings.ToLower(j.config.Data.Path[0]), extension) {
				return f.Name
			}
		}
	}
	return ""
}

// AuditTraining holds the reports of a training run against what each of them costs its agent, see package
// internal/train/examine. No agent takes part, nothing is sent and no wallet is opened.
func AuditTraining(ctx context.Context, t Training, o AuditOptions) (*trainexamine.Report, error) {
	c, err := t.Config()
	if err != nil {
		return nil, err
	}
	net, err := learn.NewMLP(c.Local.Network)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", train.ErrConfig, err)
	}
	j := trainexamine.Job{Randomizer: c.Terms.Randomizer, Dim: net.Dim(), Seed: o.Seed, Runs: o.Runs, OneRun: o.OneRun, Progress: o.Progress}
	if c.Success != nil {
		j.Success = c.Success.Epsilon
	}
	return trainexamine.Randomizer(ctx, j)
}
