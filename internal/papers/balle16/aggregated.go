package balle16

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/papers/figure"
	"github.com/discreet-rl/discreet/internal/papers/onchain"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// aggregated is the third plot of Figure 1: all methods against batch size with
// pairs of states.
func aggregated() figure.Item {
	var panels []figure.Panel
	for _, s := range starts() {
		panels = append(panels, figure.Panel{
			Name: s.name, Title: "Pairs of states, " + s.title, X: labelBatch, Y: labelRMSE,
			LogX: true, LogY: true, Bars: figure.StandardError, Curves: curves(),
		})
	}
	return figure.Item{
		Name: "aggregated", Title: "Figure 1, third plot: aggregated states against batch size",
		Caption: "Root mean square error over the states when pairs of states share a value, at lambda = 30 sqrt(m). Constants of the paper: true epsilon 0 at delta 0.1; exact constants and dp-refine: 0.1. One curve has the paper's bound Rmax/(1-gamma) = 100 on returns in place of the true 1. Bars: standard error.",
		SameY:   true,
		Panels:  panels,
		Jobs:    func(quick bool) []figure.Job { return perBatch(quick, starts(), runAggregated) },
		Claims:  claimAggregated,
	}
}

func runAggregated(ctx context.Context, from start, m int, seed uint64, d *trajectory.Dataset) ([]figure.Sample, error) {
	methods := append(compared(onchain.Pairs(), penalty(float64(m))), method{
		series: seriesPrinted, estimator: evaluate.DPLSW{Constants: "balle16"},
		features: onchain.Pairs(), private: true, bound: 100,
	})
	out, err := rmse(ctx, from.name, float64(m), methods, m, from, seed, d)
	return append(out, constant(from.name, float64(m))), err
}

func claimAggregated(t *figure.Table) []figure.Claim {
	var claims []figure.Claim
	for _, s := range starts() {
		for _, c := range []struct{ id, lsw, lsl string }{
			{"paper", seriesLSWPaper, seriesLSLPaper}, {"exact", seriesLSWExact, seriesLSLExact},
		} {
			claims = append(claims, claimOrder(t, s, c.id, c.lsw, c.lsl)...)
			claims = append(claims,
				claimConverges(t, s, "lsw-"+c.id, c.lsw, seriesLSW), claimConverges(t, s, "lsl-"+c.id, c.lsl, seriesLSL))
		}
		claims = append(claims, claimConverges(t, s, "refine", seriesRefine, seriesLSW))
	}
	return claims
}

// claimOrder compares DP-LSL and DP-LSW at the smallest and the largest batch.
func claimOrder(t *figure.Table, s start, id, lsw, lsl string) []figure.Claim {
	ms := t.Xs(s.name, lsw)
	small, large := ms[0], ms[len(ms)-1]
	low, lowSE := figure.Ratio(t.At(s.name, lsl, small), t.At(s.name, lsw, small))
	high, highSE := figure.Ratio(t.At(s.name, lsl, large), t.At(s.name, lsw, large))
	note := func(m float64) string {
		return fmt.Sprintf("RMSE of DP-LSL over that of DP-LSW, pairs of states, m = %g, %s, constants: %s; judged at two standard errors", m, s.title, id)
	}
	return []figure.Claim{
		{
			ID: "aggregated-small-" + s.name + "-" + id, Paper: paper,
			Claim: "DP-LSL works better with small batches.", Holds: low+2*lowSE < 1, Ours: low, StdErr: lowSE, Note: note(small),
		},
		{
			ID: "aggregated-large-" + s.name + "-" + id, Paper: paper,
			Claim: "DP-LSW is preferable with large batches.", Holds: high-2*highSE > 1, Ours: high, StdErr: highSE, Note: note(large),
		},
	}
}

// claimConverges holds a private method against its non-private form at the
// largest batch.
func claimConverges(t *figure.Table, s start, id, private, reference string) figure.Claim {
	ms := t.Xs(s.name, private)
	large := ms[len(ms)-1]
	r, se := figure.Ratio(t.At(s.name, private, large), t.At(s.name, reference, large))
	_, flat := onchain.BestConstant()
	beaten := "never"
	for _, m := range ms {
		if c := t.At(s.name, private, m); c.Mean+2*c.SE() < flat {
			beaten = fmt.Sprintf("from m = %g on", m)
			break
		}
	}
	return figure.Claim{
		ID: "aggregated-converges-" + s.name + "-" + id, Paper: paper,
		Claim: "The private algorithms converge to the same solutions as their non-private versions for large enough batches.",
		Holds: r < 2, Ours: r, StdErr: se,
		Note: fmt.Sprintf("RMSE of %s over that of %s, pairs of states, %s, at the largest batch tried, m = %g; judged: below 2. Better than the best constant %s.", private, reference, s.title, large, beaten),
	}
}
