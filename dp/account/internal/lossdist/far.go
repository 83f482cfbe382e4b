package lossdist

import "math"

// far is what runs with a loss above a cutoff contribute to delta. With W the
// composed law and n the number of such runs,
//
//	E[(1-e^(eps-S))+] = near + P(n>0) - e^eps Q(n>0) + E[(e^(eps-S)-1)+; n>0]
//
// where near is the same expectation over n = 0 and Q has density e^-S. The
// middle terms are powers of the measures' masses, known exactly; the last one is
// small where the cutoff lies well above eps, and is bounded by Chernoff. So a
// tail that falls more slowly than any useful tilt needs no Fourier transform.
type far struct {
	upper             bool
	lead, rise, share float64 // X+Y, and Q(n>0)
	error             float64
	relative          float64
	parts             []side
	cutoff            float64
	gaussian          float64
}

func newFar(parts []side, cutoff, gaussian float64, upper bool) *far {
	f := &far{upper: upper, parts: parts, cutoff: cutoff, gaussian: gaussian}
	var whole, drift, near, tilt, keep float64
	for _, p := range parts {
		m := p.measure
		s := m.beyond(cutoff)
		whole += p.count * math.Log1p(m.total-1)
		drift += p.count * math.Log1p(-m.gain/m.total)
		near += p.count * math.Log1p(m.total-1-s.p)
		tilt += p.count * math.Log1p((s.gain-m.gain)/(m.total-s.p))
		keep += p.count * math.Log1p(-s.q/(m.total-m.gain))
		n := float64(len(m.Mass))
		f.relative += p.count*(m.MassError+8*ulp) + 16*ulp
		f.error += 4 * ulp * (n + 8) * p.count * (m.size + s.gain)
	}
	x, y := -math.Exp(whole)*math.Expm1(drift), math.Exp(near)*math.Expm1(tilt)
	f.share = -math.Exp(whole+drift) * math.Expm1(keep)
	f.lead = x + y
	f.error += 64 * ulp * (math.Abs(x) + math.Abs(y))
	f.relative += 8 * ulp * (1 + math.Abs(whole) + math.Abs(near))
	return f
}

// value bounds the contribution at epsilon.
func (f *far) value(epsilon float64) float64 {
	z := math.Expm1(epsilon) * f.share
	v := f.lead - z
	slack := f.error*math.Exp(epsilon) + 64*ulp*math.Abs(z)
	if f.upper {
		return (max(v+slack, 0) + f.missed(epsilon)) * math.Exp(f.relative)
	}
	return (v - slack) * math.Exp(-f.relative)
}

// missed bounds E[(e^(eps-S)-1)+; n>0]. The payoff is at most
// e^(b(eps-S)) ((b-1)/b)^b/(b-1) for every b > 1.
func (f *far) missed(epsilon float64) float64 {
	best := math.Inf(1)
	for _, b := range falls(epsilon, f.cutoff) {
		log := f.gaussian*b*(b-1)/2 + b*epsilon
		keep := 0.0
		for _, p := range f.parts {
			all, beyond := p.measure.falling(b, f.cutoff)
			log += p.count * math.Log(all)
			keep += p.count * math.Log1p(-min(1, beyond/all))
		}
		payoff := -math.Log(b-1) + b*math.Log1p(-1/b)
		best = min(best, math.Exp(log+payoff)*-math.Expm1(keep))
	}
	return best * 1.001
}

// falls are the exponents b tried in bounding what the far part misses.
func falls(epsilon, cutoff float64) []float64 {
	scale := 1 / (cutoff - epsilon)
	var out []float64
	for f := 0.5; f < 3000; f *= 2 {
		out = append(out, 1+f*scale)
	}
	return out
}

// tail holds sums over the atoms beyond a cutoff: the masses under both laws,
// and their difference.
type tail struct{ p, q, gain float64 }

func (m *Measure) beyond(cutoff float64) tail {
	var t tail
	for i := len(m.Loss) - 1; i >= 0 && m.Loss[i] > cutoff; i-- {
		w, l := m.Mass[i], m.Loss[i]
		t.p += w
		t.q += w * math.Exp(-l)
		t.gain -= w * math.Expm1(-l)
	}
	return t
}

// falling is the moment generating function at -b, of all atoms and of those
// beyond the cutoff.
func (m *Measure) falling(b, cutoff float64) (all, beyond float64) {
	for i := len(m.Loss) - 1; i >= 0; i-- {
		e := m.Mass[i] * math.Exp(-b*m.Loss[i])
		all += e
		if m.Loss[i] > cutoff {
			beyond += e
		}
	}
	return all, beyond
}

// below is the measure without the atoms beyond the cutoff.
func (m *Measure) below(cutoff float64) *Measure {
	n := len(m.Loss)
	for n > 0 && m.Loss[n-1] > cutoff {
		n--
	}
	if n == len(m.Loss) {
		return m
	}
	return (&Measure{Loss: m.Loss[:n:n], Mass: m.Mass[:n:n], MassError: m.MassError}).finish()
}
