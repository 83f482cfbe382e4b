package mechanism

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/audit"
	"github.com/discreet-rl/discreet/dp/noise"
)

func newChoice(t testing.TB, candidates int, spread, epsilon float64, adjacency dp.Adjacency) *PermuteAndFlip {
	t.Helper()
	p, err := NewPermuteAndFlip(candidates, spread, epsilon, adjacency)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// orders calls f with every order of n candidates.
func orders(n int, f func(order []int)) {
	var put func(order, left []int)
	put = func(order, left []int) {
		if len(left) == 0 {
			f(order)
			return
		}
		for i, c := range left {
			put(append(slices.Clone(order), c), slices.Delete(slices.Clone(left), i, i+1))
		}
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	put(nil, all)
}

// byOrders is the law of permute-and-flip as it is defined: over all orders, a candidate is
// taken where its coin falls and none before it did.
func byOrders(totals []int64, rate float64) []float64 {
	best := slices.Max(totals)
	law, count := make([]float64, len(totals)), 0.0
	orders(len(totals), func(order []int) {
		count++
		reached := 1.0
		for _, c := range order {
			falls := math.Exp(-rate * float64(best-totals[c]))
			law[c] += reached * falls
			reached *= 1 - falls
		}
	})
	for c := range law {
		law[c] /= count
	}
	return law
}

// TestPermuteAndFlipDrawsItsLaw holds frequencies against the law, by chi-square.
func TestPermuteAndFlipDrawsItsLaw(t *testing.T) {
	const runs = 6000
	// The 1 - 1e-6 quantiles of chi-square with 1, 2 and 3 degrees of freedom: five
	// tests raise a false alarm with a probability of 5e-6.
	quantile := []float64{0, 23.93, 27.63, 30.66}
	for _, totals := range [][]int64{{5, 0}, {3, 3, 0}, {0, 1, 2}, {7, 7, 7, 7}, {9, 2, 8, 5}} {
		rate := big.NewRat(1, 3)
		law := byOrders(totals, 1./3)
		seen := make([]float64, len(totals))
		src := noise.NewSeeded(7)
		for range runs {
			seen[flip(totals, rate, src)]++
		}
		chi := 0.0
		for c, p := range law {
			chi += (seen[c] - runs*p) * (seen[c] - runs*p) / (runs * p)
		}
		if chi > quantile[len(totals)-1] {
			t.Errorf("totals %v: seen %v of %d; the law is %.4f (chi-square %.1f)", totals, seen, runs, law, chi)
		}
	}
}

// TestPermuteAndFlipKeepsItsEpsilon enumerates all pairs of neighbours on a coarse
// lattice: no outcome is more than e^epsilon times as likely in one as in the other, and
// some outcome is nearly so.
func TestPermuteAndFlipKeepsItsEpsilon(t *testing.T) {
	const candidates, radius, epsilon = 3, 2, 1.25
	var persons [][]int64
	for a := range int64(radius + 1) {
		for b := range int64(radius + 1) {
			for c := range int64(radius + 1) {
				persons = append(persons, []int64{a, b, c})
			}
		}
	}
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		p := newChoice(t, candidates, 1, epsilon, adjacency)
		p.total.grid.step, p.total.grid.radius = 1./radius, radius
		rate, _ := p.Rate().Float64()
		law := func(others, person []int64) []float64 {
			totals := slices.Clone(others)
			for c, k := range person {
				totals[c] += k
			}
			return byOrders(totals, rate)
		}
		worst := 0.0
		for _, others := range [][]int64{{0, 0, 0}, {1, 0, 2}, {0, 7, 3}, {40, 0, 0}, {0, 30, 60}, {50, 50, 0}} {
			laws := [][]float64{}
			for _, person := range persons {
				laws = append(laws, law(others, person))
			}
			neighbours := laws
			if adjacency == dp.AddRemoveOne {
				neighbours = [][]float64{law(others, []int64{0, 0, 0})}
			}
			for _, a := range laws {
				for _, b := range neighbours {
					for c := range a {
						worst = max(worst, math.Abs(math.Log(a[c]/b[c])))
					}
				}
			}
		}
		if worst > epsilon*(1+1e-9) {
			t.Errorf("%v: a loss of %v; epsilon is %v", adjacency, worst, epsilon)
		}
		if worst < 0.95*epsilon {
			t.Errorf("%v: the largest loss is %v of %v: these neighbours say little", adjacency, worst, epsilon)
		}
	}
}

// TestScoresOfAPersonAreClipped: whatever they are, in steps they lie between 0 and the
// radius, and within the spread their differences are kept up to one step.
func TestScoresOfAPersonAreClipped(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		spread := rapid.OneOf(rapid.Float64Range(1e-6, 1e6), rapid.Just(1.), rapid.Just(3.)).Draw(rt, "spread")
		p := newChoice(t, 3, spread, 1, dp.ReplaceOne)
		one := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-spread, spread), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 0, spread}))
		scores := rapid.SliceOfN(one, 3, 3).Draw(rt, "scores")
		p.round(scores)
		radius := int64(p.total.grid.radius)
		for _, k := range p.scratch {
			if k < 0 || k > radius {
				rt.Fatalf("scores %v are %v steps; want 0 to %d", scores, p.scratch, radius)
			}
		}
		far := slices.Max(scores) - slices.Min(scores)
		if !(far <= spread*(1-1e-9)) || math.Abs(scores[0])+math.Abs(scores[1])+math.Abs(scores[2]) > 4*spread {
			return
		}
		for i := range scores {
			for j := range scores {
				got, want := float64(p.scratch[i]-p.scratch[j])*p.Step(), scores[i]-scores[j]
				if math.Abs(got-want) > p.Step()*(1+1e-6) {
					rt.Fatalf("scores %v: the difference %v became %v", scores, want, got)
				}
			}
		}
	})
}

