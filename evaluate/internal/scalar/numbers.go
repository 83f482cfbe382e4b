package scalar

import (
	"iter"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
)

// Numbers are one number of every person, part by part, as data were read: nothing is copied to
// put them together.
type Numbers [][]float64

// Persons is how many there are.
func (n Numbers) Persons() (persons int) {
	for _, part := range n {
		persons += len(part)
	}
	return persons
}

// zeros are as many numbers in the same parts.
func (n Numbers) zeros() Numbers {
	out := make(Numbers, len(n))
	for i, part := range n {
		out[i] = make([]float64, len(part))
	}
	return out
}

// Pairs are x and z of everybody, in order; both have the same parts.
func Pairs(x, z Numbers) iter.Seq2[float64, float64] {
	return func(yield func(x, z float64) bool) {
		for i, part := range x {
			for j, v := range part {
				if !yield(v, z[i][j]) {
					return
				}
			}
		}
	}
}

// weights are x + z of everybody, in order.
func weights(x, z Numbers) iter.Seq[float64] {
	return func(yield func(float64) bool) {
		for x, z := range Pairs(x, z) {
			if !yield(x + z) {
				return
			}
		}
	}
}

// all are the numbers of everybody, in order.
func (n Numbers) all() iter.Seq[float64] {
	return func(yield func(float64) bool) {
		for _, part := range n {
			for _, v := range part {
				if !yield(v) {
					return
				}
			}
		}
	}
}

// cutAbove tells of every weight whether it is not at most a cap.
func cutAbove(cap float64, weights iter.Seq[float64]) iter.Seq2[float64, bool] {
	return func(yield func(weight float64, cut bool) bool) {
		for w := range weights {
			if !yield(w, !(w <= cap)) {
				return
			}
		}
	}
}

// added is the noisy sum of what everybody adds.
func added(m *mechanism.Pair, x, z Numbers, src *noise.Source) (mechanism.NoisyPair, error) {
	for x, z := range Pairs(x, z) {
		if err := m.Add(x, z); err != nil {
			return mechanism.NoisyPair{}, err
		}
	}
	noisy, _, err := m.Release(src)
	return noisy, err
}
