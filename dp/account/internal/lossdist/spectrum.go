package lossdist

import (
	"context"
	"math"
)

// silence is the logarithm of a modulus that counts as nothing beside a sum of
// order one.
const silence = -45

// spectrum is the Fourier transform of a composition's tilted privacy curve,
//
//	delta(eps) = e^(K(a) - a eps) (step/2pi) sum over k of V_k e^(-i u_k eps),
//
// with u_k = k step and V_k = M(a+iu)/M(a) times the transform of the payoff
// (1-e^-t)+, 1/(z(z+1)) at z = a+iu. M holds a Gaussian factor of variance
// total, of which the part extra is smoothing that the composition does not
// have: the upper end may keep it, being one more private release; the lower end
// subtracts a bound of what it adds (docs/proofs/pld.md).
type spectrum struct {
	upper       bool
	tilt        float64
	step        float64
	cumulant    float64 // K(a), with the Gaussian factor
	logError    float64 // of the whole, relative
	zero        float64 // the term of frequency 0
	u, cos, sin []float64
	slack       float64 // absolute error of the sum
	slope       float64 // the same, growing with |eps|
	work        float64 // atoms times frequencies
}

// settings of one inversion.
type settings struct {
	tilt, step, limit float64 // tilt, frequency step and highest frequency
	extra             float64 // variance of the smoothing
}

func newSpectrum(ctx context.Context, parts []side, gaussian float64, upper bool, set settings) *spectrum {
	a := set.tilt
	total := gaussian + set.extra
	s := &spectrum{upper: upper, tilt: a, step: set.step, cumulant: total * a * (a + 1) / 2}
	s.logError = 4 * ulp * s.cumulant
	waves := make([]*wave, len(parts))
	for i, p := range parts {
		k, slack := p.measure.cumulant(a)
		waves[i] = newWave(p.measure, p.count, a, k, set.step)
		waves[i].strides = len(parts) > mostModelled
		s.cumulant += p.count * k
		s.logError += p.count * (slack + p.measure.MassError + 8*ulp*a*waves[i].size + 2*ulp*math.Abs(k))
	}
	s.zero = set.step / (2 * math.Pi) * s.payoff(0, set.extra)
	s.sum(ctx, waves, total, set)
	return s
}

// payoff is the real transform at frequency zero.
func (s *spectrum) payoff(u, extra float64) float64 {
	re, _ := s.kernel(u, extra)
	return re
}

// kernel is the transform of the payoff at a+iu. The lower end has taken off
// what the smoothing adds at most, (1+m) m^2 with m its standard deviation.
func (s *spectrum) kernel(u, extra float64) (re, im float64) {
	a := s.tilt
	x, y := a*(a+1)-u*u, u*(2*a+1)
	r := x*x + y*y
	re, im = x/r, -y/r
	if !s.upper {
		re -= lowered(extra)
	}
	return re, im
}

func lowered(extra float64) float64 { return (1 + math.Sqrt(extra)) * extra * (1 + 8*ulp) }

func (s *spectrum) sum(ctx context.Context, waves []*wave, total float64, set settings) {
	n := int(math.Ceil(set.limit / set.step))
	skipped := math.Inf(1)
	size := math.Abs(s.zero)
	for k := 1; k <= n && ctx.Err() == nil; {
		u := float64(k) * set.step
		v := multiply(waves, k, u, s.tilt, total)
		s.work += v.atoms
		if v.silent {
			skipped = min(skipped, u)
			k = v.skip(waves, k, set.step)
			continue
		}
		re, im := s.kernel(u, set.extra)
		scale := set.step / math.Pi
		sin, cos := math.Sincos(v.phase)
		mod := scale * math.Exp(v.logMod)
		s.u = append(s.u, u)
		s.cos = append(s.cos, mod*(re*cos-im*sin))
		s.sin = append(s.sin, mod*(re*sin+im*cos))
		h := math.Hypot(re, im)
		size += mod * h
		s.slack += scale * h * v.slack
		s.slope += 4 * ulp * mod * h * u
		next := k + 1
		if v.logMod < silence-5 {
			if next = v.skip(waves, k, set.step); next > k+1 {
				skipped = min(skipped, float64(k+1)*set.step)
			}
		}
		k = next
	}
	s.slack += ulp * (16 + float64(len(s.u))) * size
	s.slack += s.silent(skipped, set) + s.beyond(float64(n)*set.step, total, set)
}