// TestChoicesMergeAndReleaseOnce: the parts of a choice draw what the whole draws, and
// nothing is drawn twice, nor merged with a choice of another rate.
func TestChoicesMergeAndReleaseOnce(t *testing.T) {
	whole := newChoice(t, 2, 1, 1, dp.ReplaceOne)
	parts := []*PermuteAndFlip{newChoice(t, 2, 1, 1, dp.ReplaceOne), newChoice(t, 2, 1, 1, dp.ReplaceOne)}
	for i := range 20 {
		x := []float64{float64(i) / 20, 0.5}
		if err := errors.Join(whole.Add(x), parts[i%2].Add(x)); err != nil {
			t.Fatal(err)
		}
	}
	if err := parts[0].Merge(parts[1]); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(whole.total.sum, parts[0].total.sum) {
		t.Errorf("totals %v; of the parts %v", whole.total.sum, parts[0].total.sum)
	}
	for _, other := range []*PermuteAndFlip{newChoice(t, 2, 1, 2, dp.ReplaceOne), newChoice(t, 2, 1, 1, dp.AddRemoveOne), newChoice(t, 2, 5, 1, dp.ReplaceOne)} {
		if err := whole.Merge(other); !errors.Is(err, ErrMismatch) {
			t.Errorf("merging a choice made otherwise: %v; want ErrMismatch", err)
		}
	}
	if _, event, err := whole.Release(noise.NewSeeded(1)); err != nil || event != (dp.PermuteAndFlip{Epsilon: 1}) {
		t.Errorf("event %v, %v", event, err)
	}
	if _, _, err := whole.Release(noise.NewSeeded(1)); !errors.Is(err, ErrReleased) {
		t.Errorf("a second release: %v; want ErrReleased", err)
	}
	if err := whole.Add([]float64{0, 0}); !errors.Is(err, ErrReleased) {
		t.Errorf("a person after the release: %v; want ErrReleased", err)
	}
}

func TestParametersOfAChoiceAreChecked(t *testing.T) {
	for _, c := range []struct {
		candidates      int
		spread, epsilon float64
		adjacency       dp.Adjacency
	}{{0, 1, 1, dp.ReplaceOne}, {2, 0, 1, dp.ReplaceOne}, {2, math.Inf(1), 1, dp.ReplaceOne}, {2, 1e-300, 1, dp.ReplaceOne}, {2, 1, 0, dp.ReplaceOne}, {2, 1, math.NaN(), dp.ReplaceOne}, {2, 1, 1, 0}} {
		if _, err := NewPermuteAndFlip(c.candidates, c.spread, c.epsilon, c.adjacency); !errors.Is(err, ErrParameter) && !errors.Is(err, dp.ErrAdjacency) {
			t.Errorf("%+v: %v; want ErrParameter or dp.ErrAdjacency", c, err)
		}
	}
}

