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

// after is the public range of returns from a stretch on, and what an episode that is over has there.
func (q *learnQuestion) after(stretch int) (r Range, over float64) {
	r = q.public.Returns()
	if at := q.starts(stretch); at > 0 && q.public.Reward.Width() > 0 {
		if left := q.public.after(at).Returns(); left.Width() < r.Width() {
			r = left
		}
	}
	return r, min(max(0, r.Min), r.Max)
}

// first writes what a person adds to the baseline's sums, to a norm of 1 at most: for each stretch
// the mean return from its decisions on, about the middle of the range.
func (q *learnQuestion) first(v []float64, rows learnRows, from, to int) {
	if len(v) == 1 {
		returns := q.public.Returns()
		for row := from; row < to; row++ {
			v[0] += rows.part[row] * (rows.returns[row] - returns.Mid()) / (returns.Width() / 2)
		}
		return
	}
	norm := math.Sqrt(float64(len(v)))
	for i := range v {
		r, over := q.after(i)
		v[i] = (over - r.Mid()) / (r.Width() / 2) / norm
	}
	for row := from; row < to; row++ {
		i := rows.step[row]
		r, over := q.after(i)
		g := min(max(rows.returns[row], r.Min), r.Max)
		v[i] += rows.part[row] * (g - over) / (r.Width() / 2) / float64(q.starts(i+1)-q.starts(i)) / norm
	}
}

// baseline is made of the noisy sums: the mean return, or that of each stretch.
func (q *learnQuestion) baseline(noisy []float64) baseline {
	if q.opening == ofExits {
		return q.livedBaseline(noisy)
	}
	returns, n := q.public.Returns(), float64(q.learnOn)
	if q.epsilons != nil { // of places in the range
		return baseline{q.returned(returns.Min + returns.Width()*noisy[0]/n)}
	}
	b := make(baseline, len(noisy))
	for i, x := range noisy {
		r, _ := q.after(i)
		b[i] = min(max(r.Mid()+r.Width()/2*x*math.Sqrt(float64(len(noisy)))/n, r.Min), r.Max)
	}
	return b
}
