package mechanism

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/hook"
	"github.com/discreet-rl/discreet/internal/fault"
)

// Sentinel errors. Everything this package returns wraps one of them.
var (
	// ErrParameter marks a public parameter that is out of range.
	ErrParameter = fault.Input("invalid mechanism parameter")
	// ErrReleased marks a second release, or an addition after the release.
	ErrReleased = errors.New("mechanism already released")
	// ErrCapacity marks more persons than the lattice was planned for.
	ErrCapacity = fault.Input("too many persons for the lattice")
	// ErrMismatch marks a merge of sums that were made differently.
	ErrMismatch = errors.New("mechanisms differ")
	// ErrNotJoint marks a release that needs all persons in one process.
	ErrNotJoint = errors.New("release needs all persons in one process")
)

const (
	// resolution: one clip is at least 2^resolution lattice steps.
	resolution = 30
	// maxNoise bounds the noise in lattice steps: 2^maxNoise is the largest
	// standard deviation that the exact samplers accept.
	maxNoise = 39
	// minNoise is the least scale, in lattice steps, that they accept.
	minNoise = 1e-3
	// maxSum bounds any integer sum in absolute value: 2^maxSum.
	maxSum = 62
)

// lattice is a public power-of-two grid for vectors of dim coordinates whose l2
// norm is at most radius.
type lattice struct {
	step   float64 // a power of two
	radius uint64  // the largest norm, in steps, rounded down
	sigma  float64 // the noise's standard deviation in steps, rounded up
}

// newLattice chooses the step from public facts: the largest power of two that
// is at most radius * 2^-resolution / sqrt(dim), or, where the noise would then
// exceed 2^maxNoise steps, the smallest at which it does not.
func newLattice(radius, sd float64, dim int) (lattice, error) {
	if !(radius > 0) || math.IsInf(radius, 0) {
		return lattice{}, fmt.Errorf("%w: clip is %v; want a finite number above 0", ErrParameter, radius)
	}
	if !(sd > 0) || math.IsInf(sd, 0) {
		return lattice{}, fmt.Errorf("%w: noise is %v; want a finite number above 0", ErrParameter, sd)
	}
	if dim < 1 {
		return lattice{}, fmt.Errorf("%w: dimension is %d; want at least 1", ErrParameter, dim)
	}
	step := powerBelow(math.Ldexp(radius/math.Sqrt(float64(dim)), -resolution))
	for sd/step > 1<<maxNoise {
		step *= 2
	}
	l := lattice{step: step, radius: uint64(radius / step), sigma: math.Nextafter(sd/step, math.Inf(1))}
	if step < 0x1p-1000 || l.radius == 0 {
		return lattice{}, fmt.Errorf("%w: a clip of %v under noise of standard deviation %v leaves no resolution", ErrParameter, radius, sd)
	}
	if l.radius > 1<<(maxSum-1) {
		return lattice{}, fmt.Errorf("%w: dimension %d is too large", ErrParameter, dim)
	}
	return l, nil
}

// powerBelow returns the largest power of two that is at most x > 0.
func powerBelow(x float64) float64 {
	_, exp := math.Frexp(x)
	return math.Ldexp(1, exp-1)
}

// capacity is the number of persons whose sum is certain not to overflow.
func (l lattice) capacity() int64 { return int64((uint64(1) << maxSum) / l.radius) }

// round writes x, truncated toward zero, to dst in steps, and makes sure in
// exact integer arithmetic that its norm is at most the radius. It reports
// false, and leaves zeros, when a coordinate is not finite.
func (l lattice) round(dst []int64, x []float64) bool {
	scale := l.scale(x)
	if math.IsNaN(scale) {
		clear(dst)
		return false
	}
	for {
		for i, v := range x {
			dst[i] = int64(v * scale)
		}
		if l.within(dst) {
			return true
		}
		// The float arithmetic of scale was off by a few units in its last place.
		scale *= 1 - 0x1p-45
	}
}

// scale is the factor that takes x into the ball, in steps: 1/step where x is
// inside, radius/|x| where it is not, and NaN where x is not finite.
func (l lattice) scale(x []float64) float64 {
	largest := 0.0
	for _, v := range x {
		size := math.Abs(v)
		if !(size <= math.MaxFloat64) {
			return math.NaN()
		}
		if size > largest { // the built-in max is slower
			largest = size
		}
	}
	if largest == 0 {
		return 1
	}
	// Divide by the largest coordinate first, so that no square overflows.
	sum := 0.0
	for _, v := range x {
		r := v / largest
		sum += r * r
	}
	norm := math.Sqrt(sum) // of x/largest, between 1 and sqrt(dim)
	if largest/l.step*norm <= float64(l.radius) {
		return 1 / l.step
	}
	return float64(l.radius) / norm / largest
}

// within reports whether the squared norm is at most the squared radius,
// exactly, in 128 bits.
func (l lattice) within(k []int64) bool {
	limitHi, limitLo := bits.Mul64(l.radius, l.radius)
	var hi, lo uint64
	for _, v := range k {
		u := uint64(v)
		if v < 0 {
			u = -u
		}
		if u > l.radius {
			return false
		}
		h, p := bits.Mul64(u, u)
		var carry uint64
		lo, carry = bits.Add64(lo, p, 0)
		if hi, carry = bits.Add64(hi, h, carry); carry != 0 {
			return false
		}
	}
	return hi < limitHi || hi == limitHi && lo <= limitLo
}

// disturb adds a sum to the noise drawn for it. It is the one place where exact
// sums become noisy.
func (l lattice) disturb(sum, noisy []int64, src *noise.Source) {
	for i, k := range sum {
		noisy[i] += k
	}
	if t := src.Tape(); t != nil {
		t.Release(l.step, l.sigma, sum, noisy)
	}
}

