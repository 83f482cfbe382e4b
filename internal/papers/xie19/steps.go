package xie19

import (
	"context"
	"slices"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/papers/figure"
)

const (
	clipPaper   = "clip 0.02, accountant of the paper"
	clipSound   = "clip 0.02, sound"
	noClipPaper = "clip 1, accountant of the paper"
	noClipSound = "clip 1, sound"
)

// stepSizes returns the x axis of Figure 1(b).
func stepSizes() []float64 { return []float64{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1} }

// sweptPersons is the paper's m = 3e5, and that of a quick run.
func sweptPersons(quick bool) int {
	if quick {
		return 30_000
	}
	return 300_000
}

// steps is Figure 1(b).
func steps() figure.Item {
	curves := []figure.Curve{
		{Series: clipPaper, Colour: 1}, {Series: clipSound, Colour: 5},
		{Series: noClipPaper, Colour: 2, Dashed: true}, {Series: noClipSound, Colour: 6, Dashed: true},
	}
	curves = append(curves, flatCurves()...)
	return figure.Item{
		Name: "chain-steps", Title: "Figure 1(b): GPOPE against its step size",
		Caption: "MSPBE and RMSE of GPOPE on the chain at m = 300,000 (quick: 30,000) as the step varies, clipped at 0.02 and at 1, which gradients hardly reach. The paper says that clipping never acts. " + honest(sweptPersons(false), sweptPersons(true)) + " Flat lines have no such step. Bars: standard deviation over trials.",
		Panels: []figure.Panel{
			{Name: panelMSPBE, Title: "MSPBE", X: labelStep, Y: labelMSPBE, LogX: true, LogY: true, Bars: figure.StandardDeviation, Curves: curves},
			{Name: panelRMSE, Title: "Value error", X: labelStep, Y: labelRMSE, LogX: true, LogY: true, Bars: figure.StandardDeviation, Curves: curves},
		},
		Settings: settingsOf(one(sweptPersons), func(int) []evaluate.Estimator { return estimatorsOf(chainSweep(true)) }),
		Probe:    probeChain(append(flatMethods(), stepMethods(0.1, true)...)),
		Jobs:     stepJobs,
		Claims:   claimSteps,
	}
}

func stepJobs(quick bool) []figure.Job {
	return trialJobs([]int{sweptPersons(quick)}, count(quick), seconds(15), func(ctx context.Context, trial int, sizes []int) ([]figure.Sample, error) {
		return sweepChain(ctx, trial, sizes, true, func(samples []figure.Sample, _ int) []figure.Sample { return samples })
	})
}

// flatCurves are methods without such a step, as lines.
func flatCurves() []figure.Curve {
	return []figure.Curve{
		{Series: seriesBatch, Colour: 4, Plain: true}, {Series: seriesRefine, Colour: 3, Plain: true},
		{Series: seriesLSTD, Colour: 0, Dashed: true, Plain: true}, {Series: seriesConstant, Colour: 7, Dashed: true, Plain: true},
	}
}

// flatMethods are methods without such a step.
func flatMethods() []method {
	return []method{{seriesBatch, evaluate.GPOPE{}, true}, {seriesRefine, evaluate.DPRefine{}, true}, {seriesLSTD, evaluate.LSTD{}, false}}
}

// everywhere repeats samples at every x.
func everywhere(samples []figure.Sample, xs []float64) []figure.Sample {
	var out []figure.Sample
	for _, x := range xs {
		for _, s := range samples {
			s.X = x
			out = append(out, s)
		}
	}
	return out
}

// sweepChain runs GPOPE at every step size and every number of persons; free adds
// the runs without a clip that acts, and panel moves the samples of the k-th
// number to their panels.
func sweepChain(ctx context.Context, trial int, sizes []int, free bool, panel func(samples []figure.Sample, k int) []figure.Sample) ([]figure.Sample, error) {
	p, err := chainPersons(trial, slices.Max(sizes))
	if err != nil {
		return nil, err
	}
	var out []figure.Sample
	for k, m := range sizes {
		got, err := p.sweep(ctx, m, noiseSeed(trial, m), free)
		if err != nil {
			return nil, err
		}
		out = append(out, panel(got, k)...)
	}
	return out, nil
}

func (p *onTheChain) sweep(ctx context.Context, m int, seed uint64, free bool) ([]figure.Sample, error) {
	flat, err := constants(0)
	if err != nil {
		return nil, err
	}
	if _, err := p.values(ctx, chainSweep(free), m, seed); err != nil { // all at once
		return nil, err
	}
	got, err := p.scores(ctx, flatMethods(), m, 0, seed)
	if err != nil {
		return nil, err
	}
	out := everywhere(append(flat, got...), stepSizes())
	for _, x := range stepSizes() {
		got, err := p.scores(ctx, stepMethods(x, free), m, x, seed)
		if err != nil {
			return nil, err
		}
		out = append(out, got...)
	}
	return out, nil
}

// stepMethods is GPOPE at one step size.
func stepMethods(x float64, free bool) []method {
	methods := []method{{clipPaper, gpope(x, clip, false), true}, {clipSound, gpope(x, clip, true), true}}
	if free {
		methods = append(methods, method{noClipPaper, gpope(x, noClip, false), true}, method{noClipSound, gpope(x, noClip, true), true})
	}
	return methods
}

// chainSweep are all methods of a sweep.
func chainSweep(free bool) []method {
	all := flatMethods()
	for _, x := range stepSizes() {
		all = append(all, stepMethods(x, free)...)
	}
	return all
}

// best is the least mean over the steps, and where.
func best(t *figure.Table, panel, series string) (x float64, at figure.Cell) {
	for _, s := range t.Xs(panel, series) {
		if c := t.At(panel, series, s); x == 0 || c.Mean < at.Mean {
			x, at = s, c
		}
	}
	return x, at
}

func claimSteps(t *figure.Table) []figure.Claim {
	return []figure.Claim{
		claimClip(t, "steps-clipping-paper", clipPaper, noClipPaper), claimStable(t, "steps-stable-paper", panelMSPBE, clipPaper, "Figure 1(b)"),
		claimClip(t, "steps-clipping-sound", clipSound, noClipSound), claimStable(t, "steps-stable-sound", panelMSPBE, clipSound, "Figure 1(b)"),
	}
}
