package ono20

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/internal/papers/figure"
	"github.com/discreet-rl/discreet/train"
)

func behaviourPanel(m mechanism, buffer int) string {
	return fmt.Sprintf("%s, epsilon 1, |B| = %d", title(m), buffer)
}

func behaviourSeries(m mechanism, buffer int, r reading) string {
	return fmt.Sprintf("%s, %s", behaviourPanel(m, buffer), r)
}

func behaviour() figure.Item {
	item := figure.Item{
		Name: "behaviour", Title: "Figure 2: average scores during training",
		Caption: "Mean score of ten submissions in a row, at every 1500th, at epsilon 1, without a buffer and with one of 100; mean of 20 trials (quick: 3); bands: standard error of that mean. 200 is the best score, 195 a success.",
		Columns: 2, SameY: true,
		Probe: probe(behaviourConfigs), Jobs: behaviourJobs, Claims: claimBehaviour,
	}
	for _, m := range []mechanism{train.Laplace, train.PRS} {
		for _, b := range []int{1, 100} {
			p := figure.Panel{Name: behaviourPanel(m, b), Title: behaviourPanel(m, b), X: "submissions", Y: "mean score of ten submissions (steps)", Bars: figure.StandardError, Bands: true}
			for i, r := range readings() {
				p.Curves = append(p.Curves, figure.Curve{Series: string(r), Colour: []int{4, 1, 7}[i], Dashed: r == control, Plain: true})
			}
			item.Panels = append(item.Panels, p)
		}
	}
	return item
}

func behaviourJobs(quick bool) []figure.Job {
	var jobs []figure.Job
	for k := range count(quick) {
		trial := k + 1
		for _, m := range []mechanism{train.Laplace, train.PRS} {
			for _, b := range []int{1, 100} {
				for _, r := range readings() {
					jobs = append(jobs, figure.Job{Key: fmt.Sprintf("%s, trial %d", behaviourSeries(m, b, r), trial), Cost: 1, Trial: trial, Run: func(ctx context.Context) ([]figure.Sample, error) {
						return behaviourTrial(ctx, m, b, r, trial)
					}})
				}
			}
		}
	}
	return jobs
}

func behaviourTrial(ctx context.Context, m mechanism, buffer int, r reading, trial int) ([]figure.Sample, error) {
	o, err := play(ctx, pgc(m, 1, buffer, r), uint64(trial))
	out := raw(behaviourSeries(m, buffer, r), trial, o)
	for n := 0; n+window <= len(o.scores); n += 1500 {
		mean := 0.0
		for _, s := range o.scores[n : n+window] {
			mean += s / window
		}
		out = append(out, figure.Sample{Panel: behaviourPanel(m, buffer), Series: string(r), X: float64(n), Y: mean})
	}
	return out, err
}

func claimBehaviour(t *figure.Table) []figure.Claim {
	var claims []figure.Claim
	for _, r := range []reading{nearest, literal} {
		for _, c := range []struct {
			id, claim      string
			m              mechanism
			better, worser int
		}{
			{"laplace", "Buffering limits the learning of the Laplace mechanism.", train.Laplace, 1, 100},
			{"prs", "Buffering helps PRS to train the policy well.", train.PRS, 100, 1},
		} {
			good, bad := summary(t, behaviourSeries(c.m, c.better, r)), summary(t, behaviourSeries(c.m, c.worser, r))
			claims = append(claims, figure.Claim{
				ID: fmt.Sprintf("behaviour-%s-%s", c.id, shortName(r)), Paper: paper, Claim: c.claim + " (" + string(r) + ")",
				Holds: good.success > bad.success || good.success == bad.success && good.retention > bad.retention,
				Ours:  good.retention - bad.retention,
				Note: fmt.Sprintf("difference of median retention, |B| = %d less |B| = %d; the first: %v; the second: %v; judged: a higher success ratio, or an equal one and more retained; without a standard error",
					c.better, c.worser, good, bad),
			})
		}
	}
	return claims
}
