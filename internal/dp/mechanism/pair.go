package mechanism

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

// Pair releases the sums of two numbers a person, x >= 0 and z >= 0 with
// x + z <= most, and with them those of x^2, x z and z^2.
//
// The pairs fill a triangle, which is drawn with equal sides. With o = most - x - z
// the third share, a person also adds the products x z, x o and z o: they vanish in
// all corners, and up to a weight of sqrt 8 no two points are farther apart than
// two corners. So under ReplaceOne the second moments cost nothing. Under
// AddRemoveOne a further coordinate counts persons, and the norm of the longest
// point counts. docs/proofs/overlap.md has the proof, rounding included.
//
// With Laplace noise ([NewLaplacePair]) the diameter of x - z, x + z and 2 x z is 2 in l1: of x^2
// and z^2 upper limits follow, x - x z and z - x z in units of most. Where both are wanted
// themselves, x o and z o have a weight of their own.
//
// Unit: a person. The event is dp.Gaussian, its multiplier relative to half the
// diameter (ReplaceOne) or to the longest norm (AddRemoveOne); with Laplace noise it is
// dp.DiscreteLaplace, in lattice steps.
type Pair struct {
	most       float64
	multiplier float64
	adjacency  dp.Adjacency
	shape      triangle
	total      accumulator
	point      [6]int64
}

// triangle holds the weights of the coordinates. The difference x - z has weight 1.
type triangle struct {
	height  float64 // of x + z
	product float64 // of x z, in units of most
	rest    float64 // of x o and z o; 0 where these are left out
	count   float64 // of the count; 0 under ReplaceOne
}

func triangleFor(adjacency dp.Adjacency) triangle {
	if adjacency == dp.ReplaceOne {
		return triangle{height: 1.732, product: 2.8, rest: 2.8} // below sqrt 3 and sqrt 8
	}
	return triangle{height: 1, product: 2.8, rest: 2.8, count: 0.7}
}

// norm is what the noise multiplier refers to, for most = 1.
func (s triangle) norm(adjacency dp.Adjacency) float64 {
	longest := math.Nextafter(math.Sqrt(1+s.height*s.height+s.count*s.count), 3)
	return halfWidth(adjacency, 2, longest)
}

// slack is by how many lattice steps the triangle is drawn smaller than its noise
// is made for: truncation moves two points apart by less.
const slack = 4

// NewPair makes an empty pair of sums. most and the noise multiplier are public.
func NewPair(most, noiseMultiplier float64, adjacency dp.Adjacency, kind Noise) (*Pair, error) {
	if !adjacency.Valid() {
		return nil, fmt.Errorf("%w: %v", dp.ErrAdjacency, adjacency)
	}
	if !(most > 0) || math.IsInf(most, 0) {
		return nil, fmt.Errorf("%w: the largest sum is %v; want a finite number above 0", ErrParameter, most)
	}
	shape := triangleFor(adjacency)
	sd := math.Nextafter(most*shape.norm(adjacency), math.Inf(1)) * noiseMultiplier
	grid, err := newLattice(most, sd, 4)
	if err != nil {
		return nil, err
	}
	if grid.radius <= 2*slack {
		return nil, fmt.Errorf("%w: a largest sum of %v under noise of standard deviation %v leaves no resolution", ErrParameter, most, sd)
	}
	dim := 5
	if shape.count > 0 {
		dim = 6
	}
	return &Pair{most: most, multiplier: noiseMultiplier, adjacency: adjacency, shape: shape,
		total: newAccumulator(grid, dim, kind)}, nil
}

// NewLaplacePair makes an empty pair of sums with discrete Laplace noise, whose scale is the
// multiplier times half the l1 diameter (ReplaceOne) or the longest l1 norm (AddRemoveOne). The
// squares are upper limits that are exact where x + z is 0 or most, or else estimates.
func NewLaplacePair(most, multiplier float64, adjacency dp.Adjacency, upper bool) (*Pair, error) {
	p, err := NewPair(most, multiplier, adjacency, Exact)
	if err != nil {
		return nil, err
	}
	p.shape = triangle{height: 1, product: 2, rest: 1, count: p.shape.count}
	dim := len(p.total.sum)
	switch {
	case upper:
		p.shape.rest = 0
		dim -= 2
	case adjacency == dp.AddRemoveOne:
		p.shape.rest = 2
	}
	p.total = newAccumulator(p.total.grid, dim, Exact)
	if err := p.total.byLaplace(most, multiplier, p.longest); err != nil {
		return nil, err
	}
	return p, nil
}

// longest is the norm of the event of Laplace noise, in lattice steps: truncation moves two
// points apart by less than a step in each coordinate.
func (p *Pair) longest() float64 {
	if p.adjacency == dp.AddRemoveOne {
		return p.radius()*(2+p.shape.count) + slack
	}
	return p.radius()*(1+p.shape.rest/8) + slack
}

// Capacity is the number of persons that can be added at most.
func (p *Pair) Capacity() int64 { return p.total.grid.capacity() }

