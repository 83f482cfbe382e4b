package balle16

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/papers/figure"
	"github.com/discreet-rl/discreet/internal/papers/onchain"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// The empirical risks, unit weights:
//
//	LSW: J(theta) = sum_s (F_X(s) - phi_s'theta)^2
//	LSL: J(theta) = 1/m sum_x sum_{s in x} (F_{x,s} - phi_s'theta)^2 + lambda/(2m) ||theta||^2
//
// Both are quadratic and the non-private theta minimises them, so that the
// excess of theta + eta is eta'H eta with the diagonal H of a one-hot map.

// excessLSW is the excess empirical risk of theta over its minimiser.
func excessLSW(features feature.Finite, theta, best []float64) float64 {
	sum := 0.0
	for s := range features.States() {
		c := features.Cell(s)
		sum += (theta[c] - best[c]) * (theta[c] - best[c])
	}
	return sum
}

// excessLSL is likewise for the penalised risk; visits counts the persons who
// visit each state.
func excessLSL(features feature.Finite, theta, best, visits []float64, m int, lambda float64) float64 {
	sum := 0.0
	for s, n := range visits {
		c := features.Cell(s)
		sum += n / float64(m) * (theta[c] - best[c]) * (theta[c] - best[c])
	}
	for c := range theta {
		sum += lambda / (2 * float64(m)) * (theta[c] - best[c]) * (theta[c] - best[c])
	}
	return sum
}

// visitsOf counts the persons who visit each state.
func visitsOf(d *trajectory.Dataset) ([]float64, error) {
	s, err := value.NewSample(d, value.Options{Gamma: onchain.Gamma, Features: onchain.Tabular()})
	if err != nil {
		return nil, err
	}
	first, err := value.NewFirstVisits(s)
	if err != nil {
		return nil, err
	}
	visits := make([]float64, chain.States)
	for p := range d.Persons() {
		first.Person(p)
		for _, state := range first.States {
			visits[state]++
		}
	}
	return visits, nil
}

const (
	panelLSW = "lsw"
	panelLSL = "lsl"

	tabularPaper = "tabular, constants of the paper"
	pairsPaper   = "pairs, constants of the paper"
	tabularExact = "tabular, exact constants"
	pairsExact   = "pairs, exact constants"
	tabularOurs  = "tabular, dp-refine (ours)"
	pairsOurs    = "pairs, dp-refine (ours)"
)

// excessRisk is the fourth plot of Figure 1.
func excessRisk() figure.Item {
	curves := []figure.Curve{
		{Series: tabularPaper, Colour: 1}, {Series: pairsPaper, Colour: 1, Dashed: true},
		{Series: tabularExact, Colour: 5}, {Series: pairsExact, Colour: 5, Dashed: true},
		{Series: tabularOurs, Colour: 3}, {Series: pairsOurs, Colour: 3, Dashed: true},
	}
	panel := func(name, title string) figure.Panel {
		return figure.Panel{
			Name: name, Title: title + ", all start at state 0", X: labelBatch, Y: "excess empirical risk (squared units of a return)",
			LogX: true, LogY: true, Bars: figure.StandardError, Curves: curves,
		}
	}
	return figure.Item{
		Name: "excess-risk", Title: "Figure 1, fourth plot: excess empirical risk",
		Caption: "What privacy adds to the empirical risk that the method minimises: the sum over states of squared errors (LSW), or its mean over trajectories with the penalty, lambda = 30 sqrt(m) (LSL). dp-refine minimises neither; its excess is shown on the same risks. Bars: standard error.",
		Panels:  []figure.Panel{panel(panelLSW, "Risk of LSW"), panel(panelLSL, "Risk of LSL")},
		Jobs:    func(quick bool) []figure.Job { return perBatch(quick, starts()[:1], runExcess) },
		Claims:  claimExcess,
	}
}

// weights returns theta of an estimator.
func weights(ctx context.Context, e evaluate.Estimator, p onchain.Problem, d *trajectory.Dataset, seed uint64) ([]float64, error) {
	r, err := p.Run(ctx, e, d, seed)
	if err != nil {
		return nil, err
	}
	return r.Theta, nil
}

