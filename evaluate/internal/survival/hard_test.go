package survival

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp/noise"
)

// flatQuestion is about so many bins of width 1.
func flatQuestion(arms, bins, causes int, sd float64, grouped bool) Question {
	q := Question{Layout: Layout{Arms: arms, Bins: bins, Causes: causes}, Until: bins, Control: -1, SD: sd, Grouped: grouped}
	for j := range bins {
		q.Ends = append(q.Ends, float64(j+1))
	}
	return q
}

// misses is how often held is false of logs with noise; a true 5% exceeds 8% of 1,000 with
// probability 1 in 40,000.
func misses(t *testing.T, q Question, l law, seed uint64, draw func(cells []float64, r *rand.Rand), held func(Result) bool) float64 {
	t.Helper()
	const logs = 1000
	r, src := rand.New(rand.NewPCG(seed, 2)), noise.NewSeeded(seed)
	missed := 0.0
	for range logs {
		cells := make([]float64, q.Cells())
		draw(cells, r)
		for k := range cells {
			if q.SD > 0 {
				cells[k] += l.sample(src)
			}
		}
		if !held(q.Estimate(cells)) {
			missed++
		}
	}
	return missed / logs
}

// TestABandHoldsWhereOneArmEnds: the difference from a control of whom all, or nobody, are
// there at first.
func TestABandHoldsWhereOneArmEnds(t *testing.T) {
	l := laplaceLaw(t, 2)
	for _, control := range []float64{0, 60} {
		q := flatQuestion(2, 30, 1, l.sd, false)
		q.Control = 1
		share := misses(t, q, l, 4, func(cells []float64, r *rand.Rand) {
			left := 5000
			for j := range q.Bins {
				d := binomial(left, 0.05, r)
				cells[q.Exit(0, 0, j, 1)] = float64(d)
				left -= d
			}
			cells[q.End(0, 0)], cells[q.Exit(1, 0, 0, 1)] = float64(left), control
		}, func(r Result) bool {
			s, d := 1.0, r.Differences[0].Curve
			for j := range q.Bins {
				s *= 0.95
				if s < d.Lower[j] || s > d.Upper[j] {
					return false
				}
			}
			return true
		})
		if share > 0.08 {
			t.Errorf("control of %v: the band misses %.3f", control, share)
		}
	}
}

// TestCurvesHoldNearTheEnd: so few persons that the number at risk is often just above its noise.
func TestCurvesHoldNearTheEnd(t *testing.T) {
	l := laplaceLaw(t, 2)
	for _, grouped := range []bool{false, true} {
		for _, n := range []int{45, 60, 100} {
			q := flatQuestion(1, 30, 1, l.sd, grouped)
			share := misses(t, q, l, 5, func(cells []float64, r *rand.Rand) { cells[q.Exit(0, 0, 0, 1)] = float64(n) }, func(r Result) bool {
				a := r.Arms[0]
				mean := 1.0
				if grouped {
					mean = 0.5
				}
				return a.Curve.Lower[0] == 0 && a.Mean.Lower <= mean && a.Mean.Upper >= mean
			})
			if share > 0.08 {
				t.Errorf("grouped %v, %d persons: misses %.3f", grouped, n, share)
			}
		}
	}
}

// TestLimitsHoldWhateverTheOrderInABin: of one bin everybody who is censored leaves at its start,
// so that few are at risk.
func TestLimitsHoldWhateverTheOrderInABin(t *testing.T) {
	l := laplaceLaw(t, 2)
	for _, sd := range []float64{0, l.sd} {
		for _, gone := range []float64{0.5, 0.9} {
			q := flatQuestion(1, 1, 1, sd, true)
			share := misses(t, q, l, 6, func(cells []float64, r *rand.Rand) {
				c := binomial(2000, gone, r)
				d := binomial(2000-c, 0.5, r)
				cells[0], cells[1], cells[2] = float64(c), float64(d), float64(2000-c-d)
			}, func(r Result) bool { return r.Arms[0].Curve.Lower[0] <= 0.5 && r.Arms[0].Curve.Upper[0] >= 0.5 })
			if share > 0.05 { // one side alone: a true 2.5% does so with probability 1e-6
				t.Errorf("noise %v, %v censored: misses %.3f", sd, gone, share)
			}
		}
	}
}

// TestRareEventsDoNotCollapse: where often no event is seen, the mean is still held.
func TestRareEventsDoNotCollapse(t *testing.T) {
	for _, sd := range []float64{0, 0.1} {
		q := flatQuestion(1, 5, 1, sd, false)
		truth, s := 0.0, 1.0
		for range q.Bins {
			truth += s
			s *= 1 - 0.002
		}
		share := misses(t, q, laplaceLaw(t, 0.3), 7, func(cells []float64, r *rand.Rand) {
			left := 100
			for j := range q.Bins {
				d := binomial(left, 0.002, r)
				cells[q.Exit(0, 0, j, 1)] = float64(d)
				left -= d
			}
			cells[q.End(0, 0)] = float64(left)
		}, func(r Result) bool { return r.Arms[0].Mean.Lower <= truth && r.Arms[0].Mean.Upper >= truth })
		if share > 0.08 {
			t.Errorf("noise %v: misses %.3f", sd, share)
		}
	}
}

