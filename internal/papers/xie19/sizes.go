package xie19

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/papers/figure"
)

// sweptSizes are the paper's m of Figure 5; a quick run takes a fortieth.
func sweptSizes(quick bool) []int {
	sizes := []int{100_000, 200_000, 400_000, 500_000}
	for i := range sizes {
		if quick {
			sizes[i] /= 40
		}
	}
	return sizes
}

// carSweptSizes are a tenth of the paper's m of Figure 6; see carSizes.
func carSweptSizes(quick bool) []int {
	sizes := []int{10_000, 20_000, 40_000, 50_000}
	for i := range sizes {
		if quick {
			sizes[i] /= 20
		}
	}
	return sizes
}

// stands is the true epsilon at delta 1e-5 under replace-one, rounded up, of the
// paper's noise for epsilon 0.1 at m = N persons.
func stands(m int) float64 {
	return map[int]float64{
		500: 0.076, 1000: 0.084, 2000: 0.098, 2500: 0.103, 3000: 0.109, 5000: 0.139, 10_000: 0.43, 12_500: 1.02, 20_000: 2.88,
		30_000: 4.61, 40_000: 5.82, 50_000: 6.76, 100_000: 9.79, 200_000: 13.2, 300_000: 15.3, 400_000: 16.9, 500_000: 18.1,
	}[m]
}

// honest says what the paper's noise is worth.
func honest(full, quick int) string {
	return fmt.Sprintf("With the paper's noise the true epsilon is %g (quick: %g) in place of 0.1.", stands(full), stands(quick))
}

// Panels of a sweep at the k-th m of a list.
func mspbeAt(k int) string { return fmt.Sprintf("%s-%d", panelMSPBE, k+1) }
func errorAt(k int) string { return fmt.Sprintf("%s-%d", panelRMSE, k+1) }

// sizePanels are a row of two panels for each m.
func sizePanels(full, quick []int, mspbe, err string, curves []figure.Curve) []figure.Panel {
	var panels []figure.Panel
	for k := range full {
		title := fmt.Sprintf("m = %d, true epsilon %g (quick: %d, %g)", full[k], stands(full[k]), quick[k], stands(quick[k]))
		panels = append(panels,
			figure.Panel{Name: mspbeAt(k), Title: title, X: labelStep, Y: mspbe, LogX: true, LogY: true, Bars: figure.StandardDeviation, Curves: curves},
			figure.Panel{Name: errorAt(k), Title: fmt.Sprintf("m = %d, value error", full[k]), X: labelStep, Y: err, LogX: true, LogY: true, Bars: figure.StandardDeviation, Curves: curves})
	}
	return panels
}

// chainSizes is Figure 5.
func chainSizes() figure.Item {
	curves := append([]figure.Curve{{Series: clipPaper, Colour: 1}, {Series: clipSound, Colour: 5}}, flatCurves()...)
	return figure.Item{
		Name: "chain-steps-sizes", Title: "Figure 5: step sizes on the chain, other numbers of trajectories",
		Caption: "As Figure 1(b) with the clip at 0.02. The true epsilons are those of the paper's noise. Flat lines have no such step. Bars: standard deviation over trials.",
		Columns: 2, SameY: true,
		Panels:   sizePanels(sweptSizes(false), sweptSizes(true), labelMSPBE, labelRMSE, curves),
		Settings: settingsOf(sweptSizes, func(int) []evaluate.Estimator { return estimatorsOf(chainSweep(false)) }),
		Probe:    probeChain(append(flatMethods(), stepMethods(0.1, false)...)),
		Jobs: func(quick bool) []figure.Job {
			return trialJobs(sweptSizes(quick), count(quick), seconds(30), func(ctx context.Context, trial int, sizes []int) ([]figure.Sample, error) {
				return sweepChain(ctx, trial, sizes, false, inPanels)
			})
		},
		Claims: func(t *figure.Table) []figure.Claim {
			return claimSizes(t, "sizes", sweptSizes(false), []named{{"paper", clipPaper}, {"sound", clipSound}})
		},
	}
}

// inPanels moves samples to the panels of the k-th m.
func inPanels(samples []figure.Sample, k int) []figure.Sample {
	for i := range samples {
		samples[i].Panel = fmt.Sprintf("%s-%d", samples[i].Panel, k+1)
	}
	return samples
}

// claimSizes judges how wide the good steps are at each m.
func claimSizes(t *figure.Table, item string, ms []int, of []named) []figure.Claim {
	var claims []figure.Claim
	for k := range ms {
		for _, c := range of {
			claims = append(claims, claimStable(t, fmt.Sprintf("%s-stable-%s-%d", item, c.id, k+1), mspbeAt(k), c.series, fmt.Sprintf("panel of m = %d", ms[k])))
		}
	}
	return claims
}

// claimStable judges the share of steps that come within ten times the least
// error.
func claimStable(t *figure.Table, id, panel, series, where string) figure.Claim {
	_, least := best(t, panel, series)
	xs := t.Xs(panel, series)
	wide := 0
	for _, x := range xs {
		if t.At(panel, series, x).Mean <= 10*least.Mean {
			wide++
		}
	}
	return figure.Claim{
		ID: id, Paper: paper,
		Claim: "Accuracy is stable for a very wide range of step sizes.",
		Holds: 2*wide > len(xs), Ours: float64(wide) / float64(len(xs)),
		Note: fmt.Sprintf("share of the %d steps from %g to %g with an MSPBE within ten times the least, \"%s\", %s; judged: above half; a share, without a standard error", len(xs), xs[0], xs[len(xs)-1], series, where),
	}
}
