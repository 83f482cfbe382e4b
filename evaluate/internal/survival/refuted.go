package survival

import "math"

// MeanWeight is the noisy mean, over all persons, of their weights in an arm, and its standard
// errors of sampling and of noise, where the number of persons is known. With right probabilities of actions it is 1 at
// most, whatever is cut or missing.
func (q Question) MeanWeight(cells []float64, arm int) (mean, sampling, noise float64) {
	from := q.Exit(arm, 0, 0, 0)
	a := limitedArm{q, cells[from : from+max(q.Strata, 1)*q.perStratum()], q.weight(arm)}
	all := a.of(func(int, int) float64 { return 1 })
	return a.weight * all.mean, a.weight * math.Sqrt(max(all.mean*(1-all.mean), 0)/q.Persons), a.weight * math.Sqrt(all.noise)
}

// Refuted are the results with the limits that hold whatever is so, of the arms whose cells are
// shown to be made of no weights.
func (q Question) Refuted(r Result, arm func(i int) bool) Result {
	total := q.Ends[q.Until-1]
	whole := func(least, most float64) Band {
		b := newBand(0, q.Bins)
		for j := range q.Bins {
			b.Lower[j], b.Upper[j] = least, most
		}
		return b
	}
	var out Result
	for i, a := range r.Arms {
		if arm(i) {
			a.Curve, a.Incidence = whole(0, 1), append([]Band(nil), a.Incidence...)
			for c := range a.Incidence {
				a.Incidence[c] = whole(0, 1)
			}
			a.Mean.Lower, a.Mean.Upper, a.JointMean.Lower, a.JointMean.Upper = 0, total, 0, total
		}
		out.Arms = append(out.Arms, a)
	}
	for _, d := range r.Differences {
		if arm(d.Arm) || arm(d.Control) {
			d.Curve, d.Mean.Lower, d.Mean.Upper = whole(-1, 1), -total, total
		}
		out.Differences = append(out.Differences, d)
	}
	return out
}
