package xie19

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/papers/figure"
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
		{Series: noClipPaper, Colour: 2, Dashed: true}, {Series: noClipSound, Colour: 4, Dashed: true},
		{Series: seriesConstant, Colour: 7, Dashed: true, Plain: true},
	}
	return figure.Item{
		Name: "chain-steps", Title: "Figure 1(b): GPOPE against its step size",
		Caption: "MSPBE and RMSE of GPOPE on the chain at m = 300,000 (quick: 30,000) as the step varies, clipped at 0.02 and at 1, which gradients hardly reach. The paper says that clipping never acts. Bars: standard deviation over trials.",
		Panels: []figure.Panel{
			{Name: panelMSPBE, Title: "MSPBE", X: "step size (no unit)", Y: labelMSPBE, LogX: true, LogY: true, Bars: figure.StandardDeviation, Curves: curves},
			{Name: panelRMSE, Title: "Value error", X: "step size (no unit)", Y: labelRMSE, LogX: true, LogY: true, Bars: figure.StandardDeviation, Curves: curves},
		},
		Jobs:   stepJobs,
		Claims: claimSteps,
	}
}

func stepJobs(quick bool) []figure.Job {
	var jobs []figure.Job
	m := sweptPersons(quick)
	for trial := range count(quick) {
		jobs = append(jobs, figure.Job{
			Key: fmt.Sprintf("m=%d trial=%d", m, trial+1), Cost: 5e5 + 4*float64(m),
			Run: func(ctx context.Context) ([]figure.Sample, error) {
				return sweep(ctx, m, uint64(m)<<16|uint64(trial+1))
			},
		})
	}
	return jobs
}

func sweep(ctx context.Context, m int, seed uint64) ([]figure.Sample, error) {
	d, err := problem(m).Simulate(seed)
	if err != nil {
		return nil, err
	}
	var out []figure.Sample
	for _, x := range stepSizes() {
		flat, err := constants(x)
		if err != nil {
			return nil, err
		}
		got, err := scores(ctx, []method{
			{clipPaper, gpope(x, clip, false), true}, {clipSound, gpope(x, clip, true), true},
			{noClipPaper, gpope(x, noClip, false), true}, {noClipSound, gpope(x, noClip, true), true},
		}, m, x, d, seed)
		if err != nil {
			return nil, err
		}
		out = append(append(out, flat...), got...)
	}
	return out, nil
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
	var claims []figure.Claim
	for _, c := range []struct{ id, clipped, free string }{{"paper", clipPaper, noClipPaper}, {"sound", clipSound, noClipSound}} {
		x, clipped := best(t, panelMSPBE, c.clipped)
		y, free := best(t, panelMSPBE, c.free)
		r, se := figure.Ratio(free, clipped)
		claims = append(claims, figure.Claim{
			ID: "steps-clipping-" + c.id, Paper: paper,
			Claim: "The clip can be so large that it never acts.",
			Holds: r-2*se <= 1, Ours: r, StdErr: se,
			Note: fmt.Sprintf("least MSPBE over the steps at clip 1 (step %g) over that at clip 0.02 (step %g), %s; judged: not above 1 by two standard errors", y, x, c.clipped[len("clip 0.02, "):]),
		})
		wide := 0
		for _, s := range t.Xs(panelMSPBE, c.clipped) {
			if t.At(panelMSPBE, c.clipped, s).Mean <= 10*clipped.Mean {
				wide++
			}
		}
		all := len(stepSizes())
		claims = append(claims, figure.Claim{
			ID: "steps-stable-" + c.id, Paper: paper,
			Claim: "Accuracy is stable for a very wide range of step sizes.",
			Holds: 2*wide > all, Ours: float64(wide) / float64(all),
			Note: fmt.Sprintf("share of the %d steps from 0.001 to 1 with an MSPBE within ten times the least, clip 0.02, %s; judged: above half; a share, without a standard error", all, c.clipped[len("clip 0.02, "):]),
		})
	}
	return claims
}
