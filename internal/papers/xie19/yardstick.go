package xie19

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/discreet-rl/discreet/internal/papers/figure"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/sim"
)

// Sizes of what errors are measured against. The seeds are far from those of
// trials.
const (
	referenceChunk = 1000
	referenceSeed  = 1 << 62
	truthSeed      = 3 << 61
	fixedStates    = 40
)

// yardstick measures value functions where nothing is known in closed form:
// MSPBE against the moments of a large sample of its own, each trajectory
// weighing 1, and the value error at fixed states against the mean return of
// simulated episodes.
type yardstick struct {
	unit    float64 // divides MSPBE
	moments *value.Moments
	// cells is A with the partition's one-hot features in the place of those that
	// values are linear in: rows are features, columns cells.
	cells []float64
	// points are the features of the fixed states, cellOf their cells, truth their
	// values, and se the root mean square of the truth's standard errors.
	points [][]float64
	cellOf []int
	truth  []float64
	se     float64
	// The best constants.
	bestMSPBE, bestRMSE float64
}

// measure makes the yardstick of a view on all cores. It does not depend on
// their number.
func (v *view) measure(ctx context.Context) (*yardstick, error) {
	parts := make([]part, v.reference)
	err := each(len(parts), func(i int) (err error) {
		parts[i], err = v.part(ctx, referenceSeed+uint64(i))
		return err
	})
	if err != nil {
		return nil, err
	}
	y := &yardstick{unit: 1, moments: value.NewMoments(v.features.Dim())}
	if v.cells != nil {
		y.cells = make([]float64, v.features.Dim()*v.cells.features.Dim())
	}
	for _, p := range parts {
		addTo(y.moments.A, p.moments.A)
		addTo(y.moments.B, p.moments.B)
		addTo(y.moments.C, p.moments.C)
		addTo(y.cells, p.cells)
	}
	for _, x := range [][]float64{y.moments.A, y.moments.B, y.moments.C, y.cells} {
		for i := range x {
			x[i] /= float64(v.reference * referenceChunk)
		}
	}
	if v.relative {
		if y.unit, err = v.squaredReward(ctx); err != nil {
			return nil, err
		}
	}
	if err := v.fixed(ctx, y); err != nil {
		return nil, err
	}
	return y, y.findConstants()
}

// squaredReward is the square of the mean absolute reward of a step under the
// policy that is evaluated.
func (v *view) squaredReward(ctx context.Context) (float64, error) {
	d, err := sim.Rollout{New: v.episode, Policy: v.policy, Episodes: referenceChunk, Seed: truthSeed, MaxSteps: v.steps}.Run(ctx)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, r := range d.Reward {
		sum += math.Abs(r)
	}
	mean := sum / float64(d.Rows())
	return mean * mean, nil
}

func addTo(sum, x []float64) {
	for i, v := range x {
		sum[i] += v
	}
}

// part is a chunk of the reference sample.
type part struct {
	moments *value.Moments
	cells   []float64
}

func (v *view) part(ctx context.Context, seed uint64) (part, error) {
	d, err := v.simulate(ctx, referenceChunk, seed)
	if err != nil {
		return part{}, err
	}
	s, err := value.NewSample(d, value.Options{Gamma: v.gamma, Features: v.features, Policy: v.target})
	if err != nil {
		return part{}, err
	}
	p := part{moments: value.NewMoments(s.Dim)}
	for i := range d.Persons() {
		p.moments.AddPerson(s, i, value.ByTrajectory)
	}
	if v.cells != nil {
		p.cells = v.cellMoments(s)
	}
	return p, nil
}

// cellMoments sums rho phi (psi - gamma psi')' / tau with the one-hot psi of the
// partition.
func (v *view) cellMoments(s *value.Sample) []float64 {
	k := v.cells.features.Dim()
	out := make([]float64, s.Dim*k)
	for e := range s.Data.Episodes() {
		lo, hi := s.Transitions(e)
		for row := lo; row < hi; row++ {
			w := s.Ratio(row) / float64(hi-lo)
			phi := s.Feature(nil, row)
			cell, next := v.cells.of(s.Data.Observation(row)), -1
			switch {
			case row+1 < s.Data.EpisodeStart[e+1]:
				next = v.cells.of(s.Data.Observation(row + 1))
			case s.Next[row] >= 0:
				next = v.cells.of(s.Data.FinalObservation(e))
			}
			for i, x := range phi {
				out[i*k+cell] += w * x
				if next >= 0 {
					out[i*k+next] -= w * s.Gamma(row) * x
				}
			}
		}
	}
	return out
}

