package mechanism

import (
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

// An audit runs a mechanism many times on two neighbouring datasets, projects
// what it releases onto the line between their exact answers, and bounds from
// below the mu of Gaussian differential privacy: the distance of the two means
// in standard deviations. The bound holds but for a false-alarm rate of 1e-6:
// with n runs a side the estimate mu has standard error at most
// sqrt((2 + mu^2/4)/n), and 4.8 of them are taken off.
type audit struct {
	runs int
	// release makes a fresh release; neighbour chooses the dataset.
	release func(neighbour bool, src *noise.Source) []float64
	// direction is the difference of the exact answers.
	direction []float64
}

func (a audit) lowerMu(src *noise.Source) float64 {
	m0, v0 := a.moments(false, src)
	m1, v1 := a.moments(true, src)
	mu := math.Abs(m1-m0) / math.Sqrt((v0+v1)/2)
	return mu - 4.8*math.Sqrt((2+mu*mu/4)/float64(a.runs))
}

func (a audit) moments(neighbour bool, src *noise.Source) (mean, variance float64) {
	var sum, square float64
	for range a.runs {
		x := 0.0
		for i, v := range a.release(neighbour, src) {
			x += v * a.direction[i]
		}
		sum += x
		square += x * x
	}
	mean = sum / float64(a.runs)
	return mean, square/float64(a.runs) - mean*mean
}

const auditRuns = 50000

// mechanismsUnderAudit builds each mechanism with a noise multiplier and runs it
// on the worst neighbouring pair under ReplaceOne or AddRemoveOne.
func mechanismsUnderAudit(t *testing.T, adjacency dp.Adjacency, multiplier float64) map[string]audit {
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
	if replace {
		return map[string]audit{
			"VectorSum": {auditRuns, sum, []float64{1, 0}},
			"Moments":   {auditRuns, moments, []float64{1, 0, 0}},
			"Ratio":     {auditRuns, ratio, []float64{1, 0}},
			"Pair":      {auditRuns, pair, []float64{1, 0, 0}},
			"Histogram": {auditRuns, histogram, []float64{1, -1, 0}},
		}
	}
	p, s := parabolaFor(adjacency), triangleFor(adjacency)
	return map[string]audit{
		"VectorSum": {auditRuns, sum, []float64{1, 0}},
		"Moments":   {auditRuns, moments, []float64{1, p.square, p.count}},
		"Ratio":     {auditRuns, ratio, []float64{1, 0.7}},
		"Pair":      {auditRuns, pair, []float64{1, s.height, s.count}},
		"Histogram": {auditRuns, histogram, []float64{1, 0, 0}},
	}
}

// TestAuditsDoNotBreakTheClaim bounds mu from below on worst-case neighbours:
// the bound stays under the claim, and above it once the noise is halved, which
// shows that the audit would notice.
func TestAuditsDoNotBreakTheClaim(t *testing.T) {
	const multiplier = 2
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		claim := adjacency.SumSensitivity(1) / multiplier
		for name, a := range mechanismsUnderAudit(t, adjacency, multiplier) {
			src := noise.NewSeeded(11)
			if got := a.lowerMu(src); got > claim {
				t.Errorf("%s, %v: mu is at least %.4f; the event claims %.4f", name, adjacency, got, claim)
			} else if got < 0.9*claim {
				t.Errorf("%s, %v: the audit finds mu at least %.4f of %.4f: it is too weak to mean anything", name, adjacency, got, claim)
			}
		}
		for name, a := range mechanismsUnderAudit(t, adjacency, multiplier/2) {
			if got := a.lowerMu(noise.NewSeeded(12)); got < claim {
				t.Errorf("%s, %v: halved noise passes: mu at least %.4f, claim %.4f", name, adjacency, got, claim)
			}
		}
	}
}