// TestIncidenceHoldsForEveryOrder enumerates, for each of two bins, whether the events of each
// cause come before or after its censoring.
func TestIncidenceHoldsForEveryOrder(t *testing.T) {
	q := flatQuestion(1, 2, 2, 0, true)
	const scale = 1e6
	cells := []float64{60 * scale, 10 * scale, 10 * scale, 5 * scale, 8 * scale, 2 * scale, 5 * scale}
	found := q.Estimate(cells).Arms[0].Incidence
	for order := range 16 {
		n, s := 0.0, 1.0
		for _, c := range cells {
			n += c
		}
		var f [2]float64
		for bin := range q.Bins {
			at := func(cause int) float64 { return cells[q.Exit(0, 0, bin, cause)] }
			happen := func(cause int) { f[cause-1] += s * at(cause) / n; s *= 1 - at(cause)/n; n -= at(cause) }
			late := func(cause int) bool { return order>>(2*bin+cause-1)&1 == 1 }
			both := !late(1) && !late(2) || late(1) && late(2)
			if late(1) && late(2) {
				n -= at(0)
			}
			if both { // at one time
				f[0], f[1] = f[0]+s*at(1)/n, f[1]+s*at(2)/n
				s *= 1 - (at(1)+at(2))/n
				n -= at(1) + at(2)
			} else {
				first := 1
				if late(1) {
					first = 2
				}
				happen(first)
				n -= at(0)
				happen(3 - first)
			}
			if both && !late(1) {
				n -= at(0)
			}
			for c := range f {
				if f[c] < found[c].Lower[bin]-1e-9 || f[c] > found[c].Upper[bin]+1e-9 {
					t.Errorf("order %04b, bin %d, cause %d: incidence %v outside [%v, %v]", order, bin, c+1, f[c], found[c].Lower[bin], found[c].Upper[bin])
				}
			}
		}
	}
}

// TestDerivativesAreThoseOfTheCells holds them against differences of the quantities themselves.
func TestDerivativesAreThoseOfTheCells(t *testing.T) {
	for _, grouped := range []bool{false, true} {
		q := flatQuestion(1, 3, 2, 0, grouped)
		cells := []float64{7, 5, 3, 9, 3, 4, 4, 6, 2, 20}
		quantities := func(cells []float64) (all []float64, slopes [][]float64) {
			w := q.work(cells, 0)
			for _, c := range []curve{w.low, w.value, w.high} {
				v, slope := w.sums(c)
				all, slopes = append(all, v, c.v[3]), append(slopes, slope, c.at(3))
			}
			least, leastSlope, most, mostSlope := w.strata[0].bounds(w.strata[0].low, w.strata[0].high, 1)
			n := len(cells)
			return append(all, least[3], most[3]), append(slopes, leastSlope[3*n:4*n], mostSlope[3*n:4*n])
		}
		at, slopes := quantities(cells)
		for k := range cells {
			const step = 1e-5
			moved := slices.Clone(cells)
			moved[k] += step
			next, _ := quantities(moved)
			for i := range at {
				if got, want := slopes[i][k], (next[i]-at[i])/step; math.Abs(got-want) > 1e-5 {
					t.Errorf("grouped %v, quantity %d, cell %d: derivative %v; difference %v", grouped, i, k, got, want)
				}
			}
		}
	}
}

// TestStrataMendDropoutThatDependsOnThem: persons of one stratum die and leave more often, so
// that the curve of all of them together is false, and the one of strata is not.
func TestStrataMendDropoutThatDependsOnThem(t *testing.T) {
	l := laplaceLaw(t, 2)
	event, drop := []float64{0.02, 0.15}, []float64{0.02, 0.25}
	const bins, persons = 8, 4000
	curve, mean := make([]float64, bins), 0.0
	for _, h := range event {
		s := 1.0
		for j := range bins {
			mean += s / 2
			s *= 1 - h
			curve[j] += s / 2
		}
	}
	for _, strata := range []int{2, 0} {
		q := flatQuestion(1, bins, 1, l.sd, false)
		q.Strata = strata
		share := misses(t, q, l, 8, func(cells []float64, r *rand.Rand) {
			first := binomial(persons, 0.5, r)
			for k, left := range []int{first, persons - first} {
				place := min(k, max(strata, 1)-1)
				for j := range bins {
					d := binomial(left, event[k], r)
					c := binomial(left-d, drop[k], r)
					cells[q.Exit(0, place, j, 1)] += float64(d)
					cells[q.Exit(0, place, j, 0)] += float64(c)
					left -= d + c
				}
				cells[q.End(0, place)] += float64(left)
			}
		}, func(r Result) bool {
			a := r.Arms[0]
			for j, v := range curve {
				if v < a.Curve.Lower[j] || v > a.Curve.Upper[j] {
					return false
				}
			}
			return a.Mean.Lower <= mean && mean <= a.Mean.Upper
		})
		if strata == 2 && share > 0.12 { // of two statements of 95%
			t.Errorf("with strata: misses %.3f", share)
		}
		if strata == 0 && share < 0.9 {
			t.Errorf("without strata a false curve is found in %.3f of the logs alone", share)
		}
	}
}

