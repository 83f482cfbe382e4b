package fqe

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/xmath"
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
		square := xmath.SquareNorm(v.Weights[block*l.size() : (block+1)*l.size()])
		largest = max(largest, math.Sqrt(square)*(1+1e-12))
	}
	all := l.Bounds(l.Decisions)
	return facts.Range{Min: all.Clamp(v.Constant - largest), Max: all.Clamp(v.Constant + largest)}
}

// Errors are the standard deviations, to first order, that noise and finitely many
// persons make in the mean over decisions of the value with all decisions to go, if the
// model is right; half the range at most. That of sampling is made of
// bounds on how much rewards and values vary.
//
// The value is differentiated by every noisy number, backward through the induction; the
// bounds on values and the penalty are taken as given.
func (m *LinearModel) Errors(values []LinearValue) (private, sampling float64) {
	l := m.l
	if m.empty {
		return l.Bounds(l.Decisions).Width() / 2, 0
	}
	n, half := l.Weights(), l.Public.Reward.Width()/2
	by := m.byMoments()
	g, k, later := m.first(), 1.0, 0.0 // by weights, by the constant
	together := make([]float64, n)
	for h := len(values) - 1; h >= 0; h-- {
		before := LinearValue{Weights: make([]float64, n)}
		if h > 0 {
			before = values[h-1]
		}
		u := m.solve(g)
		k += later
		for i, x := range u {
			k -= x * m.sums[i]
			together[i] += x
		}
		by.step(u, values[h], before, k)
		spread := m.spread(before.Weights, 0) + before.Constant*before.Constant*m.loss*(1-m.loss)
		sampling += math.Sqrt(m.spread(u, 0) * m.count * spread)
		if h == 0 {
			break
		}
		k *= 1 - m.loss
		later = 0
		g = make([]float64, n)
		for i, x := range u {
			later += x * (m.sums[i] - m.lost[i])
			g[i] += m.penalty * x
			for j := range g {
				g[j] += x * m.follow.At(i, j)
			}
		}
	}
	sampling = math.Hypot(sampling, math.Sqrt(m.spread(together, 0)*m.count*(1-m.mean*m.mean))*half)
	most := l.Bounds(l.Decisions).Width() / 2
	return min(by.sum()*l.SD(), most), min(sampling, most)
}

// first are the mean features of what follows decisions, in place of the first ones.
func (m *LinearModel) first() []float64 {
	out := make([]float64, m.l.Weights())
	if m.follow == nil {
		for i := range out {
			out[i] = m.sums[i] / m.count
		}
		return out
	}
	total := 0.0
	for block := range m.l.blocks() {
		for j := range out {
			out[j] += m.follow.At(block*m.l.size(), j) / constant
		}
	}
	for block := range m.l.blocks() {
		total += out[block*m.l.size()] / constant
	}
	for j := range out {
		out[j] /= max(total, m.l.SD())
	}
	return out
}

// solve applies the inverse of the second moments, block by block.
func (m *LinearModel) solve(g []float64) []float64 {
	out, size := make([]float64, len(g)), m.l.size()
	for block, inverse := range m.inverse {
		for i := range size {
			for j := range size {
				out[block*size+i] += inverse.At(i, j) * g[block*size+j]
			}
		}
	}
	return out
}

// linearDerivatives are those of the value by the released moments.
type linearDerivatives struct {
	m                   *LinearModel
	squares             []*mat.Dense
	sums, rewards, lost []float64
	follow              []float64
	mean, loss          float64
}

func (m *LinearModel) byMoments() *linearDerivatives {
	n, size := m.l.Weights(), m.l.size()
	d := &linearDerivatives{m: m, sums: make([]float64, n), rewards: make([]float64, n), lost: make([]float64, n), follow: make([]float64, n*n)}
	for range m.moments {
		d.squares = append(d.squares, mat.NewDense(size, size, nil))
	}
	return d
}

// step adds those of one step of the induction: u is the derivative by the right-hand side,
// k that by the constant.
func (d *linearDerivatives) step(u []float64, now, before LinearValue, k float64) {
	m, size := d.m, d.m.l.size()
	half := m.l.Public.Reward.Width() / 2
	d.mean += k * half
	d.loss -= k * before.Constant
	for i, x := range u {
		d.sums[i] += x * (m.l.Public.Reward.Mid() - now.Constant + before.Constant)
		d.rewards[i] += x * half
		d.lost[i] -= x * before.Constant
		for j, w := range before.Weights {
			d.follow[i*len(u)+j] += x * w
		}
		block := i / size
		for j, w := range now.Weights[block*size : (block+1)*size] {
			a := d.squares[block]
			a.Set(i%size, j, a.At(i%size, j)-x*w)
		}
	}
}

// sum is the root of the sum of their squares.
func (d *linearDerivatives) sum() float64 {
	m, size := d.m, d.m.l.size()
	for i, x := range d.lost { // lost is drawn to loss times sums
		d.lost[i] = m.keep * x
		d.sums[i] += (1 - m.keep) * m.loss * x
		d.loss += (1 - m.keep) * m.sums[i] * x
	}
	d.loss *= m.slope
	square := 0.0
	for block, a := range d.squares {
		at := block * size
		d.rewards[at] += d.mean / (constant * m.count)
		d.lost[at] += d.loss / (constant * m.count)
		a.Set(0, 0, a.At(0, 0)-(d.mean*m.mean+d.loss*m.loss)/(constant*constant*m.count))
		for i := range size {
			a.Set(0, i, a.At(0, i)+d.sums[at+i]/constant)
		}
		for i := range size {
			square += a.At(i, i) * a.At(i, i)
			for j := i + 1; j < size; j++ {
				both := (a.At(i, j) + a.At(j, i)) / math.Sqrt2
				square += both * both
			}
		}
	}
	rest := [][]float64{d.rewards}
	if m.follow != nil {
		rest = append(rest, d.lost, d.follow)
	}
	for _, list := range rest {
		for _, x := range list {
			square += x * x
		}
	}
	return math.Sqrt(square)
}
