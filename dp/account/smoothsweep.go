package account

import "math"

// smoothSweep brackets the largest divergence over every variance ratio that
// beta allows, at means mu smaller standard deviations apart.
//
// Between two ratios the divergence may exceed the chord of its values by no
// more than an amount that is quadratic in their distance: the density p of P at
// a fixed point satisfies p” >= -M p in the log-ratio t, and so does its
// positive part against e^epsilon Q, which makes the divergence semi-convex
// (docs/proofs/smooth-sensitivity.md). The sweep halves the intervals whose
// bound is too high; it certifies, where a grid would only sample.
type smoothSweep struct {
	integral          smoothIntegral
	mu, beta, epsilon float64
	d                 int
	rtol              float64
}

// smoothInterval is the range t0..t1 of |ln s1^2 - ln s2^2|, with upper bounds
// on delta at its ends. wider says that P has the larger variance.
type smoothInterval struct {
	wider          bool
	t0, t1         float64
	upper0, upper1 float64
}

// smoothSplits bounds the work of one sweep. What it leaves unrefined is still a
// bound, only a looser one.
const smoothSplits = 400

// at brackets delta at one signed log-ratio of P's variance to Q's.
func (w *smoothSweep) at(r float64) smoothResult {
	if r == 0 {
		b := GaussianDelta(w.mu, w.epsilon)
		return smoothResult{lower: b.Lower, upper: b.Upper}
	}
	w.integral.set(w.mu, r, w.epsilon, w.d)
	return w.integral.divergence(w.rtol)
}

// candidates are the ratios where the largest divergence is to be expected: none
// and both extremes. Nothing rests on the expectation.
func (w *smoothSweep) candidates() []float64 {
	if w.beta == 0 {
		return []float64{0}
	}
	return []float64{0, w.beta, -w.beta}
}

// estimate is the largest divergence at the candidates, uncertified.
func (w *smoothSweep) estimate() float64 {
	worst := 0.0
	for _, r := range w.candidates() {
		worst = max(worst, w.at(r).estimate())
	}
	return worst
}

// lower is certain not to exceed the largest divergence.
func (w *smoothSweep) lower() float64 {
	worst := 0.0
	for _, r := range w.candidates() {
		worst = max(worst, w.at(r).lower)
	}
	return worst
}

// atMost reports that the largest divergence is certain not to exceed delta.
func (w *smoothSweep) atMost(delta float64) bool {
	for _, r := range w.candidates() {
		if w.at(r).upper > delta {
			return false // the sweep would end no lower
		}
	}
	return w.largest(delta).Upper <= delta
}

// largest brackets the largest divergence. Bounds at or below enough are not
// refined further; 0 refines as far as rtol goes.
func (w *smoothSweep) largest(enough float64) Bracket {
	equal := w.at(0)
	result := Bracket{equal.lower, equal.upper}
	if w.beta == 0 {
		return result
	}
	var work []smoothInterval
	for _, wider := range [2]bool{true, false} {
		end := w.at(smoothSigned(wider, w.beta))
		result.Lower, result.Upper = max(result.Lower, end.lower), max(result.Upper, end.upper)
		work = append(work, smoothInterval{wider, 0, w.beta, equal.upper, end.upper})
	}
	for splits := 0; len(work) > 0; {
		if w.integral.ctx.Err() != nil {
			return Bracket{0, 1}
		}
		i := work[len(work)-1]
		work = work[:len(work)-1]
		bound := w.bound(i)
		if bound <= max(enough, result.Upper*(1+w.rtol)) || splits == smoothSplits {
			result.Upper = max(result.Upper, bound)
			continue
		}
		splits++
		t := i.t0 + (i.t1-i.t0)/2
		mid := w.at(smoothSigned(i.wider, t))
		result.Lower, result.Upper = max(result.Lower, mid.lower), max(result.Upper, mid.upper)
		work = append(work,
			smoothInterval{i.wider, i.t0, t, i.upper0, mid.upper},
			smoothInterval{i.wider, t, i.t1, mid.upper, i.upper1})
	}
	return result
}

// bound is at least delta at every ratio of the interval.
func (w *smoothSweep) bound(i smoothInterval) float64 {
	h, d := i.t1-i.t0, float64(w.d)
	// grow bounds the rise of ln p away from the anchor, curve is M.
	anchor, grow, curve := i.t1, h*d/2, d/2+0.25
	if !i.wider {
		anchor, grow, curve = i.t0, h*(d/2+w.mu*w.mu/8), 0.75*d+0.5625+w.mu*w.mu/4
	}
	w.integral.set(w.mu, smoothSigned(i.wider, anchor), w.epsilon-grow, w.d)
	tail := w.integral.tail(0.05).tail
	excess := h * h / 2 * curve * math.Exp(grow) * tail * (1 + 64*smoothUlp)
	return min(1, smoothChord(i.upper0, i.upper1, excess)*(1+8*smoothUlp))
}

// smoothChord is the maximum over x in [0, 1] of (1-x) a + x b + c x (1-x), c >= 0.
func smoothChord(a, b, c float64) float64 {
	rise := b - a
	if rise >= c || -rise >= c {
		return max(a, b)
	}
	return (a+b)/2 + (rise*rise/c+c)/4
}

func smoothSigned(positive bool, x float64) float64 {
	if positive {
		return x
	}
	return -x
}