// silent bounds what the skipped frequencies would have added.
func (s *spectrum) silent(from float64, set settings) float64 {
	if math.IsInf(from, 1) {
		return 0
	}
	bound := 1/max(from-set.step, set.step) + lowered(set.extra)*set.limit
	return math.Exp(silence) / math.Pi * bound * 1.01
}

// beyond bounds what the frequencies above limit would have added: there the
// Gaussian factor alone is at most exp(-total u^2/2).
func (s *spectrum) beyond(limit, total float64, set settings) float64 {
	tail := math.Exp(-total*limit*limit/2) / math.Pi
	return 1.01 * tail * (min(1/limit, 1/(total*limit*limit*limit)) + lowered(set.extra)/(total*limit))
}

// value bounds the finite part of delta at epsilon, from above or from below.
func (s *spectrum) value(epsilon float64) float64 {
	sum := s.zero
	for i, u := range s.u {
		sin, cos := math.Sincos(u * epsilon)
		sum += s.cos[i]*cos + s.sin[i]*sin
	}
	slack := s.slack + s.slope*math.Abs(epsilon)
	exponent := s.cumulant - s.tilt*epsilon
	rel := s.logError + 8*ulp*(2+math.Abs(s.cumulant)+s.tilt*math.Abs(epsilon))
	if s.upper {
		return math.Exp(exponent+rel) * max(sum+slack, 0)
	}
	return math.Exp(exponent-rel) * max(sum-slack, 0)
}

// faintest keeps the logarithm of a squared modulus finite.
const faintest = 0x1p-52 - 1

// product is the composition's characteristic function at one frequency.
type product struct {
	logMod, phase float64
	slack         float64   // absolute error of the value
	modulus       []float64 // of each wave, with its error
	atoms         float64   // of these waves
	// silent reports that the first waves alone leave nothing: the others, which
	// are not looked at, cannot make it more.
	silent bool
}

func multiply(waves []*wave, k int, u, a, total float64) product {
	p := product{logMod: -total * u * u / 2, phase: total * u * (a + 0.5)}
	bound, wrong := p.logMod, 0.0
	rounding := math.Abs(p.phase) + math.Abs(p.logMod)
	p.modulus = make([]float64, 0, len(waves))
	for _, w := range waves {
		if bound < 2*silence && w.strides {
			p.silent = true
			return p
		}
		re, im, slack := w.zeta(k)
		p.atoms += float64(len(w.loss))
		log := 0.5 * math.Log1p(max(2*re+re*re+im*im, faintest))
		turn := math.Atan2(im, 1+re)
		mod := math.Exp(log) + slack
		p.modulus = append(p.modulus, mod)
		p.logMod += w.count * log
		p.phase += w.count * turn
		rounding += w.count * (math.Abs(log) + math.Abs(turn) + re*re + im*im)
		bound += w.count * math.Log(mod)
		wrong += w.count * slack / mod
	}
	p.slack = math.Exp(bound)*wrong + math.Exp(p.logMod)*8*ulp*(2+rounding)
	return p
}

// skip returns the next frequency index that need not be silent. The modulus of
// a wave cannot grow faster than its spread, so waves that are faint enough
// together keep the whole product below e^silence for a while.
func (p product) skip(waves []*wave, k int, step float64) int {
	quiet := func(far float64) bool {
		log := 0.0
		for i, modulus := range p.modulus {
			log += waves[i].count * math.Log(min(1, modulus+far*waves[i].spread))
			if log <= silence {
				return true
			}
		}
		return false
	}
	// The distances tried are few: a step too short costs one more frequency.
	// Where there are many waves a frequency costs far more than a try.
	far, growth := 0.0, 1.5
	if len(waves) > mostModelled {
		growth = 1.1
	}
	for try := step; try < 1e12*step && quiet(try*(1+1e-9)); try *= growth {
		far = try
	}
	return k + 1 + int(far/step)
}
