package value

import (
	"fmt"
	"math"
)

// RMSE is the root mean squared error of got against want, every state counting
// equally, in the unit of the reward. Both have the same length, at least 1.
func RMSE(got, want []float64) float64 {
	if len(got) != len(want) || len(got) == 0 {
		panic(fmt.Sprintf("value: RMSE: lengths %d and %d", len(got), len(want)))
	}
	sum := 0.0
	for i, x := range got {
		sum += (x - want[i]) * (x - want[i])
	}
	return math.Sqrt(sum / float64(len(got)))
}

// StateValues returns phi(s)'theta for every numbered state of s, the value
// function that theta stands for.
func StateValues(s *Sample, theta []float64) ([]float64, error) {
	if err := s.finite("a table of values"); err != nil {
		return nil, err
	}
	v := make([]float64, s.States)
	for state := range v {
		v[state] = theta[s.cellOf(state)]
	}
	return v, nil
}
