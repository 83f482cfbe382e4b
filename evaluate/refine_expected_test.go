package evaluate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// line plays a chain of any number of states, uniform start, fair coin: reward 1
// at the end, cut off after horizon steps with the final observation recorded.
func line(persons, states, horizon int, seed uint64) *trajectory.Dataset {
	rng := rand.New(rand.NewPCG(seed, 1))
	d := &trajectory.Dataset{Columns: []string{chain.Column}, PersonStart: []int{0}, EpisodeStart: []int{0}}
	for range persons {
		s, steps := rng.IntN(states), 0
		for ; s < states && steps < horizon; steps++ {
			d.Obs = append(d.Obs, float64(s))
			s += rng.IntN(2)
			d.Reward = append(d.Reward, 0)
		}
		ended := s == states
		if ended {
			d.Reward[len(d.Reward)-1] = 1
		}
		d.Terminated = append(d.Terminated, ended)
		d.HasFinal = append(d.HasFinal, !ended)
		d.Final = append(d.Final, float64(s))
		d.EpisodeStart = append(d.EpisodeStart, len(d.Reward))
		d.PersonStart = append(d.PersonStart, len(d.Terminated))
	}
	return d
}

// lineValues is the value of each state of line.
func lineValues(states int, gamma float64) []float64 {
	v := make([]float64, states)
	step := 0.5 / (1 - 0.5*gamma)
	v[states-1] = step
	for s := states - 2; s >= 0; s-- {
		v[s] = step * gamma * v[s+1]
	}
	return v
}

// lineGuesses are the two numbers that the expected error rests on, for line:
// the spread of returns about their state's value, from the moments of the
// negative binomial length, and the deviation of values from a line in s.
func lineGuesses(states int, gamma float64) (spread, deviation float64) {
	v := lineValues(states, gamma)
	second := lineValues(states, gamma*gamma) // E[F^2] is the value at gamma^2
	var x, y, xx, xy, n float64
	for s := range v {
		spread += second[s] - v[s]*v[s]
		x, y, xx, xy, n = x+float64(s), y+v[s], xx+float64(s)*float64(s), xy+float64(s)*v[s], n+1
	}
	slope := (xy - x*y/n) / (xx - x*x/n)
	for s := range v {
		d := v[s] - y/n - slope*(float64(s)-x/n)
		deviation += d * d
	}
	return math.Sqrt(spread / n), math.Sqrt(deviation / n)
}

// TestRefineExpectedError compares the error promised before any data is read
// with the error made, over persons, budgets, states and horizons.
func TestRefineExpectedError(t *testing.T) {
	within, cells := 0, 0
	for _, states := range expectedStates {
		for _, horizon := range []int{3 * states, 6 * states} {
			for _, persons := range []int{1000, 10000} {
				d := make([]*trajectory.Dataset, expectedTrials)
				for i := range d {
					d[i] = line(persons, states, horizon, uint64(i))
				}
				e := DPRefine{}
				e.Spread, e.Deviation = lineGuesses(states, 0.99)
				for _, epsilon := range []float64{0.3, 1, 3} {
					p := chainPublic(int64(persons), epsilon, policy.Logged{})
					p.Horizon = int64(horizon)
					p.Features = must(feature.NewTabular(states, chain.Column))
					got := 0.0
					for i := range d {
						got += rmseOf(perform(t, e, p, d[i], noise.NewSeeded(uint64(i))).Values, lineValues(states, p.Gamma)) / expectedTrials
					}
					want := must(e.Plan(p)).Expected.RMSE
					ratio := got / want
					cells++
					if ratio < 1.5 && ratio > 1/1.5 {
						within++
					}
					t.Logf("states %d, horizon %d, persons %d, epsilon %g: error %.5f, expected %.5f, ratio %.2f", states, horizon, persons, epsilon, got, want, ratio)
				}
			}
		}
	}
	t.Logf("%d of %d within a factor of 1.5", within, cells)
	if float64(within) < expectedShare*float64(cells) {
		t.Errorf("the expected error is within a factor of 1.5 of the error in %d of %d settings; want a share of %v", within, cells, expectedShare)
	}
}
