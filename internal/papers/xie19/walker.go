package xie19

import (
	"context"

	"github.com/discreet-rl/discreet/dp/mechanism"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/value"
)

// walker takes the steps of Algorithm 1 of the paper on statistics of each
// person that are computed once, for all steps, clips, accountants and numbers of
// persons of a trial. Noise is drawn as float64 normals. At one seed it makes
// what evaluate.GPOPE makes of the same persons with fast noise.
type walker struct {
	n       int
	persons int
	cells   *value.CellSaddle  // of one-hot features
	dense   *value.DenseSaddle // of others; it belongs to one goroutine
}

func newWalker(s *value.Sample) *walker {
	w := &walker{n: s.Dim, persons: s.Data.Persons()}
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

// theta takes as many steps as there are persons among the first m, with the
// noise of a plan for g.
func (w *walker) theta(ctx context.Context, g evaluate.GPOPE, plan *evaluate.Plan, m int, src *noise.Source) ([]float64, error) {
	multiplier := plan.Facts["noise_multiplier"].(float64)
	if w.cells != nil {
		return w.lazy(ctx, g, multiplier, m, src)
	}
	return w.eager(ctx, g, multiplier, m, src)
}

// lazy draws noise where a person's gradient reads it.
func (w *walker) lazy(ctx context.Context, g evaluate.GPOPE, multiplier float64, m int, src *noise.Source) ([]float64, error) {
	start, rates := make([]float64, 2*w.n), make([]float64, 2*w.n)
	for j := range w.n {
		rates[j], rates[w.n+j] = g.StepTheta, g.StepW
	}
	x, err := mechanism.NewLazyWalk(start, rates, g.Clip, multiplier, int64(m))
	if err != nil {
		return nil, err
	}
	index, at, grad := make([]int32, 2*w.n), make([]float64, 2*w.n), make([]float64, 2*w.n)
	for i := range m {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		person := int(src.Uint64n(uint64(m)))
		cells := w.cells.Cells(person)
		k := len(cells)
		for i, j := range cells {
			index[i], index[k+i] = j, int32(w.n)+j
		}
		x.Read(at[:2*k], index[:2*k], src)
		w.cells.Gradient(grad[:k], grad[k:2*k], at[:k], at[k:2*k], person)
		if err := x.Step(index[:2*k], grad[:2*k]); err != nil {
			return nil, err
		}
	}
	final, err := x.Finish(src)
	if err != nil {
		return nil, err
	}
	return final[:w.n], nil
}

// eager draws all noise in its step.
func (w *walker) eager(ctx context.Context, g evaluate.GPOPE, multiplier float64, m int, src *noise.Source) ([]float64, error) {
	sum, err := mechanism.NewStepSum(2*w.n, g.Clip, multiplier, int64(m), mechanism.Fast)
	if err != nil {
		return nil, err
	}
	x, grad, noisy := make([]float64, 2*w.n), make([]float64, 2*w.n), make([]float64, 2*w.n)
	theta, dual := x[:w.n], x[w.n:]
	for i := range m {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		dTheta, dW := w.dense.Person(theta, dual, int(src.Uint64n(uint64(m))))
		copy(grad[:w.n], dTheta)
		copy(grad[w.n:], dW)
		if err := sum.Add(grad); err != nil {
			return nil, err
		}
		if err := sum.Release(noisy, src); err != nil {
			return nil, err
		}
		for j := range w.n {
			theta[j] -= g.StepTheta * noisy[j]
			dual[j] -= g.StepW * noisy[w.n+j]
		}
	}
	return theta, nil
}
