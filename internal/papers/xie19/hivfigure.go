package xie19

import (
	"context"
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/papers/figure"
)

func hivSizes(quick bool) []int {
	if quick {
		return []int{300, 1000, 3000}
	}
	return []int{1000, 3000, 10_000, 30_000}
}

// hivClip and hivStep are the tuned sizes of Algorithm 1, hivBatch those of the
// mini-batch form at a stated epsilon.
const (
	hivClip = 0.1
	hivStep = 1
)

func hivBatch(_ int, epsilon float64) evaluate.GPOPE {
	if epsilon >= 1 {
		return evaluate.GPOPE{Batch: 500, Iterations: 3000, Clip: 0.3, StepTheta: 30, StepW: 0.3}
	}
	return evaluate.GPOPE{Batch: 500, Iterations: 1000, Clip: 0.3, StepTheta: 3, StepW: 0.3}
}

func hivGPOPE(_ float64, sound bool) evaluate.GPOPE { return gpope(hivStep, hivClip, sound) }

// hivItem is Figure 4.
func hivItem() figure.Item {
	curves := settingCurves(seriesWIS)
	return figure.Item{
		Name: "hiv", Title: "Figure 4: treatment of HIV, off-policy",
		Caption: "The greedy policy of Q-learning is evaluated on the data of the softmax of its Q, at epsilon 0.1 (solid) and 1 (dashed): episodes of 100 steps (500 days), gamma 0.98, features: a constant and the six logarithms. MSPBE is relative: over the squared mean absolute reward of the evaluated policy; it is measured on 20,000 further trajectories, each weighing 1. The value error is the root mean square error at 40 fixed states, in units of a reward of 1e5, against the returns of the policy, which chance does not enter. Bars: standard deviation over trials.",
		Columns: 2,
		Panels: []figure.Panel{
			{Name: panelMSPBE, Title: "Relative MSPBE", X: labelPersons, Y: "MSPBE over squared mean reward (no unit)", LogX: true, LogY: true, Bars: figure.StandardDeviation, Curves: curves},
			{Name: panelRMSE, Title: "Value error", X: labelPersons, Y: "value error at 40 states (1e5)", LogX: true, LogY: true, Bars: figure.StandardDeviation, Curves: curves},
			panelTrue(),
		},
		Settings: settingsOf(hivSizes, func(m int) []evaluate.Estimator { return estimatorsIn(settingMethods(m, hivGPOPE, hivBatch)) }),
		Probe:    probeWorld(settingMethods(probePersons, hivGPOPE, hivBatch), treatment),
		Jobs: func(quick bool) []figure.Job {
			jobs := epsilonJobs(hivSizes(quick), func(m int) ([]figure.Sample, error) {
				v, err := treatment()
				if err != nil {
					return nil, err
				}
				return v.settings(m, hivGPOPE)
			})
			return append(jobs, trialJobs(hivSizes(quick), count(quick), seconds(20), treat)...)
		},
		Claims: claimHIV,
	}
}

func treat(ctx context.Context, trial int, sizes []int) ([]figure.Sample, error) {
	v, err := treatment()
	if err != nil {
		return nil, err
	}
	p, err := v.people(ctx, trial, slices.Max(sizes))
	if err != nil {
		return nil, err
	}
	var out []figure.Sample
	for _, m := range sizes {
		got, err := p.run(ctx, panelMSPBE, panelRMSE, settingMethods(m, hivGPOPE, hivBatch), m, float64(m), noiseSeed(trial, m))
		if err != nil {
			return nil, err
		}
		out = append(out, got...)
	}
	return out, nil
}

func claimHIV(t *figure.Table) []figure.Claim {
	ms := t.Xs(panelMSPBE, seriesWIS)
	m := ms[len(ms)-1]
	var claims []figure.Claim
	for _, e := range settings() {
		claims = append(claims, claimPrivate(t, fmt.Sprintf("hiv-private-%g", e), at(e, seriesPaper), m, e))
		var of []named
		for _, g := range paperSoundOurs() {
			of = append(of, named{fmt.Sprintf("%s-%g", g.id, e), at(e, g.series)})
		}
		for _, panel := range []string{panelMSPBE, panelRMSE} {
			claims = append(claims, againstConstant(t, "hiv", panel, m, of)...)
		}
		claims = append(claims, againstReference(t, "hiv", panelMSPBE, seriesWIS, m, of)...)
	}
	return append(claims, againstConstant(t, "hiv", panelRMSE, m, []named{{"wis-lstd", seriesWIS}})...)
}