func runExcess(ctx context.Context, from start, m int, seed uint64, d *trajectory.Dataset) ([]figure.Sample, error) {
	visits, err := visitsOf(d)
	if err != nil {
		return nil, err
	}
	var out []figure.Sample
	for _, f := range []struct {
		features           feature.Finite
		paper, exact, ours string
	}{
		{onchain.Tabular(), tabularPaper, tabularExact, tabularOurs}, {onchain.Pairs(), pairsPaper, pairsExact, pairsOurs},
	} {
		p := onchain.Problem{Persons: m, Start: from.probs, Features: f.features}
		lambda := penalty(float64(m))
		bestLSW, err := weights(ctx, evaluate.LSW{}, p, d, 0)
		if err != nil {
			return nil, err
		}
		bestLSL, err := weights(ctx, evaluate.LSL{Lambda: lambda}, p, d, 0)
		if err != nil {
			return nil, err
		}
		p.Budget = budget()
		for _, r := range []struct {
			panel, series string
			estimator     evaluate.Estimator
		}{
			{panelLSW, f.paper, evaluate.DPLSW{Constants: "balle16"}}, {panelLSW, f.exact, evaluate.DPLSW{}}, {panelLSW, f.ours, evaluate.DPRefine{}},
			{panelLSL, f.paper, evaluate.DPLSL{Constants: "balle16", Lambda: lambda}}, {panelLSL, f.exact, evaluate.DPLSL{Lambda: lambda}}, {panelLSL, f.ours, evaluate.DPRefine{}},
		} {
			theta, err := weights(ctx, r.estimator, p, d, seed)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", r.panel, r.series, err)
			}
			y := excessLSW(f.features, theta, bestLSW)
			if r.panel == panelLSL {
				y = excessLSL(f.features, theta, bestLSL, visits, m, lambda)
			}
			out = append(out, figure.Sample{Panel: r.panel, Series: r.series, X: float64(m), Y: y})
		}
	}
	return out, nil
}

func claimExcess(t *figure.Table) []figure.Claim {
	var claims []figure.Claim
	for _, panel := range []string{panelLSW, panelLSL} {
		for _, c := range []struct{ id, tabular, pairs string }{{"paper", tabularPaper, pairsPaper}, {"exact", tabularExact, pairsExact}} {
			ms := t.Xs(panel, c.tabular)
			m := ms[len(ms)-1]
			r, se := figure.Ratio(t.At(panel, c.pairs, m), t.At(panel, c.tabular, m))
			claims = append(claims, figure.Claim{
				ID: "excess-aggregation-" + panel + "-" + c.id, Paper: paper,
				Claim: "More aggressive function approximation helps both private algorithms converge faster.",
				Holds: r+2*se < 1, Ours: r, StdErr: se,
				Note: fmt.Sprintf("excess empirical risk of DP-%s with pairs of states over that with a value for each state, m = %g; judged at two standard errors below 1", map[string]string{panelLSW: "LSW", panelLSL: "LSL"}[panel], m),
			})
		}
	}
	return append(claims, claimOrderOfExcess(t))
}

// claimOrderOfExcess estimates the exponent of m over the last decade.
func claimOrderOfExcess(t *figure.Table) figure.Claim {
	ms := t.Xs(panelLSW, tabularExact)
	large := ms[len(ms)-1]
	small := ms[0]
	for _, m := range ms {
		if m <= large/3 {
			small = m
		}
	}
	r, se := figure.Ratio(t.At(panelLSW, tabularExact, large), t.At(panelLSW, tabularExact, small))
	span := math.Log(large / small)
	two := -2.0
	order, orderSE := math.Log(r)/span, se/r/span
	return figure.Claim{
		ID: "excess-order", Paper: paper,
		Claim: "The expected excess empirical risk of DP-LSW is O(1/m^2) when every state can be visited (Corollary 12).",
		Holds: order <= two+max(0.3, 2*orderSE), PaperValue: &two, Ours: order, StdErr: orderSE,
		Note: fmt.Sprintf("exponent of m between m = %g and %g, tabular, exact constants, all start at state 0", small, large),
	}
}

// alphaBeta are the constants of the paper's Lemma 1 for d features.
func alphaBeta(b dp.Budget, d int) (alpha, beta float64) {
	l := math.Log(2 / b.Delta)
	return 5 * math.Sqrt(2*l) / b.Epsilon, b.Epsilon / (4 * (float64(d) + l))
}
