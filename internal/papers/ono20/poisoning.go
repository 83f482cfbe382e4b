package ono20

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/internal/papers/figure"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/simulate"
)

// Settings of the poisoned runs: the recipe with one episode a submission.
const (
	poisonSubmissions = 3000
)

// percents are the numbers of dishonest agents among each hundred.
func percents() []uint64 { return []uint64{0, 2, 5, 10, 20} }

// victim is a randomiser at an epsilon at which training works in so many submissions.
type victim struct {
	m       mechanism
	epsilon float64
}

func victims() []victim {
	return []victim{{train.SignPRS, 1}, {train.PrivUnit, 1}, {train.Laplace, 10}}
}

// config is the recipe, with the influence of reports bounded or not.
func (v victim) config(bounded bool) (simulate.Config, error) {
	c := ours(v.m, v.epsilon, 1, poisonSubmissions)
	if v.m == train.Laplace {
		c.Terms.Randomizer.Clip = clip(v.m)
	}
	if !bounded {
		return c, nil
	}
	codec, err := train.NewCodec(c.Terms.Randomizer, 8)
	if err != nil {
		return c, err
	}
	c.Terms.Influence = train.Influence{Norm: 1.25 * codec.HonestNorm(), Along: 1} // 0 is no bound: sign-PRS has one size
	return c, nil
}

func (v victim) panel() string { return fmt.Sprintf("%s, epsilon %g", v.m, v.epsilon) }

func attackSeries(a attack, bounded bool) string {
	if bounded {
		return string(a) + ", influence bounded"
	}
	return string(a)
}

func poisoning() figure.Item {
	item := figure.Item{
		Name: "poisoning", Title: "Not in the paper: dishonest agents",
		Caption: "Success ratio within 3000 submissions when some of each hundred agents send the opposite of what they learned, without noise: at the length of an honest report (inverted) or with every number at the end of its range (loudest). Each also with the influence of a report bounded: in norm, at 1.25 times the usual norm of an honest estimate, and along the running mean of estimates. The recipe with one episode a submission; 20 trials (quick: 3). Bars: standard error.",
		Columns: 2, SameY: true,
		Probe: probe(poisonConfigs), Jobs: poisonJobs, Claims: claimPoisoning,
	}
	for _, v := range victims() {
		p := figure.Panel{Name: v.panel(), Title: fmt.Sprintf("%s, epsilon %g", title(v.m), v.epsilon), X: "dishonest agents (%)", Y: "success ratio", Bars: figure.StandardError}
		for i, a := range []attack{inverted, loudest} {
			for j, bounded := range []bool{false, true} {
				p.Curves = append(p.Curves, figure.Curve{Series: attackSeries(a, bounded), Colour: 2*i + j + 1, Dashed: !bounded})
			}
		}
		item.Panels = append(item.Panels, p)
	}
	return item
}

func poisonJobs(quick bool) []figure.Job {
	var jobs []figure.Job
	for k := range count(quick) {
		for _, v := range victims() {
			for _, a := range []attack{inverted, loudest} {
				for _, bounded := range []bool{false, true} {
					for _, percent := range percents() {
						jobs = append(jobs, poisonJob(v, a, bounded, percent, k+1))
					}
				}
			}
		}
	}
	return jobs
}

func poisonJob(v victim, a attack, bounded bool, percent uint64, trial int) figure.Job {
	series := poisonSeries(v, a, bounded, percent)
	return figure.Job{Key: fmt.Sprintf("%s, trial %d", series, trial), Cost: .2, Trial: trial, Run: func(ctx context.Context) ([]figure.Sample, error) {
		c, err := v.config(bounded)
		if err != nil {
			return nil, err
		}
		o, err := play(ctx, poisoned(c, percent, a), uint64(trial))
		return append(raw(series, trial, o), figure.Sample{Panel: v.panel(), Series: attackSeries(a, bounded), X: float64(percent), Y: o.by(poisonSubmissions)}), err
	}}
}

func poisonSeries(v victim, a attack, bounded bool, percent uint64) string {
	return fmt.Sprintf("%s, %s, %d%%", v.panel(), attackSeries(a, bounded), percent)
}

// claimPoisoning holds that the bound is of use wherever an attack is.
func claimPoisoning(t *figure.Table) []figure.Claim {
	var claims []figure.Claim
	for _, v := range victims() {
		for _, a := range []attack{inverted, loudest} {
			for _, percent := range percents()[1:] {
				off, on := summary(t, poisonSeries(v, a, false, percent)), summary(t, poisonSeries(v, a, true, percent))
				claims = append(claims, figure.Claim{
					ID: fmt.Sprintf("poisoning-%s-%s-%d", v.m, a, percent), Paper: paper,
					Claim: fmt.Sprintf("Not in the paper: %s, %d%% of agents %s: the bound on influence keeps nine trials of ten.", v.panel(), percent, a),
					Holds: on.success >= .9, Ours: on.success, StdErr: on.successError(),
					Note: fmt.Sprintf("success ratio; bounded: %v; unbounded: %v", on, off),
				})
			}
		}
	}
	return claims
}
