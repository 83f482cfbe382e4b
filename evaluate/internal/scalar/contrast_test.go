package scalar

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/policy"
)

// TestContrastBoundsTheDifference lists every course of small processes, with actions
// that are never logged and records that are cut off, and wants the difference of two
// policies' values between the two means, at any cap.
func TestContrastBoundsTheDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProcess(t)
		other := p
		other.target = drawProcess(t).target
		steps := StepwiseOf(facts.Public{Reward: facts.Range{Min: -1, Max: 1}, Horizon: int64(p.horizon), Gamma: p.gamma}, false)
		var shares [4][]float64
		var chances []float64
		for k, q := range []process{p, other} {
			d, each := q.courses()
			s, err := value.NewSample(d, value.Options{Gamma: p.gamma, Policy: policy.ProbColumn{}})
			if err != nil {
				t.Fatal(err)
			}
			chances = each
			shares[2*k], shares[2*k+1] = make([]float64, len(each)), make([]float64, len(each))
			steps.Contributions(shares[2*k], shares[2*k+1], s)
		}
		gained, missed := Combine(Term{Numbers{shares[0]}, Numbers{shares[1]}, 1}, Term{Numbers{shares[2]}, Numbers{shares[3]}, -1})
		x, z := gained[0], missed[0]
		worth := p.value(0, p.horizon) - other.value(0, p.horizon)
		width := steps.Range().Width()
		for _, cap := range []float64{math.Inf(1), 1, 0.4} {
			low, high := 0.0, 1.0
			for i, chance := range chances {
				shrink := 1.0
				if g := x[i] + z[i]; g > cap {
					shrink = cap / g
				}
				low += chance * shrink * x[i]
				high -= chance * shrink * z[i]
			}
			at := (worth + width) / (2 * width)
			if at < low-1e-9 || at > high+1e-9 {
				t.Errorf("cap %v: the difference is at %v; want from %v to %v", cap, at, low, high)
			}
			if math.IsInf(cap, 1) && p.cut == 0 && p.supported() && other.supported() && high-low > 1e-9 {
				t.Errorf("nothing is missing, and the bounds are %v and %v", low, high)
			}
		}
	})
}

// TestDifferencesOfWeightsBoundTheDifference lists every course of small processes, with actions
// that are never logged and records that are cut off, and wants the difference between the two
// means, at any cap. Where nothing is missing both are the difference, and the mean weight is 1.
func TestDifferencesOfWeightsBoundTheDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProcess(t)
		other := p
		other.target = drawProcess(t).target
		d, chances := p.courses()
		table := func(q process) policy.Table {
			out, err := policy.NewTable(append(q.target[0][:], q.target[1][:]...), 2, "state")
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		a, b := table(p), table(other)
		bound, ok := policy.BoundDifference(a, b, table(process{target: p.behavior}))
		if !ok || bound.Distance == 0 {
			return
		}
		steps := StepwiseOf(facts.Public{Reward: facts.Range{Min: -1, Max: 1}, Horizon: int64(p.horizon), Gamma: p.gamma}, false)
		whole := Whole{Returns: steps.Range(), Reward: steps.Reward, Horizon: steps.Horizon, Gamma: p.gamma}
		var samples [2]*value.Sample
		for k, q := range []policy.Policy{a, b} {
			s, err := value.NewSample(d, value.Options{Gamma: p.gamma, Policy: q})
			if err != nil {
				t.Fatal(err)
			}
			samples[k] = s
		}
		distance, err := Distances(d, a, b, bound.Distance)
		if err != nil {
			t.Fatal(err)
		}
		span := rapid.SampledFrom([]Span{Full, {-0.5, 1}, {0, 2}}).Draw(t, "span")
		worth := p.value(0, p.horizon) - other.value(0, p.horizon)
		x, z := make([]float64, len(chances)), make([]float64, len(chances))
		for name, c := range map[string]Difference{"decision by decision": {bound.Distance, &steps, nil, span}, "whole": {bound.Distance, nil, &whole, span}} {
			c.Contributions(x, z, samples[0], samples[1], distance)
			for _, cap := range []float64{math.Inf(1), 1, 0.4} {
				low, high, mean := 0.0, 1.0, 0.0
				for i, chance := range chances {
					shrink := 1.0
					if g := x[i] + z[i]; g > cap {
						shrink = cap / g
					}
					low += chance * shrink * x[i]
					high -= chance * shrink * z[i]
					mean += chance * (x[i] + z[i])
					if p.horizon == 1 && bound.Weight > 0 && x[i]+z[i] > bound.Weight+1e-9 {
						t.Errorf("%s: a weight of %v above the bound %v", name, x[i]+z[i], bound.Weight)
					}
				}
				at := (worth - c.Range().Min) / c.Range().Width()
				if at < low-1e-9 || at > high+1e-9 || mean > 1+1e-9 {
					t.Errorf("%s, cap %v: the difference is at %v; want from %v to %v; mean weight %v", name, cap, at, low, high, mean)
				}
				if math.IsInf(cap, 1) && p.cut == 0 && p.supported() && other.supported() && high-low > 1e-9 {
					t.Errorf("%s: nothing is missing, and the bounds are %v and %v", name, low, high)
				}
			}
		}
	})
}

