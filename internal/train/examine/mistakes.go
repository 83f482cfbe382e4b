package examine

import (
	"math"

	"github.com/discreet-rl/discreet/dp/local"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/train"
)

// mistake is a fault that is planted into a randomiser. plant returns nil where it cannot be made.
type mistake struct {
	name  string
	plant func(s *subject) encoder
}

// truthful is a seed whose noise leaves a report on the right side.
func (s *subject) truthful() uint64 {
	p := s.pairs[2%len(s.pairs)]
	for seed := range uint64(100) {
		var v [2][]float64
		for i, x := range p.vectors {
			body, err := s.encode(x, p.task, noise.NewSeeded(seed))
			if err != nil {
				return 0
			}
			v[i] = s.values(p, body)
		}
		if v[0][0]-v[0][1] > v[1][0]-v[1][1] {
			return seed
		}
	}
	return 0
}

var mistakes = []mistake{
	{"twice the epsilon", func(s *subject) encoder {
		r := s.codec.Randomizer()
		r.Epsilon *= 2
		c, err := train.NewCodec(r, s.codec.Dim())
		if err != nil || c.Size() != s.codec.Size() {
			return nil // another form of report
		}
		return plainly(c)
	}},
	{"two reports for one charge", func(s *subject) encoder {
		return func(x []float64, task local.Seed, src *noise.Source) ([]byte, error) {
			a, err := s.encode(x, task, src)
			if err != nil {
				return nil, err
			}
			b, err := s.encode(x, task, src)
			return append(a, b...), err
		}
	}},
	{"noise from a fixed seed", func(s *subject) encoder {
		return func(x []float64, task local.Seed, _ *noise.Source) ([]byte, error) {
			return s.encode(x, task, noise.NewSeeded(7))
		}
	}},
	{"every second report not randomised", func(s *subject) encoder {
		fixed := s.truthful()
		return func(x []float64, task local.Seed, src *noise.Source) ([]byte, error) {
			if src.Uint64()&1 == 0 {
				return s.encode(x, task, noise.NewSeeded(fixed))
			}
			return s.encode(x, task, src)
		}
	}},
	{"a report whose form reveals huge or non-finite values", func(s *subject) encoder {
		return func(x []float64, task local.Seed, src *noise.Source) ([]byte, error) {
			body, err := s.encode(x, task, src)
			for _, v := range x {
				if !(math.Abs(v) < 1e200) && err == nil {
					return append(body, 0), nil
				}
			}
			return body, err
		}
	}},
	{"the sign of the first coordinate sent along", func(s *subject) encoder {
		return func(x []float64, task local.Seed, src *noise.Source) ([]byte, error) {
			body, err := s.encode(x, task, src)
			sign := byte(0)
			if x[0] > 0 {
				sign = 1
			}
			return append(body, sign), err
		}
	}},
}
