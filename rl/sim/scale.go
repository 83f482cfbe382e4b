package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Scaled maps the observations of env from its public ranges to [-1, 1], each by a
// line: a number outside of its range comes to lie outside of [-1, 1], so that what is
// linear in the one is linear in the other. Nothing is learned from data. The error
// wraps [ErrOptions]: env states no ranges.
func Scaled(env Env) (Env, error) {
	spec := env.Spec()
	if len(spec.Ranges) != len(spec.Columns) {
		return nil, fmt.Errorf("%w: %s states ranges of %d of %d observations; they cannot be scaled", ErrOptions, spec.Name, len(spec.Ranges), len(spec.Columns))
	}
	s := &scaled{Env: env, middle: make([]float64, len(spec.Ranges)), half: make([]float64, len(spec.Ranges))}
	for i, r := range spec.Ranges {
		s.middle[i], s.half[i] = r.Line()
		if !(s.half[i] > 0) || math.IsInf(s.half[i], 0) || math.IsNaN(s.middle[i]) || math.IsInf(s.middle[i], 0) {
			return nil, fmt.Errorf("%w: %s states the range %v to %v of %s; want finite ends, the lower one first", ErrOptions, spec.Name, r.Low, r.High, spec.Columns[i])
		}
	}
	return s, nil
}

// Line is the middle of a range and half its width: x is scaled to (x - middle) / half.
func (r Range) Line() (middle, half float64) { return (r.Low + r.High) / 2, (r.High - r.Low) / 2 }

type scaled struct {
	Env
	middle, half []float64
}

func (s *scaled) Spec() Spec {
	spec := s.Env.Spec()
	spec.Ranges = make([]Range, len(s.half))
	for i := range spec.Ranges {
		spec.Ranges[i] = Range{-1, 1}
	}
	return spec
}

func (s *scaled) Reset(obs []float64, rng *rand.Rand) {
	s.Env.Reset(obs, rng)
	s.scale(obs)
}

func (s *scaled) Step(obs []float64, action int) (Outcome, error) {
	o, err := s.Env.Step(obs, action)
	s.scale(obs)
	return o, err
}

func (s *scaled) scale(obs []float64) {
	for i, v := range obs {
		obs[i] = (v - s.middle[i]) / s.half[i]
	}
}
