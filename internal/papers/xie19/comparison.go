package xie19

import (
	"context"
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/papers/figure"
)

func sizes(quick bool) []int {
	if quick {
		return []int{3000, 10_000, 30_000, 100_000}
	}
	return []int{10_000, 30_000, 100_000, 300_000}
}

// comparison is Figure 1(a).
func comparison() figure.Item {
	curves := []figure.Curve{
		{Series: seriesPaper, Colour: 1}, {Series: seriesSmall, Label: labelSmall, Colour: 1, Dashed: true, Plain: true}, {Series: seriesLarge, Label: labelLarge, Colour: 1, Dotted: true, Plain: true},
		{Series: seriesSound, Colour: 5}, {Series: seriesBatch, Colour: 4}, {Series: seriesRefine, Colour: 3},
		{Series: seriesLSW, Colour: 6}, {Series: seriesLSWExact, Colour: 6, Dashed: true},
		{Series: seriesLSL, Colour: 2}, {Series: seriesLSLExact, Colour: 2, Dashed: true},
		{Series: seriesLSTD, Colour: 0, Dashed: true}, {Series: seriesConstant, Colour: 7, Dashed: true, Plain: true},
	}
	return figure.Item{
		Name: "chain", Title: "Figure 1(a): all methods on the chain",
		Caption: "MSPBE and RMSE of every method against the number of trajectories, and the true epsilon at delta 1e-5 (upper end of a bracket from privacy-loss distributions) of GPOPE with the paper's noise and with sound noise. Of the private methods all but GPOPE with the accountant of the paper satisfy epsilon 0.1. Bars: standard deviation over trials.",
		Columns: 2,
		Panels: []figure.Panel{
			{Name: panelMSPBE, Title: "MSPBE, epsilon 0.1 asked for", X: labelPersons, Y: labelMSPBE, LogX: true, LogY: true, Bars: figure.StandardDeviation, Curves: curves},
			{Name: panelRMSE, Title: "Value error of the same releases", X: labelPersons, Y: labelRMSE, LogX: true, LogY: true, Bars: figure.StandardDeviation, Curves: curves},
			{
				Name: panelEpsilon, Title: "True epsilon", X: labelPersons, Y: "epsilon at delta 1e-5, replace-one", LogX: true, LogY: true, Bars: figure.StandardDeviation,
				Curves: []figure.Curve{{Series: seriesPaper, Colour: 1}, {Series: seriesSound, Colour: 5}},
			},
		},
		Settings: settingsOf(sizes, func(m int) []evaluate.Estimator { return estimatorsOf(chainMethods(m)) }),
		Probe:    probeChain(chainMethods(chainProbePersons)),
		Jobs:     comparisonJobs,
		Claims:   claimComparison,
	}
}

func comparisonJobs(quick bool) []figure.Job {
	return append(epsilonJobs(sizes(quick), epsilons), trialJobs(sizes(quick), count(quick), seconds(15), compare)...)
}

func compare(ctx context.Context, trial int, sizes []int) ([]figure.Sample, error) {
	p, err := chainPersons(trial, slices.Max(sizes))
	if err != nil {
		return nil, err
	}
	var out []figure.Sample
	for _, m := range sizes {
		flat, err := constants(float64(m))
		if err != nil {
			return nil, err
		}
		got, err := p.scores(ctx, chainMethods(m), m, float64(m), noiseSeed(trial, m))
		if err != nil {
			return nil, err
		}
		out = append(append(out, flat...), got...)
	}
	return out, nil
}

// chainMethods are the curves of Figure 1(a) at m persons.
func chainMethods(m int) []method {
	return []method{
		{seriesPaper, gpope(step(m), clip, false), true},
		{seriesSmall, gpope(0.1*step(m), clip, false), true},
		{seriesLarge, gpope(10*step(m), clip, false), true},
		{seriesSound, gpope(step(m), clip, true), true},
		{seriesBatch, evaluate.GPOPE{}, true},
		{seriesLSW, evaluate.DPLSW{Constants: "balle16"}, true},
		{seriesLSL, evaluate.DPLSL{Constants: "balle16"}, true},
		{seriesLSWExact, evaluate.DPLSW{}, true},
		{seriesLSLExact, evaluate.DPLSL{}, true},
		{seriesRefine, evaluate.DPRefine{}, true},
		{seriesLSTD, evaluate.LSTD{}, false},
	}
}

func epsilons(m int) ([]figure.Sample, error) {
	var out []figure.Sample
	for _, sound := range []bool{false, true} {
		series := seriesPaper
		if sound {
			series = seriesSound
		}
		e, err := trueEpsilon(gpope(step(m), clip, sound), m)
		if err != nil {
			return nil, err
		}
		out = append(out, figure.Sample{Panel: panelEpsilon, Series: series, X: float64(m), Y: e})
	}
	return out, nil
}

// claimComparison judges at the largest m.
func claimComparison(t *figure.Table) []figure.Claim {
	ms := t.Xs(panelMSPBE, seriesPaper)
	m := ms[len(ms)-1]
	claims := []figure.Claim{claimPrivate(t, "chain-private", seriesPaper, m, budget().Epsilon)}
	for _, panel := range []string{panelMSPBE, panelRMSE} {
		for _, g := range []struct{ id, series, against, than string }{
			{"paper-lsw", seriesPaper, seriesLSW, "DP-LSW"}, {"paper-lsl", seriesPaper, seriesLSL, "DP-LSL"},
			{"sound-lsw", seriesSound, seriesLSWExact, "DP-LSW"}, {"sound-lsl", seriesSound, seriesLSLExact, "DP-LSL"},
		} {
			ten := 10.0
			r, se := figure.Ratio(t.At(panel, g.against, m), t.At(panel, g.series, m))
			claims = append(claims, figure.Claim{
				ID: "chain-" + panel + "-" + g.id, Paper: paper,
				Claim: "GPOPE outperforms " + g.than + " by an order of magnitude.",
				Holds: r >= ten, PaperValue: &ten, Ours: r, StdErr: se,
				Note: fmt.Sprintf("%s of \"%s\" over that of \"%s\", m = %g; judged by the estimate itself; the paper's statement is of MSPBE", panel, g.against, g.series, m),
			})
		}
		claims = append(claims, againstConstant(t, "chain", panel, m, paperSoundOurs())...)
		claims = append(claims, againstReference(t, "chain", panel, seriesLSTD, m, paperSoundOurs())...)
	}
	return append(claims, claimImprecise(t, "chain", seriesLSL, "DP-LSL", m)...)
}

// claimImprecise judges step sizes that were not tuned, against a prior method.
func claimImprecise(t *figure.Table, figureID, against, name string, m float64) []figure.Claim {
	var claims []figure.Claim
	for _, x := range []struct{ id, series, what string }{{"small", seriesSmall, "0.1"}, {"large", seriesLarge, "10"}} {
		r, se := figure.Ratio(t.At(panelMSPBE, x.series, m), t.At(panelMSPBE, against, m))
		claims = append(claims, figure.Claim{
			ID: figureID + "-imprecise-" + x.id, Paper: paper,
			Claim: "With " + x.what + " times the tuned step GPOPE is usually still better than prior methods.",
			Holds: r+2*se < 1, Ours: r, StdErr: se,
			Note: fmt.Sprintf("MSPBE, accountant of the paper, over that of %s with the constants of Balle et al., m = %g", name, m),
		})
	}
	return claims
}
