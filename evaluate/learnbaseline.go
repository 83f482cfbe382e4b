package evaluate

import "math"

// mostStretches of decisions have baselines of their own.
const mostStretches = 16

// baseline is what returns are compared with: one number, or one for each stretch of an episode's
// decisions.
type baseline []float64

func (b baseline) of(stretch int) float64 { return b[min(stretch, len(b)-1)] }

// stretches is into how many an episode's decisions are cut.
func (q *learnQuestion) stretches() int { return int(min(q.public.decisions(), mostStretches)) }

// stretch is that of a decision, from 0.
func (q *learnQuestion) stretch(step int) int {
	return int(int64(step) * int64(q.stretches()) / q.public.decisions())
}

// starts is the first decision of a stretch.
func (q *learnQuestion) starts(stretch int) int64 {
	n := int64(q.stretches())
	return (int64(stretch)*q.public.decisions() + n - 1) / n
}

// rest is what there is from a stretch on: the public range of returns, what an episode that is over
// has there, and how many decisions the stretch has.
type rest struct {
	Range
	over, decisions float64
}

// rests are those of every stretch.
func (q *learnQuestion) rests() []rest {
	all, whole := make([]rest, q.stretches()), q.public.Returns()
	for i := range all {
		r := whole
		if at := q.starts(i); at > 0 && q.public.Reward.Width() > 0 {
			if left := q.public.after(at).Returns(); left.Width() < r.Width() {
				r = left
			}
		}
		all[i] = rest{r, r.clip(0), float64(q.starts(i+1) - q.starts(i))}
	}
	return all
}

// first writes what a person adds to the baseline's sums, to a norm of 1 at most: for each stretch
// the mean return from its decisions on, about the middle of the range.
func (q *learnQuestion) first(v []float64, rows learnRows, from, to int) {
	if len(v) == 1 {
		for row := from; row < to; row++ {
			v[0] += rows.part[row] * (rows.returns[row] - rows.within.Mid()) / (rows.within.Width() / 2)
		}
		return
	}
	norm := math.Sqrt(float64(len(v)))
	for i, r := range rows.after {
		v[i] = (r.over - r.Mid()) / (r.Width() / 2) / norm
	}
	for row := from; row < to; row++ {
		i := rows.step[row]
		r := rows.after[i]
		v[i] += rows.part[row] * (r.clip(rows.returns[row]) - r.over) / (r.Width() / 2) / r.decisions / norm
	}
}

// baseline is made of the noisy sums: the mean return, or that of each stretch.
func (q *learnQuestion) baseline(noisy []float64) baseline {
	if q.opening == ofExits {
		return q.livedBaseline(noisy)
	}
	returns, n := q.public.Returns(), float64(q.learnOn)
	if q.epsilons != nil { // of places in the range
		return baseline{returns.clip(returns.Min + returns.Width()*noisy[0]/n)}
	}
	b, rests := make(baseline, len(noisy)), q.rests()
	for i, x := range noisy {
		r := rests[i]
		b[i] = r.clip(r.Mid() + r.Width()/2*x*math.Sqrt(float64(len(noisy)))/n)
	}
	return b
}
