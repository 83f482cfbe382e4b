package xie19

import (
	"context"
	"math"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/rl/value"
)

// walker takes the steps of Algorithm 1 of the paper on statistics of each
// person that are computed once, for all numbers of persons of a trial. Noise is
// drawn as float64 normals. Several runs with the same persons and seed go side by
// side: they pick the same persons and scale the same standard normals, so that
// these are drawn once for all step sizes, clips and accountants. Each makes, bit
// for bit, what evaluate.GPOPE makes of the same persons with fast noise.
type walker struct {
	n     int
	cells *value.CellSaddle  // of one-hot features
	dense *value.DenseSaddle // of others; it belongs to one goroutine
}

func newWalker(s *value.Sample) *walker {
	w := &walker{n: s.Dim}
	if s.Cell != nil {
		w.cells = value.NewCellSaddle(s, value.ByTrajectory)
	} else {
		w.dense = value.NewDenseSaddle(s, value.ByTrajectory, true)
	}
	return w
}

// algorithm1 tells whether an estimator is the algorithm of the paper.
func algorithm1(e evaluate.Estimator) (evaluate.GPOPE, bool) {
	g, ok := e.(evaluate.GPOPE)
	return g, ok && g.Batch == 1
}

// checkEvery is how many steps are taken between two looks at the context.
const checkEvery = 1024

// walk is one run of the algorithm: theta and w in x, and what moves them.
type walk struct {
	x                []float64
	stepTheta, stepW float64
	clip             float64
	sigma            float64 // standard deviation of the noise in a coordinate
}

func newWalk(g evaluate.GPOPE, plan *evaluate.Plan, n int) *walk {
	multiplier := plan.Facts["noise_multiplier"].(float64)
	return &walk{
		x: make([]float64, 2*n), stepTheta: g.StepTheta, stepW: g.StepW, clip: g.Clip,
		sigma: math.Nextafter(g.Clip*multiplier, math.Inf(1)),
	}
}

// factor is what a gradient is multiplied by to have norm at most the clip, and 0
// where it is not finite.
func (w *walk) factor(gradient []float64) float64 {
	square := 0.0
	for _, v := range gradient {
		square += v * v
	}
	norm := math.Sqrt(square)
	if math.IsNaN(norm) || math.IsInf(norm, 1) {
		return 0
	}
	return min(1, w.clip*(1-0x1p-40)/norm)
}

// theta runs the algorithm once for each of gs on the first m persons, with as many
// steps as there are persons and with the noise of the plans for gs.
func (w *walker) theta(ctx context.Context, gs []evaluate.GPOPE, plans []*evaluate.Plan, m int, src *noise.Source) ([][]float64, error) {
	walks, thetas := make([]*walk, len(gs)), make([][]float64, len(gs))
	for i, g := range gs {
		walks[i] = newWalk(g, plans[i], w.n)
		thetas[i] = walks[i].x[:w.n]
	}
	unit, err := noise.NewFastGaussian(1)
	if err != nil {
		return nil, err
	}
	start := w.eager
	if w.cells != nil {
		start = w.lazy
	}
	step, finish := start(walks, unit, src)
	for i := range m {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		step(int(src.Uint64n(uint64(m))))
	}
	finish()
	return thetas, nil
}

// lazy draws noise where a person's gradient reads it, as mechanism.LazyWalk does:
// what a coordinate is owed is one normal of the summed variance.
func (w *walker) lazy(walks []*walk, unit *noise.FastGaussian, src *noise.Source) (step func(person int), finish func()) {
	n, now := w.n, 0
	paid := make([]int, 2*n) // by coordinate: the step up to which its noise is drawn
	index, at, grad := make([]int32, 2*n), make([]float64, 2*n), make([]float64, 2*n)
	root, normal := make([]float64, 2*n), make([]float64, 2*n)
	settle := func(index []int32) {
		for k, i := range index {
			root[k], normal[k] = 0, 0
			if owed := now - paid[i]; owed > 0 {
				paid[i] = now
				root[k], normal[k] = math.Sqrt(float64(owed)), unit.Sample(src)
			}
		}
	}
	step = func(person int) {
		cells := w.cells.Cells(person)
		k := len(cells)
		for i, j := range cells {
			index[i], index[k+i] = j, int32(n)+j
		}
		index := index[:2*k]
		settle(index)
		for _, v := range walks {
			v.disturb(at, index, root, normal, k)
			w.cells.Gradient(grad[:k], grad[k:2*k], at[:k], at[k:2*k], person)
			v.move(index, grad[:2*k], k)
		}
		now++
	}
	finish = func() {
		all := make([]int32, 2*n)
		for i := range all {
			all[i] = int32(i)
		}
		settle(all)
		for _, v := range walks {
			v.disturb(at, all, root, normal, n)
		}
	}
	return step, finish
}

// disturb adds noise at the given coordinates, of which the first k belong to
// theta, and writes the position there to at.
func (v *walk) disturb(at []float64, index []int32, root, normal []float64, k int) {
	at, root, normal = at[:len(index)], root[:len(index)], normal[:len(index)]
	rate := v.stepTheta
	for i, j := range index {
		if i == k {
			rate = v.stepW
		}
		if root[i] > 0 {
			v.x[j] -= rate * root[i] * (v.sigma * normal[i])
		}
		at[i] = v.x[j]
	}
}

// move follows a gradient at the given coordinates.
func (v *walk) move(index []int32, gradient []float64, k int) {
	scale := v.factor(gradient)
	if scale == 0 {
		return
	}
	theta, dual := v.stepTheta*scale, v.stepW*scale
	for i, j := range index[:k] {
		v.x[j] -= theta * gradient[i]
	}
	for i, j := range index[k:] {
		v.x[j] -= dual * gradient[k+i]
	}
}

// eager draws all noise in its step.
func (w *walker) eager(walks []*walk, unit *noise.FastGaussian, src *noise.Source) (step func(person int), finish func()) {
	n := w.n
	grad, normal := make([]float64, 2*n), make([]float64, 2*n)
	step = func(person int) {
		unit.Fill(normal, src)
		for _, v := range walks {
			theta, dual := v.x[:n], v.x[n:]
			dTheta, dW := w.dense.Person(theta, dual, person)
			copy(grad[:n], dTheta)
			copy(grad[n:], dW)
			scale := v.factor(grad)
			if scale == 0 {
				clear(grad)
			}
			for j := range n {
				theta[j] -= v.stepTheta * (v.sigma*normal[j] + grad[j]*scale)
				dual[j] -= v.stepW * (v.sigma*normal[n+j] + grad[n+j]*scale)
			}
		}
	}
	return step, func() {}
}
