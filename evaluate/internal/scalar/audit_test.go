package scalar

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/audit"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// How often an audit draws the noise on each of its two neighbouring datasets:
// that of one stage, and that of a whole release, which is slower.
const (
	runsAudited = 20000
	runsWhole   = 8000
)

// lowerMu bounds from below the mu of Gaussian differential privacy by a number that
// tells two neighbouring datasets apart; it may be any function of what is released.
func lowerMu(t *testing.T, score func(neighbour bool, src *noise.Source) float64, src *noise.Source, runs int) float64 {
	t.Helper()
	found, err := audit.DrawNumbers(runs, func(world int) float64 { return score(world == 1, src) }).Bound(audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return found.Mu
}

// bystanders is the number of persons that two neighbouring datasets share.
const bystanders = 40

// auditSample is a log of one-row episodes, on-policy, of bystanders with reward
// 1/2 and one person with the given reward.
func auditSample(t *testing.T, reward float64) *value.Sample {
	t.Helper()
	d := &trajectory.Dataset{PersonStart: []int{0}, EpisodeStart: []int{0}}
	for i := range bystanders + 1 {
		d.Action = append(d.Action, 0)
		d.Reward = append(d.Reward, 0.5)
		d.Terminated = append(d.Terminated, true)
		d.PersonStart = append(d.PersonStart, i+1)
		d.EpisodeStart = append(d.EpisodeStart, i+1)
		d.PersonID = append(d.PersonID, strconv.Itoa(i))
	}
	d.Reward[0] = reward
	s, err := value.NewSample(d, value.Options{Gamma: 1, Policy: policy.Logged{}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// auditedStages makes a score for each stage of the scalar estimators, under a
// noise multiplier, on a pair of datasets that is worst for it under ReplaceOne.
func auditedStages(t *testing.T, multiplier float64) map[string]func(bool, *noise.Source) float64 {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	one, err := policy.NewUniform(1)
	must(err)
	p := facts.Public{
		Persons: bystanders + 1, Gamma: 1, Horizon: 1, Reward: facts.Range{Min: 0, Max: 1}, Returns: facts.Range{Min: 0, Max: 1},
		Target: one, Adjacency: dp.ReplaceOne,
	}
	pick := func(neighbour bool, a, b float64) float64 {
		if neighbour {
			return b
		}
		return a
	}
	n := ClipRanges{Anchor: 0.5, Below: 2, Above: 2, Steps: ClipSteps}
	all := Stages{Baseline: multiplier, Clip: multiplier, Weights: multiplier, Clipped: multiplier, Main: multiplier}
	mean := Mean{Public: p, Ranges: n, Cap: 1, Noise: all, Tail: ThinTail()}
	// Every number but one lies at the anchor; that one is far beyond the clip.
	numbers := func(first float64) []float64 {
		x := make([]float64, bystanders+1)
		for i := range x {
			x[i] = n.Anchor
		}
		x[0] = first
		return x
	}
	weights := func(first float64) []float64 {
		x := make([]float64, bystanders+1)
		for i := range x {
			x[i] = 0.5
		}
		x[0] = first
		return x
	}
	low, high := auditSample(t, 0), auditSample(t, 1)
	sample := func(neighbour bool) *value.Sample {
		if neighbour {
			return high
		}
		return low
	}
	return map[string]func(bool, *noise.Source) float64{
		"histogram": func(neighbour bool, src *noise.Source) float64 {
			x := Numbers{numbers(pick(neighbour, 0.5, 1e9))}
			c, _, err := mean.clipper(n).count(func(x, _ float64) float64 { return x }, x, x, n, src)
			must(err)
			return c[0] - c[ClipSteps]
		},
		"estimate": func(neighbour bool, src *noise.Source) float64 {
			w := mean
			w.Noise.Clip, w.Noise.Weights = 0, 0
			r, err := w.Run(Numbers{numbers(pick(neighbour, -1e9, 1e9))}, Numbers{weights(0.5)}, n, src)
			must(err)
			return r.Value
		},
		"baseline, one number": func(neighbour bool, src *noise.Source) float64 {
			g, err := Baseline{Public: p, Noise: multiplier, Kind: BaselineValue}.Pay(sample(neighbour), src)
			must(err)
			return g.Overall
		},
		"baseline by action": func(neighbour bool, src *noise.Source) float64 {
			g, err := Baseline{Public: p, Noise: multiplier, Kind: BaselineAction}.Pay(sample(neighbour), src)
			must(err)
			return g.Action[0]
		},
		"mean weight": func(neighbour bool, src *noise.Source) float64 {
			o, err := overlap{public: p, cap: 1, noise: all}.release(cutAbove(math.Inf(1), slices.Values(weights(pick(neighbour, -1e9, 1e9)))), src)
			must(err)
			return o.MeanWeight
		},
		"clipped share": func(neighbour bool, src *noise.Source) float64 {
			persons := func(yield func(float64, bool) bool) {
				for i, w := range weights(0.5) {
					if !yield(w, i%2 == 1 || i == 0 && neighbour) {
						return
					}
				}
			}
			o, err := overlap{public: p, cap: 1, noise: all}.release(persons, src)
			must(err)
			return o.ClippedShare
		},
		"cells": func(neighbour bool, src *noise.Source) float64 {
			c := Cells{Public: p, Range: p.Returns, Cells: 1, Actions: 1, Noise: multiplier}
			bin, gained, missed := make([]float64, bystanders+1), make([]float64, bystanders+1), make([]float64, bystanders+1)
			c.Contributions(bin, gained, missed, sample(neighbour), make(Visits, bystanders+1))
			r, err := c.Release(bin, gained, missed, src)
			must(err)
			return r.Gained[0][0] - r.Missed[0][0]
		},
		"bounds": func(neighbour bool, src *noise.Source) float64 {
			b := Bounds{Public: p, Range: p.Returns, Caps: ClipRanges{Above: 3}, Noise: Stages{Main: multiplier}}
			x, z := weights(0.5), weights(0.5)
			x[0], z[0] = pick(neighbour, 0, 1e9), pick(neighbour, 1e9, 0)
			r, err := b.Run(Numbers{x}, Numbers{z}, src)
			must(err)
			return r.Value
		},
	}
}

// TestAuditsOfScalarStages bounds mu from below for each stage on a worst pair
// of neighbours: the bound stays under the claim, comes near it, and exceeds it
// once the noise is halved, which shows that the audit would notice.
func TestAuditsOfScalarStages(t *testing.T) {
	const multiplier = 2
	const claim = 2.0 / multiplier
	// A baseline by action spends part of its norm on a count that the pair
	// shares, which its score does not see.
	weaker := map[string]float64{"baseline by action": 0.65, "baseline, one number": 0.8}
	halved := auditedStages(t, multiplier/2)
	for name, score := range auditedStages(t, multiplier) {
		t.Run(name, func(t *testing.T) {
			got := lowerMu(t, score, noise.NewSeeded(21), runsAudited)
			floor := 0.85
			if f, ok := weaker[name]; ok {
				floor = f
			}
			if got > claim || got < floor*claim {
				t.Errorf("mu is at least %.4f; the event claims %.4f, and the audit should find %.2f of it", got, claim, floor)
			}
			t.Logf("mu >= %.3f of %.3f", got, claim)
			if got := lowerMu(t, halved[name], noise.NewSeeded(22), runsAudited); got < claim {
				t.Errorf("halved noise passes: mu at least %.4f, claim %.4f", got, claim)
			}
		})
	}
}

// TestAuditOfAWholeScalarRelease audits histogram, diagnostics and estimate
// together, under both adjacencies: the released value, taken in units of the
// clip that was released with it, stays under the mu of the composed event, and
// not once the estimate's noise is halved.
func TestAuditOfAWholeScalarRelease(t *testing.T) {
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		one, err := policy.NewUniform(1)
		if err != nil {
			t.Fatal(err)
		}
		p := facts.Public{
			Persons: bystanders, Gamma: 1, Horizon: 1, Reward: facts.Range{Min: -100, Max: 100}, Returns: facts.Range{Min: -100, Max: 100},
			Target: one, Adjacency: adjacency,
		}
		if adjacency == dp.ReplaceOne {
			p.Persons++
		}
		n := ClipRanges{Below: 2, Above: 2, Steps: ClipSteps}
		mu, err := account.GaussianMu(dp.Budget{Epsilon: 4, Delta: 1e-6})
		if err != nil {
			t.Fatal(err)
		}
		share := func(s float64) float64 { return adjacency.SumSensitivity(1) / (mu.Lower * math.Sqrt(s)) }
		w := Mean{Public: p, Ranges: n, Cap: 1, Tail: HeavyTail(),
			Noise: Stages{Clip: share(0.1), Weights: share(0.05), Clipped: share(0.05), Main: share(0.8)}}
		claim := 0.0
		for _, m := range w.Noise.Taken() {
			claim = math.Hypot(claim, adjacency.SumSensitivity(1)/m)
		}
		score := func(w Mean) func(bool, *noise.Source) float64 {
			return func(neighbour bool, src *noise.Source) float64 {
				x := make([]float64, bystanders, bystanders+1)
				switch {
				case neighbour:
					x = append(x, 1e9)
				case adjacency == dp.ReplaceOne:
					x = append(x, -1e9)
				}
				r, err := w.Run(Numbers{x}, Numbers{make([]float64, len(x))}, n, src)
				if err != nil {
					t.Fatal(err)
				}
				return r.Value / r.Clip.Width()
			}
		}
		if got := lowerMu(t, score(w), noise.NewSeeded(31), runsWhole); got > claim || got < 0.5*claim {
			t.Errorf("%v: mu is at least %.4f; the event claims %.4f, and the audit should find half of it", adjacency, got, claim)
		}
		w.Noise.Main /= 2
		if got := lowerMu(t, score(w), noise.NewSeeded(32), runsWhole); got < claim {
			t.Errorf("%v: halved noise passes: mu at least %.4f, claim %.4f", adjacency, got, claim)
		}
	}
}
