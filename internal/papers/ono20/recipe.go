package ono20

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/internal/papers/figure"
	"github.com/discreet-rl/discreet/train"
)

// schedule is how much an agent trains before it reports.
type schedule struct {
	name  string
	steps int
}

// Both schedules: one episode, or thirty local steps of two.
func schedules() []schedule {
	return []schedule{{"one episode", 1}, {"local training", 30}}
}

func strict() []float64 { return []float64{.5, 1, 2, 5, 10} }

// length is the number of submissions of a trial; one without a success by then goes on, up
// to 90000 submissions.
func (l schedule) length(epsilon float64) uint64 {
	switch {
	case l.steps == 1:
		return 20_000
	case epsilon < 1:
		return 800
	case epsilon < 2:
		return 400
	}
	return 300
}

// target is the median first success that is aimed at.
func (l schedule) target(epsilon float64) float64 {
	if l.steps == 1 {
		return map[float64]float64{.5: 12000, 1: 4000, 2: 2000, 5: 400, 10: 300}[epsilon]
	}
	return map[float64]float64{.5: 600, 1: 350, 2: 250, 5: 120, 10: 100}[epsilon]
}

// randomizers are those compared; the third is a control.
func randomizers() []mechanism { return []mechanism{train.PrivUnit, train.SignPRS} }

func oursSeries(m mechanism, l schedule, epsilon float64, control bool) string {
	name := string(m)
	if control {
		name = "zero gradients"
	}
	return fmt.Sprintf("%s, %s, epsilon %g", l.name, name, epsilon)
}

func recipe() figure.Item {
	item := figure.Item{
		Name: "recipe", Title: "Not in the paper: training that works at the same epsilon",
		Caption: "Success ratio by the number of submissions: PrivUnitG and sign-PRS with one episode a submission, or thirty local steps of two episodes. The policy is linear (8 weights); actions are drawn from it. First success, retention and the control of zero gradients (reported through sign-PRS) are among the claims, all trials in the CSV. 20 trials (quick: 3), of which those without a success go on, up to 90,000 submissions; curves end at the least length of a trial. Bands: standard error of the mean over trials.",
		Columns: 2, SameY: true,
		Probe: probe(recipeConfigs), Jobs: recipeJobs, Claims: claimRecipe,
	}
	for _, l := range schedules() {
		for _, m := range randomizers() {
			p := figure.Panel{Name: fmt.Sprintf("%s, %s", l.name, m), Title: fmt.Sprintf("%s, %s", title(m), l.name), X: "submissions", Y: "success ratio", LogX: true, Bars: figure.StandardError, Bands: true}
			for i, e := range strict() {
				p.Curves = append(p.Curves, figure.Curve{Series: fmt.Sprintf("epsilon %g", e), Colour: i + 1, Plain: true})
			}
			item.Panels = append(item.Panels, p)
		}
	}
	return item
}

func recipeJobs(quick bool) []figure.Job {
	var jobs []figure.Job
	for k := range count(quick) {
		trial := k + 1
		for _, l := range schedules() {
			for _, e := range strict() {
				for _, m := range randomizers() {
					jobs = append(jobs, recipeJob(m, l, e, trial, false))
				}
				jobs = append(jobs, recipeJob(train.SignPRS, l, e, trial, true))
			}
		}
	}
	return jobs
}

func recipeJob(m mechanism, l schedule, epsilon float64, trial int, control bool) figure.Job {
	series := oursSeries(m, l, epsilon, control)
	return figure.Job{Key: fmt.Sprintf("%s, trial %d", series, trial), Cost: 1, Trial: trial, Run: func(ctx context.Context) ([]figure.Sample, error) {
		c := ours(m, epsilon, l.steps, submissions)
		if control { // it need not go on: the median is what counts
			c.Local.ZeroGradient = true
			c.Terms.Submissions = l.length(epsilon)
		}
		o, err := playOn(ctx, c, uint64(trial), l.length(epsilon))
		out := raw(series, trial, o)
		if control {
			return out, err
		}
		panel := fmt.Sprintf("%s, %s", l.name, m)
		for k := 10; ; k++ { // ten points a decade
			n := math.Round(math.Pow(10, float64(k)/10))
			if n > float64(l.length(epsilon)) {
				return out, err
			}
			out = append(out, figure.Sample{Panel: panel, Series: fmt.Sprintf("epsilon %g", epsilon), X: n, Y: o.by(n)})
		}
	}}
}

func claimRecipe(t *figure.Table) []figure.Claim {
	var claims []figure.Claim
	for _, l := range schedules() {
		for _, e := range strict() {
			for _, m := range append(randomizers(), "") {
				s := summary(t, oursSeries(m, l, e, m == ""))
				goal := l.target(e)
				id := fmt.Sprintf("recipe-%d-%s-%g", l.steps, m, e)
				claim := fmt.Sprintf("Not in the paper: %s, %s, epsilon %g: all trials succeed, and the median is at most %.0f.", l.name, m, e, goal)
				if m == "" {
					id = fmt.Sprintf("recipe-%d-control-%g", l.steps, e)
					claim = fmt.Sprintf("Not in the paper: %s, epsilon %g: a random walk of the weights (zero gradients) does as well.", l.name, e)
				}
				claims = append(claims, figure.Claim{
					ID: id, Paper: paper, Claim: claim, Holds: s.success == 1 && s.median <= goal, PaperValue: nil,
					Ours: finite(s.median),
					Note: fmt.Sprintf("median first success, 90001 for never, in trials of %d submissions or to the first success: %v", l.length(e), s),
				})
			}
		}
	}
	return claims
}
