package truthbench

import (
	"math"
	"slices"

	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Weighted are the rewards of a log of one episode a person, and the weights that a policy gives them: that
// of person i at decision t is at i*Horizon + t. After the end of an episode rewards are 0 and weights stay.
type Weighted struct {
	Gamma          float64
	Horizon        int
	Weight, Reward []float64
}

// NewWeighted weighs a log.
func NewWeighted(d *trajectory.Dataset, of policy.Policy, gamma float64, horizon int) (Weighted, error) {
	ratios := make([]float64, d.Rows())
	if err := policy.Ratios(ratios, of, d); err != nil {
		return Weighted{}, err
	}
	w := Weighted{Gamma: gamma, Horizon: horizon, Weight: make([]float64, d.Episodes()*horizon), Reward: make([]float64, d.Episodes()*horizon)}
	for e := range d.Episodes() {
		product, at := 1.0, e*horizon
		for t := range horizon {
			if row := d.EpisodeStart[e] + t; row < d.EpisodeStart[e+1] {
				product *= ratios[row]
				w.Reward[at+t] = d.Reward[row]
			}
			w.Weight[at+t] = product
		}
	}
	return w, nil
}

// Whole weighs returns by the whole episode.
func (w Weighted) Whole() Weighted {
	out := Weighted{Gamma: 1, Horizon: 1}
	for i := 0; i < len(w.Weight); i += w.Horizon {
		sum, discount := 0.0, 1.0
		for t := range w.Horizon {
			sum += discount * w.Reward[i+t]
			discount *= w.Gamma
		}
		out.Weight, out.Reward = append(out.Weight, w.Weight[i+w.Horizon-1]), append(out.Reward, sum)
	}
	return out
}

// Value is the weighted per-decision importance-sampling value (WPDIS; Precup, Sutton and Singh 2000).
func (w Weighted) Value() float64 {
	once := make([]float64, len(w.Weight)/w.Horizon)
	for i := range once {
		once[i] = 1
	}
	return w.counting(once)
}

// counting is the value where person i counts times[i] times.
func (w Weighted) counting(times []float64) float64 {
	sums, gained := make([]float64, w.Horizon), make([]float64, w.Horizon)
	for i, k := range times {
		if k == 0 {
			continue
		}
		for t := range w.Horizon {
			x := k * w.Weight[i*w.Horizon+t]
			sums[t] += x
			gained[t] += x * w.Reward[i*w.Horizon+t]
		}
	}
	value, discount := 0.0, 1.0
	for t, sum := range sums {
		if sum > 0 {
			value += discount * gained[t] / sum
		}
		discount *= w.Gamma
	}
	return value
}

// Bootstrap are 400 WPDIS values of each policy of a log, of persons drawn with replacement, the same for all policies. below draws
// a number from 0 to n - 1.
func Bootstrap(below func(n int) int, policies ...Weighted) [][]float64 {
	const resamples = 400
	out := make([][]float64, len(policies))
	times := make([]float64, len(policies[0].Weight)/policies[0].Horizon)
	for range resamples {
		clear(times)
		for range times {
			times[below(len(times))]++
		}
		for k, w := range policies {
			out[k] = append(out[k], w.counting(times))
		}
	}
	return out
}

// Percentiles is the interval from the 2.5th to the 97.5th of 100.
func Percentiles(x []float64) [2]float64 {
	x = slices.Sorted(slices.Values(x))
	k := len(x) / 40
	return [2]float64{(x[k-1] + x[k]) / 2, (x[len(x)-k-1] + x[len(x)-k]) / 2}
}

// Minus is what x has more than y.
func Minus(x, y []float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = x[i] - y[i]
	}
	return out
}

// Betting is a 95% interval of a policy's value, whose discounted weights of a person sum to most at most: a lower
// limit of what is gained, and an upper one of what is missed of rewards up to 1.
func (w Weighted) Betting(most float64) [2]float64 {
	gained, missed, whole := make([]float64, len(w.Weight)/w.Horizon), make([]float64, len(w.Weight)/w.Horizon), 0.0
	for i := range gained {
		discount := 1.0
		whole = 0
		for t := range w.Horizon {
			k := i*w.Horizon + t
			gained[i] += discount * w.Weight[k] * w.Reward[k] / most
			missed[i] += discount * w.Weight[k] * (1 - w.Reward[k]) / most
			whole += discount
			discount *= w.Gamma
		}
	}
	return [2]float64{most * BettingLeast(gained), whole - most*BettingLeast(missed)}
}

// BettingMinus is a 95% interval of the value of one policy less that of another, from the difference of their
// weights, whose discounted sum of a person lies in a range.
func (w Weighted) BettingMinus(o Weighted, low, high float64) [2]float64 {
	x, rest := make([]float64, len(w.Weight)/w.Horizon), make([]float64, len(w.Weight)/w.Horizon)
	for i := range x {
		discount := 1.0
		for t := range w.Horizon {
			k := i*w.Horizon + t
			x[i] += discount * (w.Weight[k] - o.Weight[k]) * w.Reward[k]
			discount *= w.Gamma
		}
		x[i] = (x[i] - low) / (high - low)
		rest[i] = 1 - x[i]
	}
	return [2]float64{low + (high-low)*BettingLeast(x), high - (high-low)*BettingLeast(rest)}
}

// BettingLeast is a lower confidence limit, at half of 5%, of the mean of independent numbers in [0, 1]: the least m
// that a capital which bets on more never refutes, with stakes that follow from earlier numbers (Waudby-Smith and
// Ramdas 2024, hedged capital, stakes at most 1/(2m)).
func BettingLeast(x []float64) float64 {
	const wins = 2 / 0.05
	stakes := make([]float64, len(x))
	sum, square := 0.5, 0.25
	for i, v := range x {
		if v < -1e-9 || v > 1+1e-9 {
			panic("truthbench: a number outside its bounds")
		}
		stakes[i] = math.Sqrt(2 * math.Log(wins) / (float64(len(x)) * square / float64(i+1)))
		sum += v
		mean := sum / float64(i+2)
		square += (v - mean) * (v - mean)
	}
	refuted := func(m float64) bool {
		capital := 1.0
		for i, v := range x {
			if capital *= 1 + min(stakes[i], 0.5/m)*(v-m); capital >= wins {
				return true
			}
		}
		return false
	}
	low, high := 0.0, 1.0
	for range 30 {
		if m := (low + high) / 2; refuted(m) {
			low = m
		} else {
			high = m
		}
	}
	return low
}
