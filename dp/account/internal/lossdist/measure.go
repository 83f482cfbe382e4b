package lossdist

import "math"

// cumulant is ln of the moment generating function of the finite part at tilt a,
// with a bound on its absolute error.
func (m *Measure) cumulant(a float64) (value, slack float64) {
	n := float64(len(m.Mass))
	if a*m.highest < 300 {
		sum, size := 0.0, 0.0
		for i, w := range m.Mass {
			t := w * math.Expm1(a*m.Loss[i])
			sum += t
			size += math.Abs(t)
		}
		mgf := m.total + sum
		return math.Log1p(m.total - 1 + sum), ulp * (8 + (n+8)*size/mgf)
	}
	top := a * m.highest
	sum := 0.0
	for i, w := range m.Mass {
		sum += w * math.Exp(a*m.Loss[i]-top)
	}
	return top + math.Log(sum), ulp * (n + 16 + 4*math.Abs(top))
}

// variance of the finite part.
func (m *Measure) variance() float64 {
	mean, square := 0.0, 0.0
	for i, w := range m.Mass {
		mean += w * m.Loss[i]
		square += w * m.Loss[i] * m.Loss[i]
	}
	return max(0, square-mean*mean)
}

// hockeyStick is the sum of mass (1 - e^(eps-loss))+, the finite part of delta
// of one run.
func (m *Measure) hockeyStick(epsilon float64) float64 {
	sum := 0.0
	for i, w := range m.Mass {
		if l := m.Loss[i]; l > epsilon {
			sum += w * -math.Expm1(epsilon-l)
		}
	}
	return sum
}
