package evaluate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Without noise the baseline of a stretch is the mean, over persons and decisions, of the returns from
// there on, where an episode that is over has none; a person adds a norm of 1 at most, and one whose
// rewards are all the largest adds 1.
func TestTheBaselineIsTheMeanOfEachStretch(t *testing.T) {
	for _, horizon := range []int64{5, 40} {
		q := learnQuestion{learnOn: 3, public: Public{Horizon: horizon, Gamma: 1, Reward: Range{Min: 0, Max: 1}}}
		r := rand.New(rand.NewPCG(1, uint64(horizon)))
		sums, want := make([]float64, q.stretches()), make([]float64, q.stretches())
		for person, length := range []int{int(horizon), int(horizon) / 3, 0} {
			rows, rest := learnRows{within: q.public.Returns(), after: q.rests()}, 0.0
			for step := length - 1; step >= 0; step-- {
				if rest += r.Float64(); person == 0 {
					rest = float64(horizon - int64(step)) // the largest there can be
				}
				rows.step, rows.returns, rows.part = append(rows.step, q.stretch(step)), append(rows.returns, rest), append(rows.part, 1)
				inStretch := 0
				for other := range int(horizon) {
					if q.stretch(other) == q.stretch(step) {
						inStretch++
					}
				}
				want[q.stretch(step)] += rest / float64(inStretch) / 3
			}
			v, norm := make([]float64, len(sums)), 0.0
			q.first(v, rows, 0, length)
			for i, x := range v {
				sums[i] += x
				norm += x * x
			}
			if norm > 1+1e-12 || (horizon == 5) && person != 1 && norm < 1-1e-12 {
				t.Errorf("horizon %d, person %d: norm %v", horizon, person, math.Sqrt(norm))
			}
		}
		for i, b := range q.baseline(sums) {
			if math.Abs(b-want[i]) > 1e-9 {
				t.Errorf("horizon %d, stretch %d: %v; want %v", horizon, i, b, want[i])
			}
		}
	}
}
