package scalar

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// process is a decision process of two states and two actions whose every course can
// be listed. Entry [s][a] of each table belongs to action a in state s.
type process struct {
	horizon          int
	gamma            float64
	behavior, target [2][2]float64
	recorded         [2][2]float64 // what the log says of behavior
	reward, ends     [2][2]float64 // reward in [-1, 1]; probability that the episode ends
	cut              float64       // probability that the record stops after a decision that does not end it
	stay             [2][2]float64 // probability of the same state again
}

func drawProcess(t *rapid.T) process {
	unit := rapid.SampledFrom([]float64{0, 0.1, 0.5, 0.8, 1})
	p := process{horizon: rapid.IntRange(1, 3).Draw(t, "horizon"), gamma: rapid.SampledFrom([]float64{0.5, 1}).Draw(t, "gamma"),
		cut: rapid.SampledFrom([]float64{0, 0, 0.3}).Draw(t, "cut")}
	for s := range 2 {
		b, g := unit.Draw(t, "behavior"), unit.Draw(t, "target")
		p.behavior[s], p.recorded[s], p.target[s] = [2]float64{1 - b, b}, [2]float64{1 - b, b}, [2]float64{1 - g, g}
		for a := range 2 {
			p.reward[s][a] = rapid.SampledFrom([]float64{-1, 0, 0.5, 1}).Draw(t, "reward")
			p.ends[s][a], p.stay[s][a] = unit.Draw(t, "ends"), unit.Draw(t, "stay")
		}
	}
	return p
}

// value is that of the target policy from state 0, by backward induction.
func (p process) value(s, left int) float64 {
	if left == 0 {
		return 0
	}
	v := 0.0
	for a, q := range p.target[s] {
		if q == 0 {
			continue
		}
		next := p.stay[s][a]*p.value(s, left-1) + (1-p.stay[s][a])*p.value(1-s, left-1)
		v += q * (p.reward[s][a] + p.gamma*(1-p.ends[s][a])*next)
	}
	return v
}

// confounded is the process for people whose logged decisions go by odds up to factor
// times those that are recorded, and who fare otherwise.
func (p process) confounded(t *rapid.T, factor float64) process {
	for s, e := range p.recorded {
		f := rapid.SampledFrom([]float64{1 / factor, 1, factor}).Draw(t, "odds")
		b := f * e[1] / (e[0] + f*e[1])
		p.behavior[s] = [2]float64{1 - b, b}
		for a := range 2 {
			p.reward[s][a] = rapid.SampledFrom([]float64{-1, 0, 0.5, 1}).Draw(t, "reward")
			p.ends[s][a] = rapid.SampledFrom([]float64{0, 0.1, 1}).Draw(t, "ends")
		}
	}
	return p
}

// courses lists every course of the logged policy from state 0 with its probability,
// one person each.
func (p process) courses() (*trajectory.Dataset, []float64) {
	d := &trajectory.Dataset{PersonStart: []int{0}, EpisodeStart: []int{0}, Columns: []string{"state"}}
	var chances []float64
	type row struct {
		state, action            int
		reward, behavior, target float64
	}
	var walk func(s int, chance float64, rows []row)
	end := func(chance float64, rows []row, ended bool) {
		if chance == 0 {
			return
		}
		for _, r := range rows {
			d.Reward, d.BehaviorProb, d.TargetProb = append(d.Reward, r.reward), append(d.BehaviorProb, r.behavior), append(d.TargetProb, r.target)
			d.Obs, d.Action = append(d.Obs, float64(r.state)), append(d.Action, int32(r.action))
		}
		d.EpisodeStart = append(d.EpisodeStart, len(d.Reward))
		d.Terminated = append(d.Terminated, ended)
		d.PersonStart = append(d.PersonStart, len(d.Terminated))
		chances = append(chances, chance)
	}
	walk = func(s int, chance float64, rows []row) {
		for a, b := range p.behavior[s] {
			if b == 0 || chance == 0 {
				continue
			}
			here := append(rows[:len(rows):len(rows)], row{s, a, p.reward[s][a], p.recorded[s][a], p.target[s][a]})
			on := chance * b
			end(on*p.ends[s][a], here, true)
			on *= 1 - p.ends[s][a]
			if len(here) == p.horizon {
				end(on, here, false)
				continue
			}
			end(on*p.cut, here, false)
			on *= 1 - p.cut
			walk(s, on*p.stay[s][a], here)
			walk(1-s, on*(1-p.stay[s][a]), here)
		}
	}
	walk(0, 1, nil)
	return d, chances
}