// TestMeansHoldWhereFewDecide: events are rare until a last visit at which most have one, or
// nearly everybody has one at once and the few others live on.
func TestMeansHoldWhereFewDecide(t *testing.T) {
	l := laplaceLaw(t, 2.0/8)
	for name, c := range map[string]struct {
		hazard func(bin int) float64
		bins   int
	}{
		"a common last visit": {func(bin int) float64 { return []float64{0.001, 0.001, 0.001, 0.001, 0.6}[bin] }, 5},
		"all at once":         {func(bin int) float64 { return []float64{0.98, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05}[bin] }, 8},
		"rare events":         {func(int) float64 { return 0.002 }, 8},
	} {
		for _, sd := range []float64{0, l.sd} {
			for _, n := range []int{60, 500} {
				q := flatQuestion(1, c.bins, 1, sd, false)
				mean, curve, s := 0.0, []float64{}, 1.0
				for j := range c.bins {
					mean += s
					s *= 1 - c.hazard(j)
					curve = append(curve, s)
				}
				outside := 0.0
				share := misses(t, q, l, 9, func(cells []float64, r *rand.Rand) {
					left := n
					for j := range c.bins {
						d := binomial(left, c.hazard(j), r)
						cells[q.Exit(0, 0, j, 1)] = float64(d)
						left -= d
					}
					cells[q.End(0, 0)] = float64(left)
				}, func(r Result) bool {
					a := r.Arms[0]
					for j, v := range curve {
						if v < a.Curve.Lower[j]-1e-12 || v > a.Curve.Upper[j]+1e-12 {
							outside++
							break
						}
					}
					return a.Mean.Lower <= mean+1e-12 && mean <= a.Mean.Upper+1e-12
				})
				if share > 0.08 || outside > 100 {
					t.Errorf("%s, %d persons, noise %v: means miss %.3f, bands %.3f", name, n, sd, share, outside/1000)
				}
			}
		}
	}
}

// TestWeightsByInverseCensoringAreTheStrata: weighting each event by the inverse probability of not being
// censored before, by stratum, from the same noisy cells, gives the curve of the strata: d/(N G) is d S/r, since G S N is r.
// (Without strata it is that of Kaplan and Meier: Satten and Datta 2001.)
func TestWeightsByInverseCensoringAreTheStrata(t *testing.T) {
	r, src, l := rand.New(rand.NewPCG(11, 1)), noise.NewSeeded(11), laplaceLaw(t, 2)
	for range 20 {
		q := flatQuestion(1, 6, 1, l.sd, false)
		q.Strata = 3
		cells := make([]float64, q.Cells())
		for k := range cells {
			cells[k] = 60 + 40*r.Float64() + l.sample(src)
		}
		total := 0.0
		for _, v := range cells {
			total += v
		}
		weighted, curve := make([]float64, q.Bins), q.work(cells, 0).value.v
		for stratum := range q.Strata {
			risk := 0.0
			for k := q.Exit(0, stratum, 0, 0); k <= q.End(0, stratum); k++ {
				risk += cells[k]
			}
			uncensored := 1.0 // with probability G until the bin
			for j := range q.Bins {
				died, gone := cells[q.Exit(0, stratum, j, 1)], cells[q.Exit(0, stratum, j, 0)]
				for later := j; later < q.Bins; later++ {
					weighted[later] += died / uncensored / total
				}
				uncensored *= 1 - gone/(risk-died)
				risk -= died + gone
			}
		}
		for j := range q.Bins {
			if math.Abs(1-weighted[j]-curve[j+1]) > 1e-12 {
				t.Fatalf("bin %d: %v by weights, %v by strata", j, 1-weighted[j], curve[j+1])
			}
		}
	}
}

// TestFewerThanNobodyCensored: where noise makes the count of the censored negative, the most that an incidence may
// be is as if nobody was: with all of another cause at the end it would divide by 0 otherwise.
func TestFewerThanNobodyCensored(t *testing.T) {
	q := flatQuestion(1, 3, 2, 0.05, true)
	cells := make([]float64, q.Cells())
	cells[q.Exit(0, 0, 0, 1)], cells[q.Exit(0, 0, 1, 2)], cells[q.Exit(0, 0, 2, 2)] = 4, 5, 2
	cells[q.Exit(0, 0, 2, 0)] = -1
	cells[q.End(0, 0)] = 1
	few := q.Estimate(cells).Arms[0].Incidence[0]
	cells[q.Exit(0, 0, 2, 0)], cells[q.End(0, 0)] = 0, 0
	none := q.Estimate(cells).Arms[0].Incidence[0]
	for j := range q.Bins {
		if !(few.Upper[j] >= none.Upper[j]-0.01) || !(few.Values[j] <= few.Upper[j]) {
			t.Errorf("bin %d: at most %v with fewer than nobody censored, and %v with nobody", j, few.Upper[j], none.Upper[j])
		}
	}
}
