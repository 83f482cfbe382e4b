//go:build slow && measure

package truthbench_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/evaluate/internal/truthbench"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// TestDistributionTable prints how often all limits of a distribution hold at once, and their
// mean width over bins, with and without privacy. The truth is the weighted distribution of
// logs of 2,000,000 persons.
func TestDistributionTable(t *testing.T) {
	run := func(m evaluate.Estimator, p evaluate.Public, d *trajectory.Dataset, src *noise.Source) *evaluate.Release {
		t.Helper()
		plan, err := m.Plan(p)
		check(t, err)
		ready, err := plan.Check(t.Context(), d)
		check(t, err)
		r, err := ready.Run(t.Context(), receipt.None(), src)
		check(t, err)
		return r
	}
	src := noise.NewSeeded(31)
	covered, cells, lowest := 0, 0, 1.0
	for _, p := range truthbench.Problems() {
		if p.Between == nil || p.Horizon > 10 {
			continue
		}
		for _, target := range []struct {
			name string
			of   policy.Policy
		}{{"logged", policy.Logged{}}, {"between", p.Between}, {"target", p.Target}} {
			public := func(persons int, epsilon float64, adjacency dp.Adjacency) evaluate.Public {
				q := p.Public(persons, epsilon, adjacency)
				q.Target, q.Complete = target.of, true
				q.Design = evaluate.NewDesign(p.Behavior, true, target.of)
				return q
			}
			ends := []float64(nil)
			if returns := public(1, 1, dp.ReplaceOne).Returns(); p.Horizon == 1 {
				ends = []float64{returns.Min, returns.Max} // of zeros and ones
			}
			truth := make([]float64, 20)
			for part := range 10 {
				q := public(200000, 1, dp.ReplaceOne)
				q.Privacy = nil
				r := run(evaluate.ReturnDistribution{Ends: ends}, q, p.Draw(200000, uint64(900000+part)), nil)
				truth = truth[:len(r.Distribution.Ends)]
				for j, v := range r.Distribution.Function.Values {
					truth[j] += v / 10
				}
			}
			for _, n := range []int{300, 2000, 20000} {
				logs := *draws
				type sum struct {
					held  int
					width float64
				}
				found := map[string]*sum{}
				plain := 0.0
				for log := range logs {
					d := p.Draw(n, uint64(log))
					q := public(n, 1, dp.ReplaceOne)
					q.Privacy = nil
					plain += width(run(evaluate.ReturnDistribution{Ends: ends}, q, d, nil).Distribution.Function) / float64(logs)
					for _, epsilon := range []float64{0.5, 1, 5} {
						for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
							m := evaluate.DPDistribution{Ends: ends}
							if _, err := m.Plan(public(n, epsilon, adjacency)); err != nil {
								continue // too far
							}
							key := name(epsilon, adjacency)
							if found[key] == nil {
								found[key] = &sum{}
							}
							f := run(m, public(n, epsilon, adjacency), d, src).Distribution.Function
							found[key].width += width(f) / float64(logs)
							if holds(f, truth) {
								found[key].held++
							}
						}
					}
				}
				for key, s := range found {
					covered, cells = covered+s.held, cells+1
					share := float64(s.held) / float64(logs)
					lowest = math.Min(lowest, share)
					t.Logf("| %s, %s | %d | %s | %.1f%% | %.3f | %.2f |", p.Name, target.name, n, key, 100*share, s.width, s.width/plain)
				}
			}
		}
	}
	chance := distuv.Binomial{N: float64(*draws), P: 0.95}.CDF(lowest * float64(*draws))
	t.Logf("the lowest of %d cells of a true 95%% is that low with probability %.2f", cells, 1-math.Pow(1-chance, float64(cells)))
	t.Logf("%d cells, %.2f%% of limits hold, lowest %.1f%%", cells, 100*float64(covered)/float64(cells**draws), 100*lowest)
}

func name(epsilon float64, adjacency dp.Adjacency) string {
	return map[float64]string{0.5: "0.5", 1: "1", 5: "5"}[epsilon] + ", " + adjacency.String()
}

func width(c evaluate.Curve) float64 {
	sum := 0.0
	for j := range c.Lower[:len(c.Lower)-1] {
		sum += c.Upper[j] - c.Lower[j]
	}
	return sum / float64(len(c.Lower)-1)
}

func holds(c evaluate.Curve, truth []float64) bool {
	for j, v := range truth {
		if v < c.Lower[j]-1e-3 || v > c.Upper[j]+1e-3 {
			return false
		}
	}
	return true
}
