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
	upper    bool
	lead     float64 // P(n>0) - Q(n>0)
	share    float64 // Q(n>0)
	error    float64 // absolute
	relative float64 // error, on top
	parts    []side
	cutoff   float64
	gaussian float64
}

func newFar(parts []side, cutoff, gaussian float64, upper bool) *far {
	f := &far{upper: upper, parts: parts, cutoff: cutoff, gaussian: gaussian}
	var whole, drift, near, tilt, keep, sums float64
	for _, p := range parts {
		m := p.measure
		s := m.beyond(cutoff)
		gain, size := m.gains()
		whole += p.count * math.Log1p(m.total-1)
		drift += p.count * math.Log1p(-gain/m.total)
		near += p.count * math.Log1p(m.total-1-s.p)
		tilt += p.count * math.Log1p((s.gain-gain)/(m.total-s.p))
		keep += p.count * math.Log1p(-s.q/(m.total-gain))
		n := float64(len(m.Mass))
		f.relative += p.count*(m.MassError+8*ulp) + 16*ulp
		sums += 4 * ulp * (n + 8) * p.count * size
		f.error += 4 * ulp * (n + 8) * p.count * s.gain
	}
	x, y := -math.Exp(whole)*math.Expm1(drift), math.Exp(near)*math.Expm1(tilt)
	f.share = -math.Exp(whole+drift) * math.Expm1(keep)
	f.lead = x + y
	// An error of a gain moves x one way and y the other, by nearly as much.
	f.error += 2 * sums * f.share
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
// e^(b(eps-S)) ((b-1)/b)^b/(b-1) for every b > 1. Runs with a loss far below 0,
// which would spoil that, are taken out: together with one beyond the cutoff they
// have at most the product of both masses under Q.
func (f *far) missed(epsilon float64) float64 {
	gap := f.cutoff - epsilon
	if !(gap > 0) {
		return math.Inf(1)
	}
	beyond, under := 0.0, 0.0
	for _, p := range f.parts {
		beyond += p.count * p.measure.beyond(f.cutoff).q
		under += p.count * p.measure.under(-gap/4)
	}
	best := math.Inf(1)
	for _, b := range falls(gap) {
		log, hit := f.gaussian*b*(b-1)/2, 0.0
		for _, p := range f.parts {
			all, beyond := p.measure.falling(b, -gap/4, f.cutoff)
			log += p.count * math.Log(all)
			hit += p.count * beyond / all
		}
		payoff := -math.Log(b-1) + b*math.Log1p(-1/b)
		// hit is the tilted law's mean of n, but for e^(-b cutoff); it may have
		// underflowed.
		hit = max(hit, 1e-300)
		best = min(best, log+payoff+b*epsilon+min(0, math.Log(hit)-b*f.cutoff))
	}
	best = math.Exp(best + 64*ulp*math.Abs(best))
	return (best + math.Exp(epsilon)*beyond*under) * 1.01
}

// falls are the exponents b tried in bounding what the far part misses.
func falls(gap float64) [12]float64 {
	var out [12]float64
	for i := range out {
		out[i] = 1 + math.Ldexp(0.5/gap, i)
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

// under is the mass under Q of the atoms below a floor.
func (m *Measure) under(floor float64) float64 {
	q := 0.0
	for i := 0; i < len(m.Loss) && m.Loss[i] < floor; i++ {
		q += m.Mass[i] * math.Exp(-m.Loss[i])
	}
	return q
}

// falling is the moment generating function at -b of the atoms that are not below
// the floor, and e^(b cutoff) times that of those beyond the cutoff.
func (m *Measure) falling(b, floor, cutoff float64) (all, beyond float64) {
	for i := len(m.Loss) - 1; i >= 0 && m.Loss[i] >= floor; i-- {
		all += m.Mass[i] * math.Exp(-b*m.Loss[i])
		if m.Loss[i] > cutoff {
			beyond += m.Mass[i] * math.Exp(-b*(m.Loss[i]-cutoff))
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
