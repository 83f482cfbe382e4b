package lossdist

import "math"

// mixed maps the loss of a pair (R, Q) to that of ((1-rate) Q + rate R, Q).
func mixed(y Loss, rate float64) Loss {
	switch {
	case math.IsInf(y.Value, 1):
		return y
	case y.Value > 40:
		// ln(1 - rate + rate e^y) without overflow.
		v := y.Value + math.Log(rate) + math.Log1p((1-rate)/rate*math.Exp(-y.Value))
		return Loss{v, y.Error + 8*ulp*(y.Value+math.Abs(math.Log(rate)))}
	}
	e := rate * math.Expm1(y.Value)
	inside := 1 + e
	v, slack := math.Log1p(e), 0.0
	if e < -0.5 {
		// Here 1+e loses digits; rate is above 1/2, so that 1-rate is exact.
		inside = (1 - rate) + rate*math.Exp(y.Value)
		v, slack = math.Log(inside), 8*ulp
	}
	slack += 16 * ulp * math.Abs(v)
	if slope := rate * math.Exp(y.Value) / inside; y.Error > 0 && slope > 0 {
		slack += 1.01 * slope * y.Error
	}
	return Loss{v, slack}
}

// Poisson maps a pair (R, Q) to ((1-rate) Q + rate R, Q).
func (b *Bins) Poisson(rate float64) *Bins {
	out := &Bins{
		Knot: make([]Loss, len(b.Knot)), Cell: make([]Cell, len(b.Cell)), Atom: make([]Atom, len(b.Atom)),
		MassError: b.MassError + 16*ulp,
	}
	for i, k := range b.Knot {
		out.Knot[i] = mixed(k, rate)
	}
	for i, c := range b.Cell {
		out.Cell[i] = Cell{P: (1-rate)*c.Q + rate*c.P, Q: c.Q, Mid: mixed(c.Mid, rate), Base: c.Base}
	}
	for i, a := range b.Atom {
		out.Atom[i] = Atom{P: (1-rate)*a.Q + rate*a.P, Q: a.Q, Loss: mixed(a.Loss, rate)}
	}
	return out
}

// Symmetric maps a symmetric pair (R, Q) to the pair of Zhu, Dong and Wang (2022,
// Proposition 30): the loss L of the mixture ((1-rate) Q + rate R, Q) where it is
// positive, with the mixture's mass; -L there with the mass of Q; and 0 for the
// rest. One of the pair's cuts must be where the loss is 0.
func (b *Bins) Symmetric(rate float64) *Bins {
	zero := 0
	for zero < len(b.Knot) && b.Knot[zero].Value < -b.Knot[zero].Error {
		zero++
	}
	mix := b.Poisson(rate)
	out := &Bins{MassError: mix.MassError + 64*ulp}
	rest := 0.0
	for i := len(mix.Knot) - 1; i >= zero; i-- {
		out.Knot = append(out.Knot, mix.Knot[i].negated())
		if i > zero {
			out.Cell = append(out.Cell, mix.Cell[i-1].reversed())
		}
	}
	for i := zero; i < len(mix.Cell); i++ {
		out.Cell = append(out.Cell, mix.Cell[i])
		out.Knot = append(out.Knot, mix.Knot[i+1])
	}
	for _, c := range b.Cell[:min(zero, len(b.Cell))] {
		rest += (1 - rate) * c.Q * -math.Expm1(c.Mid.Value)
	}
	for i, a := range b.Atom {
		switch {
		case a.Loss.Value > 0:
			out.Atom = append(out.Atom, mix.Atom[i], mix.Atom[i].reversed())
		case a.Loss.Value < 0:
			rest += (1 - rate) * a.Q * -math.Expm1(a.Loss.Value)
		default:
			rest += a.Q
		}
	}
	out.Atom = append(out.Atom, Atom{P: rest, Q: rest})
	return out
}
