package scalar

import "github.com/discreet-rl/discreet/internal/rl/value"

// Unlike writes what every person adds to how often the logged action is none that the policy takes: x of decisions in
// which it is none, z of those in which it is one, in the mean over the person's episodes.
func Unlike(x, z []float64, s *value.Sample) {
	contributions(x, z, s, func(e int) (float64, float64) {
		lo, hi := s.Rows(e)
		if lo == hi {
			return 0, 0
		}
		like := 0
		for row := lo; row < hi; row++ {
			if s.Ratio(row) > 0 {
				like++
			}
		}
		share := float64(like) / float64(hi-lo)
		return 1 - share, share
	})
}
