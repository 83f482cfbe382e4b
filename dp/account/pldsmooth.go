package account

import (
	"math"

	"github.com/discreet-rl/discreet/dp"
)

// A smooth-sensitivity Gaussian has no single dominating pair here: which ratio
// of the two variances is worst depends on epsilon. Composed with other events it
// is charged as the (epsilon, delta) that it is certified for, at a delta that
// every choice of is sound; the smallest answer wins. The lower end leaves it out.

// smoothShares are the deltas tried, together for all smooth events, where the
// question itself names none.
var smoothShares = [...]float64{1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-14}

// boxed answers a question after the smooth events are replaced by (epsilon,
// delta) ones, whose deltas add up to one of the shares.
func (p *PLD) boxed(shares []float64, answer func(*PLD) (Bracket, error)) (Bracket, error) {
	rest, runs := p.withoutSmooth()
	if runs == 0 {
		return answer(p)
	}
	out := Bracket{Upper: math.Inf(1)}
	var last error
	for _, share := range shares {
		box, err := p.charged(rest, share/float64(runs))
		if err != nil {
			last = err
			continue
		}
		b, err := answer(box)
		if err != nil {
			last = err
			continue
		}
		out.Upper = min(out.Upper, b.Upper)
	}
	if math.IsInf(out.Upper, 1) {
		return Bracket{}, last
	}
	if len(rest.events) > 0 {
		b, err := answer(rest)
		if err != nil {
			return Bracket{}, err
		}
		out.Lower = min(b.Lower, out.Upper)
	}
	return out, nil
}

// withoutSmooth returns the events that are not smooth Gaussians, and how many
// runs of smooth ones were left out.
func (p *PLD) withoutSmooth() (rest *PLD, runs int64) {
	rest = NewPLD(p.adj)
	for _, e := range p.events {
		if _, ok := e.event.(dp.SmoothGaussian); ok {
			runs += e.count
			continue
		}
		rest.events = append(rest.events, e)
	}
	return rest, runs
}

// charged adds the smooth events to rest as (epsilon, delta) events.
func (p *PLD) charged(rest *PLD, delta float64) (*PLD, error) {
	out := &PLD{adj: p.adj, events: append([]counts(nil), rest.events...)}
	for _, e := range p.events {
		s, ok := e.event.(dp.SmoothGaussian)
		if !ok {
			continue
		}
		b, err := SmoothGaussianEpsilon(s.Alpha, s.Beta, s.Dimension, delta)
		if err != nil {
			return nil, err
		}
		out.events = append(out.events, counts{dp.ApproximateDP{Epsilon: b.Upper, Delta: delta}, e.count})
	}
	return out, nil
}
