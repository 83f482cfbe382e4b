package survival

import (
	"math"
	"math/rand/v2"
	"testing"
)

// ward are two arms and two parts over visits 1 to 4: by part and arm the share of those who are left that has
// the event at each visit, and the share that is censored there.
type ward struct {
	event, drop [2][2]float64
	small       float64 // share of the first part
}

func (w ward) question() Question {
	return Question{Layout: Layout{Arms: 2, Strata: 2, Bins: 4, Causes: 1}, Ends: []float64{1, 2, 3, 4}, Until: 4, Control: -1}
}

// mean is the restricted mean of a part in an arm: of visits, the last lived through counts.
func (w ward) mean(part, arm int) float64 {
	alive, mean := 1.0, 0.0
	for range 4 {
		mean += alive
		alive *= 1 - w.event[part][arm]
	}
	return mean
}

// gains are the true ones: over arms by lot, and over each arm.
func (w ward) gains() (all [3]float64) {
	shares := [2]float64{w.small, 1 - w.small}
	for part, share := range shares {
		for arm := range 2 {
			more := share * (w.mean(part, part) - w.mean(part, arm))
			all[0] += more / 2
			all[1+arm] += more
		}
	}
	return all
}

// cells are drawn, or expected where there is no chance.
func (w ward) cells(persons int, r *rand.Rand) []float64 {
	q := w.question()
	cells := make([]float64, q.Cells())
	var leave func(part, arm, bin int, left float64)
	leave = func(part, arm, bin int, left float64) {
		if bin == q.Bins {
			cells[q.End(arm, part)] += left
			return
		}
		e, d := w.event[part][arm], w.drop[part][arm]
		if r == nil {
			cells[q.Exit(arm, part, bin, 1)] += left * e
			cells[q.Exit(arm, part, bin, 0)] += left * (1 - e) * d
			leave(part, arm, bin+1, left*(1-e)*(1-d))
			return
		}
		switch {
		case r.Float64() < e:
			cells[q.Exit(arm, part, bin, 1)]++
		case r.Float64() < d:
			cells[q.Exit(arm, part, bin, 0)]++
		default:
			leave(part, arm, bin+1, 1)
		}
	}
	if r == nil {
		for part, share := range []float64{w.small, 1 - w.small} {
			for arm := range 2 {
				leave(part, arm, 0, float64(persons)*share/2)
			}
		}
		return cells
	}
	for range persons {
		part := 1
		if r.Float64() < w.small {
			part = 0
		}
		leave(part, r.IntN(2), 0, 1)
	}
	return cells
}

// Censoring differs between arms and parts, and gains are the true ones all the same; whatever became of the censored,
// limits hold them.
func TestGainsAreThoseWithoutCensoring(t *testing.T) {
	w := ward{event: [2][2]float64{{0.05, 0.3}, {0.4, 0.1}}, drop: [2][2]float64{{0.1, 0.3}, {0.02, 0.25}}, small: 0.3}
	q, want := w.question(), w.gains()
	for i, g := range q.Gains(w.cells(1e6, nil), []int{0, 1}, 0, 0) {
		if math.Abs(g.Value-want[i]) > 1e-9 {
			t.Errorf("gain %d is %v; want %v", i, g.Value, want[i])
		}
	}
	q.Form = Lived
	for i, g := range q.Gains(w.cells(1e6, nil), []int{0, 1}, 0, 0) {
		if !(g.Lower < want[i] && want[i] < g.Upper) {
			t.Errorf("gain %d lies in [%v, %v]; it is %v", i, g.Lower, g.Upper, want[i])
		}
	}
	w.drop = [2][2]float64{}
	for i, g := range q.Gains(w.cells(1e6, nil), []int{0, 1}, 0, 0) {
		if math.Abs(g.Value-want[i]) > 1e-9 || g.Upper-g.Lower > 0.02 {
			t.Errorf("nobody is censored, and gain %d is %v in [%v, %v]; want %v", i, g.Value, g.Lower, g.Upper, want[i])
		}
	}
}

// Whoever is missing, of an arm and part those with an event or those without, gains lie between the limits.
func TestGainsHoldWhoeverIsMissing(t *testing.T) {
	w := ward{event: [2][2]float64{{0.05, 0.3}, {0.4, 0.1}}, small: 0.3}
	shares := [2]float64{0.3, 0.7}
	for _, first := range []float64{0.5, 0.2} {
		q, drawn := w.question(), [2]float64{first, 1 - first}
		q.Missing, q.Rarest = true, 1/first
		logged := 0.0
		for part := range 2 {
			logged += shares[part] * drawn[1-part] * (w.mean(part, part) - w.mean(part, 1-part))
		}
		want := w.gains()
		want[0] = logged
		for part := range 2 {
			for arm := range 2 {
				for _, events := range []bool{true, false} {
					cells, lost := make([]float64, q.Cells()), 0.0
					for k, v := range w.cells(1e9, nil) {
						a := k / (2 * q.perStratum())
						cells[q.Exit(a, 0, 0, 0)+k%(2*q.perStratum())] = 2 * v * drawn[a]
					}
					from := q.Exit(arm, part, 0, 0)
					for k := from; k < from+q.perStratum(); k++ {
						if dead := k != q.End(arm, part); dead == events {
							lost, cells[k] = lost+cells[k], 0
						}
					}
					for i, g := range q.Gains(cells, []int{0, 1}, lost, 0) {
						if !(g.Lower <= want[i]+1e-9 && want[i] <= g.Upper+1e-9) {
							t.Errorf("arm %d has %v of persons, of arm %d in part %d the missing have an event: %v; gain %d lies in [%v, %v], and is %v", 0, first, arm, part, events, i, g.Lower, g.Upper, want[i])
						}
					}
				}
			}
		}
	}
}

// The standard error is that of many logs, with noise and without, and each limit fails in about 5% at most.
func TestGainsVaryAsTheySay(t *testing.T) {
	w := ward{event: [2][2]float64{{0.1, 0.3}, {0.3, 0.15}}, drop: [2][2]float64{{0.1, 0.3}, {0.05, 0.2}}, small: 0.25}
	want, r := w.gains(), rand.New(rand.NewPCG(1, 2))
	const logs = 3000
	for _, sd := range []float64{0, 3} {
		q := w.question()
		q.SD = sd
		var mean, square, told [3]float64
		var high, low [3]int
		for range logs {
			cells := w.cells(2000, r)
			for k := range cells {
				cells[k] += sd * r.NormFloat64()
			}
			for i, g := range q.Gains(cells, []int{0, 1}, 0, 1.645) {
				mean[i] += g.Value / logs
				square[i] += (g.Value - want[i]) * (g.Value - want[i]) / logs
				told[i] += (g.StdSampling*g.StdSampling + g.StdPrivacy*g.StdPrivacy) / logs
				if g.Lower > want[i] {
					high[i]++
				}
				if g.Upper < want[i] {
					low[i]++
				}
			}
		}
		for i := range want {
			if ratio := square[i] / told[i]; ratio < 0.88 || ratio > 1.12 {
				t.Errorf("noise %v, gain %d: mean squared error %.5f; variances say %.5f", sd, i, square[i], told[i])
			}
			if math.Abs(mean[i]-want[i]) > 0.01 {
				t.Errorf("noise %v, gain %d: %v on average; want %v", sd, i, mean[i], want[i])
			}
			if most := int(0.05*logs + 4*math.Sqrt(0.05*0.95*logs)); high[i] > most || low[i] > most {
				t.Errorf("noise %v, gain %d: limits are too high in %d and too low in %d of %d", sd, i, high[i], low[i], logs)
			}
		}
	}
}
