package refine

import (
	"math"

	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
)

// residuals computes a person's first-visit residuals under a value function V
// over cells: from the first visit of a state at step t of an episode,
//
//	e_t = rho_t (r_t + gamma_t (V(s_{t+1}) + e_{t+1}) - V(s_t)),
//
// the doubly robust return less V(s_t) (Jiang and Li 2016, with V as baseline).
// Its mean is the value of the state under the target policy less V(s_t),
// whatever V is, and the closer V is the less it varies. On-policy it is the
// discounted return less V(s_t). The end of a truncated episode counts as V of
// its final observation; where that is unknown, as V of the last state.
//
// A person's residual of a cell is the mean over that person's first visits of
// states in the cell. It keeps a workspace and may not be shared by goroutines.
type residuals struct {
	of     *value.Walk
	s      *value.Sample // of the person at hand
	finite feature.Finite
	values []float64 // V by cell
	none   float64   // V where an observation holds no state
	limits residualLimits

	cells []int32   // cells that the person visits, each once
	mean  []float64 // residual of each of cells
	cache returnsByCell

	walked  []int32   // cells of the last person that was walked through
	sum     []float64 // by place in walked: sum of residuals, then their mean
	count   []float64 // by place in walked
	slot    []int32   // by cell: 1 + place in walked
	first   []float64 // by state: residual from the first visit in this episode
	stamp   []int32   // by state: the mark of the episode that visited it last
	mark    int32     // of the episode at hand
	touched []int32
}

// residualLimits are the public bounds that residuals are clipped to.
type residualLimits struct {
	returns facts.Range // on-policy: V + e stays inside
	largest float64     // off-policy: |e|; 0 on-policy
}

func limitsFor(p facts.Public, maxWeight float64) residualLimits {
	l := residualLimits{returns: p.Returns}
	if !p.OnPolicy() {
		l.largest = maxWeight * l.returns.Width()
	}
	return l
}

// clip enforces the public bounds on a residual at a state of value v; NaN stays
// NaN, which the mechanism counts as zero.
func (l *residualLimits) clip(e, v float64) float64 {
	if l.largest > 0 {
		if e > l.largest {
			return l.largest
		} else if e < -l.largest {
			return -l.largest
		}
		return e
	}
	return min(max(e, l.returns.Min-v), l.returns.Max-v)
}

func newResiduals(s value.Persons, f feature.Finite, values []float64, none float64, limits residualLimits) *residuals {
	return &residuals{
		of: s.Walk(), finite: f, values: values, none: none, limits: limits,
		slot:  make([]int32, f.Dim()),
		first: make([]float64, f.States()),
		stamp: make([]int32, f.States()),
	}
}

// person computes cells and mean for one person.
func (r *residuals) person(p int) {
	if cells, returns, known := r.cache.recall(p); known {
		r.cells, r.mean = cells, r.mean[:0]
		for i, g := range returns {
			r.mean = append(r.mean, g-r.values[cells[i]])
		}
		return
	}
	for _, c := range r.walked {
		r.slot[c] = 0
	}
	r.walked, r.sum, r.count = r.walked[:0], r.sum[:0], r.count[:0]
	r.s, p = r.of.At(p)
	lo, hi := r.s.Episodes(p)
	for e := lo; e < hi; e++ {
		r.walk(e)
		for _, state := range r.touched {
			r.add(state)
		}
	}
	for i, n := range r.count {
		r.sum[i] /= n
	}
	r.cells, r.mean = r.walked, append(r.mean[:0], r.sum...)
}

// value is V at a point; cell is NoCell where the observation holds no state.
func (r *residuals) value(cell int32) float64 {
	if cell == value.NoCell {
		return r.none
	}
	return r.values[cell]
}

// walk goes backward through an episode, so that the last residual written for
// a state is that of its first visit.
func (r *residuals) walk(episode int) {
	r.touched = r.touched[:0]
	s := r.s
	lo, hi := s.Rows(episode)
	reward, cells, states := s.Data.Reward, s.Cell, s.State
	r.mark++
	mark := r.mark
	// ahead is V + e after the row.
	ahead, row := 0.0, hi-1
	switch next := s.Next[row]; next {
	case value.Terminal:
	case value.Unknown:
		// What followed is not known: the row's own value stands.
		ahead = r.value(cells[row])
		r.visit(states[row], 0, mark)
		row--
	default:
		ahead = r.value(cells[next])
	}
	for ; row >= lo; row-- {
		v := r.value(cells[row])
		e := reward[row] + s.Gamma(row)*ahead - v
		if s.Rho != nil {
			e = r.limits.clip(s.Rho[row]*e, v)
		}
		ahead = v + e
		r.visit(states[row], r.limits.clip(e, v), mark)
	}
}

// visit writes down the residual of a state.
func (r *residuals) visit(state int32, e float64, mark int32) {
	if state == value.NoCell {
		return
	}
	r.first[state] = e
	if r.stamp[state] != mark {
		r.stamp[state] = mark
		r.touched = append(r.touched, state)
	}
}

func (r *residuals) add(state int32) {
	cell := int32(r.finite.Cell(int(state)))
	i := r.slot[cell] - 1
	if i < 0 {
		i = int32(len(r.walked))
		r.slot[cell] = i + 1
		r.walked = append(r.walked, cell)
		r.sum = append(r.sum, 0)
		r.count = append(r.count, 0)
	}
	r.sum[i] += r.first[state]
	r.count[i]++
}

// average is the mean of the person's residuals over the cells visited, 0 for a
// person who visits none.
func (r *residuals) average() float64 {
	if len(r.mean) == 0 {
		return 0
	}
	sum := 0.0
	for _, e := range r.mean {
		sum += e
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return 0
	}
	return sum / float64(len(r.mean))
}

// returnsByCell holds, for persons whose residuals are their returns less V
// whatever V is (on-policy, every episode terminated), the mean clipped return
// by cell, so that a round need not walk through their decisions again. It takes
// 12 bytes for each cell that a person visits.
type returnsByCell []returnsOf

// returnsOf are those of chunk persons.
type returnsOf struct {
	known []bool
	start []int32
	cell  []int32
	mean  []float64
}

// newReturnsByCell walks through persons once, on-policy.
func newReturnsByCell(s value.Persons, f feature.Finite, limits residualLimits) returnsByCell {
	persons := s.Persons()
	all := make(returnsByCell, (persons+chunk-1)/chunk)
	r, walk := newResiduals(s, f, make([]float64, f.Dim()), 0, limits), s.Walk() // V = 0: residuals are returns
	for i := range persons {
		c := &all[i/chunk]
		known := true
		s, p := walk.At(i)
		lo, hi := s.Episodes(p)
		for e := lo; e < hi; e++ {
			known = known && s.Data.Ended(e)
		}
		c.known, c.start = append(c.known, known), append(c.start, int32(len(c.cell)))
		if known {
			r.person(i)
			c.cell, c.mean = append(c.cell, r.cells...), append(c.mean, r.mean...)
		}
	}
	return all
}

// recall takes a person's returns from the cache; false if they are not known.
func (a returnsByCell) recall(person int) (cell []int32, mean []float64, known bool) {
	if a == nil {
		return nil, nil, false
	}
	c, i := &a[person/chunk], person%chunk
	from, to := int(c.start[i]), len(c.cell)
	if i+1 < len(c.start) {
		to = int(c.start[i+1])
	}
	return c.cell[from:to], c.mean[from:to], c.known[i]
}
