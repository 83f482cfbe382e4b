package xie19

import (
	"context"
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/papers/figure"
)

// settings are the stated budgets of Figures 3 and 4; the paper does not say
// which it used.
func settings() []float64 { return []float64{0.1, 1} }

// at names a curve at a stated epsilon.
func at(epsilon float64, series string) string { return fmt.Sprintf("%s, epsilon %g", series, epsilon) }

const seriesWIS = "WIS-LSTD, not private"

// settingCurves draws each method once for each setting.
func settingCurves(reference string) []figure.Curve {
	var curves []figure.Curve
	for i, e := range settings() {
		for _, c := range []struct {
			series string
			colour int
		}{{seriesPaper, 1}, {seriesSound, 5}, {seriesBatch, 4}, {seriesRefine, 3}} {
			curves = append(curves, figure.Curve{Series: at(e, c.series), Colour: c.colour, Dashed: i > 0})
		}
	}
	return append(curves, figure.Curve{Series: reference, Colour: 0, Dashed: true}, figure.Curve{Series: seriesConstant, Colour: 7, Dashed: true, Plain: true})
}

// panelTrue shows the true epsilon of each setting.
func panelTrue() figure.Panel {
	p := figure.Panel{Name: panelEpsilon, Title: "True epsilon", X: labelPersons, Y: labelEpsilon, LogX: true, LogY: true, Bars: figure.StandardDeviation}
	for i, e := range settings() {
		p.Curves = append(p.Curves,
			figure.Curve{Series: at(e, seriesPaper), Colour: 1, Dashed: i > 0},
			figure.Curve{Series: at(e, seriesSound), Colour: 5, Dashed: i > 0})
	}
	return p
}

// The panels of Figure 3.
const (
	panelOn       = "mspbe-on-policy"
	panelOnError  = "error-on-policy"
	panelOff      = "mspbe-off-policy"
	panelOffError = "error-off-policy"
	panelRatio    = "ratio"
)

// carPrivacy is Figure 3.
func carPrivacy() figure.Item {
	on, off := settingCurves(seriesWIS), settingCurves(seriesWIS)
	panel := func(name, title, y string, curves []figure.Curve) figure.Panel {
		return figure.Panel{Name: name, Title: title, X: labelPersons, Y: y, LogX: true, LogY: true, Bars: figure.StandardDeviation, Curves: curves}
	}
	return figure.Item{
		Name: "car-privacy", Title: "Figures 3(a), 3(b): mountain car on-policy and off-policy",
		Caption: "The same trajectories of the 0.3-soft policy of Q-learning evaluate that policy itself (first row) and the uniform policy (second row), at epsilon 0.1 (solid) and 1 (dashed), with Fourier features of order 2. WIS-LSTD is taken at lambda = 0, whose fixed point has MSPBE 0: there it is LSTD with importance ratios, and on-policy LSTD itself. Value errors as in Figure 2(a); the standard errors of the truth are about 0.3 on-policy and 0.5 off-policy. The last panel divides off-policy by on-policy MSPBE, trial by trial. Bars: standard deviation over trials.",
		Columns: 2, SameY: true,
		Panels: []figure.Panel{
			panel(panelOn, "On-policy", labelCarMSPBE, on), panel(panelOnError, "On-policy, value error", labelCarError, on),
			panel(panelOff, "Off-policy", labelCarMSPBE, off), panel(panelOffError, "Off-policy, value error", labelCarError, off),
			panelTrue(), panel(panelRatio, "Off-policy over on-policy", "ratio of MSPBE (no unit)", on[:len(on)-1]),
		},
		Settings: settingsOf(carSizes, func(m int) []evaluate.Estimator { return estimatorsIn(bothMethods(m)) }),
		Probe:    probeWorld(bothMethods(probePersons), carOn, carOff),
		Jobs: func(quick bool) []figure.Job {
			jobs := epsilonJobs(carSizes(quick), carTrue)
			return append(jobs, trialJobs(carSizes(quick), count(quick), seconds(10), bothCar)...)
		},
		Claims: claimPrivacy,
	}
}

func carTrue(m int) ([]figure.Sample, error) {
	v, err := carOn()
	if err != nil {
		return nil, err
	}
	return v.settings(m, func(epsilon float64, sound bool) evaluate.GPOPE { return gpope(carStep(m, epsilon), carClip, sound) })
}

