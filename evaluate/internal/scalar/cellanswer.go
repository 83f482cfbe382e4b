package scalar

import (
	"math"

	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// far is how many standard deviations noise in the count of a bin, or of the others of its cell, is
// from 0 at most, in all of them but with probability bandMiss.
func (c Cells) far() float64 {
	tail := bandMiss / float64(4*c.bins())
	if c.Laplace { // of the heavier tail of one number with the variance of all
		return -math.Log(2*tail) / math.Sqrt2
	}
	return xmath.NormQuantile(1 - tail)
}

// half is half of an interval at both errors.
func (c Cells) half(sampling, private float64) float64 {
	both := math.Hypot(sampling, private)
	if !c.Laplace || private < 1e-6*sampling {
		return c.Z() * both
	}
	return quantileOf(sampling, private, (0.05-bandMiss)/float64(2*max(c.Answers, 1)), 20*both)
}

// rarest is how many times as large as that noise the count of a bin is that is divided by.
const rarest = 1.5

// Estimate is an answer with its interval. All of it is post-processing.
func (c Cells) Estimate(s *CellSums, of Asked) (*Estimate, error) {
	if err := c.Check(s); err != nil {
		return nil, err
	}
	m, err := c.masses()
	if err != nil {
		return nil, err
	}
	sd, _ := m.SD()
	v := view{Cells: c, of: of, sums: s, sd: sd, noise: c.far() * sd * math.Sqrt2}
	v.count()
	low, high := v.end(-1), v.end(1)
	e := &Estimate{Missing: v.missing()}
	floor := 0.0
	if of.Difference {
		floor = -1
	}
	if e.Undetermined = v.drowned; e.Undetermined {
		low.at, high.at = floor, 1
	}
	e.Value = (low.at + high.at) / 2
	if sure := low.at + 1 - high.at; !of.Difference && c.SelfNormalised && low.at > 0 && sure > low.at {
		e.Value = low.at / sure
	}
	e.Value = min(max(e.Value, floor), 1)
	e.StdSampling, e.StdPrivacy = max(low.sampling, high.sampling), max(low.private, high.private)
	half := c.half(e.StdSampling, e.StdPrivacy)
	e.Clipping = [2]float64{max(e.Value-half-low.at+low.margin, 0), max(high.at+high.margin-e.Value-half, 0)}
	e.Interval = [2]float64{e.Value - half - e.Clipping[0], e.Value + half + e.Clipping[1]}
	scale := Bounds{Public: c.Public, Range: c.Range}
	if of.Difference {
		w := c.Range.Width()
		scale.Range, scale.Public.Returns = facts.Range{Min: 0, Max: w}, facts.Range{Min: -w, Max: w}
	}
	scale.scale(e)
	return e, nil
}

// view is what one answer is made of.
type view struct {
	Cells
	of           Asked
	sums         *CellSums
	sd, noise    float64
	total        float64   // persons
	in           []float64 // by cell
	gained, mean float64   // by all persons
	drowned      bool      // noise might have made all of the persons
}

// end is a limit of the answer to one side without its errors, and these.
type end struct{ at, sampling, private, margin float64 }

func (v *view) count() {
	v.total, v.in = v.sums.Nowhere, make([]float64, v.Cells.Cells)
	for cell := range v.in {
		for a := range v.Actions {
			v.in[cell] += v.sums.Gained[cell][a] + v.sums.Missed[cell][a]
			v.gained += v.sums.Gained[cell][a]
		}
		v.total += v.in[cell]
	}
	least := 4 * v.sd * math.Sqrt(float64(2*v.bins()+1))
	v.drowned, v.total = v.total < least, max(v.total, least)
	v.mean = v.gained / v.total
}

// bin is a count of persons, what they gained on average, which noise may move out of [0, 1], and
// whether there are enough of them to divide by.
func (v *view) bin(cell, a int) (count, mean float64, enough bool) {
	g := v.sums.Gained[cell][a]
	count = g + v.sums.Missed[cell][a]
	if enough = count >= rarest*v.noise; !enough {
		return count, 0, false
	}
	return count, g / count, true
}

func (v *view) weight(cell, a int) float64 {
	if v.of.Weights == nil {
		return 0
	}
	return v.of.Weights[cell*v.Actions+a]
}

// worst is what a weight makes of an action of which nothing is known, seen from a side.
func worst(weight, side float64) float64 { return side * max(side*weight, 0) }

// cellAt is the answer in one cell.
func (v *view) cellAt(cell int, side float64) float64 {
	at := 0.0
	for a := range v.Actions {
		w := v.weight(cell, a)
		if _, mean, enough := v.bin(cell, a); enough {
			at += w * mean
		} else {
			at += worst(w, side)
		}
	}
	return at
}

// nowhere is what a person in no cell can make of the part that is divided by counts, seen from a side, if all
// of them took the action in the cell where that is most, and how it follows from the mean there and from
// how many are in the cell for one who took the action.
type nowhere struct{ at, byMean, byRatio float64 }

// lost finds the bin where that is most.
func (v *view) lost(side float64) (most nowhere, cell, action int) {
	for c, n := range v.in {
		all := 0.0
		for a := range v.Actions {
			all += side * worst(v.weight(c, a), side)
		}
		for a := range v.Actions {
			x, w := nowhere{at: all}, side*v.weight(c, a)
			if count, mean, enough := v.bin(c, a); enough && !v.Complete {
				m, r := min(max(mean, 0), 1), max(n/count, 1)
				if x = (nowhere{all + w*(1-m)*(r-1), -w * (r - 1), w * (1 - m)}); w < 0 {
					x = nowhere{all - w*m*(r-1), -w * (r - 1), -w * m}
				}
			}
			if x.at > most.at {
				most, cell, action = x, c, a
			}
		}
	}
	return nowhere{side * most.at, side * most.byMean, side * most.byRatio}, cell, action
}

// end is a limit to a side, -1 or 1. Every mass moves it by its influence, in all a sum whose
// variance follows from the masses and their noise.
func (v *view) end(side float64) end {
	lost, where, what := v.lost(side)
	level := v.sums.Nowhere * lost.at
	at := make([]float64, len(v.in))
	for cell, n := range v.in {
		at[cell] = v.cellAt(cell, side)
		level += n * at[cell]
	}
	level /= v.total
	mean := v.mean + v.sums.Nowhere*v.loggedNowhere(side)/v.total
	out := end{at: level + v.of.Logged*mean}
	var variance, private, fourth, far float64
	add := func(mass, influence float64) {
		square := influence * influence
		variance += max(mass, 0) * square
		private += square
		fourth += square * square
		far = max(far, side*influence)
	}
	for cell, n := range v.in {
		others := math.Sqrt(float64(v.Actions - 1))
		for a := range v.Actions {
			count, m, enough := v.bin(cell, a)
			m = min(max(m, 0), 1)
			ratio := 0.0
			if w := v.weight(cell, a); enough && w != 0 {
				ratio = w * max(n/count, 1)
				out.margin += math.Abs(w*(0.5-m)) * bend(v.noise, count, n, others) / v.total
			}
			about, turn := at[cell]-level, 0.0
			if cell == where && lost.byRatio != 0 {
				own, _, _ := v.bin(cell, what)
				share := max(v.sums.Nowhere, 0) / own
				if about += share * lost.byRatio; a == what {
					about -= share * (lost.byRatio*max(n/own, 1) + lost.byMean*m)
					turn = share * lost.byMean
				}
			}
			add(v.sums.Gained[cell][a], about+turn+ratio*(1-m)+v.of.Logged*(1-mean))
			add(v.sums.Missed[cell][a], about-ratio*m-v.of.Logged*mean)
		}
	}
	add(v.sums.Nowhere, lost.at-level+v.of.Logged*(v.loggedNowhere(side)-mean))
	scale := v.total * v.total
	out.private = v.sd * math.Sqrt(private/scale)
	variance = variance/scale + allowance(v.Z(), variance/scale, out.private*out.private, v.sd*math.Sqrt(fourth)/scale)
	out.sampling = math.Sqrt(variance)
	half := v.half(out.sampling, out.private)
	out.margin += math.Hypot(half, v.like().unseen()*far/v.total)
	return out
}

// bend is how far dividing by the noisy share of an action, count of in persons, is from linear in
// the noise: that in count is most at most, and that of the other actions others times as much.
func bend(most, count, in, others float64) float64 {
	return most * most / count * (others + max(in-count+most*others, 0)/(count-most))
}

// loggedNowhere is what persons in no cell gained at worst.
func (v *view) loggedNowhere(side float64) float64 {
	if side*v.of.Logged > 0 {
		return 1
	}
	return 0
}

// missing is the share of what the policies do that is worth anything.
func (v *view) missing() *Missing {
	open := func(cell int) float64 {
		share := 0.0
		for a := range v.Actions {
			if _, _, enough := v.bin(cell, a); !enough {
				share += math.Abs(v.weight(cell, a))
			}
		}
		if v.of.Difference {
			share /= 2
		}
		return min(share, 1)
	}
	share := v.sums.Nowhere
	for cell, n := range v.in {
		share += n * open(cell)
	}
	share = min(max(share/v.total, 0), 1)
	square := (1 - share) * (1 - share)
	for cell := range v.in {
		square += float64(2*v.Actions) * (open(cell) - share) * (open(cell) - share)
	}
	sd := math.Sqrt(v.sd*v.sd*square/(v.total*v.total) + share*(1-share)/v.total)
	return &Missing{Share: share, SD: sd, Scarce: true, MeanWeight: 1 - share}
}