// TestAuditOfPermuteAndFlip runs it on the worst neighbours: the bound from below
// stays under epsilon, is not far from it, and passes it where the event tells half of
// the epsilon.
func TestAuditOfPermuteAndFlip(t *testing.T) {
	const epsilon, runs = 1.5, 8000
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		src := noise.NewSeeded(5)
		samples := audit.DrawNumbers(runs, func(world int) float64 {
			p := newChoice(t, 2, 1, epsilon, adjacency)
			var err error
			// The person tries to add far more than the clip allows.
			if adjacency == dp.ReplaceOne {
				err = p.Add([]float64{0, 1})
			}
			switch {
			case world == 1:
				err = errors.Join(err, p.Add([]float64{0, 1000}))
			case adjacency == dp.ReplaceOne:
				err = errors.Join(err, p.Add([]float64{1000, 0}))
			}
			chosen, _, drawn := p.Release(src)
			if err = errors.Join(err, drawn); err != nil {
				t.Fatal(err)
			}
			return float64(chosen)
		})
		found, err := samples.Bound(audit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%v: at least epsilon %.3f of %v", adjacency, found.Epsilon, epsilon)
		claim, err := audit.NewClaim(dp.PermuteAndFlip{Epsilon: epsilon}, adjacency, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := claim.Hold(found); err != nil {
			t.Errorf("%v: %v", adjacency, err)
		}
		half, err := audit.NewClaim(dp.PermuteAndFlip{Epsilon: epsilon / 2}, adjacency, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := half.Hold(found); !errors.Is(err, audit.ErrBroken) {
			t.Errorf("%v: an event of half the epsilon passes with at least %.3f", adjacency, found.Epsilon)
		}
	}
}

// A person's steps add up to the radius at most in absolute value, keep signs and proportions, and are
// zeros where a number is not finite; a choice by totals that were made of them is drawn as one of
// added scores is, once.
func TestStepsOfAPersonAreClipped(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := newChoice(t, 3, rapid.Float64Range(1e-3, 1e3).Draw(r, "spread"), 1, dp.ReplaceOne)
		x := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 6).Draw(r, "x")
		k := make([]int64, len(x))
		p.Steps(k, x)
		size, all := int64(0), 0.0
		for i, v := range x {
			size += max(k[i], -k[i])
			all += math.Abs(v)
			if k[i] != 0 && (k[i] > 0) != (v > 0) {
				r.Fatalf("%v becomes %v", x, k)
			}
		}
		if size > int64(p.total.grid.radius) {
			r.Fatalf("%v becomes %v, beyond %d", x, k, p.total.grid.radius)
		}
		for i, v := range x {
			if want := v / max(1, all/(p.Step()*float64(p.total.grid.radius))) / p.Step(); math.Abs(float64(k[i])-want) > 8 {
				r.Fatalf("%v becomes %v; want %v at %d", x, k, want, i)
			}
		}
	})
	p := newChoice(t, 2, 1, 1, dp.ReplaceOne)
	k := []int64{1, 1}
	if p.Steps(k, []float64{1, math.NaN()}); k[0] != 0 || k[1] != 0 {
		t.Errorf("steps %v of what is no number", k)
	}
	p.Steps(k, []float64{0.5, -0.5})
	if _, _, err := p.ReleaseOf([]int64{0, 0}, 1<<60, noise.NewSeeded(1)); !errors.Is(err, ErrCapacity) {
		t.Errorf("2^60 persons: %v", err)
	}
	if best, _, err := p.ReleaseOf([]int64{0, 1e6 * k[0]}, 1e6, noise.NewSeeded(1)); err != nil || best != 1 {
		t.Errorf("%d is drawn, far behind: %v", best, err)
	}
	if _, _, err := p.ReleaseOf([]int64{0, 0}, 1, noise.NewSeeded(1)); !errors.Is(err, ErrReleased) {
		t.Errorf("a second release: %v", err)
	}
}
