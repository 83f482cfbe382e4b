package balle16

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/papers/figure"
	"github.com/discreet-rl/discreet/internal/papers/onchain"
	"github.com/discreet-rl/discreet/internal/papers/untuned"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

const paper = "balle16"

// trials is the paper's number of runs, and that of a quick run.
const (
	trials      = 20
	quickTrials = 4
)

func budget() dp.Budget { return dp.Budget{Epsilon: 0.1, Delta: 0.1} }

// penalty is the schedule of LSL and DP-LSL where lambda is not the x axis: the
// paper recommends a multiple of sqrt(m) and prints no factor.
func penalty(m float64) float64 { return 30 * math.Sqrt(m) }

// Study returns the reproduction.
func Study() figure.Study {
	items := []figure.Item{estimators(), tabular(), aggregated(), excessRisk(), theorem11(), theorem32()}
	for i := range items {
		items[i].Probe = figure.CheapestJob(items[i].Jobs)
	}
	items = append(items, unseen())
	return figure.Study{
		Paper: paper, Version: 2,
		Title: "Differentially Private Policy Evaluation (Balle, Gomrokchi, Precup 2016), reproduced",
		Abstract: []string{
			"The paper evaluates a policy from first-visit Monte Carlo returns of m persons, with output noise scaled to a smooth bound on the local sensitivity: DP-LSW weighs the states by public weights, DP-LSL by visits and with a penalty lambda. Its example is a chain of 40 states, p = 0.5, gamma = 0.99, epsilon = 0.1, delta = 0.1, one trajectory a person.",
			"The paper does not say where trajectories start, and it is decisive: with all at state 0 everybody visits every state, with a uniform start the first states are rarely visited. Both are shown. It bounds returns by Rmax/(1-gamma) = 100; the true public bound is 1, which is used unless said otherwise.",
			"Each private method is run with the paper's constants, with exact constants for the same budget, and beside dp-refine. The constants of the paper ask for far more noise than the budget needs: at delta 0.1 their true epsilon is 0, for 40 features as for 20: delta alone covers all that they leak. A delta of 0.1 would permit publishing one person in ten outright; it is the paper's, not a recommendation. The best constant is the constant with the least error; finding it takes the truth, and no data.",
			"The noise of DP-LSW follows how often states are visited: where everybody starts at state 0 every state is visited by all, and the local sensitivity is as small as it can be; with a uniform start it is not. Which method is best at a batch size is for the plots and the claims to say, which are computed from the trials of this run.",
		},
		Items: items,
	}
}

// unseen compares methods on the chain, from either start, and on two problems of
// another kind.
func unseen() figure.Item {
	var problems []untuned.Problem
	for _, s := range starts() {
		problems = append(problems, untuned.Chain("chain-"+s.name, "The chain, "+s.title, s.probs))
	}
	for _, p := range untuned.Problems() {
		problems = append(problems, p.OnPolicy())
	}
	return untuned.Comparison{Paper: paper, Budget: budget(), Problems: problems}.Item()
}

// start is a distribution of first states.
type start struct {
	name, title string
	probs       []float64
}

func starts() []start {
	return []start{
		{"first", "all start at state 0", chain.At(0)},
		{"uniform", "uniform start", nil},
	}
}

// method is an estimator as a curve.
type method struct {
	series    string
	estimator evaluate.Estimator
	features  feature.Finite
	private   bool
	bound     float64 // public bound on a return; 0 for the true one
}

// problem is what the method runs on.
func (m method) problem(persons int, from start) onchain.Problem {
	p := onchain.Problem{Persons: persons, Start: from.probs, Features: m.features, Bound: m.bound}
	if m.private {
		p.Budget = budget()
	}
	return p
}

// rmse runs methods on the same batch and returns their errors at x.
func rmse(ctx context.Context, panel string, x float64, methods []method, persons int, from start, seed uint64, d *trajectory.Dataset) ([]figure.Sample, error) {
	truth := onchain.Truth()
	var out []figure.Sample
	for _, m := range methods {
		v, err := m.problem(persons, from).Values(ctx, m.estimator, d, seed)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.series, err)
		}
		out = append(out, figure.Sample{Panel: panel, Series: m.series, X: x, Y: value.RMSE(v, truth)})
	}
	return out, nil
}

