package evaluate

import (
	"math"
	"slices"

	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// trends say for each covariate that was read, at the first decision, whether persons of an arm with larger values
// of it left more often than others among those still followed: the log-rank test for a trend in ranks,
// within strata, with censoring for the event. By name it has the sum and its variance. Actions are one of them if asked.
func (q survivalQuestion) trends(d *trajectory.Dataset, at []int, arm int, actions bool) map[string][2]float64 {
	out := map[string][2]float64{}
	try := func(name string, of func(row int) float64) {
		if apart, variance := q.trend(d, at, arm, of); variance > 0 {
			out[name] = [2]float64{apart, variance}
		}
	}
	o := q.public.Outcome
	for i, name := range d.Columns {
		if name == o.Event || name == q.public.groups().Column || name == o.Strata.groups().Column {
			continue
		}
		try(name, func(row int) float64 { return d.Observation(row)[i] })
	}
	if d.Action != nil && actions {
		try("action", func(row int) float64 { return float64(d.Action[row]) })
	}
	return out
}

// unlike tells whether a policy that is asked about may treat two persons unlike each other, so that it matters
// whether leaving depends on the action.
func (p Public) unlike() bool {
	return slices.ContainsFunc(p.targets().Policies, func(a NamedPolicy) bool { _, constant := a.Policy.(policy.Constant); return !constant })
}

// trend is the score of one covariate. A person without a number in it is left out.
func (q survivalQuestion) trend(d *trajectory.Dataset, at []int, arm int, of func(row int) float64) (apart, variance float64) {
	type one struct {
		value  float64
		within int // cell of the arm
	}
	var all []one
	first, last := q.Exit(arm, 0, 0, 0), q.End(arm, max(q.Strata, 1)-1)
	for person, cell := range at {
		if cell < first || cell > last {
			continue
		}
		if v := of(d.EpisodeStart[d.PersonStart[person]]); !math.IsNaN(v) {
			all = append(all, one{v, cell - first})
		}
	}
	slices.SortFunc(all, func(a, b one) int {
		if a.value < b.value {
			return -1
		} else if a.value > b.value {
			return 1
		}
		return 0
	})
	// By cell the number of persons, and the sums of their ranks, as shares of the largest, and of the squares.
	sums := make([][3]float64, last-first+1)
	for from := 0; from < len(all); {
		to := from
		for to < len(all) && all[to].value == all[from].value {
			to++
		}
		rank := float64(from+to) / 2 / float64(len(all)) // that of those alike is the mean of theirs
		for _, x := range all[from:to] {
			s := &sums[x.within]
			s[0], s[1], s[2] = s[0]+1, s[1]+rank, s[2]+rank*rank
		}
		from = to
	}
	for stratum := range max(q.Strata, 1) {
		start := q.Exit(arm, stratum, 0, 0) - first
		after := sums[q.End(arm, stratum)-first]
		for j := q.Bins - 1; j >= 0; j-- {
			left := sums[start+j*(q.Causes+1)]
			for i := range after {
				after[i] += left[i]
			}
			if n := after[0]; n >= 2 {
				mean := after[1] / n
				apart += left[1] - left[0]*mean
				variance += left[0] * (n - left[0]) / (n - 1) * max(after[2]/n-mean*mean, 0)
			}
			for c := range q.Causes {
				for i, v := range sums[start+j*(q.Causes+1)+c+1] {
					after[i] += v
				}
			}
		}
	}
	return apart, variance
}
