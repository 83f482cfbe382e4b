package audit

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/internal/evaluate/examine"
	"github.com/discreet-rl/discreet/internal/rl/trajectory/probe"
	"github.com/discreet-rl/discreet/internal/scan"
	"github.com/discreet-rl/discreet/internal/spec"
	trainexamine "github.com/discreet-rl/discreet/internal/train/examine"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/simulate"
)

// Options are those of an audit; package discreet documents them.
type Options struct {
	Seed     uint64
	OneRun   bool
	Runs     int
	Progress func(part string)
}

// Plan holds what an evaluation does against what its plan claims, on neighbouring datasets
// that are made up from public facts. What refutes the claim is in the report, not in the error.
func Plan(ctx context.Context, c config.Config, o Options) (*examine.Report, error) {
	s, err := spec.New(c)
	if err != nil {
		return nil, err
	}
	return examine.Plan(ctx, examine.Job{
		Estimator: s.Estimator, Public: s.Public, Columns: s.Reading.Observations, Behaviour: s.Behavior,
		Seed: o.Seed, Runs: o.Runs, Progress: o.Progress, Reading: readingOf(s, o.Seed),
	})
}

// Training holds the reports of a training run against what each of them costs its agent.
func Training(ctx context.Context, c simulate.Config, o Options) (*trainexamine.Report, error) {
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

// readingOf is how the data of an evaluation are read, for an audit of small files that it
// makes up: format, options, and what is left out after reading.
func readingOf(s *spec.Spec, seed uint64) *probe.Job {
	fit := func(d *trajectory.Dataset) (*trajectory.Dataset, error) {
		out, _, err := scan.Fit(s, d)
		return out, err
	}
	r := &probe.Job{Format: formatOf(s), Options: s.Reading, After: fit, Seed: seed}
	if s.Behavior != nil {
		r.Actions = s.Behavior.Actions()
	}
	for _, p := range s.Policies() {
		r.Actions = max(r.Actions, p.Actions())
	}
	return r
}

// formatOf is the name of the format of the data, by the configuration alone; "" where no
// format has the extension of the first path.
func formatOf(s *spec.Spec) string {
	if s.Format != "" {
		return s.Format
	}
	if len(s.Config.Data.Path) == 0 {
		return ""
	}
	return file.FormatOf(s.Config.Data.Path[0])
}
