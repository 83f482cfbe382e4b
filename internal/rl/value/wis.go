package value

import "fmt"

// WIS is the weighted (self-normalised) trajectory-wise importance sampling
// estimate of J: the sum of the persons' numerators over that of their
// denominators, see [ISContributions] (Precup, Sutton and Singh 2000; SNIPS in
// the bandit literature, Swaminathan and Joachims 2015). It is biased,
// consistent, and lies within the range of the returns. It fails with ErrData
// when every episode has ratio 0.
func WIS(s *Sample) (float64, error) {
	num, den, err := s.contributions()
	if err != nil {
		return 0, err
	}
	ISContributions(num, den, s)
	total := mean(den)
	if !(total > 0) {
		return 0, fmt.Errorf("%w: wis: the target policy never takes the actions of any whole episode; evaluate a policy closer to the logged one, or use pdis or dr", ErrData)
	}
	return mean(num) / total, nil
}
