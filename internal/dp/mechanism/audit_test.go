package mechanism

import (
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/audit"
	"github.com/discreet-rl/discreet/dp/noise"
)

// An audited mechanism runs many times on two neighbouring datasets. What it releases
// is projected onto the line between their exact answers, and package audit bounds mu.
type audited struct {
	runs int
	// release makes a fresh release; neighbour chooses the dataset.
	release func(neighbour bool, src *noise.Source) []float64
	// direction is the difference of the exact answers.
	direction []float64
}

func (a audited) lowerMu(t *testing.T, src *noise.Source) float64 {
	t.Helper()
	found, err := audit.DrawNumbers(a.runs, func(world int) float64 {
		x := 0.0
		for i, v := range a.release(world == 1, src) {
			x += v * a.direction[i]
		}
		return x
	}).Bound(audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return found.Mu
}

const auditRuns = 20000

// mechanismsUnderAudit builds each mechanism with a noise multiplier and runs it
// on the worst neighbouring pair under ReplaceOne or AddRemoveOne.
func mechanismsUnderAudit(t *testing.T, adjacency dp.Adjacency, multiplier float64) map[string]audited {
	t.Helper()
	replace := adjacency == dp.ReplaceOne
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	sum := func(neighbour bool, src *noise.Source) []float64 {
		s, err := NewVectorSum(2, 3, multiplier, Exact)
		must(err)
		// The other person tries to add far more than the clip allows.
		if neighbour {
			must(s.Add([]float64{-300, 0}))
		} else if replace {
			must(s.Add([]float64{300, 0}))
		}
		out, _, err := s.Release(src)
		must(err)
		return out
	}
	moments := func(neighbour bool, src *noise.Source) []float64 {
		m, err := NewMoments(-1, 5, multiplier, adjacency, Exact)
		must(err)
		if neighbour {
			must(m.Add(500))
		} else if replace {
			must(m.Add(-500))
		}
		out, _, err := m.Release(src)
		must(err)
		// Undo the post-processing: the coordinates that were released.
		half := 3.0
		square := (2*out.Squares/half - half*out.Count) * m.shape.square
		return []float64{out.Sum, square, out.Count * m.shape.count * half}
	}
	ratio := func(neighbour bool, src *noise.Source) []float64 {
		r, err := NewRatio(0, 10, 4, multiplier, adjacency, Exact)
		must(err)
		if neighbour {
			must(r.Add(1e6*9, 9))
		} else if replace {
			must(r.Add(-1e6*9, 9))
		}
		out, _, err := r.Release(src)
		must(err)
		return []float64{out.Numerator, out.Denominator * r.height * 5}
	}
	pair := func(neighbour bool, src *noise.Source) []float64 {
		p, err := NewPair(2, multiplier, adjacency, Exact)
		must(err)
		if neighbour {
			must(p.Add(500, 0))
		} else if replace {
			must(p.Add(0, 500))
		}
		out, _, err := p.Release(src)
		must(err)
		return []float64{out.X - out.Z, p.shape.height * (out.X + out.Z), p.shape.count * 2 * out.Count}
	}
	pairs := func(neighbour bool, src *noise.Source) []float64 {
		p, err := NewPairs([]float64{2, 2}, multiplier, adjacency, Exact)
		must(err)
		if neighbour {
			must(p.Add([]float64{500, 0, 0, 0}))
		} else if replace {
			must(p.Add([]float64{0, 0, 500, 0}))
		}
		out, err := p.Release(src)
		must(err)
		return []float64{out[0].X, out[0].Z, out[1].X, p.shape.count * 2 * out[0].Count}
	}
	transitions := func(neighbour bool, src *noise.Source) []float64 {
		table, err := NewTransitions(1, 2, 2, multiplier, adjacency, Exact)
		must(err)
		// Far more decisions, and a larger reward, than the clip allows.
		if neighbour {
			must(table.Add(slices.Repeat([]Transition{{Weight: 9, Mark: 50}}, 100)))
		} else if replace {
			must(table.Add(slices.Repeat([]Transition{{Outcome: 1, Weight: 9, Mark: -50}}, 100)))
		}
		out, _, err := table.Release(src)
		must(err)
		return []float64{out.Counts[0], out.Counts[1], cellHeight * out.Weights[0], cellHeight * out.Marks[0]}
	}
	histogram := func(neighbour bool, src *noise.Source) []float64 {
		h, err := NewHistogram(3, multiplier, adjacency, Exact)
		must(err)
		if neighbour {
			must(h.Add(0))
		} else if replace {
			must(h.Add(1))
		}
		out, _, err := h.Release(src)
		must(err)
		return out
	}
	sets := func(neighbour bool, src *noise.Source) []float64 {
		h, err := NewSetHistogram(4, 2, multiplier, adjacency, Exact)
		must(err)
		if neighbour {
			must(h.AddSet([]int{0, 0, 1, 2}))
		} else if replace {
			must(h.AddSet([]int{2, 3, 0}))
		}
		out, _, err := h.Release(src)
		must(err)
		return out
	}
	split := func(neighbour bool, src *noise.Source) []float64 {
		d, err := NewSplit(multiplier, adjacency, Exact)
		must(err)
		if neighbour {
			must(d.Add(500, 0))
		} else if replace {
			must(d.Add(0, 500))
		}
		out, _, err := d.Release(src)
		must(err)
		return []float64{out.X, out.Z, out.Rest}
	}
	if replace {
		return map[string]audited{
			"Sets":        {auditRuns, sets, []float64{1, 1, -1, -1}},
			"VectorSum":   {auditRuns, sum, []float64{1, 0}},
			"Moments":     {auditRuns, moments, []float64{1, 0, 0}},
			"Ratio":       {auditRuns, ratio, []float64{1, 0}},
			"Pair":        {auditRuns, pair, []float64{1, 0, 0}},
			"Pairs":       {auditRuns, pairs, []float64{1, 0, -1, 0}},
			"Histogram":   {auditRuns, histogram, []float64{1, -1, 0}},
			"Split":       {2 * auditRuns, split, []float64{1, -1, 0}},
			"Transitions": {auditRuns, transitions, []float64{1, -1, 0, 2 * cellHeight}},
		}
	}
	p, s := parabolaFor(adjacency), triangleFor(adjacency)
	return map[string]audited{
		"Sets":        {auditRuns, sets, []float64{1, 1, 0, 0}},
		"VectorSum":   {auditRuns, sum, []float64{1, 0}},
		"Moments":     {auditRuns, moments, []float64{1, p.square, p.count}},
		"Ratio":       {auditRuns, ratio, []float64{1, 0.7}},
		"Pair":        {auditRuns, pair, []float64{1, s.height, s.count}},
		"Pairs":       {auditRuns, pairs, []float64{2, 0, 0, s.count}},
		"Histogram":   {auditRuns, histogram, []float64{1, 0, 0}},
		"Split":       {2 * auditRuns, split, []float64{1, 0, 0}},
		"Transitions": {auditRuns, transitions, []float64{1, 0, cellHeight, cellHeight}},
	}
}

// TestAuditsDoNotBreakTheClaim bounds mu from below on worst-case neighbours:
// the bound stays under the claim, and above it once the noise is halved, which
// shows that the audit would notice.
func TestAuditsDoNotBreakTheClaim(t *testing.T) {
	const claim = 1
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		multiplier := adjacency.SumSensitivity(1) / claim
		for name, a := range mechanismsUnderAudit(t, adjacency, multiplier) {
			src := noise.NewSeeded(11)
			if got := a.lowerMu(t, src); got > claim {
				t.Errorf("%s, %v: mu is at least %.4f; the event claims %d", name, adjacency, got, claim)
			} else if got < 0.85*claim {
				t.Errorf("%s, %v: the audit finds mu at least %.4f of %d: it is too weak to mean anything", name, adjacency, got, claim)
			}
		}
		for name, a := range mechanismsUnderAudit(t, adjacency, multiplier/2) {
			if got := a.lowerMu(t, noise.NewSeeded(12)); got < claim {
				t.Errorf("%s, %v: halved noise passes: mu at least %.4f, claim %d", name, adjacency, got, claim)
			}
		}
	}
}