// Add adds one person. Numbers below 0 count as 0, and where x + z exceeds most both
// shrink by the same factor; a person with a number that is not finite counts as
// (0, 0).
func (p *Pair) Add(x, z float64) error {
	if math.IsNaN(x+z) || math.IsInf(x+z, 0) {
		x, z = 0, 0
	}
	x, z = max(x, 0)/p.most, max(z, 0)/p.most
	if sum := x + z; sum > 1 {
		x, z = x/sum, z/sum
	}
	p.place(min(x, 1), min(z, 1))
	return p.total.add(p.point[:len(p.total.sum)])
}

// place writes the point of the shares x and z, truncated toward zero.
func (p *Pair) place(x, z float64) {
	k := p.radius()
	p.shape.place(p.point[:], x, z, k)
	p.point[p.shape.coordinates()] = int64(p.shape.count * k)
}

// coordinates is how many a point has beside the count.
func (s triangle) coordinates() int {
	if s.rest > 0 {
		return 5
	}
	return 3
}

// place writes the point of the shares x and z of k steps, truncated toward zero.
func (s triangle) place(point []int64, x, z, k float64) {
	o := max(1-x-z, 0)
	point[0], point[1], point[2] = int64((x-z)*k), int64(s.height*(1-o)*k), int64(s.product*k*x*z)
	if b := s.rest * k; b > 0 {
		point[3], point[4] = int64(b*x*o), int64(b*z*o)
	}
}

// sums are those of the points of a sum, most in units of 1.
func (s triangle) sums(point []float64, most float64) NoisyPair {
	both := point[1] / s.height
	x, z := (both+point[0])/2, (both-point[0])/2
	xz, xo, zo := point[2]/s.product, 0.0, 0.0
	if s.rest > 0 {
		xo, zo = point[3]/s.rest, point[4]/s.rest
	}
	square := most * most
	return NoisyPair{X: x * most, Z: z * most, XX: (x - xz - xo) * square, XZ: xz * square, ZZ: (z - xz - zo) * square}
}

// sd are the standard deviations of noise of so much in a coordinate, in units of most.
func (s triangle) sd(unit, most float64) PairSD {
	products := 1.0 // in a square, of independent noise
	if s.rest > 0 {
		products = math.Hypot(1, s.product/s.rest)
	}
	out := PairSD{Difference: unit * most, Both: unit * most / s.height}
	out.Sum = math.Hypot(out.Difference, out.Both) / 2
	out.Product = unit * most * most / s.product
	out.Square = math.Hypot(most*out.Sum, products*out.Product)
	if s.count > 0 {
		out.Count = unit / s.count
	}
	return out
}

// radius is most in lattice steps, less the slack.
func (p *Pair) radius() float64 { return float64(p.total.grid.radius) - slack }

// Merge adds the persons of o, which must be made alike and is used up.
func (p *Pair) Merge(o *Pair) error {
	if p.most != o.most || p.multiplier != o.multiplier || p.adjacency != o.adjacency {
		return ErrMismatch
	}
	return p.total.merge(&o.total)
}

// Event describes the release.
func (p *Pair) Event() dp.Event {
	if p.total.laplace {
		return dp.DiscreteLaplace{Scale: p.total.grid.sigma, Norm: p.longest()}
	}
	return dp.Gaussian{NoiseMultiplier: p.multiplier}
}

// NoisyPair holds the released sums.
type NoisyPair struct {
	Count      float64 // persons: exact under ReplaceOne, noisy under AddRemoveOne
	X, Z       float64
	XX, XZ, ZZ float64
	SD         PairSD
}

// PairSD holds the standard deviations of the noise.
type PairSD struct {
	Count      float64 // 0 under ReplaceOne
	Sum        float64 // in X, and in Z
	Difference float64 // in X - Z
	Both       float64 // in X + Z, independent of that in X - Z
	Square     float64 // in XX, and in ZZ, or in their upper limits
	Product    float64 // in XZ
}

// SD returns the standard deviations of the noise. They are public.
func (p *Pair) SD() PairSD {
	unit := p.total.grid.sigma / p.radius() // of a coordinate, in units of most
	if p.total.laplace {
		unit = LaplaceSD(p.total.grid.sigma) / p.radius()
	}
	return p.shape.sd(unit, p.most)
}

// shares draws the noise, and returns the sum in units of so many lattice steps.
func (a *accumulator) shares(radius float64, src *noise.Source) ([]float64, error) {
	noisy, err := a.release(src)
	unit := radius * a.grid.step
	for i := range noisy {
		noisy[i] /= unit
	}
	return noisy, err
}

// Release draws the noise. It can be called once.
func (p *Pair) Release(src *noise.Source) (NoisyPair, dp.Event, error) {
	noisy, err := p.total.shares(p.radius(), src)
	if err != nil {
		return NoisyPair{}, nil, err
	}
	out := p.shape.sums(noisy, p.most)
	out.Count, out.SD = float64(p.total.persons), p.SD()
	if p.shape.count > 0 {
		out.Count = noisy[len(noisy)-1] / p.shape.count
	}
	return out, p.Event(), nil
}
