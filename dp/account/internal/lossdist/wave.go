package lossdist

import "math"

// restart is how many steps a wave is advanced by multiplication before its
// phases are computed afresh.
const restart = 32

// longest is how many steps are cheaper than computing phases afresh, where there are
// many waves.
const longest = 8

// wave is the characteristic function of one part of a composition under the
// tilted law: phi(u) = sum of weight exp(i u loss), kept as phi - 1 so that a
// part that hardly moves keeps its relative accuracy when it is raised to the
// power of its count.
type wave struct {
	count        float64
	loss, weight []float64 // weights sum to 1
	re, im       []float64 // exp(i u loss) - 1 at the current frequency
	stepRe       []float64 // exp(i step loss) - 1
	stepIm       []float64
	step         float64
	strides      bool    // several steps may be made at once
	at, fresh    int     // frequency index, and steps since the last restart
	size         float64 // mean |loss|
	spread       float64 // mean |loss - mean|
	dropped      float64 // weight of the atoms left out
}

func newWave(m *Measure, count, a, cumulant, step float64) *wave {
	w := &wave{count: count, step: step, at: -1}
	n := float64(len(m.Mass))
	mean := 0.0
	for i, mass := range m.Mass {
		l := m.Loss[i]
		weight := mass * math.Exp(a*l-cumulant)
		if weight*n*count < 1e-16 {
			w.dropped += weight
			continue
		}
		w.loss = append(w.loss, l)
		w.weight = append(w.weight, weight)
		w.size += weight * math.Abs(l)
		mean += weight * l
	}
	for i, l := range w.loss {
		w.spread += w.weight[i] * math.Abs(l-mean)
	}
	k := len(w.loss)
	buffer := make([]float64, 4*k)
	w.re, w.im, w.stepRe, w.stepIm = buffer[:k], buffer[k:2*k], buffer[2*k:3*k], buffer[3*k:]
	for i, l := range w.loss {
		w.stepRe[i], w.stepIm[i] = expm1i(step * l)
	}
	return w
}

// expm1i is exp(i x) - 1.
func expm1i(x float64) (re, im float64) {
	s, c := math.Sincos(x / 2)
	return -2 * s * s, 2 * s * c
}

// zeta returns phi - 1 at frequency index k, and a bound on its error.
func (w *wave) zeta(k int) (re, im, slack float64) {
	if steps := k - w.at; w.at >= 0 && 0 < steps && (steps == 1 || w.strides && steps <= longest) && w.fresh+steps <= restart {
		for range steps {
			re, im = w.advance()
		}
		w.fresh += steps
	} else {
		re, im = w.jump(float64(k) * w.step)
		w.fresh = 0
	}
	w.at = k
	u := float64(k) * w.step
	return re, im, ulp*(256+float64(len(w.loss)))*u*w.size + 2*w.dropped
}

func (w *wave) jump(u float64) (re, im float64) {
	first := u == w.step
	for i, l := range w.loss {
		x, y := w.stepRe[i], w.stepIm[i]
		if !first {
			x, y = expm1i(u * l)
		}
		w.re[i], w.im[i] = x, y
		re += w.weight[i] * x
		im += w.weight[i] * y
	}
	return re, im
}

func (w *wave) advance() (re, im float64) {
	n := len(w.re)
	wr, wi, sr, si, weight := w.re[:n], w.im[:n], w.stepRe[:n], w.stepIm[:n], w.weight[:n]
	for i := range wr {
		x, y := wr[i], wi[i]
		nx := x + (sr[i]*(1+x) - si[i]*y)
		ny := y + (sr[i]*y + si[i]*(1+x))
		wr[i], wi[i] = nx, ny
		re += weight[i] * nx
		im += weight[i] * ny
	}
	return re, im
}
