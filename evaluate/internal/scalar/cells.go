package scalar

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// Cells answers about policies from what persons gained by cell and action, where nobody wrote
// down with which probabilities actions were taken, each person has one decision, and the cell
// tells all that decided it. A person puts the outcome, as a share of its range, and the rest of
// a unit into two bins of their cell and action. Every policy that is a function of the cell is
// worth a function of these masses: docs/proofs/propensities.md.
//
// Released: the masses ([mechanism.Masses]). Unit: a person. Adjacency: either.
type Cells struct {
	Public         facts.Public
	Range          facts.Range // what the shares 0 and 1 stand for
	Cells, Actions int
	Noise          float64 // multiplier
	Laplace        bool    // the noise is discrete Laplace
	// Answers is how many intervals hold together; 0 means 1.
	Answers int
	// SelfNormalised makes a value what it would be if what is missing were like the rest.
	SelfNormalised bool
}

// Asked is one answer: the sum over cells and actions of Weights times what the action is worth
// in the cell, plus Logged times what persons gained.
type Asked struct {
	Weights []float64 // by bin; nil for none
	Logged  float64
	// Difference tells that the answer is one of two values, so that it may be below 0.
	Difference bool
}

// CellSums are the noisy masses, by cell and action, and that of persons who are in no cell.
type CellSums struct {
	Gained  [][]float64 `json:"gained"`
	Missed  [][]float64 `json:"missed"`
	Nowhere float64     `json:"nowhere"`
}

func (c Cells) masses() (*mechanism.Masses, error) {
	if c.Laplace {
		return mechanism.NewLaplaceMasses(2*c.bins(), 1, c.Noise, c.Public.Adjacency)
	}
	return mechanism.NewMasses(2*c.bins(), 1, 0, c.Noise, c.Public.Adjacency, c.Public.Noise)
}

// Event is that of the masses.
func (c Cells) Event() (dp.Event, error) {
	m, err := c.masses()
	if err != nil {
		return nil, err
	}
	return m.Event(), nil
}

func (c Cells) bins() int { return c.Cells * c.Actions }

// Release adds up the masses of all persons: bin and share of each episode, bin -1 of one that is
// in no cell.
func (c Cells) Release(s *value.Sample, visits Visits, src *noise.Source) (*CellSums, error) {
	m, err := c.masses()
	if err != nil {
		return nil, err
	}
	in, none := make([]float64, 2*c.bins()), make([]float64, 2*c.bins())
	noisy, err := mechanism.Total(m, s.Data.Persons(), func(person int) error {
		clear(in)
		from, to := s.Episodes(person)
		for e := from; e < to; e++ {
			row, _ := s.Rows(e)
			if bin := visits[row]; bin >= 0 {
				share := (c.Range.Clamp(s.Return(e)) - c.Range.Min) / c.Range.Width()
				in[bin] += share / float64(s.Data.Counted(person))
				in[c.bins()+bin] += (1 - share) / float64(s.Data.Counted(person))
			}
		}
		return m.Add(in, none)
	}, src)
	if err != nil {
		return nil, err
	}
	out := &CellSums{Nowhere: noisy.Back}
	for cell := range c.Cells {
		from, to := cell*c.Actions, (cell+1)*c.Actions
		out.Gained = append(out.Gained, noisy.In[from:to])
		out.Missed = append(out.Missed, noisy.In[c.bins()+from:c.bins()+to])
	}
	return out, nil
}

// Check holds sums of a release against the cells.
func (c Cells) Check(s *CellSums) error {
	fits := s != nil && len(s.Gained) == c.Cells && len(s.Missed) == c.Cells
	for cell := 0; fits && cell < c.Cells; cell++ {
		fits = len(s.Gained[cell]) == c.Actions && len(s.Missed[cell]) == c.Actions
	}
	if !fits {
		return fmt.Errorf("diagnostics.masses_by_cell are not those of the cells and actions")
	}
	return nil
}

// Resolves tells whether so many persons, spread evenly, would leave noise a third of
// every bin at most.
func (c Cells) Resolves() (bool, error) {
	m, err := c.masses()
	if err != nil {
		return false, err
	}
	sd, _ := m.SD()
	return float64(c.Public.Persons)/float64(c.bins()) >= 3*c.far()*sd*math.Sqrt2, nil
}

// Expected is the estimate that is expected where as many persons are in each cell, half of them
// drawn evenly and half the less likely an action the more the answer rests on it, and half of the range
// is gained.
func (c Cells) Expected(of Asked) (*Estimate, error) {
	each := float64(c.Public.Persons) / float64(4*c.Cells)
	s := &CellSums{}
	for cell := range c.Cells {
		row, left := make([]float64, c.Actions), 0.0
		for a := range row {
			row[a] = 1
			if of.Weights != nil {
				row[a] = max(1-math.Abs(of.Weights[cell*c.Actions+a]), 0)
			}
			left += row[a]
		}
		for a := range row {
			if left > 0 {
				row[a] /= left
			}
			row[a] = each * (row[a] + 1/float64(c.Actions))
		}
		s.Gained, s.Missed = append(s.Gained, row), append(s.Missed, row)
	}
	return c.Estimate(s, of)
}

// Z is how many standard deviations each end allows for.
func (c Cells) Z() float64 { return c.like().Z() }

// Confidence is that of one interval alone.
func (c Cells) Confidence() float64 {
	if c.Answers <= 1 {
		return Confidence(1)
	}
	return c.like().AloneConfidence()
}

func (c Cells) like() Bounds { return Bounds{Answers: c.Answers, Estimated: true} }

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

// nowhere is what persons in no cell may be worth.
func (v *view) nowhere(side float64) float64 {
	if v.of.Difference && v.of.Logged != 0 {
		return side
	}
	most := worst(v.of.Logged, side)
	for cell := range v.in {
		at := 0.0
		for a := range v.Actions {
			at += worst(v.weight(cell, a), side)
		}
		most = side * max(side*most, side*at)
	}
	return most
}

// end is a limit to a side, -1 or 1. Every mass moves it by its influence, in all a sum whose
// variance follows from the masses and their noise.
func (v *view) end(side float64) end {
	none := v.nowhere(side)
	nowhere := none // of the part that is divided by counts
	if v.of.Logged != 0 {
		nowhere = none - v.of.Logged*v.loggedNowhere(side)
	}
	level := v.sums.Nowhere * nowhere
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
			about := at[cell] - level
			add(v.sums.Gained[cell][a], about+ratio*(1-m)+v.of.Logged*(1-mean))
			add(v.sums.Missed[cell][a], about-ratio*m-v.of.Logged*mean)
		}
	}
	add(v.sums.Nowhere, nowhere-level+v.of.Logged*(v.loggedNowhere(side)-mean))
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
