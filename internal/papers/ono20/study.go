package ono20

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/internal/papers/figure"
	"github.com/discreet-rl/discreet/train"
)

// Study returns the reproduction.
func Study() figure.Study {
	return figure.Study{
		Paper: paper, Version: 1,
		Title:    "Locally Private Distributed Reinforcement Learning (Ono, Takahashi 2020), reproduced",
		Abstract: abstract(),
		Items:    []figure.Item{behaviour(), efficiency(), recipe(), poisoning()},
	}
}

func abstract() []string {
	return []string{
		"Agents with a cart-pole of gravity 9.7, 9.8 or 9.9 submit one noisy gradient of an actor-critic loss each; an aggregator steps along the mean of |B| of them (PGC-A3C). Two randomisers are compared: Laplace noise (l1 clip C = 0.01, |B| = 1) and projected random signs (PRS, C = 1, |B| = 100). A trial succeeds at the first of ten submissions in a row with a mean score of 195 of 200 or more, within 90,000.",
		"The paper does not say what a terminal state pays, how weights begin, whether gradients flow through the advantage, or what one of its nine threads sees of the others. The literal reading is what is printed: 1 a step, Glorot's initial weights, everything differentiated, nine workers of which the fastest reports next. The nearest reading, one worker and a reward of -1 for failure and +1 for 200 steps, is what came closest to the tables when they were in sight: for Laplace normal initial weights of standard deviation 0.02 and a detached advantage, for PRS Glorot's and nothing detached.",
		"First success is a lenient measure: it asks for ten good episodes in a row, once. So each table has beside it the same algorithm with zero gradients, a random walk of the weights, and retention, the mean score of the last tenth of the submissions.",
		"An epsilon bounds the privacy loss of the report. The paper sends the score in the clear, which is not protected by it; here scores are what the simulation knows.",
	}
}

// count is the number of trials.
func count(quick bool) int {
	if quick {
		return 3
	}
	return trials
}

func epsilons() []float64 { return []float64{1, 2, 5, 10} }

// title names a mechanism.
func title(m mechanism) string {
	switch m {
	case train.Laplace:
		return "Laplace"
	case train.PRS:
		return "PRS"
	case train.SignPRS:
		return "sign-PRS"
	case train.PrivUnit:
		return "PrivUnitG"
	case train.NotPrivate:
		return "not private"
	}
	return string(m)
}

// Panels that hold one number for each trial, x its number. They are in the CSV
// alone, and claims are made of them.
const (
	rawFirst     = "first success (0: never), by trial"
	rawRetention = "mean score of the last tenth, by trial"
)

// raw are the samples of one trial.
func raw(series string, trial int, o outcome) []figure.Sample {
	x := float64(trial)
	return []figure.Sample{
		{Panel: rawFirst, Series: series, X: x, Y: float64(o.fst)},
		{Panel: rawRetention, Series: series, X: x, Y: o.retention},
	}
}

// spread is what the trials of a series come to.
type spread struct {
	lower, median, upper float64 // quartiles; infinite where trials do not succeed
	success              float64 // share of trials that succeed
	retention            float64 // median
	trials               int
}

// summary reads the trials of a series.
func summary(t *figure.Table, series string) spread {
	var first, last []float64
	var s spread
	for _, x := range t.Xs(rawFirst, series) {
		f := t.At(rawFirst, series, x).Mean
		if f == 0 {
			f = math.Inf(1)
		} else {
			s.success++
		}
		first, last = append(first, f), append(last, t.At(rawRetention, series, x).Mean)
	}
	s.trials = len(first)
	s.success /= float64(max(1, s.trials))
	s.lower, s.median, s.upper = quantile(first, .25), quantile(first, .5), quantile(first, .75)
	s.retention = quantile(last, .5)
	return s
}

// quantile interpolates between order statistics, NaN without numbers.
func quantile(xs []float64, p float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	xs = slices.SortedFunc(slices.Values(xs), cmp.Compare[float64])
	at := p * float64(len(xs)-1)
	i := int(at)
	if i+1 == len(xs) || at == float64(i) || math.IsInf(xs[i], 1) {
		return xs[i]
	}
	return xs[i] + (at-float64(i))*(xs[i+1]-xs[i])
}

// successError is the standard error of the success ratio, by Laplace's rule of succession so
// that it is above 0 where all trials agree.
func (s spread) successError() float64 {
	n := float64(s.trials)
	p := (s.success*n + 1) / (n + 2)
	return math.Sqrt(p * (1 - p) / (n + 2))
}

// finite is a median as a claim can hold it: never is N + 1.
func finite(median float64) float64 { return min(median, submissions+1) }

// number writes a first success.
func number(x float64) string {
	if math.IsInf(x, 1) {
		return "never"
	}
	return fmt.Sprintf("%.0f", x)
}

// String writes quartiles, success and retention.
func (s spread) String() string {
	return fmt.Sprintf("quartiles %s, %s, %s; success %.2f; retention %.0f; %d trials",
		number(s.lower), number(s.median), number(s.upper), s.success, s.retention, s.trials)
}
