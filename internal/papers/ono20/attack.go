package ono20

import (
	"encoding/binary"
	"math"

	"github.com/discreet-rl/discreet/dp/local"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/simulate"
)

// attack is what dishonest agents send, always a valid report.
type attack string

const (
	// inverted is the opposite of what the agent learned, without noise, at the length
	// of an honest report.
	inverted attack = "inverted"
	// loudest is the same with every number at the end of its range.
	loudest attack = "loudest"
)

// poisoned makes a share of the agents of a run dishonest, in hundredths.
func poisoned(c simulate.Config, percent uint64, a attack) simulate.Config {
	c.Attack = func(t *train.Task, vector []float64, body []byte) {
		if t.Slot*2654435761%100 < percent {
			forge(vector, t, a, body)
		}
	}
	return c
}

// forge overwrites the body of an honest report on v by one that says the opposite, as loudly
// as the attack wants. The aggregator would refuse a body that is not valid.
func forge(v []float64, t *train.Task, a attack, body []byte) {
	switch t.Randomizer.Mechanism {
	case train.PrivUnit:
		shout(body[1:], v, a)
	case train.SignPRS:
		if r, err := local.NewSignPRS(len(v), t.Randomizer.Epsilon, t.Seed); err == nil {
			worstReport(r, v, body)
		}
	case train.Laplace:
		if r, err := local.NewLaplace(len(v), t.Randomizer.Clip, t.Randomizer.Epsilon); err == nil {
			forgeLaplace(r, v, a, body)
		}
	}
}

// shout writes -v into the bytes of a carrier, 16 steps a standard deviation.
func shout(body []byte, v []float64, a attack) {
	norm := 0.0
	for _, x := range v {
		norm += x * x
	}
	norm = math.Sqrt(norm)
	for i, x := range v {
		k := 0.0
		switch {
		case norm == 0 || x == 0:
		case a == loudest:
			k = math.Copysign(127, -x)
		default:
			k = math.Round(-x / norm * 16 * math.Sqrt(float64(len(v))))
		}
		body[i] = byte(int8(min(127, max(-127, k))))
	}
}

// worstReport is the report of all that exist whose estimate points most against v: for
// projected signs there are few.
func worstReport(r local.SignPRS, v []float64, body []byte) {
	worst, least := body[1], math.Inf(1)
	estimate := make([]float64, len(v))
	for bits := range 1 << r.ReducedDim() {
		body[1] = byte(bits)
		if r.Estimate(estimate, body) != nil {
			continue
		}
		dot := 0.0
		for i, x := range v {
			dot += x * estimate[i]
		}
		if dot < least {
			worst, least = byte(bits), dot
		}
	}
	body[1] = worst
}

// forgeLaplace writes -v, clipped like an honest gradient, or as far out as 32 bits go.
func forgeLaplace(r local.Laplace, v []float64, a attack, body []byte) {
	unit := make([]float64, len(v))
	clear(body[1:])
	body[1] = 1
	if r.Estimate(unit, body) != nil || unit[0] == 0 { // what one step of a coordinate stands for
		return
	}
	norm := 0.0
	for _, x := range v {
		norm += math.Abs(x)
	}
	factor := 0.0
	if norm > 0 {
		factor = min(1, r.Clip()/2/norm) / unit[0]
	}
	for i, x := range v {
		k := int32(-x * factor)
		switch {
		case a == loudest && x > 0:
			k = -math.MaxInt32
		case a == loudest && x < 0:
			k = math.MaxInt32
		}
		binary.LittleEndian.PutUint32(body[1+4*i:], uint32(k))
	}
}
