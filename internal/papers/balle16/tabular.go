package balle16

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/internal/papers/figure"
	"github.com/discreet-rl/discreet/internal/papers/onchain"
)

// sweep returns the penalties of the second plot.
func sweep() []float64 {
	var l []float64
	for e := 1.0; e <= 5; e += 0.5 {
		l = append(l, math.Pow(10, e))
	}
	return l
}

// sweptBatches are the two batch sizes of the second plot; the paper's are not
// printed in its text.
func sweptBatches(quick bool) [2]int {
	if quick {
		return [2]int{3000, 30_000}
	}
	return [2]int{10_000, 100_000}
}

// tabular is the second plot of Figure 1: all methods against lambda.
func tabular() figure.Item {
	panel := func(name, size string) figure.Panel {
		return figure.Panel{
			Name: name, Title: "Tabular, " + size + " batch, all start at state 0", X: "penalty lambda", Y: labelRMSE,
			LogX: true, LogY: true, Bars: figure.StandardError, Curves: curves(),
		}
	}
	return figure.Item{
		Name: "tabular", Title: "Figure 1, second plot: the tabular case against lambda",
		Caption: "Root mean square error over the states against the penalty of LSL and DP-LSL, at a small batch (m = 10,000; quick: 3,000) and a large one (m = 100,000; quick: 30,000). The other methods do not know lambda and are flat. Constants of the paper: true epsilon 0 at delta 0.1; exact constants and dp-refine: 0.1. Bars: standard error.",
		SameY:   true,
		Panels:  []figure.Panel{panel("small", "small"), panel("large", "large")},
		Jobs:    sweepJobs,
		Claims:  claimTabular,
	}
}

func sweepJobs(quick bool) []figure.Job {
	var jobs []figure.Job
	from := starts()[0]
	for i, m := range sweptBatches(quick) {
		name := []string{"small", "large"}[i]
		for trial := range count(quick) {
			jobs = append(jobs, figure.Job{
				Key: fmt.Sprintf("batch=%s m=%d trial=%d", name, m, trial+1), Trial: trial + 1,
				Cost: 1e6 + 180*float64(m),
				Run: func(ctx context.Context) ([]figure.Sample, error) {
					return runSweep(ctx, name, from, m, seedOf(0, m, trial))
				},
			})
		}
	}
	return jobs
}

func runSweep(ctx context.Context, panel string, from start, m int, seed uint64) ([]figure.Sample, error) {
	d, err := onchain.Problem{Persons: m, Start: from.probs}.Simulate(seed)
	if err != nil {
		return nil, err
	}
	var out []figure.Sample
	flat := map[string]float64{}
	for _, lambda := range sweep() {
		var todo []method
		for _, c := range compared(onchain.Tabular(), lambda) {
			if y, done := flat[c.series]; done {
				out = append(out, figure.Sample{Panel: panel, Series: c.series, X: lambda, Y: y})
			} else {
				todo = append(todo, c)
			}
		}
		got, err := rmse(ctx, panel, lambda, todo, m, from, seed, d)
		if err != nil {
			return nil, err
		}
		for _, s := range got {
			if s.Series != seriesLSL && s.Series != seriesLSLPaper && s.Series != seriesLSLExact {
				flat[s.Series] = s.Y
			}
		}
		out = append(append(out, got...), constant(panel, lambda))
	}
	return out, nil
}

// bestPenalty is the lambda with the least mean error, and that error.
func bestPenalty(t *figure.Table, panel, series string) (lambda float64, at figure.Cell) {
	for _, l := range t.Xs(panel, series) {
		if c := t.At(panel, series, l); lambda == 0 || c.Mean < at.Mean {
			lambda, at = l, c
		}
	}
	return lambda, at
}

func claimTabular(t *figure.Table) []figure.Claim {
	var claims []figure.Claim
	for _, c := range []struct{ id, series, lsw string }{
		{"paper", seriesLSLPaper, seriesLSWPaper}, {"exact", seriesLSLExact, seriesLSWExact},
	} {
		small, atSmall := bestPenalty(t, "small", c.series)
		large, atLarge := bestPenalty(t, "large", c.series)
		// The two batches differ by a factor of ten in both modes.
		exponent := math.Log10(large / small)
		half := 0.5
		claims = append(claims, figure.Claim{
			ID: "tabular-schedule-" + c.id, Paper: paper,
			Claim: "The best trade-off of DP-LSL is a penalty proportional to sqrt(m).",
			Holds: math.Abs(exponent-half) <= 0.25, PaperValue: &half, Ours: exponent,
			Note: fmt.Sprintf("exponent of m in the best lambda of %s, from lambda %.3g at the small batch (RMSE %.3g) to %.3g at the large one (%.3g), on a grid of half decades, so to within 0.5; not a standard error", c.series, small, atSmall.Mean, large, atLarge.Mean),
		})
		for _, panel := range []string{"small", "large"} {
			_, best := bestPenalty(t, panel, c.series)
			lsw := t.At(panel, c.lsw, sweep()[0])
			r, se := figure.Ratio(best, lsw)
			holds, sentence := r+2*se < 1, "On small batches DP-LSL is better than DP-LSW."
			if panel == "large" {
				holds, sentence = r-2*se > 1, "On large batches DP-LSW is better than DP-LSL."
			}
			claims = append(claims, figure.Claim{
				ID: "tabular-" + panel + "-" + c.id, Paper: paper, Claim: sentence, Holds: holds, Ours: r, StdErr: se,
				Note: fmt.Sprintf("RMSE of DP-LSL at its best lambda over that of DP-LSW, %s batch, all start at state 0, %s; judged at two standard errors", panel, c.series[len("DP-LSL, "):]),
			})
		}
	}
	for _, panel := range []string{"small", "large"} {
		r, se := figure.Ratio(t.At(panel, seriesRefine, sweep()[0]), t.At(panel, seriesLSWExact, sweep()[0]))
		claims = append(claims, figure.Claim{
			ID: "tabular-" + panel + "-refine", Paper: paper,
			Claim: "Not in the paper: dp-refine is better than DP-LSW with exact constants.",
			Holds: r+2*se < 1, Ours: r, StdErr: se,
			Note: fmt.Sprintf("RMSE of dp-refine over that of DP-LSW with exact constants, %s batch, all start at state 0; judged at two standard errors", panel),
		})
	}
	return claims
}
