package fqe

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

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