// disturbLaplace is disturb of a sum whose noise is discrete Laplace with the scale sigma.
func (l lattice) disturbLaplace(sum, noisy []int64, src *noise.Source) {
	for i, k := range sum {
		noisy[i] += k
	}
	if t, ok := src.Tape().(hook.LaplaceTape); ok {
		t.ReleaseLaplace(l.sigma, sum, noisy)
	}
}

// accumulator is the integer sum that the mechanisms share.
type accumulator struct {
	grid     lattice
	sum      []int64
	persons  int64
	released bool
	fast     bool
	laplace  bool // the noise is discrete Laplace, and grid.sigma its scale
}

func newAccumulator(grid lattice, dim int, kind Noise) accumulator {
	return accumulator{grid: grid, sum: make([]int64, dim), fast: kind == Fast}
}

// byLaplace gives the noise a scale, the multiplier times the longest norm in steps, on the first grid, each twice
// as coarse as the one before it, on which the sampler accepts it.
func (a *accumulator) byLaplace(most, multiplier float64, longest func() float64) error {
	a.laplace = true
	for {
		if a.grid.sigma = max(multiplier*longest()*(1+0x1p-50), minNoise); a.grid.sigma <= 1<<maxNoise {
			return nil
		}
		a.grid.step *= 2
		if a.grid.radius = uint64(most / a.grid.step); a.grid.radius <= 2*slack {
			return fmt.Errorf("%w: noise of %v times what a person adds leaves no resolution", ErrParameter, multiplier)
		}
	}
}

func (a *accumulator) add(k []int64) error {
	if err := a.count(); err != nil {
		return err
	}
	for i, v := range k {
		a.sum[i] += v
	}
	return nil
}

// addAt adds a person whose coordinate at[i] is k[i] and whose others are zero.
func (a *accumulator) addAt(at []int, k []int64) error {
	if err := a.count(); err != nil {
		return err
	}
	for i, v := range k {
		a.sum[at[i]] += v
	}
	return nil
}

// count makes room for one more person.
func (a *accumulator) count() error {
	if a.released {
		return ErrReleased
	}
	if a.persons >= a.grid.capacity() {
		return fmt.Errorf("%w: at most %d fit; a smaller dimension or fewer persons are needed", ErrCapacity, a.grid.capacity())
	}
	a.persons++
	return nil
}

func (a *accumulator) merge(b *accumulator) error {
	if a.released || b.released {
		return ErrReleased
	}
	if a.grid != b.grid || len(a.sum) != len(b.sum) || a.fast != b.fast || a.laplace != b.laplace {
		return ErrMismatch
	}
	if a.persons > a.grid.capacity()-b.persons {
		return fmt.Errorf("%w: at most %d fit", ErrCapacity, a.grid.capacity())
	}
	a.persons += b.persons
	for i, v := range b.sum {
		a.sum[i] += v
	}
	b.released = true // its persons are counted here now
	return nil
}

// release draws the noise and returns the noisy sum in the caller's units. The
// exact sum is erased.
func (a *accumulator) release(src *noise.Source) ([]float64, error) {
	if a.released {
		return nil, ErrReleased
	}
	a.released = true
	out := make([]float64, len(a.sum))
	if src.Sums() != nil {
		return out, a.join(out, src)
	}
	if a.fast {
		fast, err := noise.NewFastGaussian(a.grid.sigma)
		if err != nil {
			return nil, err
		}
		for i, k := range a.sum {
			out[i] = (float64(k) + fast.Sample(src)) * a.grid.step
		}
	} else {
		noisy, err := a.exactly(a.sum, src)
		if err != nil {
			return nil, err
		}
		a.grid.scaled(out, noisy)
	}
	clear(a.sum)
	return out, nil
}

// exactly is a sum with exact noise, in lattice steps.
func (a *accumulator) exactly(sum []int64, src *noise.Source) ([]int64, error) {
	if a.laplace {
		return a.laplacian(sum, src)
	}
	exact, err := noise.NewGaussian(a.grid.sigma)
	if err != nil {
		return nil, err
	}
	noisy := make([]int64, len(sum))
	for i := range noisy {
		noisy[i] = exact.Sample(src)
	}
	a.grid.disturb(sum, noisy, src)
	return noisy, nil
}

// laplacian is exactly with discrete Laplace noise.
func (a *accumulator) laplacian(sum []int64, src *noise.Source) ([]int64, error) {
	exact, err := noise.NewDiscreteLaplace(a.grid.sigma)
	if err != nil {
		return nil, err
	}
	noisy := make([]int64, len(sum))
	exact.Fill(noisy, src)
	a.grid.disturbLaplace(sum, noisy, src)
	return noisy, nil
}

// scaled writes a noisy sum in the caller's units.
func (l lattice) scaled(out []float64, noisy []int64) {
	for i, k := range noisy {
		out[i] = float64(k) * l.step
	}
}

// Noise says how the noise is drawn.
type Noise int

const (
	// Exact draws are rounded to the lattice without error. This is the default.
	Exact Noise = iota
	// Fast draws are float64 normals: floating-point attacks are not excluded,
	// and a release made with them says so.
	Fast
)

// halfWidth is the norm that the noise multiplier of an event refers to: under
// ReplaceOne half the diameter of the clip set, because the accountant doubles
// it again; under AddRemoveOne the largest norm in the set.
func halfWidth(adjacency dp.Adjacency, diameter, radius float64) float64 {
	if adjacency == dp.ReplaceOne {
		return diameter / 2
	}
	return radius
}