// constant is the reference that takes no data.
func constant(panel string, x float64) figure.Sample {
	_, e := onchain.BestConstant()
	return figure.Sample{Panel: panel, Series: seriesConstant, X: x, Y: e}
}

// batches are the sizes m of the plots against batch size.
func batches(quick bool, from start) []int {
	if quick {
		return []int{100, 1000, 10_000, 30_000}
	}
	m := []int{100, 300, 1000, 3000, 10_000, 30_000, 100_000}
	if from.probs == nil {
		m = append(m, 300_000)
	}
	return m
}

// perBatch lists one job for each start, batch size and trial; do gets the
// simulated batch.
func perBatch(quick bool, from []start, do func(ctx context.Context, from start, m int, seed uint64, d *trajectory.Dataset) ([]figure.Sample, error)) []figure.Job {
	var jobs []figure.Job
	for i, st := range from {
		for _, m := range batches(quick, st) {
			for trial := range count(quick) {
				seed := seedOf(i, m, trial)
				jobs = append(jobs, figure.Job{
					Key: fmt.Sprintf("start=%s m=%d trial=%d", st.name, m, trial+1), Trial: trial + 1,
					Cost: 100_000 + float64(m)*20*float64(2-i),
					Run: func(ctx context.Context) ([]figure.Sample, error) {
						d, err := onchain.Problem{Persons: m, Start: st.probs}.Simulate(seed)
						if err != nil {
							return nil, err
						}
						return do(ctx, st, m, seed, d)
					},
				})
			}
		}
	}
	return jobs
}

func count(quick bool) int {
	if quick {
		return quickTrials
	}
	return trials
}

// seedOf gives every batch a seed of its own.
func seedOf(start, m, trial int) uint64 {
	return uint64(start)<<56 | uint64(m)<<16 | uint64(trial+1)
}

// The curves, which look alike in all plots.
const (
	seriesConstant = "best constant (no data)"
	seriesLSW      = "LSW, not private"
	seriesLSL      = "LSL, not private"
	seriesRefine   = "dp-refine (ours)"
	seriesLSWPaper = "DP-LSW, constants of the paper"
	seriesLSLPaper = "DP-LSL, constants of the paper"
	seriesLSWExact = "DP-LSW, exact constants"
	seriesLSLExact = "DP-LSL, exact constants"
	seriesPrinted  = "DP-LSW, paper's constants and Fmax = 100"
)

func curves() []figure.Curve {
	return []figure.Curve{
		{Series: seriesLSWPaper, Colour: 1}, {Series: seriesLSLPaper, Colour: 2},
		{Series: seriesLSWExact, Colour: 5}, {Series: seriesLSLExact, Colour: 4},
		{Series: seriesRefine, Colour: 3}, {Series: seriesPrinted, Colour: 6},
		{Series: seriesLSW, Colour: 0, Dashed: true}, {Series: seriesLSL, Colour: 7, Dashed: true},
		{Series: seriesConstant, Colour: 7, Dashed: true, Plain: true},
	}
}

// compared are the methods of the comparisons, at a penalty.
func compared(features feature.Finite, lambda float64) []method {
	return []method{
		{series: seriesLSW, estimator: evaluate.LSW{}, features: features},
		{series: seriesLSL, estimator: evaluate.LSL{Lambda: lambda}, features: features},
		{series: seriesLSWPaper, estimator: evaluate.DPLSW{Constants: "balle16"}, features: features, private: true},
		{series: seriesLSLPaper, estimator: evaluate.DPLSL{Constants: "balle16", Lambda: lambda}, features: features, private: true},
		{series: seriesLSWExact, estimator: evaluate.DPLSW{}, features: features, private: true},
		{series: seriesLSLExact, estimator: evaluate.DPLSL{Lambda: lambda}, features: features, private: true},
		{series: seriesRefine, estimator: evaluate.DPRefine{}, features: features, private: true},
	}
}

const (
	labelBatch = "batch size m (persons)"
	labelRMSE  = "RMSE over states (units of a return)"
)
