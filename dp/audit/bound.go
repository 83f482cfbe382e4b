package audit

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/discreet-rl/discreet/internal/xmath"
)

// DefaultFalseAlarm is the probability that a bound is wrong, where none is asked for.
const DefaultFalseAlarm = 1e-6

// Options of an audit.
type Options struct {
	// Delta is that of the epsilon that is bounded, in [0, 1).
	Delta float64
	// FalseAlarm bounds the probability that anything of what is found is wrong, in
	// (0, 1/2); 0 means [DefaultFalseAlarm].
	FalseAlarm float64
}

func (o Options) complete() (Options, error) {
	if o.FalseAlarm == 0 {
		o.FalseAlarm = DefaultFalseAlarm
	}
	if !(o.FalseAlarm > 0 && o.FalseAlarm < 0.5) {
		return o, fmt.Errorf("%w: a false-alarm rate of %v; want 0 < rate < 1/2", ErrOptions, o.FalseAlarm)
	}
	if !(o.Delta >= 0 && o.Delta < 1) {
		return o, fmt.Errorf("%w: delta is %v; want 0 <= delta < 1", ErrOptions, o.Delta)
	}
	return o, nil
}

// Found is what samples show: with probability 1 - FalseAlarm at least, every word
// of it holds.
type Found struct {
	// Mu is a lower bound of the mu of Gaussian differential privacy.
	Mu float64 `json:"mu"`
	// Epsilon is a lower bound of the epsilon at Delta.
	Epsilon    float64 `json:"epsilon"`
	Delta      float64 `json:"delta"`
	FalseAlarm float64 `json:"false_alarm"`
	// Regions are the tests that showed it.
	Regions []Region `json:"regions"`
}

// Bound finds what the samples show.
func (s Samples) Bound(o Options) (Found, error) {
	o, err := o.complete()
	if err != nil {
		return Found{}, err
	}
	if err := s.validate(); err != nil {
		return Found{}, err
	}
	choose, count := s.split()
	runs := [2]int{len(count.Worlds[0]), len(count.Worlds[1])}
	goals := []func(Region) float64{Region.Mu, func(r Region) float64 { return r.Epsilon(o.Delta) }}
	best := make([]candidate, len(goals))
	fit, compare := choose.halves()
	for _, n := range fit.numbers() {
		compare.consider(n, runs, o.FalseAlarm/float64(len(goals)), goals, best)
	}
	f := Found{Delta: o.Delta, FalseAlarm: o.FalseAlarm}
	for _, b := range best {
		r := count.hits(b).limited(o.FalseAlarm / float64(len(goals)))
		f.Mu, f.Epsilon = max(f.Mu, r.Mu()), max(f.Epsilon, r.Epsilon(o.Delta))
		f.Regions = append(f.Regions, r)
	}
	return f, nil
}

// candidate is a test and how good it looked.
type candidate struct {
	number    number
	threshold float64
	answering int
	worth     float64
}

// better is by what factor a test has to look better than one that was tried before:
// among many that are nearly alike the one that looks best is the luckiest.
const better = 1.05

// consider tries thresholds of a number, and keeps for each goal the best test so far.
func (s Samples) consider(n number, runs [2]int, alpha float64, goals []func(Region) float64, best []candidate) {
	var values [2][]float64
	for world, outcomes := range s.Worlds {
		for _, x := range outcomes {
			values[world] = append(values[world], n.of(x))
		}
		slices.Sort(values[world])
	}
	z := xmath.NormISF(alpha / 2)
	for _, t := range thresholds(values) {
		for answering := range 2 {
			r := guess(values, t, answering, runs, z)
			for g, goal := range goals {
				if worth := goal(r); best[g].number.of == nil || worth > better*best[g].worth {
					best[g] = candidate{n, t, answering, worth}
				}
			}
		}
	}
}

// thresholds are half way between the means of both worlds, first, and quantiles of
// either, denser towards the ends.
func thresholds(values [2][]float64) []float64 {
	mean := func(world int) float64 { return floats.Sum(values[world]) / float64(len(values[world])) }
	var all []float64
	for _, v := range values {
		for i := range 129 {
			// Sines make steps that shrink towards either end.
			at := (1 - math.Cos(math.Pi*float64(i)/128)) / 2
			all = append(all, v[min(len(v)-1, int(at*float64(len(v))))])
		}
	}
	slices.Sort(all)
	return append([]float64{mean(0)/2 + mean(1)/2}, slices.Compact(all)...)
}

// guess is what a test would show in so many runs if it answered as often as it does
// in the samples that choose: the limits are Wilson's (1927), which are quick, z
// standard errors away. The shares are taken two of their own standard errors worse,
// so that a test in a tail is not chosen by luck.
func guess(values [2][]float64, threshold float64, answering int, runs [2]int, z float64) Region {
	limit := func(world int, side float64) float64 {
		v := values[world]
		beyond := len(v) - below(v, threshold)
		if answering == 0 {
			beyond = len(v) - beyond
		}
		m := float64(len(v))
		away := z/math.Sqrt(float64(runs[world])) + 2/math.Sqrt(m)
		p, w := (float64(beyond)+0.5)/(m+1), away*away
		return (p + w/2 + side*away*math.Sqrt(p*(1-p)+w/4)) / (1 + w)
	}
	return Region{Power: limit(answering, -1), Level: limit(1-answering, 1)}
}

// below is the number of sorted values under a threshold.
func below(sorted []float64, threshold float64) int {
	at, _ := slices.BinarySearch(sorted, threshold)
	return at
}

// hits counts the answers of a test. In world 1 it answers at and beyond its
// threshold, and one for world 0 under it.
func (s Samples) hits(c candidate) Region {
	r := Region{Number: c.number.name, Threshold: c.threshold, Answering: c.answering}
	for world, outcomes := range s.Worlds {
		r.Runs[world] = len(outcomes)
		for _, x := range outcomes {
			if (c.number.of(x) >= c.threshold) == (c.answering == 1) {
				r.Hits[world]++
			}
		}
	}
	return r
}
