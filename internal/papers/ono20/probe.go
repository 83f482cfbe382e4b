package ono20

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/internal/papers/figure"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/simulate"
)

// probeSubmissions is the length of the trials that tell whether code that
// matters has changed.
const probeSubmissions = 40

// probe runs so short a trial of each configuration and returns the scores' sums.
func probe(configs func() ([]simulate.Config, error)) func(ctx context.Context) ([]figure.Sample, error) {
	return func(ctx context.Context) ([]figure.Sample, error) {
		all, err := configs()
		if err != nil {
			return nil, err
		}
		var out []figure.Sample
		for i, c := range all {
			c.Terms.Submissions = probeSubmissions
			o, err := play(ctx, c, 1)
			if err != nil {
				return nil, err
			}
			sum := 0.0
			for k, score := range o.scores {
				sum += float64(k+1) * score // an order of scores, too
			}
			out = append(out, figure.Sample{Panel: "probe", Series: fmt.Sprint(i), Y: sum})
		}
		return out, nil
	}
}

func behaviourConfigs() ([]simulate.Config, error) {
	var all []simulate.Config
	for _, m := range []mechanism{train.Laplace, train.PRS} {
		for _, b := range []int{1, 20} { // the second fills within a probe
			for _, r := range readings() {
				all = append(all, pgc(m, 1, b, r))
			}
		}
	}
	return all, nil
}

func efficiencyConfigs() ([]simulate.Config, error) {
	all := []simulate.Config{free()}
	for _, m := range []mechanism{train.Laplace, train.PRS} {
		for _, r := range readings() {
			for _, e := range epsilons() {
				all = append(all, pgc(m, e, min(usualBuffer(m), 20), r))
			}
		}
	}
	return all, nil
}

func recipeConfigs() ([]simulate.Config, error) {
	var all []simulate.Config
	for _, e := range strict() {
		for _, m := range randomizers() {
			for _, l := range schedules() {
				all = append(all, ours(m, e, min(l.steps, 2), submissions))
			}
		}
	}
	return all, nil
}

func poisonConfigs() ([]simulate.Config, error) {
	var all []simulate.Config
	for _, v := range victims() {
		for _, a := range []attack{inverted, loudest} {
			for _, bounded := range []bool{false, true} {
				c, err := v.config(bounded)
				if err != nil {
					return nil, err
				}
				all = append(all, poisoned(c, 20, a))
			}
		}
	}
	return all, nil
}