// fixed draws the fixed states, one from each of so many trajectories, and plays
// the policy from them.
func (v *view) fixed(ctx context.Context, y *yardstick) error {
	d, err := v.simulate(ctx, fixedStates, truthSeed)
	if err != nil {
		return err
	}
	phi, err := v.features.Bind(d.Columns)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(truthSeed, 0))
	states := make([][]float64, fixedStates)
	for i := range states {
		lo, hi := d.EpisodeStart[i], d.EpisodeStart[i+1]
		states[i] = d.Observation(lo + rng.IntN(hi-lo))
		point := make([]float64, v.features.Dim())
		if !phi.Apply(point, states[i]) {
			return fmt.Errorf("%s: a simulated state is outside the features", v.name)
		}
		y.points = append(y.points, point)
		if v.cells != nil {
			y.cellOf = append(y.cellOf, v.cells.of(states[i]))
		}
	}
	y.truth = make([]float64, fixedStates)
	variance := make([]float64, fixedStates)
	if err := each(fixedStates, func(i int) (err error) {
		y.truth[i], variance[i], err = v.play(ctx, states[i], truthSeed+1+uint64(i))
		return err
	}); err != nil {
		return err
	}
	for _, x := range variance {
		y.se += x / fixedStates
	}
	y.se = math.Sqrt(y.se)
	return nil
}

// play is the mean discounted return from a state, and its squared standard
// error.
func (v *view) play(ctx context.Context, state []float64, seed uint64) (mean, variance float64, err error) {
	d, err := sim.Rollout{
		New:    func() (sim.Env, error) { return v.from(state) },
		Policy: v.policy, Episodes: v.rollouts, Seed: seed, MaxSteps: v.patience, Workers: 1,
	}.Run(ctx)
	if err != nil {
		return 0, 0, err
	}
	s, err := value.NewSample(d, value.Options{Gamma: v.gamma})
	if err != nil {
		return 0, 0, err
	}
	n := float64(d.Episodes())
	squares := 0.0
	for e := range d.Episodes() {
		x := s.Return(e)
		delta := x - mean
		mean += delta / float64(e+1)
		squares += delta * (x - mean)
	}
	return mean, squares / n / max(n-1, 1), nil
}

// each calls f for 0 to n-1 on all cores.
func each(n int, f func(i int) error) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, n)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if errs[i] = f(i); errs[i] != nil {
					next.Store(int64(n))
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// errorsOf holds both errors of a value function.
type errorsOf struct{ mspbe, rmse float64 }

// score measures theta over the features, or over the cells.
func (y *yardstick) score(theta []float64, byCell bool) (errorsOf, error) {
	against, weights := y.moments, theta
	if byCell {
		// The residual b - A theta, with the cells' A, as a problem without A.
		n, k := y.moments.N, len(theta)
		left := &value.Moments{N: n, A: make([]float64, n*n), B: make([]float64, n), C: y.moments.C}
		for i := range n {
			left.B[i] = y.moments.B[i] - dot(y.cells[i*k:(i+1)*k], theta)
		}
		against, weights = left, make([]float64, n)
	}
	mspbe, err := against.MSPBE(weights)
	if err != nil {
		return errorsOf{}, err
	}
	values := make([]float64, len(y.truth))
	for i, p := range y.points {
		if byCell {
			values[i] = theta[y.cellOf[i]]
		} else {
			values[i] = dot(p, theta)
		}
	}
	return errorsOf{mspbe: mspbe / y.unit, rmse: value.RMSE(values, y.truth)}, nil
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// findConstants relies on the first feature, which is the constant 1.
func (y *yardstick) findConstants() error {
	var at [3]float64
	for c := range at {
		theta := make([]float64, y.moments.N)
		theta[0] = float64(c)
		got, err := y.score(theta, false)
		if err != nil {
			return err
		}
		at[c] = got.mspbe
	}
	y.bestMSPBE = leastOf(at)
	mean := 0.0
	for _, v := range y.truth {
		mean += v / float64(len(y.truth))
	}
	flat := make([]float64, len(y.truth))
	for i := range flat {
		flat[i] = mean
	}
	y.bestRMSE = value.RMSE(flat, y.truth)
	return nil
}

// leastOf is the least value of the quadratic with these values at 0, 1 and 2.
func leastOf(at [3]float64) float64 {
	a := (at[0]+at[2])/2 - at[1]
	b := at[1] - at[0] - a
	return at[0] - b*b/(4*a)
}

// constants are the references at x.
func (y *yardstick) constants(mspbe, err string, x float64) []figure.Sample {
	return []figure.Sample{
		{Panel: mspbe, Series: seriesConstant, X: x, Y: y.bestMSPBE},
		{Panel: err, Series: seriesConstant, X: x, Y: y.bestRMSE},
	}
}
