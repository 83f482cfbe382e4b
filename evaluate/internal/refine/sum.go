package refine

import (
	"context"
	"math"
	"runtime"
	"sync"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
)

// chunk is the number of persons that a worker takes at a time.
const chunk = 2048

// Contribution writes what one person adds to dst, which is all zero.
type Contribution func(dst []float64, person int)

// Sum releases the noisy sum over persons of vectors of dim coordinates,
// clipped to l2 norm clip by the mechanism. Each worker has its own
// contribution. The sums are integers, so the release does not depend on the
// number of workers.
type Sum struct {
	Dim        int
	Clip       float64
	Multiplier float64
	Kind       mechanism.Noise
	workers    int // 0 stands for GOMAXPROCS

	instead Releaser // takes the place of release in audits; nil otherwise
}

// Releaser makes a release in the place of Sum.release.
type Releaser func(q Sum, each func() Contribution, src *noise.Source) ([]float64, error)

// SD is the standard deviation of the noise in each coordinate, public.
func (q Sum) SD() float64 { return q.Clip * q.Multiplier }

func (q Sum) fresh() (*mechanism.VectorSum, error) {
	return mechanism.NewVectorSum(q.Dim, q.Clip, q.Multiplier, q.Kind)
}

func (q Sum) release(ctx context.Context, persons int, each func() Contribution, src *noise.Source) ([]float64, error) {
	if q.instead != nil {
		return q.instead(q, each, src)
	}
	workers := q.workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	chunks := (persons + chunk - 1) / chunk
	workers = max(min(workers, chunks), 1)
	sums := make([]*mechanism.VectorSum, workers)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() { sums[i], errs[i] = q.shard(ctx, i, workers, persons, each()) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	for _, s := range sums[1:] {
		if err := sums[0].Merge(s); err != nil {
			return nil, err
		}
	}
	out, _, err := sums[0].Release(src)
	return out, err
}

// shard sums the chunks first, first+stride, ...
func (q Sum) shard(ctx context.Context, first, stride, persons int, each Contribution) (*mechanism.VectorSum, error) {
	sum, err := q.fresh()
	if err != nil {
		return nil, err
	}
	x := make([]float64, q.Dim)
	for from := first * chunk; from < persons; from += stride * chunk {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for p := from; p < min(from+chunk, persons); p++ {
			clear(x)
			each(x, p)
			if err := sum.Add(x); err != nil {
				return nil, err
			}
		}
	}
	return sum, nil
}

// clipWithSquare scales x[:n] into the ball of radius clip and writes
// |x|^2/clip - clip to x[n]. The longer vector then lies in the ball as well: with
// u = |x|/clip its squared norm is clip^2 (u^2 + (u^2-1)^2) = clip^2 (1 - u^2 +
// u^4) <= clip^2. So the sum of squared norms is released at no cost, and a
// later clip can follow it. What is not finite becomes x = 0.
func clipWithSquare(x []float64, n int, clip float64) {
	square := 0.0
	for _, v := range x[:n] {
		square += v * v
	}
	switch {
	case math.IsNaN(square) || math.IsInf(square, 0):
		clear(x[:n])
		square = 0
	case square > clip*clip:
		scale := clip / math.Sqrt(square)
		for i := range x[:n] {
			x[i] *= scale
		}
		square = clip * clip
	}
	x[n] = square/clip - clip
}
