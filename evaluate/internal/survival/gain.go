package survival

import "math"

// Gains are by how much longer persons live where everybody gets the action of their part, one of the
// strata, than under the arms as they were drawn, first, and than where all get the same arm, by arm.
// Arms and strata are the actions, and within a stratum an arm is as if drawn by lot. Each
// limit is z standard deviations away. Parts are the strata in which anybody is, and of lost persons nothing is known.
func (q Question) Gains(cells []float64, parts []int, lost, z float64) []Mean {
	g := q.gainer(cells, parts)
	g.lose(lost)
	out := []Mean{g.gain(-1, z)}
	for arm := range q.Arms {
		out = append(out, g.gain(arm, z))
	}
	return out
}

// lived is a restricted mean with its derivatives by the cells of its stratum of an arm.
type lived struct {
	value float64
	slope []float64
	doubt float64 // as in path
}

// form of a restricted mean: at its least, as it is estimated, and at its most.
type form int

const (
	least form = iota
	middle
	most
)

// gainer holds what gains are made of.
type gainer struct {
	q         Question
	parts     []int
	cells     []float64
	means     [][][3]lived // by arm and stratum
	persons   [][]float64
	all       float64
	per       int     // cells of a stratum of an arm
	missing   float64 // share of persons of whom nothing is known
	missingSD float64
}

func (q Question) gainer(cells []float64, parts []int) *gainer {
	g := &gainer{q: q, parts: parts, cells: cells, per: q.perStratum()}
	one := q
	one.Arms, one.Strata, one.Missing, one.Control, one.Pairs = 1, 0, false, -1, nil
	for arm := range q.Arms {
		means, persons := make([][3]lived, q.Strata), make([]float64, q.Strata)
		for _, stratum := range parts {
			from := q.Exit(arm, stratum, 0, 0)
			here := cells[from : from+g.per]
			total := 0.0
			for _, v := range here {
				total += v
			}
			persons[stratum] = max(total, 0)
			g.all += max(total, 0)
			if q.Form == Curves {
				means[stratum] = one.followed(here)
			} else {
				means[stratum] = one.bounded(here, total)
			}
		}
		g.means, g.persons = append(g.means, means), append(g.persons, persons)
	}
	g.all = max(g.all, 1)
	return g
}

// followed are the means of curves.
func (q Question) followed(cells []float64) [3]lived {
	w := q.work(cells, 0)
	of := func(c curve) lived {
		value, slope := w.sums(c)
		return lived{value, slope, c.doubt[q.Until]}
	}
	low, high := of(w.value), of(w.valueHighest)
	mid := lived{(low.value + high.value) / 2, make([]float64, len(cells)), max(low.doubt, high.doubt)}
	for k := range mid.slope {
		mid.slope[k] = (low.slope[k] + high.slope[k]) / 2
	}
	return [3]lived{of(w.low), mid, of(w.high)}
}

// bounded are the means whatever became of the censored: at the least they lived until they left, at the most
// to the end. Of too few persons nothing is known.
func (q Question) bounded(cells []float64, persons float64) (of [3]lived) {
	total := q.Ends[q.Until-1]
	for i := range of {
		of[i] = lived{float64(i) / 2 * total, make([]float64, len(cells)), 1}
	}
	if !(persons > steady*q.SD*math.Sqrt(float64(len(cells)))) || !(persons > 0) {
		return of
	}
	for i := range of {
		times := make([]float64, len(cells))
		mean := 0.0
		for k, v := range cells {
			bin, cause := k/(q.Causes+1), k%(q.Causes+1)
			low, high := q.time(bin, cause), q.time(bin, cause)
			if cause == 0 && bin < q.Bins {
				if high = total; q.Grouped {
					low -= q.width(bin) / 2
				}
			}
			times[k] = low + float64(i)/2*(high-low)
			mean += v * times[k] / persons
		}
		of[i].value = min(max(mean, 0), total)
		for k, t := range times {
			of[i].slope[k] = (t - mean) / persons
		}
	}
	return of
}

// lose fills in the share of persons of whom nothing is known.
func (g *gainer) lose(lost float64) {
	if !g.q.Missing {
		return
	}
	g.missing = max(lost, 0) / (g.all + max(lost, 0))
	g.missingSD = math.Sqrt(max(lost, 0)+g.q.SD*g.q.SD) / (g.all + max(lost, 0))
}

