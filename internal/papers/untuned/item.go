package untuned

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/papers/figure"
	"github.com/discreet-rl/discreet/internal/papers/onchain"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

const (
	trials      = 20
	quickTrials = 3
)

func sizes(quick bool) []int {
	if quick {
		return []int{300, 1000}
	}
	return []int{1000, 3000, 10_000, 30_000}
}

// Comparison is an item of a paper's study: its methods with exact calibration,
// dp-refine and dp-dr on some problems under its budget, all with their defaults.
type Comparison struct {
	Paper    string
	Budget   dp.Budget
	Problems []Problem
}

// The curves.
const (
	seriesLSW      = "DP-LSW, exact constants"
	seriesLSL      = "DP-LSL, exact constants"
	seriesGPOPE    = "GPOPE, sound, mini-batches"
	seriesRefine   = "dp-refine (ours)"
	seriesDR       = "dp-dr with a model (ours)"
	seriesLSTD     = "LSTD, not private"
	seriesConstant = "best constant (no data)"
	seriesMiddle   = "middle of the public range (no data)"
)

// method is an estimator as a curve; one that releases a number has no values by
// state.
type method struct {
	series    string
	estimator evaluate.Estimator
	private   bool
	scalar    bool
}

// methods are those that a problem allows: the output perturbation of Balle et al.
// has no importance weights.
func (c Comparison) methods(p Problem) []method {
	all := []method{
		{series: seriesGPOPE, estimator: evaluate.GPOPE{}, private: true},
		{series: seriesRefine, estimator: evaluate.DPRefine{}, private: true},
		{series: seriesDR, estimator: evaluate.DPDR{Baseline: "model"}, private: true, scalar: true},
		{series: seriesLSTD, estimator: evaluate.WISLSTD{}},
	}
	if p.logged() {
		all = append(all,
			method{series: seriesLSW, estimator: evaluate.DPLSW{}, private: true},
			method{series: seriesLSL, estimator: evaluate.DPLSL{}, private: true})
		all[2].estimator = evaluate.DPDR{}
		all[3].estimator = evaluate.LSTD{}
	}
	return all
}

func panelValues(p Problem) string { return "values-" + p.Name }
func panelStart(p Problem) string  { return "start-" + p.Name }

const labelPersons = "trajectories m (one a person)"

// Item is the comparison, named comparison.
func (c Comparison) Item() figure.Item {
	var panels []figure.Panel
	var settings []string
	for _, p := range c.Problems {
		panels = append(panels,
			figure.Panel{Name: panelValues(p), Title: p.Title + ", values of all states", X: labelPersons, Y: "RMSE over states (units of a return)", LogX: true, LogY: true, Bars: figure.StandardError, Curves: c.curves(p, false)},
			figure.Panel{Name: panelStart(p), Title: p.Title + ", value of the policy", X: labelPersons, Y: "absolute error (units of a return)", LogX: true, LogY: true, Bars: figure.StandardError, Curves: c.curves(p, true)})
		settings = append(settings, fmt.Sprintf("%s %d %v %v %v", p.Name, p.Steps, p.Returns, p.Behaviour, p.Target))
		for _, m := range c.methods(p) {
			settings = append(settings, fmt.Sprintf("%s %T%+v", m.series, m.estimator, m.estimator))
		}
	}
	return figure.Item{
		Name: "comparison", Title: "Not in the paper: all methods on problems that nobody tuned on",
		Caption:  fmt.Sprintf("Methods with their defaults, calibrated exactly to epsilon %g and delta %g, replace-one: left the root mean square error over the states, right the mean absolute error of the value of the policy at the start, against exact values. The gridworld and the Garnet were not looked at when defaults were chosen. DP-LSW and DP-LSL are on-policy methods. dp-dr releases the value at the start alone; on-policy no baseline changes it. The best constant takes the truth to find, and no data; at the start its error would be 0, and the middle of the public range of a return stands in its place. %d trials (quick: %d). Bars: standard error.", c.Budget.Epsilon, c.Budget.Delta, trials, quickTrials),
		Columns:  2,
		Panels:   panels,
		Settings: append(settings, fmt.Sprint(c.Budget)),
		Probe:    func(ctx context.Context) ([]figure.Sample, error) { return c.run(ctx, 0, []int{200}) },
		Jobs:     c.jobs,
		Claims:   c.claims,
	}
}

// curves are those of the panel of values by state, or of the value at the start.
func (c Comparison) curves(p Problem, start bool) []figure.Curve {
	look := map[string]figure.Curve{
		seriesRefine: {Colour: 3}, seriesDR: {Colour: 2}, seriesGPOPE: {Colour: 4}, seriesLSW: {Colour: 6}, seriesLSL: {Colour: 5}, seriesLSTD: {Dashed: true},
	}
	var curves []figure.Curve
	for _, m := range c.methods(p) {
		if start || !m.scalar {
			curve := look[m.series]
			curve.Series = m.series
			curves = append(curves, curve)
		}
	}
	if !start {
		curves = append(curves, figure.Curve{Series: seriesConstant, Colour: 7, Dashed: true, Plain: true})
	}
	return append(curves, figure.Curve{Series: seriesMiddle, Colour: 7, Dotted: true, Plain: true})
}

func (c Comparison) jobs(quick bool) []figure.Job {
	n := trials
	if quick {
		n = quickTrials
	}
	var jobs []figure.Job
	for trial := 1; trial <= n; trial++ {
		jobs = append(jobs, figure.Job{
			Key: fmt.Sprintf("m=%v trial=%d", sizes(quick), trial), Cost: 3e5, Trial: trial,
			Run: func(ctx context.Context) ([]figure.Sample, error) { return c.run(ctx, trial, sizes(quick)) },
		})
	}
	return jobs
}

