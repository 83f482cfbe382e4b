package survival

import (
	"math"

	"github.com/discreet-rl/discreet/evaluate/internal/band"
)

// Form says what is known of those who are censored.
type Form int

// The forms.
const (
	// Curves rest on censoring that is independent of the time to the event, and on weights that
	// are 1 on average.
	Curves Form = iota
	// Lived are limits: who was censored lived until then, and afterwards nothing is known.
	Lived
	// Followed are limits that do not count who was censored, whose leaving may have depended
	// on the decision that was to come.
	Followed
)

// functional is the mean over persons of a number in [0, 1] of each, as far as weights vouch for
// it: the share of the arm's cell k counts times coefficient[k].
type functional struct {
	mean, noise float64 // the noisy mean, and the variance of its noise
	persons, sd float64
}

// limit is a lower limit of the mean z standard deviations away: a number in [0, 1] with mean m
// has variance m (1 - m) at most.
func (f functional) limit(z float64) float64 {
	lower, _ := limits(f.mean, f.persons, f.noise, max(1-f.sd, 0)/(2*f.persons), z)
	return min(max(lower, 0), 1)
}

// limitedArm is an arm, or a policy, of which limits alone are asked.
type limitedArm struct {
	q      Question
	cells  []float64
	weight float64
}

// of is the functional of coefficients by bin and cause, with cause 0 for censoring, and bin
// q.Bins for those who were followed to the end.
func (a limitedArm) of(coefficient func(bin, cause int) float64) functional {
	f := functional{persons: a.q.Persons, sd: a.q.SD}
	all := make([]float64, 0, len(a.cells))
	for k, v := range a.cells {
		k %= a.q.perStratum()
		g := coefficient(k/(a.q.Causes+1), k%(a.q.Causes+1))
		f.mean += g * v / f.persons
		all = append(all, g)
	}
	for _, g := range a.q.spreading()(all) {
		f.noise += g * g * a.q.SD * a.q.SD / (f.persons * f.persons)
	}
	return f
}

