package overview

import (
	"fmt"
	"strings"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// fewExpected and fewSeen say when too few actions change within episodes: where at
// least so many changes are to be expected, and at most this share of them is seen.
// By chance that is rare: at its worst, 0 changes where 2 are to be expected, it is
// one data set in 7, and where 20 are to be expected fewer than one in 10,000.
const (
	fewExpected = 2
	fewSeen     = .25
)

// warnOnce recognises a trial that drew an arm once for each episode and is told as
// if every decision had been drawn: episodes keep their action although the behaviour
// probabilities of the later decisions are not 1. The expected number of changes is
// at least the sum of 1-p over the decisions that keep the action before them. The
// remedy is that of probabilities that are known where none is given.
func (r *Report) warnOnce(d *trajectory.Dataset, prob []float64, remedy string) {
	if d.Action == nil || prob == nil {
		return
	}
	changes, expected := 0, 0.0
	for e := range d.Episodes() {
		for row := d.EpisodeStart[e] + 1; row < d.EpisodeStart[e+1]; row++ {
			if d.Action[row] == d.Action[row-1] {
				expected += 1 - prob[row]
			} else {
				changes++
			}
		}
	}
	if expected < fewExpected || float64(changes) > fewSeen*expected {
		return
	}
	seen := "never changes"
	if changes > 0 {
		seen = fmt.Sprintf("seldom changes (%d in all)", changes)
	}
	if remedy == "" {
		remedy = fmt.Sprintf("data.behavior: {kind: constant_by_step, probs: %s}, or by once: true beside the name of the column", firstProbs(d))
	}
	r.Warnings = append(r.Warnings, fmt.Sprintf("the action of an episode %s, and by the behaviour probabilities at least %.3g changes were to be expected: a trial that drew an arm once for each episode has probability 1 from the second decision on; say so by %s",
		seen, expected, remedy))
}

// warnLeft tells how many episodes leave the action that was drawn once for them.
func (r *Report) warnLeft(d *trajectory.Dataset, once bool) {
	left := 0
	for e := range d.Episodes() {
		for row := d.EpisodeStart[e] + 1; row < d.EpisodeStart[e+1]; row++ {
			if d.Action[row] != d.Action[row-1] {
				left++
				break
			}
		}
	}
	if once && left > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("data.behavior says once: true, and the action changes within %d of %d episodes: later decisions count as sure, so that the interval holds, but what they would add to weights is missing mass; where each decision was drawn anew, say once: false", left, d.Episodes()))
	}
}

// firstProbs writes the probabilities of the first decisions as constant_by_step
// wants them: one number, or one for each action where they differ.
func firstProbs(d *trajectory.Dataset) string {
	byAction := map[int32]float64{}
	equal, constant, k := true, true, int32(0)
	for e := range d.Episodes() {
		row := d.EpisodeStart[e]
		a, p := d.Action[row], d.BehaviorProb[row]
		before, seen := byAction[a]
		constant = constant && (!seen || before == p)
		equal = equal && p == d.BehaviorProb[0]
		byAction[a], k = p, max(k, a+1)
	}
	switch {
	case equal:
		return fmt.Sprintf("[%.4g, 1]", d.BehaviorProb[0])
	case !constant || len(byAction) != int(k) || k > mostActions:
		return "[[the probability of each action], 1]"
	}
	words := make([]string, k)
	for a := range words {
		words[a] = fmt.Sprintf("%.4g", byAction[int32(a)])
	}
	return "[[" + strings.Join(words, ", ") + "], 1]"
}