// supported tells whether the logs can show whatever the target policy does.
func (p process) supported() bool {
	for s := range 2 {
		for a := range 2 {
			if p.behavior[s][a] == 0 && p.target[s][a] > 0 {
				return false
			}
		}
	}
	return true
}

// TestBoundsHoldTheValue computes expectations over all courses of random processes,
// with actions that are never logged, episodes that end early or are cut off, and
// caps: the mean of x lies below the value and 1 less that of z above. Where nothing
// is missing both are the value.
func TestBoundsHoldTheValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProcess(t)
		d, chances := p.courses()
		s, err := value.NewSample(d, value.Options{Gamma: p.gamma, Policy: policy.ProbColumn{}})
		if err != nil {
			t.Fatal(err)
		}
		steps := StepwiseOf(facts.Public{Reward: facts.Range{Min: -1, Max: 1}, Horizon: int64(p.horizon), Gamma: p.gamma}, false)
		worth := p.value(0, p.horizon)
		x, z := make([]float64, len(chances)), make([]float64, len(chances))
		whole := Whole{Returns: steps.Range(), Reward: steps.Reward, Horizon: steps.Horizon, Gamma: p.gamma}
		for name, each := range map[string]func(x, z []float64, s *value.Sample){"decision by decision": steps.Contributions, "whole": whole.Contributions} {
			each(x, z, s)
			for _, cap := range []float64{math.Inf(1), 2, 1, 0.3} {
				low, high := 0.0, 1.0
				for i, chance := range chances {
					shrink := min(1, cap/(x[i]+z[i]))
					if x[i]+z[i] == 0 {
						shrink = 1
					}
					low += chance * shrink * x[i]
					high -= chance * shrink * z[i]
				}
				at := (worth - steps.Range().Min) / steps.Range().Width()
				if at < low-1e-9 || at > high+1e-9 {
					t.Errorf("%s, cap %v: the value is at %v; want from %v to %v", name, cap, at, low, high)
				}
				if math.IsInf(cap, 1) && p.cut == 0 && p.supported() && high-low > 1e-9 {
					t.Errorf("%s: nothing is missing, and the bounds are %v and %v", name, low, high)
				}
			}
		}
	})
}

// TestDiscountsOfTheDataCountAsRewards: with a discount a decision, rewards count as
// discounted and the horizon as it is.
func TestDiscountsOfTheDataCountAsRewards(t *testing.T) {
	d := &trajectory.Dataset{PersonStart: []int{0, 1}, EpisodeStart: []int{0, 3}, Terminated: []bool{true},
		Reward: []float64{1, 1, 1}, Discount: []float64{0.5, 0, 1}, BehaviorProb: []float64{0.5, 0.5, 0.5}, TargetProb: []float64{1, 0.5, 0.5}}
	s, err := value.NewSample(d, value.Options{Gamma: 1, Policy: policy.ProbColumn{}})
	if err != nil {
		t.Fatal(err)
	}
	x, z := make([]float64, 1), make([]float64, 1)
	c := StepwiseOf(facts.Public{Reward: facts.Range{Min: 0, Max: 1}, Horizon: 4, Gamma: 0.9}, true)
	c.Contributions(x, z, s)
	// Weights are 2 throughout, rewards 1, 0.5, 0 and, after the end, 0; of four.
	if x[0] != 2*1.5/4 || z[0] != 2*2.5/4 {
		t.Errorf("x %v, z %v; want .75 and 1.25", x[0], z[0])
	}
}

// TestCapIsChosenForTheNarrowestInterval: weights of 2 for half of the persons are
// worth a cap of 2 and no more.
func TestCapIsChosenForTheNarrowestInterval(t *testing.T) {
	const persons = 4000
	p := facts.Public{Persons: persons, Adjacency: dp.ReplaceOne, Returns: facts.Range{Min: 0, Max: 1}}
	b := Bounds{Public: p, Range: p.Returns, Caps: ClipRanges{Above: 64, Steps: ClipSteps}, Noise: Stages{Clip: 2, Main: 5}}
	x, z := make([]float64, persons), make([]float64, persons)
	for i := range x {
		x[i] = 2 * float64(i%2)
	}
	src := noise.NewSeeded(1)
	for range 20 {
		e, err := b.Run(Numbers{x}, Numbers{z}, src)
		if err != nil {
			t.Fatal(err)
		}
		if *e.MaxWeight < 1.9 || *e.MaxWeight > 3 {
			t.Errorf("the cap is %v; want 2, or the next", *e.MaxWeight)
		}
	}
}

