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
	labelCarMSPBE = "MSPBE (squared steps)"
	labelCarError = "value error at 40 states (discounted steps)"
	labelEpsilon  = "epsilon at delta 1e-5, replace-one"
)

// carSizes are a tenth of the paper's and less: 300,000 trajectories are 56
// million rows, for each trial.
func carSizes(quick bool) []int {
	if quick {
		return []int{1000, 3000, 10_000}
	}
	return []int{1000, 3000, 10_000, 30_000}
}

// carClip and carNoClip are norms of gradients, in steps; those of most persons
// are below 1.
const (
	carClip   = 0.1
	carNoClip = 3
)

// carStep is the tuned step size for m persons at a stated epsilon.
func carStep(m int, epsilon float64) float64 {
	switch {
	case epsilon >= 1:
		return 1
	case m < 5000:
		return 0.1
	}
	return 0.3
}

// carBatch is the tuned mini-batch form.
func carBatch(m int, epsilon float64) evaluate.GPOPE {
	g := evaluate.GPOPE{Batch: 500, Iterations: 1000, Clip: 0.1, StepTheta: 10, StepW: 0.3}
	if m >= 20_000 {
		g.Iterations, g.StepTheta = 3000, 30
	}
	if epsilon >= 1 {
		g.Clip = 0.3
	}
	return g
}

// seconds is the cost of a job that takes so long on one core.
func seconds(s float64) float64 { return s * 6e4 }

func stated(epsilon float64) dp.Budget {
	b := budget()
	b.Epsilon = epsilon
	return b
}

// carComparison is Figure 2(a), in the paper's text Figure 1(c).
func carComparison() figure.Item {
	curves := []figure.Curve{
		{Series: seriesPaper, Colour: 1}, {Series: seriesSmall, Label: labelSmall, Colour: 1, Dashed: true, Plain: true}, {Series: seriesLarge, Label: labelLarge, Colour: 1, Dotted: true, Plain: true},
		{Series: seriesSound, Colour: 5}, {Series: seriesBatch, Colour: 4}, {Series: seriesRefine, Colour: 3},
		{Series: seriesLSW, Colour: 6}, {Series: seriesLSWExact, Colour: 6, Dashed: true},
		{Series: seriesLSTD, Colour: 0, Dashed: true}, {Series: seriesConstant, Colour: 7, Dashed: true, Plain: true},
	}
	return figure.Item{
		Name: "car", Title: "Figure 2(a): all methods on mountain car, on-policy",
		Caption: "As Figure 1(a), for the policy that Q-learning found, made 0.3-soft, on Fourier features of order 2. DP-LSW needs states that can be counted and runs on a grid of 6 x 6 cells. DP-LSL is not private on continuous states. MSPBE is that of 100,000 further trajectories, each weighing 1; the value error is the root mean square error at 40 fixed states against the mean of 400 simulated returns each, whose standard errors are about 0.3. Bars: standard deviation over trials.",
		Columns: 2,
		Panels: []figure.Panel{
			{Name: panelMSPBE, Title: "MSPBE, epsilon 0.1 asked for", X: labelPersons, Y: labelCarMSPBE, LogX: true, LogY: true, Bars: figure.StandardDeviation, Curves: curves},
			{Name: panelRMSE, Title: "Value error of the same releases", X: labelPersons, Y: labelCarError, LogX: true, LogY: true, Bars: figure.StandardDeviation, Curves: curves},
			{
				Name: panelEpsilon, Title: "True epsilon", X: labelPersons, Y: labelEpsilon, LogX: true, LogY: true, Bars: figure.StandardDeviation,
				Curves: []figure.Curve{{Series: seriesPaper, Colour: 1}, {Series: seriesSound, Colour: 5}},
			},
		},
		Settings: settingsOf(carSizes, func(m int) []evaluate.Estimator { return estimatorsIn(carMethods(m)) }),
		Probe:    probeWorld(carMethods(probePersons), carOn),
		Jobs: func(quick bool) []figure.Job {
			jobs := epsilonJobs(carSizes(quick), carUpper)
			return append(jobs, trialJobs(carSizes(quick), count(quick), seconds(5), compareCar)...)
		},
		Claims: claimCar,
	}
}

// trialJobs are the trials, each at all numbers of persons, of whom it makes the
// largest once.
func trialJobs(sizes []int, trials int, cost float64, run func(ctx context.Context, trial int, sizes []int) ([]figure.Sample, error)) []figure.Job {
	var jobs []figure.Job
	for trial := 1; trial <= trials; trial++ {
		jobs = append(jobs, figure.Job{
			Key: fmt.Sprintf("m=%v trial=%d", sizes, trial), Cost: cost, Trial: trial,
			Run: func(ctx context.Context) ([]figure.Sample, error) { return run(ctx, trial, sizes) },
		})
	}
	return jobs
}

// epsilonJobs find true epsilons.
func epsilonJobs(sizes []int, run func(m int) ([]figure.Sample, error)) []figure.Job {
	var jobs []figure.Job
	for _, m := range sizes {
		jobs = append(jobs, figure.Job{
			Key: fmt.Sprintf("epsilon m=%d", m), Cost: seconds(1),
			Run: func(context.Context) ([]figure.Sample, error) { return run(m) },
		})
	}
	return jobs
}

func carUpper(m int) ([]figure.Sample, error) {
	v, err := carOn()
	if err != nil {
		return nil, err
	}
	var out []figure.Sample
	for _, x := range []struct {
		series string
		sound  bool
	}{{seriesPaper, false}, {seriesSound, true}} {
		e, err := v.upper(gpope(carStep(m, budget().Epsilon), carClip, x.sound), m, budget())
		if err != nil {
			return nil, err
		}
		out = append(out, figure.Sample{Panel: panelEpsilon, Series: x.series, X: float64(m), Y: e})
	}
	return out, nil
}

