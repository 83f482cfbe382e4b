package value

// PDISContributions writes what every person contributes to per-decision
// importance sampling: the mean over the person's episodes of
//
//	sum_t gamma^t rho_0 ... rho_t R_t.
//
// dst has length s.Data.Persons().
func PDISContributions(dst []float64, s *Sample) {
	s.perPerson("PDISContributions", dst)
	s.eachPerson(func(p, e int, weight float64) {
		lo, hi := s.Rows(e)
		w, discount, sum := 1.0, 1.0, 0.0
		for row := lo; row < hi; row++ {
			w = min(w*s.Ratio(row), limit)
			sum += discount * w * s.Data.Reward[row]
			discount *= s.Gamma(row)
		}
		dst[p] += weight * sum
	})
}

// PDIS is the per-decision importance sampling estimate of J, in the unit of
// the return: the mean of the persons' contributions. It is unbiased, with a
// reward weighted only by the ratios up to it (Precup, Sutton and Singh 2000).
func PDIS(s *Sample) (float64, error) {
	dst, _, err := s.contributions()
	if err != nil {
		return 0, err
	}
	PDISContributions(dst, s)
	return mean(dst), nil
}