// worst is what a share of missing persons, all in the rarest arm, can take from a gain or add to it.
func (g *gainer) worst(arm int) float64 {
	total := g.q.Ends[g.q.Until-1]
	if arm < 0 {
		return total * max(g.q.Rarest-1, 1)
	}
	return total * max(g.q.Rarest, 1)
}

// gain is that over an arm, or at -1 over the arms as they were drawn.
func (g *gainer) gain(arm int, z float64) Mean {
	total := g.q.Ends[g.q.Until-1]
	low, mid, high := g.end(arm, least, most), g.end(arm, middle, middle), g.end(arm, most, least)
	kept := 1 - g.missing
	below, _ := away(z, low.variance(), low.third)
	_, above := away(z, high.variance(), high.third)
	m := Mean{Value: mid.value * kept, StdSampling: kept * math.Sqrt(mid.sampling), StdPrivacy: kept * math.Sqrt(mid.noise), Z: z,
		Lower: low.value*kept - g.worst(arm)*g.missing - below, Upper: high.value*kept + g.worst(arm)*g.missing + above}
	m.Lower, m.Upper = min(max(m.Lower, -total), total), max(min(m.Upper, total), -total)
	m.Value = min(max(m.Value, m.Lower), m.Upper)
	return m
}

// end is a gain with the form of the means of actions that the parts get, and of those they are compared with.
func (g *gainer) end(arm int, mine, theirs form) end {
	q := g.q
	// Shares of persons who are compared, by arm and stratum.
	compared := func(a, s int) float64 {
		switch {
		case a == s || arm >= 0 && a != arm:
			return 0
		case arm < 0:
			return g.persons[a][s]
		}
		return g.inPart(s)
	}
	value := 0.0
	for _, s := range g.parts {
		for a := range q.Arms {
			value += compared(a, s) / g.all * (g.means[s][s][mine].value - g.means[a][s][theirs].value)
		}
	}
	e := end{value: value, missing: (math.Abs(value) + g.worst(arm)) * g.missingSD}
	spread := q.spreading()
	for _, s := range g.parts {
		for a := range q.Arms {
			// One person more in a cell changes its mean and the shares.
			own, m := -compared(a, s)/g.all, &g.means[a][s][theirs]
			if a == s {
				own, m = 0, &g.means[s][s][mine]
				for b := range q.Arms {
					own += compared(b, s) / g.all
				}
			}
			counts := (g.difference(arm, a, s, mine, theirs) - value) / g.all
			slope, from := make([]float64, g.per), q.Exit(a, s, 0, 0)
			down, up := 0.0, 0.0
			for k := range slope {
				slope[k] = own*m.slope[k] + counts
				y := max(g.cells[from+k], 0)
				e.sampling += y * slope[k] * slope[k]
				e.third += y * slope[k] * slope[k] * slope[k]
				down, up = min(down, slope[k]), max(up, slope[k])
			}
			rare := 0.0 // towards the side of the limit, of those who are hardly seen
			if own != 0 && mine != middle {
				if rare = down; mine == most {
					rare = up
				}
			}
			seldom := few * rare * rare
			e.sampling, e.third = e.sampling+seldom, e.third+seldom*rare
			noise := 0.0
			for _, x := range spread(slope) {
				noise += x * x
			}
			e.noise += noise * q.SD * q.SD * m.doubt
		}
	}
	kept := 1 - g.missing
	e.sampling, e.noise, e.third = e.sampling*kept*kept, e.noise*kept*kept, e.third*kept*kept*kept
	return e
}

// difference is by how much a person's part gains by its action over that with which it is compared where the person is
// in a stratum of an arm.
func (g *gainer) difference(arm, a, s int, mine, theirs form) float64 {
	if arm >= 0 {
		a = arm
	}
	if a == s {
		return 0
	}
	return g.means[s][s][mine].value - g.means[a][s][theirs].value
}

// inPart is the number of persons in a stratum of all arms.
func (g *gainer) inPart(s int) (n float64) {
	for a := range g.q.Arms {
		n += g.persons[a][s]
	}
	return n
}
