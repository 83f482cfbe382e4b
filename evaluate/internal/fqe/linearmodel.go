package fqe

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/discreet-rl/discreet/evaluate/internal/facts"
)

// LinearModel is what was released, with what follows from it.
type LinearModel struct {
	l       Linear
	penalty float64
	// moments are second moments, and inverse their inverse with the penalty, by block.
	moments, inverse []*mat.SymDense
	// sums are those of features, rewards of features times rewards, lost of features
	// times what is lost of the future by an end or a discount, follow of features times
	// those that follow.
	sums, rewards, lost []float64
	follow              *mat.Dense
	// count is the number of decisions, mean their mean reward in half widths about the
	// middle, loss their mean loss, and keep how far lost differs by feature.
	count, mean, loss, keep float64
	slope                   float64 // derivative of loss by its noisy sum, over count
	// empty: noise hides that anybody decided anything.
	empty bool
}

// Penalty is the weight of the ridge: above the norm of the noise in the second moments of a
// block, which keeps them regular.
func (l Linear) Penalty() float64 { return ridge * l.SD() * math.Sqrt(float64(l.size())) }

// ridge is the penalty in units of the noise, chosen by simulation.
const ridge = 3

// model reads the released numbers.
func (l Linear) model(noisy []float64) (*LinearModel, error) {
	m := &LinearModel{l: l, penalty: l.Penalty(), keep: 1}
	size, n := l.size(), l.Weights()
	for block := range l.blocks() {
		at := block * l.square()
		moments, ridged := mat.NewSymDense(size, nil), mat.NewSymDense(size, nil)
		for i := range size {
			moments.SetSym(i, i, noisy[at])
			at++
			for j := i + 1; j < size; j++ {
				moments.SetSym(i, j, noisy[at]/math.Sqrt2)
				at++
			}
		}
		ridged.CopySym(moments)
		for i := range size {
			ridged.SetSym(i, i, ridged.At(i, i)+m.penalty)
			m.sums = append(m.sums, moments.At(0, i)/constant)
		}
		inverse, err := inverted(ridged, m.penalty)
		if err != nil {
			return nil, err
		}
		m.moments, m.inverse = append(m.moments, moments), append(m.inverse, inverse)
	}
	at := l.blocks() * l.square()
	m.rewards = noisy[at : at+n]
	m.lost = make([]float64, n)
	paid, lost := 0.0, 0.0
	for block := range l.blocks() {
		m.count += m.sums[block*size] / constant
		paid += m.rewards[block*size] / constant
		if l.Decisions > 1 {
			lost += noisy[at+n+block*size] / constant
		}
	}
	sd := l.SD() * math.Sqrt(float64(l.blocks())) / constant
	if m.empty = m.count < 2*sd/constant; m.empty {
		return m, nil
	}
	m.mean = min(max(paid/m.count, -1), 1)
	if l.Decisions > 1 {
		m.loss, m.slope = garrote(min(lost, m.count), sd)
		m.loss /= m.count
		apart, square := make([]float64, n), 0.0
		for i := range apart {
			apart[i] = noisy[at+n+i] - m.loss*m.sums[i]
			square += apart[i] * apart[i]
		}
		m.keep = max(0, 1-float64(n)*l.SD()*l.SD()/square)
		for i := range apart {
			m.lost[i] = m.loss*m.sums[i] + m.keep*apart[i]
		}
		m.follow = mat.NewDense(n, n, noisy[at+2*n:])
	}
	return m, nil
}

// inverted is the inverse of a symmetric matrix whose eigenvalues are raised to a floor.
func inverted(a *mat.SymDense, floor float64) (*mat.SymDense, error) {
	var eigen mat.EigenSym
	if !eigen.Factorize(a, true) {
		return nil, errors.New("the noisy second moments have no eigenvalues")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil)
	n := len(values)
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			sum := 0.0
			for k, v := range values {
				sum += vectors.At(i, k) * vectors.At(j, k) / max(v, floor)
			}
			out.SetSym(i, j, sum)
		}
	}
	return out, nil
}

// LinearValue is a value: a constant, and a weight of each feature in each block.
type LinearValue struct {
	Constant float64
	Weights  []float64
}

// Induct makes the value with 1, 2, ... decisions to go. Each is a constant, the mean value,
// and a ridge regression of what is left on the features, warm from the step before: the
// penalty draws weights to those of one decision less to go.
func (m *LinearModel) Induct() []LinearValue {
	l := m.l
	n, size := l.Weights(), l.size()
	middle, half := l.Public.Reward.Mid(), l.Public.Reward.Width()/2
	before := LinearValue{Weights: make([]float64, n)}
	var out []LinearValue
	for h := range l.Decisions {
		within := l.Bounds(h + 1)
		now := LinearValue{Weights: make([]float64, n)}
		if m.empty {
			now.Constant = within.Mid()
			out = append(out, now)
			continue
		}
		now.Constant = within.Clamp(middle + half*m.mean + before.Constant*(1-m.loss))
		for block := range l.blocks() {
			at := block * size
			right := make([]float64, size)
			for i := range right {
				right[i] = (middle-now.Constant+before.Constant)*m.sums[at+i] + half*m.rewards[at+i] - before.Constant*m.lost[at+i]
				if h > 0 {
					for j, b := range before.Weights {
						right[i] += m.follow.At(at+i, j) * b
					}
				}
				right[i] += m.penalty * before.Weights[at+i]
			}
			for i := range size {
				for j, r := range right {
					now.Weights[at+i] += m.inverse[block].At(i, j) * r
				}
			}
		}
		m.tame(now, within)
		out = append(out, now)
		before = now
	}
	return out
}

// tame draws the weights to zero until values vary no more about their constant than
// numbers in the range can (Bhatia and Davis 2000).
func (m *LinearModel) tame(v LinearValue, within facts.Range) {
	available := (v.Constant - within.Min) * (within.Max - v.Constant)
	if square := m.spread(v.Weights, m.penalty); square > available {
		for i := range v.Weights {
			v.Weights[i] *= math.Sqrt(available / square)
		}
	}
}

// spread is the mean square of weighted features over decisions, with a penalty on weights.
func (m *LinearModel) spread(weights []float64, penalty float64) float64 {
	square, size := 0.0, m.l.size()
	for block, a := range m.moments {
		w := weights[block*size : (block+1)*size]
		for i, x := range w {
			square += penalty * x * x
			for j, y := range w {
				square += x * y * a.At(i, j)
			}
		}
	}
	return max(square/m.count, 0)
}

// Bounds are those of [Table.Bounds].
func (l Linear) Bounds(h int64) facts.Range {
	return Table{Public: l.Public, Decisions: l.Decisions, Discounts: l.Discounts}.Bounds(h)
}

// Within bounds what a value can be at any features, with all decisions to go.
func (l Linear) Within(v LinearValue) facts.Range {
	largest := 0.0
	for block := range l.blocks() {
		square := 0.0
		for _, w := range v.Weights[block*l.size() : (block+1)*l.size()] {
			square += w * w
		}
		largest = max(largest, math.Sqrt(square)*(1+1e-12))
	}
	all := l.Bounds(l.Decisions)
	return facts.Range{Min: all.Clamp(v.Constant - largest), Max: all.Clamp(v.Constant + largest)}
}
