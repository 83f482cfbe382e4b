package balle16

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/papers/figure"
	"github.com/discreet-rl/discreet/internal/papers/onchain"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

const (
	lswTabular = "LSW, tabular"
	lslTabular = "LSL, tabular"
	lswPairs   = "LSW, pairs of states"
	lslPairs   = "LSL, pairs of states"
)

// estimators is the first plot of Figure 1: the two estimators without privacy.
func estimators() figure.Item {
	var panels []figure.Panel
	for _, s := range starts() {
		panels = append(panels, figure.Panel{
			Name: s.name, Title: "LSL against LSW, " + s.title, X: labelBatch, Y: labelRMSE, LogX: true, LogY: true, Bars: figure.StandardError,
			Curves: []figure.Curve{
				{Series: lswTabular, Colour: 0}, {Series: lslTabular, Colour: 5},
				{Series: lswPairs, Colour: 4, Dashed: true}, {Series: lslPairs, Colour: 1, Dashed: true},
				{Series: seriesConstant, Colour: 7, Dashed: true, Plain: true},
			},
		})
	}
	return figure.Item{
		Name: "estimators", Title: "Figure 1, first plot: LSL against LSW without privacy",
		Caption: "Root mean square error over the 40 states of first-visit Monte Carlo with public weights 1 (LSW) and with visit weights and penalty lambda = 30 sqrt(m) (LSL), tabular and with pairs of states that share a value. Bars: standard error.",
		SameY:   true,
		Panels:  panels,
		Jobs:    func(quick bool) []figure.Job { return perBatch(quick, starts(), runEstimators) },
		Claims:  claimEstimators,
	}
}

func runEstimators(ctx context.Context, from start, m int, seed uint64, d *trajectory.Dataset) ([]figure.Sample, error) {
	lambda := penalty(float64(m))
	out, err := rmse(ctx, from.name, float64(m), []method{
		{series: lswTabular, estimator: evaluate.LSW{}, features: onchain.Tabular()},
		{series: lslTabular, estimator: evaluate.LSL{Lambda: lambda}, features: onchain.Tabular()},
		{series: lswPairs, estimator: evaluate.LSW{}, features: onchain.Pairs()},
		{series: lslPairs, estimator: evaluate.LSL{Lambda: lambda}, features: onchain.Pairs()},
	}, m, from, seed, d)
	return append(out, constant(from.name, float64(m))), err
}

func claimEstimators(t *figure.Table) []figure.Claim {
	var claims []figure.Claim
	for _, s := range starts() {
		ms := t.Xs(s.name, lswTabular)
		small, large := ms[0], ms[len(ms)-1]
		lsw, lsl, first := t.At(s.name, lswTabular, large), t.At(s.name, lslTabular, large), t.At(s.name, lslTabular, small)
		gap := lsl.Mean - lsw.Mean
		claims = append(claims, figure.Claim{
			ID: "estimators-same-solution-" + s.name, Paper: paper,
			Claim: "LSL and LSW converge to the same solution.",
			Holds: gap < first.Mean/5, Ours: gap, StdErr: math.Hypot(lsw.SE(), lsl.SE()),
			Note: fmt.Sprintf("RMSE of LSL less that of LSW, tabular, %s, at m = %g; LSL has %.3g at m = %g. Judged: the gap is below a fifth of that. It is the bias of the penalty, about lambda/(2m), and vanishes as 1/sqrt(m).", s.title, large, first.Mean, small),
		})
		worst, se := math.Inf(1), 0.0
		for _, m := range ms {
			if r, e := figure.Ratio(t.At(s.name, lslTabular, m), t.At(s.name, lswTabular, m)); r < worst {
				worst, se = r, e
			}
		}
		claims = append(claims, figure.Claim{
			ID: "estimators-lsw-faster-" + s.name, Paper: paper,
			Claim: "LSW converges faster than LSL.",
			Holds: worst-2*se > 1, Ours: worst, StdErr: se,
			Note: fmt.Sprintf("least ratio over m of the RMSE of LSL to that of LSW, tabular, %s; judged at two standard errors above 1", s.title),
		})
	}
	return claims
}