func indicator(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// seen tells whether a censored person of the cell counts as alive until then.
func (a limitedArm) seen(bin, cause int) bool {
	return cause > 0 || bin == a.q.Bins || a.q.Form == Lived
}

// beyond tells whether whoever left in a bin is known to live beyond the end of another. At a visit
// events come before censoring.
func (a limitedArm) beyond(bin, cause, end int) bool {
	later := bin > end || bin == end && cause == 0 && !a.q.Grouped
	return later && a.seen(bin, cause)
}

// alive are those who are known to live beyond the end of a bin, and gone those who had an event by then,
// of one cause or, at 0, of any.
func (a limitedArm) alive(end int) functional {
	return a.of(func(bin, cause int) float64 { return indicator(a.beyond(bin, cause, end)) })
}

func (a limitedArm) gone(end, of int) functional {
	return a.of(func(bin, cause int) float64 {
		return indicator(bin <= end && cause > 0 && (of == 0 || cause == of))
	})
}

// elsewhere are those who cannot have an event of a cause by the end of a bin: they live beyond it, or had
// another event before.
func (a limitedArm) elsewhere(end, of int) functional {
	return a.of(func(bin, cause int) float64 {
		return indicator(a.beyond(bin, cause, end) || bin <= end && cause > 0 && cause != of)
	})
}

// ends are limits of a probability: at least what weights vouch for, and at most 1 less what they
// vouch for of the contrary.
func (a limitedArm) ends(yes, no functional, z float64) (lower, upper float64) {
	lower, upper = min(a.weight*yes.limit(z), 1), max(1-a.weight*no.limit(z), 0)
	return min(lower, upper), max(lower, upper)
}

// time is how long who leaves in a bin is known to have lived, of the time that is restricted.
func (q Question) time(bin, cause int) float64 {
	if cause == 0 && !q.Grouped {
		bin++
	}
	switch {
	case bin >= q.Until:
		return q.Ends[q.Until-1]
	case q.Grouped:
		return q.Ends[bin] - q.width(bin)/2
	}
	return q.Ends[bin]
}

// mean is the restricted mean; its value is the middle of what limits would be without error.
func (a limitedArm) mean(z float64) Mean {
	total := a.q.Ends[a.q.Until-1]
	lived := a.of(func(bin, cause int) float64 { return indicator(a.seen(bin, cause)) * a.q.time(bin, cause) / total })
	lost := a.of(func(bin, cause int) float64 { return indicator(cause > 0) * (1 - a.q.time(bin, cause)/total) })
	scale := a.weight * total
	sampling := func(f functional) float64 { return math.Sqrt(max(f.mean*(1-f.mean), 0) / f.persons) }
	m := Mean{
		Z:          z,
		StdPrivacy: scale * math.Sqrt(max(lived.noise, lost.noise)), StdSampling: scale * max(sampling(lived), sampling(lost)),
		Lower: min(scale*lived.limit(z), total), Upper: max(total-scale*lost.limit(z), 0),
	}
	m.Lower, m.Upper = min(m.Lower, m.Upper), max(m.Lower, m.Upper)
	m.Value = min(max((scale*lived.mean+total-scale*lost.mean)/2, m.Lower), m.Upper)
	return m
}

// band is a band of limits, without values.
func (a limitedArm) band(z float64, ends func(end int) (yes, no functional)) Band {
	b := newBand(0, a.q.Bins)
	for j := range a.q.Bins {
		yes, no := ends(j)
		b.Lower[j], b.Upper[j] = a.ends(yes, no, z)
	}
	return b
}

func (a limitedArm) survival(z float64) Band {
	b := a.band(z, func(end int) (yes, no functional) { return a.alive(end), a.gone(end, 0) })
	b.Fall()
	return b
}

// arm is what limits say of the arm.
func (a limitedArm) arm(missing float64) Arm {
	q := a.q
	z := band.Bonferroni(q.Bins, miss)
	out := Arm{Curve: a.survival(z), Mean: a.mean(quantile(1)), JointMean: a.mean(quantile(q.jointMeans())), MissingShare: missing}
	for j := range q.Bins {
		out.AtRisk = append(out.AtRisk, a.weight*q.Persons*a.of(func(bin, _ int) float64 { return indicator(bin >= j) }).mean)
	}
	for c := 1; c <= q.Causes && q.Causes > 1; c++ {
		b := a.band(z, func(end int) (yes, no functional) { return a.gone(end, c), a.elsewhere(end, c) })
		b.Rise()
		out.Incidence = append(out.Incidence, b)
	}
	return out
}

// limited is everything that follows from the cells where weights are cut or say nothing of what
// the policy does, or censoring is not independent: whatever became of those of whom nothing is known.
func (q Question) limited(cells []float64) (r Result) {
	var arms []limitedArm
	for i := range q.Arms {
		from := q.Exit(i, 0, 0, 0)
		a := limitedArm{q, cells[from : from+max(q.Strata, 1)*q.perStratum()], q.weight(i)}
		missing := 0.0
		if q.Missing {
			known := 0.0
			for _, v := range a.cells {
				known += v
			}
			lost := cells[q.Unusable(i)] + cells[q.Unknown()]
			missing = lost / (max(known, 1) + max(lost, 0))
		}
		arms, r.Arms = append(arms, a), append(r.Arms, a.arm(missing))
	}
	total := q.Ends[q.Until-1]
	for _, p := range q.pairs() {
		x, y := arms[p[0]], arms[p[1]]
		// Each end is one limit of x and one of y, each missed with half of the probability.
		z := band.Bonferroni(2*q.Bins, miss)
		d := Difference{Arm: p[0], Control: p[1], Curve: newBand(0, q.Bins)}
		mine, theirs := x.survival(z), y.survival(z)
		for j := range q.Bins {
			d.Curve.Lower[j], d.Curve.Upper[j] = mine.Lower[j]-theirs.Upper[j], mine.Upper[j]-theirs.Lower[j]
		}
		a, b := x.mean(quantile(2*q.together())), y.mean(quantile(2*q.together()))
		d.Mean = Mean{Z: a.Z, StdSampling: a.StdSampling + b.StdSampling, StdPrivacy: math.Hypot(a.StdPrivacy, b.StdPrivacy),
			Lower: max(a.Lower-b.Upper, -total), Upper: min(a.Upper-b.Lower, total)}
		d.Mean.Value = min(max(a.Value-b.Value, d.Mean.Lower), d.Mean.Upper)
		r.Differences = append(r.Differences, d)
	}
	return r
}
