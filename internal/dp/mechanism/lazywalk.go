package mechanism

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp/noise"
)

// LazyWalk is descent by single persons with noise that is drawn when it is
// needed. Each step moves the position by
//
//	x -= rates * (clipped gradient of one person + noise),  coordinate by coordinate,
//
// with noise of standard deviation NoiseMultiplier*Clip in every coordinate. A
// gradient that is zero in most coordinates is read and written at few; at the
// others the noise of many steps is owed and is drawn as one normal of the summed
// variance when the coordinate is next read. The joint law of everything read,
// and of the final position, is that of drawing every normal in its step
// (docs/proofs/gpope.md): for that the normals must be continuous, so a LazyWalk
// is fast noise only, and nothing but [LazyWalk.Read] may look at the position,
// which rules out projections and averages along the way.
//
// Unit: a person. Each step is dp.Gaussian{NoiseMultiplier} on a sum of one
// clipped vector; the sampling is the caller's. The number of steps is fixed in
// advance. A LazyWalk may not be shared by goroutines.
type LazyWalk struct {
	clip   float64
	normal *noise.FastGaussian // of standard deviation NoiseMultiplier*Clip
	x      []float64
	rates  []float64
	paid   []int64 // by coordinate: the step up to which its noise is in x
	moved  []int64 // by coordinate: the last step that had a gradient there
	now    int64   // steps taken
	steps  int64
}

// NewLazyWalk starts a walk of the given number of steps at start, with one rate
// a coordinate. All arguments are public.
func NewLazyWalk(start, rates []float64, clip, noiseMultiplier float64, steps int64) (*LazyWalk, error) {
	if len(start) != len(rates) {
		panic(fmt.Sprintf("mechanism: %d rates for %d coordinates", len(rates), len(start)))
	}
	if !(clip > 0) || math.IsInf(clip, 0) || steps < 1 {
		return nil, fmt.Errorf("%w: clip is %v and steps %d; want a finite clip above 0 and at least 1 step", ErrParameter, clip, steps)
	}
	normal, err := noise.NewFastGaussian(math.Nextafter(clip*noiseMultiplier, math.Inf(1)))
	if err != nil {
		return nil, err
	}
	return &LazyWalk{
		clip: clip, normal: normal, steps: steps,
		x: append([]float64(nil), start...), rates: append([]float64(nil), rates...), paid: make([]int64, len(start)), moved: make([]int64, len(start)),
	}, nil
}

// Read writes the position at the given coordinates to dst, with all noise of
// the steps so far.
func (w *LazyWalk) Read(dst []float64, index []int32, src *noise.Source) {
	for k, i := range index {
		w.settle(int(i), src)
		dst[k] = w.x[i]
	}
}

// settle draws the noise that a coordinate owes.
func (w *LazyWalk) settle(i int, src *noise.Source) {
	owed := w.now - w.paid[i]
	if owed == 0 {
		return
	}
	w.paid[i] = w.now
	w.x[i] -= w.rates[i] * math.Sqrt(float64(owed)) * w.normal.Sample(src)
}

// Step moves the walk by one person's gradient, whose coordinate index[k] is
// g[k] and whose other coordinates are zero. It is clipped here; a gradient with
// a coordinate that is not finite counts as zero. It panics when an index occurs
// twice, since the clip would not bound the sum of the two. After the last step
// it returns ErrReleased.
func (w *LazyWalk) Step(index []int32, g []float64) error {
	if w.now == w.steps {
		return fmt.Errorf("%w: all steps are used up", ErrReleased)
	}
	w.now++
	scale := clipFactor(g, w.clip)
	if scale == 0 {
		return nil
	}
	for k, i := range index {
		if w.moved[i] == w.now {
			panic(fmt.Sprintf("mechanism: coordinate %d given twice", i))
		}
		w.moved[i] = w.now
		w.x[i] -= w.rates[i] * scale * g[k]
	}
	return nil
}

// Finish draws all noise that is still owed and returns the final position. It
// fails with ErrReleased before the last step: the steps are what was charged.
func (w *LazyWalk) Finish(src *noise.Source) ([]float64, error) {
	if w.now != w.steps {
		return nil, fmt.Errorf("%w: %d of %d steps are taken", ErrReleased, w.now, w.steps)
	}
	for i := range w.x {
		w.settle(i, src)
	}
	return w.x, nil
}
