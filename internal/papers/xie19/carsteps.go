package xie19

import (
	"context"
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/papers/figure"
)

const (
	carClipPaper   = "clip 0.1, accountant of the paper"
	carClipSound   = "clip 0.1, sound"
	carNoClipPaper = "clip 3, accountant of the paper"
	carNoClipSound = "clip 3, sound"
)

// carStepSizes is the x axis of Figures 2(b) and 6.
func carStepSizes() []float64 { return []float64{0.003, 0.01, 0.03, 0.1, 0.3, 1, 3} }

// carSweptPersons stands for the paper's m = 3e5; see carSizes.
func carSweptPersons(quick bool) int {
	if quick {
		return 3000
	}
	return 30_000
}

// carSteps is Figure 2(b), in the paper's text Figure 1(d).
func carSteps() figure.Item {
	curves := append([]figure.Curve{
		{Series: carClipPaper, Colour: 1}, {Series: carClipSound, Colour: 5},
		{Series: carNoClipPaper, Colour: 2, Dashed: true}, {Series: carNoClipSound, Colour: 6, Dashed: true},
	}, flatCurves()...)
	return figure.Item{
		Name: "car-steps", Title: "Figure 2(b): GPOPE against its step size, mountain car",
		Caption: "As Figure 1(b) for the policy of Figure 2(a), at m = 30,000 (quick: 3,000), clipped at 0.1 and at 3, which gradients hardly reach. " + honest(carSweptPersons(false), carSweptPersons(true)) + " Flat lines have no such step. Bars: standard deviation over trials.",
		Panels: []figure.Panel{
			{Name: panelMSPBE, Title: "MSPBE", X: labelStep, Y: labelCarMSPBE, LogX: true, LogY: true, Bars: figure.StandardDeviation, Curves: curves},
			{Name: panelRMSE, Title: "Value error", X: labelStep, Y: labelCarError, LogX: true, LogY: true, Bars: figure.StandardDeviation, Curves: curves},
		},
		Settings: settingsOf(one(carSweptPersons), func(m int) []evaluate.Estimator { return estimatorsIn(carSweep(m, true)) }),
		Probe:    probeWorld(append(carFlat(probePersons), carAtStep(1, true)...), carOn),
		Jobs: func(quick bool) []figure.Job {
			return trialJobs([]int{carSweptPersons(quick)}, count(quick), seconds(5), func(ctx context.Context, trial int, sizes []int) ([]figure.Sample, error) {
				return sweepCar(ctx, trial, sizes, true, func(samples []figure.Sample, _ int) []figure.Sample { return samples })
			})
		},
		Claims: func(t *figure.Table) []figure.Claim {
			return []figure.Claim{
				claimClip(t, "car-steps-clipping-paper", carClipPaper, carNoClipPaper), claimStable(t, "car-steps-stable-paper", panelMSPBE, carClipPaper, "Figure 2(b)"),
				claimClip(t, "car-steps-clipping-sound", carClipSound, carNoClipSound), claimStable(t, "car-steps-stable-sound", panelMSPBE, carClipSound, "Figure 2(b)"),
			}
		},
	}
}