func compareCar(ctx context.Context, trial int, sizes []int) ([]figure.Sample, error) {
	v, err := carOn()
	if err != nil {
		return nil, err
	}
	p, err := v.people(ctx, trial, slices.Max(sizes))
	if err != nil {
		return nil, err
	}
	var out []figure.Sample
	for _, m := range sizes {
		got, err := p.run(ctx, panelMSPBE, panelRMSE, carMethods(m), m, float64(m), noiseSeed(trial, m))
		if err != nil {
			return nil, err
		}
		out = append(out, got...)
	}
	return out, nil
}

// carMethods are the curves of Figure 2(a) at m persons.
func carMethods(m int) []curve {
	b := budget()
	at := carStep(m, b.Epsilon)
	return []curve{
		{series: seriesPaper, estimator: gpope(at, carClip, false), budget: b},
		{series: seriesSmall, estimator: gpope(0.1*at, carClip, false), budget: b},
		{series: seriesLarge, estimator: gpope(10*at, carClip, false), budget: b},
		{series: seriesSound, estimator: gpope(at, carClip, true), budget: b},
		{series: seriesBatch, estimator: carBatch(m, b.Epsilon), budget: b},
		{series: seriesLSW, estimator: evaluate.DPLSW{Constants: "balle16"}, budget: b, byCell: true},
		{series: seriesLSWExact, estimator: evaluate.DPLSW{}, budget: b, byCell: true},
		{series: seriesRefine, estimator: evaluate.DPRefine{Form: "lstd"}, budget: b},
		{series: seriesLSTD, estimator: evaluate.LSTD{Weighting: "trajectory"}},
	}
}

func claimCar(t *figure.Table) []figure.Claim {
	ms := t.Xs(panelMSPBE, seriesPaper)
	m := ms[len(ms)-1]
	claims := []figure.Claim{claimPrivate(t, "car-private", seriesPaper, m, budget().Epsilon)}
	for _, panel := range []string{panelMSPBE, panelRMSE} {
		for _, g := range []struct{ id, series, against string }{{"paper", seriesPaper, seriesLSW}, {"sound", seriesSound, seriesLSWExact}} {
			hundred := 100.0
			r, se := figure.Ratio(t.At(panel, g.against, m), t.At(panel, g.series, m))
			claims = append(claims, figure.Claim{
				ID: "car-" + panel + "-" + g.id + "-lsw", Paper: paper,
				Claim: "GPOPE improves upon existing methods by orders of magnitude.",
				Holds: r >= hundred, PaperValue: &hundred, Ours: r, StdErr: se,
				Note: fmt.Sprintf("%s of \"%s\" over that of \"%s\", m = %g; judged: two orders", panel, g.against, g.series, m),
			})
		}
		claims = append(claims, againstConstant(t, "car", panel, m, paperSoundOurs())...)
		claims = append(claims, againstReference(t, "car", panel, seriesLSTD, m, paperSoundOurs())...)
	}
	return append(claims, claimImprecise(t, "car", seriesLSW, "DP-LSW", m)...)
}

// named is a curve in the identifiers of claims.
type named struct{ id, series string }

func paperSoundOurs() []named {
	return []named{{"paper", seriesPaper}, {"sound", seriesSound}, {"batch", seriesBatch}, {"refine", seriesRefine}}
}

func claimPrivate(t *figure.Table, id, series string, m, stated float64) figure.Claim {
	stands := t.At(panelEpsilon, series, m).Mean
	return figure.Claim{
		ID: id, Paper: paper, Claim: fmt.Sprintf("GPOPE with the accountant of the paper satisfies epsilon = %g.", stated),
		Holds: stands <= stated, PaperValue: &stated, Ours: stands,
		Note: fmt.Sprintf("true epsilon at delta 1e-5, replace-one, m = N = %g: upper end of a bracket", m),
	}
}

func againstConstant(t *figure.Table, item, panel string, m float64, of []named) []figure.Claim {
	var claims []figure.Claim
	for _, g := range of {
		r, se := figure.Ratio(t.At(panel, g.series, m), t.At(panel, seriesConstant, m))
		claims = append(claims, figure.Claim{
			ID: item + "-" + panel + "-constant-" + g.id, Paper: paper,
			Claim: "Not in the paper: \"" + g.series + "\" is better than the best constant.",
			Holds: r+2*se < 1, Ours: r, StdErr: se,
			Note: fmt.Sprintf("%s over that of the constant, m = %g; judged at two standard errors below 1", panel, m),
		})
	}
	return claims
}

// againstReference judges whether the error is at most twice that without
// privacy.
func againstReference(t *figure.Table, item, panel, reference string, m float64, of []named) []figure.Claim {
	var claims []figure.Claim
	for _, g := range of {
		r, se := figure.Ratio(t.At(panel, g.series, m), t.At(panel, reference, m))
		claims = append(claims, figure.Claim{
			ID: item + "-" + panel + "-converges-" + g.id, Paper: paper,
			Claim: "The private estimate converges to the non-private solution.",
			Holds: r <= 2, Ours: r, StdErr: se,
			Note: fmt.Sprintf("%s of \"%s\" over that of \"%s\" at m = %g, the largest here; judged by the estimate itself: at most 2", panel, g.series, reference, m),
		})
	}
	return claims
}