// TestIntervalIsMadeOfItsParts: value, deviations and clipping give the interval, as
// reports tell their readers.
func TestIntervalIsMadeOfItsParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wide := facts.Range{Min: -1e3, Max: 1e3}
		b := Bounds{Public: facts.Public{Persons: 100, Adjacency: dp.AddRemoveOne, Returns: wide}, Range: facts.Range{Min: -1, Max: 3}}
		sum := rapid.Float64Range(-50, 500)
		e := b.estimate(mechanism.NoisyPair{
			Count: rapid.Float64Range(50, 200).Draw(t, "count"), X: sum.Draw(t, "x"), Z: sum.Draw(t, "z"),
			XX: sum.Draw(t, "xx"), XZ: sum.Draw(t, "xz"), ZZ: sum.Draw(t, "zz"),
			SD: mechanism.PairSD{Count: 3, Sum: 6, Difference: 7, Both: 5, Square: 20},
		}, 4)
		half := Z95 * math.Hypot(e.StdSampling, e.StdPrivacy)
		for i, want := range [2]float64{e.Value - half - e.Clipping[0], e.Value + half + e.Clipping[1]} {
			if math.Abs(e.Interval[i]-want) > 1e-9 || e.Clipping[i] < 0 {
				t.Errorf("%+v: end %d of the interval; its parts make %v", e, i, want)
			}
		}
		if e.Value < b.Range.Min || e.Value > b.Range.Max || !(e.StdSampling >= 0) || !(e.StdPrivacy > 0) {
			t.Errorf("%+v", e)
		}
	})
}

// Weights are 0 or 2, or those of 2 were logged half as often as the policy takes them,
// so that nothing or half of the mass is missing. The share lies within three of its
// standard errors, which are not idle: noise and chance make most of one.
func TestMissingMassIsWithinItsError(t *testing.T) {
	const persons, draws = 400, 300
	src := noise.NewSeeded(5)
	chance := rand.New(rand.NewPCG(5, 6))
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		for _, missing := range []float64{0, 0.5} {
			for _, multiplier := range []float64{1, 30} {
				b := Bounds{Public: facts.Public{Persons: persons, Adjacency: adjacency, Returns: facts.Range{Max: 1}}, Range: facts.Range{Max: 1},
					Caps: ClipRanges{Above: 4}, Noise: Stages{Main: multiplier}}
				far, square := 0, 0.0
				for range draws {
					x, z := make([]float64, persons), make([]float64, persons)
					for i := range x {
						if chance.Float64() < (1-missing)/2 {
							x[i], z[i] = 1.5, 0.5
						}
					}
					e, err := b.Run(Numbers{x}, Numbers{z}, src)
					if err != nil {
						t.Fatal(err)
					}
					// Of a share below 0 only 0 is told.
					off := max(e.Missing.Share-missing, 0) / e.Missing.SD
					square += off * off / draws * 2
					if off > 3 {
						far++
					}
				}
				// Beyond 3 are 0.13% of draws; more than 5 of 300 are met with probability below 1e-5.
				if far > 5 || square < 0.5 || square > 1.6 {
					t.Errorf("%v, %v missing, noise %v: %d of %d more than 3 standard errors above, mean square %.2f", adjacency, missing, multiplier, far, draws, square)
				}
			}
		}
	}
}

// An end that is to fail with 5% by itself leaves 4% to its sums where limits of probabilities may fail with 1%: the 96% point of a
// normal law is 1.7507.
func TestEndsAllowForLimits(t *testing.T) {
	for _, c := range []struct {
		estimated bool
		want      float64
	}{{false, 1.6449}, {true, 1.7507}} {
		b := Bounds{OneSided: true, Estimated: c.estimated, Answers: 4}
		if got := b.Z(); math.Abs(got-c.want) > 5e-5 || b.AloneConfidence() != 0.9 {
			t.Errorf("estimated %v: %.4f standard deviations with %v; want %v with 0.9", c.estimated, got, b.AloneConfidence(), c.want)
		}
	}
}