// sweepCar runs GPOPE at every step size and every number of persons; free adds
// the runs without a clip that acts, and panel moves the samples of the k-th
// number to their panels.
func sweepCar(ctx context.Context, trial int, sizes []int, free bool, panel func(samples []figure.Sample, k int) []figure.Sample) ([]figure.Sample, error) {
	v, err := carOn()
	if err != nil {
		return nil, err
	}
	p, err := v.people(ctx, trial, slices.Max(sizes))
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

func (p *people) sweep(ctx context.Context, m int, seed uint64, free bool) ([]figure.Sample, error) {
	if _, err := p.weights(ctx, carSweep(m, free), m, seed); err != nil { // all at once
		return nil, err
	}
	flat, err := p.run(ctx, panelMSPBE, panelRMSE, carFlat(m), m, 0, seed)
	if err != nil {
		return nil, err
	}
	out := everywhere(flat, carStepSizes())
	for _, x := range carStepSizes() {
		got, err := p.run(ctx, panelMSPBE, panelRMSE, carAtStep(x, free), m, x, seed)
		if err != nil {
			return nil, err
		}
		for _, s := range got {
			if s.Series != seriesConstant { // flat already
				out = append(out, s)
			}
		}
	}
	return out, nil
}

// carFlat are methods without such a step.
func carFlat(m int) []curve {
	b := budget()
	return []curve{
		{series: seriesBatch, estimator: carBatch(m, b.Epsilon), budget: b},
		{series: seriesRefine, estimator: evaluate.DPRefine{Form: "lstd"}, budget: b},
		{series: seriesLSTD, estimator: evaluate.LSTD{Weighting: "trajectory"}, budget: dp.Budget{}},
	}
}

// carAtStep is GPOPE at one step size.
func carAtStep(x float64, free bool) []curve {
	b := budget()
	curves := []curve{
		{series: carClipPaper, estimator: gpope(x, carClip, false), budget: b},
		{series: carClipSound, estimator: gpope(x, carClip, true), budget: b},
	}
	if free {
		curves = append(curves,
			curve{series: carNoClipPaper, estimator: gpope(x, carNoClip, false), budget: b},
			curve{series: carNoClipSound, estimator: gpope(x, carNoClip, true), budget: b})
	}
	return curves
}

// carSweep are all curves of a sweep.
func carSweep(m int, free bool) []curve {
	all := carFlat(m)
	for _, x := range carStepSizes() {
		all = append(all, carAtStep(x, free)...)
	}
	return all
}

// claimClip compares the best steps with and without a clip that acts.
func claimClip(t *figure.Table, id, clipped, free string) figure.Claim {
	x, with := best(t, panelMSPBE, clipped)
	y, without := best(t, panelMSPBE, free)
	r, se := figure.Ratio(without, with)
	return figure.Claim{
		ID: id, Paper: paper,
		Claim: "The clip can be so large that it never acts.",
		Holds: r-2*se <= 1, Ours: r, StdErr: se,
		Note: fmt.Sprintf("least MSPBE over the steps of \"%s\" (step %g) over that of \"%s\" (step %g); judged: not above 1 by two standard errors", free, y, clipped, x),
	}
}

// carSizesItem is Figure 6.
func carSizesItem() figure.Item {
	curves := append([]figure.Curve{{Series: carClipPaper, Colour: 1}, {Series: carClipSound, Colour: 5}}, flatCurves()...)
	return figure.Item{
		Name: "car-steps-sizes", Title: "Figure 6: step sizes on mountain car, other numbers of trajectories",
		Caption: "As Figure 2(b) with the clip at 0.1, at a tenth of the paper's numbers of trajectories. The true epsilons are those of the paper's noise. Flat lines have no such step. Bars: standard deviation over trials.",
		Columns: 2, SameY: true,
		Panels:   sizePanels(carSweptSizes(false), carSweptSizes(true), labelCarMSPBE, labelCarError, curves),
		Settings: settingsOf(carSweptSizes, func(m int) []evaluate.Estimator { return estimatorsIn(carSweep(m, false)) }),
		Probe:    probeWorld(append(carFlat(probePersons), carAtStep(1, false)...), carOn),
		Jobs: func(quick bool) []figure.Job {
			return trialJobs(carSweptSizes(quick), count(quick), seconds(10), func(ctx context.Context, trial int, sizes []int) ([]figure.Sample, error) {
				return sweepCar(ctx, trial, sizes, false, inPanels)
			})
		},
		Claims: func(t *figure.Table) []figure.Claim {
			return claimSizes(t, "car-sizes", carSweptSizes(false), []named{{"paper", carClipPaper}, {"sound", carClipSound}})
		},
	}
}
