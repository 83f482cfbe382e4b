package value

import (
	"fmt"
)

// limit bounds importance weights and doubly robust values in size. It lies far
// beyond any use; it keeps a product of ratios from becoming an infinity, and
// so a later sum from becoming no number at all.
const limit = 1e150

// ISContributions writes what every person contributes to trajectory-wise
// importance sampling: with w the product of the ratios of an episode and G its
// discounted return, num[p] is the mean of w G over the person's episodes, and
// den[p] that of w. Both have length s.Data.Persons().
//
// The mean of num over persons is unbiased for J (Precup, Sutton and Singh
// 2000); den has mean 1, and sum(num)/sum(den) is the weighted estimate.
func ISContributions(num, den []float64, s *Sample) {
	s.perPerson("ISContributions", num, den)
	s.eachPerson(func(p, e int, weight float64) {
		w := s.TrajectoryRatio(e)
		num[p] += weight * w * s.Return(e)
		den[p] += weight * w
	})
}

// IS is the trajectory-wise importance sampling estimate of J, in the unit of
// the return: the mean of the persons' contributions.
func IS(s *Sample) (float64, error) {
	num, den, err := s.contributions()
	if err != nil {
		return 0, err
	}
	ISContributions(num, den, s)
	return mean(num), nil
}

// TrajectoryRatio is the product of the ratios of an episode, at most 1e150, so that no
// later sum is infinite.
func (s *Sample) TrajectoryRatio(episode int) float64 {
	if s.Rho == nil {
		return 1
	}
	lo, hi := s.Rows(episode)
	w := 1.0
	for _, rho := range s.Rho[lo:hi] {
		if w *= rho; w > limit {
			w = limit
		}
	}
	return w
}

// perPerson clears the slices that a Contributions function fills.
func (s *Sample) perPerson(name string, dst ...[]float64) {
	for _, x := range dst {
		if len(x) != s.Data.Persons() {
			panic(fmt.Sprintf("value: %s: a slice has length %d; there are %d persons", name, len(x), s.Data.Persons()))
		}
		clear(x)
	}
}

// contributions makes two slices of one number a person.
func (s *Sample) contributions() (a, b []float64, err error) {
	m := s.Data.Persons()
	if m == 0 {
		return nil, nil, fmt.Errorf("%w: there are no persons", ErrData)
	}
	return make([]float64, m), make([]float64, m), nil
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}