// settings are the true epsilons of GPOPE in each setting.
func (v *view) settings(m int, g func(epsilon float64, sound bool) evaluate.GPOPE) ([]figure.Sample, error) {
	var out []figure.Sample
	for _, e := range settings() {
		for _, x := range []struct {
			series string
			sound  bool
		}{{seriesPaper, false}, {seriesSound, true}} {
			upper, err := v.upper(g(e, x.sound), m, stated(e))
			if err != nil {
				return nil, err
			}
			out = append(out, figure.Sample{Panel: panelEpsilon, Series: at(e, x.series), X: float64(m), Y: upper})
		}
	}
	return out, nil
}

// settingMethods runs every method in each setting.
func settingMethods(m int, g func(epsilon float64, sound bool) evaluate.GPOPE, batch func(m int, epsilon float64) evaluate.GPOPE) []curve {
	var curves []curve
	for _, e := range settings() {
		b := stated(e)
		curves = append(curves,
			curve{series: at(e, seriesPaper), estimator: g(e, false), budget: b},
			curve{series: at(e, seriesSound), estimator: g(e, true), budget: b},
			curve{series: at(e, seriesBatch), estimator: batch(m, e), budget: b},
			curve{series: at(e, seriesRefine), estimator: evaluate.DPRefine{Form: "lstd"}, budget: b})
	}
	return append(curves, curve{series: seriesWIS, estimator: evaluate.WISLSTD{Weighting: "trajectory"}})
}

func bothCar(ctx context.Context, trial int, sizes []int) ([]figure.Sample, error) {
	on, err := carOn()
	if err != nil {
		return nil, err
	}
	off, err := carOff()
	if err != nil {
		return nil, err
	}
	both := make([]*people, 2)
	for i, v := range []*view{on, off} {
		if both[i], err = v.people(ctx, trial, slices.Max(sizes)); err != nil {
			return nil, err
		}
	}
	var out []figure.Sample
	for _, m := range sizes {
		got, err := bothAt(ctx, both, m, noiseSeed(trial, m))
		if err != nil {
			return nil, err
		}
		out = append(out, got...)
	}
	return out, nil
}

// bothMethods are the curves of either policy.
func bothMethods(m int) []curve {
	return settingMethods(m, func(epsilon float64, sound bool) evaluate.GPOPE { return gpope(carStep(m, epsilon), carClip, sound) }, carBatch)
}

// bothAt evaluates both policies on the first m persons.
func bothAt(ctx context.Context, both []*people, m int, seed uint64) ([]figure.Sample, error) {
	curves := bothMethods(m)
	out, err := both[0].run(ctx, panelOn, panelOnError, curves, m, float64(m), seed)
	if err != nil {
		return nil, err
	}
	more, err := both[1].run(ctx, panelOff, panelOffError, curves, m, float64(m), seed)
	if err != nil {
		return nil, err
	}
	out = append(out, more...)
	first := map[string]float64{}
	for _, s := range out {
		switch s.Panel {
		case panelOn:
			first[s.Series] = s.Y
		case panelOff:
			if s.Series != seriesConstant {
				out = append(out, figure.Sample{Panel: panelRatio, Series: s.Series, X: s.X, Y: s.Y / first[s.Series]})
			}
		}
	}
	return out, nil
}

func claimPrivacy(t *figure.Table) []figure.Claim {
	ms := t.Xs(panelOn, seriesWIS)
	m := ms[len(ms)-1]
	var claims []figure.Claim
	for _, e := range settings() {
		claims = append(claims, claimPrivate(t, fmt.Sprintf("car-privacy-private-%g", e), at(e, seriesPaper), m, e))
		for _, g := range paperSoundOurs() {
			r, se := figure.Ratio(t.At(panelOff, at(e, g.series), m), t.At(panelOn, at(e, g.series), m))
			one := 1.0
			claims = append(claims, figure.Claim{
				ID: fmt.Sprintf("car-alike-%s-%g", g.id, e), Paper: paper,
				Claim: "On-policy and off-policy the algorithm's performances are remarkably similar.",
				Holds: r <= 2 && r >= 0.5, PaperValue: &one, Ours: r, StdErr: se,
				Note: fmt.Sprintf("off-policy over on-policy MSPBE of \"%s\", m = %g; judged by the estimate itself: within a factor of 2", at(e, g.series), m),
			})
		}
		var of []named
		for _, g := range paperSoundOurs() {
			of = append(of, named{fmt.Sprintf("%s-%g", g.id, e), at(e, g.series)})
		}
		for _, panel := range []string{panelOff, panelOffError} {
			claims = append(claims, againstConstant(t, "car-privacy", panel, m, of)...)
		}
	}
	return claims
}