// TestAlikePoliciesCancel: a policy against itself adds the same to both sides, and
// with weights of 1 nobody differs from anybody.
func TestAlikePoliciesCancel(t *testing.T) {
	x, z := Numbers{{0.2, 1}, {0}}, Numbers{{0.8, 0}, {1}}
	n := 0
	for p, q := range Pairs(Combine(Term{x, z, 1}, Term{x, z, -1})) {
		if p != 0.5 || q != 0.5 {
			t.Errorf("person %d adds %v and %v; want .5 and .5", n, p, q)
		}
		n++
	}
	if n != 3 {
		t.Errorf("%d persons of 3", n)
	}
}

// TestJointIntervalsAreWider: with k answers each end fails with probability .025/k.
// The normal quantiles are from tables.
func TestJointIntervalsAreWider(t *testing.T) {
	for answers, want := range map[int]float64{0: 1.959964, 1: 1.959964, 2: 2.241403, 5: 2.575829, 50: 3.290527} {
		b := Bounds{Answers: answers}
		if got := b.Z(); math.Abs(got-want) > 2e-6 {
			t.Errorf("%d answers: z is %v; want %v", answers, got, want)
		}
		// None of n persons shows what has probability unseen/n with probability .05/k.
		if got := math.Exp(-b.unseen()) * float64(max(answers, 1)); math.Abs(got-math.Exp(-3)) > 1e-12 {
			t.Errorf("%d answers: rare outcomes are missed with probability %v", answers, got)
		}
	}
	public := facts.Public{Persons: 100, Adjacency: dp.ReplaceOne, Returns: facts.Range{Min: -1, Max: 1}}
	x, z := make([]float64, 100), make([]float64, 100)
	for i := range x {
		x[i], z[i] = float64(i%2), float64((i+1)%2)
	}
	width := func(answers int) float64 {
		b := Bounds{Public: public, Range: public.Returns, Caps: ClipRanges{Above: 1}, Noise: Stages{Main: 1}, Answers: answers}
		e, err := b.Run(Numbers{x}, Numbers{z}, noise.NewSeeded(1))
		if err != nil {
			t.Fatal(err)
		}
		return e.Interval[1] - e.Interval[0]
	}
	if one, ten := width(1), width(10); !(ten > 1.3*one && ten < 1.6*one) {
		t.Errorf("widths %v of one answer and %v of one of ten with the same noise; want about 2.81/1.96 times as much", one, ten)
	}
}

// TestACombinationIsOfItsTerms: where weights are 1, what a person adds is the combination of their
// shares as a share of the range that it can have.
func TestACombinationIsOfItsTerms(t *testing.T) {
	for _, times := range [][]float64{{1}, {1, -1}, {0.5, 0.25, 0.25}, {2, -1, -0.5}} {
		shares, terms := []float64{0.125, 0.75, 0.5}, []Term(nil)
		value, low, width := 0.0, 0.0, 0.0
		for i, c := range times {
			terms = append(terms, Term{X: Numbers{shares[i : i+1]}, Z: Numbers{{1 - shares[i]}}, Times: c})
			value, low, width = value+c*shares[i], low+min(c, 0), width+max(c, -c)
		}
		p, q := Combine(terms...)
		if want := (value - low) / width; math.Abs(p[0][0]-want) > 1e-15 || math.Abs(q[0][0]-(1-want)) > 1e-15 {
			t.Errorf("%v: %v and %v; want %v and %v", times, p, q, want, 1-want)
		}
	}
}
