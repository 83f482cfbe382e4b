package xie19

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/papers/figure"
)

// probePersons is the number of persons in the trials that tell whether code that
// matters has changed.
const probePersons = 60

// chainProbePersons is enough for every state to be visited.
const chainProbePersons = 400

// settingsOf lists the estimators of an item and their sizes; at which numbers of
// persons is in the keys of the jobs.
func settingsOf(sizes func(quick bool) []int, at func(m int) []evaluate.Estimator) []string {
	var out []string
	for _, quick := range []bool{true, false} {
		for _, m := range sizes(quick) {
			for _, e := range at(m) {
				out = append(out, fmt.Sprintf("m=%d %T%+v", m, e, e))
			}
		}
	}
	return append(out, fmt.Sprint(budget(), settings()))
}

func one(of func(quick bool) int) func(quick bool) []int {
	return func(quick bool) []int { return []int{of(quick)} }
}

func estimatorsOf(methods []method) []evaluate.Estimator {
	var out []evaluate.Estimator
	for _, m := range methods {
		out = append(out, m.estimator)
	}
	return out
}

func estimatorsIn(curves []curve) []evaluate.Estimator {
	var out []evaluate.Estimator
	for _, c := range curves {
		out = append(out, c.estimator)
	}
	return out
}

// probeChain runs methods on a few persons.
func probeChain(methods []method) func(ctx context.Context) ([]figure.Sample, error) {
	return func(ctx context.Context) ([]figure.Sample, error) {
		p, err := newOnTheChain(0, chainProbePersons)
		if err != nil {
			return nil, err
		}
		return p.scores(ctx, methods, chainProbePersons, 0, noiseSeed(0, chainProbePersons))
	}
}

// probeWorld runs curves on a few persons of each view, against a small
// yardstick.
func probeWorld(curves []curve, views ...func() (*view, error)) func(ctx context.Context) ([]figure.Sample, error) {
	return func(ctx context.Context) ([]figure.Sample, error) {
		var out []figure.Sample
		for _, of := range views {
			full, err := of()
			if err != nil {
				return nil, err
			}
			v := full.reduced(1, 2)
			p, err := v.people(ctx, 0, probePersons)
			if err != nil {
				return nil, err
			}
			got, err := p.run(ctx, panelMSPBE, panelRMSE, curves, probePersons, 0, noiseSeed(0, probePersons))
			if err != nil {
				return nil, err
			}
			out = append(out, got...)
		}
		return out, nil
	}
}

// reduced is the view with a yardstick of so many chunks and rollouts, and
// persons of its own.
func (v *view) reduced(chunks, rollouts int) *view {
	w := *v.world
	w.reference, w.trial = chunks, new(latest[simulated])
	return &view{world: &w, name: v.name, target: v.target, policy: v.policy, patience: v.patience, rollouts: rollouts, relative: v.relative}
}