// run is one trial: every number of persons takes the first of the same.
func (c Comparison) run(ctx context.Context, trial int, sizes []int) ([]figure.Sample, error) {
	var out []figure.Sample
	for k, p := range c.Problems {
		got, err := c.on(ctx, p, trial, uint64(k), sizes)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		out = append(out, got...)
	}
	return out, nil
}

func (c Comparison) on(ctx context.Context, p Problem, trial int, k uint64, sizes []int) ([]figure.Sample, error) {
	truth, start, err := p.truth()
	if err != nil {
		return nil, err
	}
	all := p.simulate(slices.Max(sizes), k<<32|uint64(trial))
	var out []figure.Sample
	for _, m := range sizes {
		x := float64(m)
		out = append(out,
			figure.Sample{Panel: panelValues(p), Series: seriesConstant, X: x, Y: spread(truth)},
			figure.Sample{Panel: panelValues(p), Series: seriesMiddle, X: x, Y: value.RMSE(slices.Repeat([]float64{p.middle()}, len(truth)), truth)},
			figure.Sample{Panel: panelStart(p), Series: seriesMiddle, X: x, Y: math.Abs(p.middle() - start)})
		for _, each := range c.methods(p) {
			r, err := c.release(ctx, p, each, first(all, m), uint64(m)<<16|uint64(trial))
			if err != nil {
				return nil, fmt.Errorf("%s, m = %d: %w", each.series, m, err)
			}
			if each.scalar {
				out = append(out, figure.Sample{Panel: panelStart(p), Series: each.series, X: x, Y: math.Abs(r.Answers[0].Estimate.Value - start)})
				continue
			}
			out = append(out,
				figure.Sample{Panel: panelValues(p), Series: each.series, X: x, Y: value.RMSE(r.Values, truth)},
				figure.Sample{Panel: panelStart(p), Series: each.series, X: x, Y: math.Abs(p.atStart(r.Values) - start)})
		}
	}
	return out, nil
}

// release runs a method on persons.
func (c Comparison) release(ctx context.Context, p Problem, each method, d *trajectory.Dataset, seed uint64) (*evaluate.Release, error) {
	plan, err := c.plan(p, each, d.Persons())
	if err != nil {
		return nil, err
	}
	return onchain.Draw(ctx, plan, d, seed)
}

// plans holds plans for all trials: calibrating noise takes longer than a trial.
var plans sync.Map // of func() (*evaluate.Plan, error)

func (c Comparison) plan(p Problem, each method, m int) (*evaluate.Plan, error) {
	key := fmt.Sprintf("%s %v %v %s %v %d", p.Name, p.logged(), p.Returns, each.series, c.Budget, m)
	once, _ := plans.LoadOrStore(key, sync.OnceValues(func() (*evaluate.Plan, error) {
		public, err := c.public(p, each, m)
		if err != nil {
			return nil, err
		}
		return each.estimator.Plan(public)
	}))
	return once.(func() (*evaluate.Plan, error))()
}

func (c Comparison) public(p Problem, each method, m int) (evaluate.Public, error) {
	features, err := feature.NewTabular(p.Process.States, column)
	if err != nil {
		return evaluate.Public{}, err
	}
	var target policy.Policy = policy.Logged{}
	if !p.logged() {
		if target, err = policy.NewTable(p.Target, p.Process.Actions, column); err != nil {
			return evaluate.Public{}, err
		}
	}
	var privacy *evaluate.Privacy
	if each.private {
		privacy = &evaluate.Privacy{Adjacency: dp.ReplaceOne, Budget: c.Budget, LargeDelta: true}
	}
	returns := p.Returns
	return evaluate.Public{
		Persons: int64(m), Gamma: p.Process.Gamma, Horizon: int64(p.Steps), Episodes: 1,
		Reward: evaluate.Range{Min: 0, Max: 1}, Return: &returns, Features: features, Target: target, Privacy: privacy,
	}, nil
}

func (p Problem) middle() float64 { return (p.Returns.Min + p.Returns.Max) / 2 }

// spread is the error of the best constant.
func spread(truth []float64) float64 {
	mean := 0.0
	for _, v := range truth {
		mean += v / float64(len(truth))
	}
	return value.RMSE(slices.Repeat([]float64{mean}, len(truth)), truth)
}

// claims hold every private method against the constants at the largest m.
func (c Comparison) claims(t *figure.Table) []figure.Claim {
	var claims []figure.Claim
	for _, p := range c.Problems {
		for _, panel := range []struct{ name, what, against string }{
			{panelValues(p), "RMSE over states", seriesConstant}, {panelStart(p), "absolute error of the value at the start", seriesMiddle},
		} {
			ms := t.Xs(panel.name, panel.against)
			m := ms[len(ms)-1]
			for _, each := range c.methods(p) {
				if !each.private || each.scalar && panel.against == seriesConstant {
					continue
				}
				r, se := figure.Ratio(t.At(panel.name, each.series, m), t.At(panel.name, panel.against, m))
				claims = append(claims, figure.Claim{
					ID: "comparison-" + panel.name + "-" + shortName(each.series), Paper: c.Paper,
					Claim: fmt.Sprintf("Not in the paper: \"%s\" is better than the %s.", each.series, panel.against),
					Holds: r+2*se < 1, Ours: r, StdErr: se,
					Note: fmt.Sprintf("%s on %s, over that of the constant, m = %g; judged at two standard errors below 1", panel.what, p.Title, m),
				})
			}
		}
	}
	return claims
}

// shortName is a series in identifiers.
func shortName(series string) string {
	return map[string]string{seriesLSW: "lsw", seriesLSL: "lsl", seriesGPOPE: "gpope", seriesRefine: "refine", seriesDR: "dr"}[series]
}
