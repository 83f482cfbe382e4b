package account

import (
	"context"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account/internal/lossdist"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// Discrete Gaussian noise has no one worst difference of neighbouring sums:
// coordinate by coordinate a longer step is worse, but of two differences of one l2
// norm neither dominates the other. What is certified (docs/proofs/pld.md,
// section 1):
//
//   - one worst difference (one dimension, or a norm that admits a single step);
//   - few worst differences, enumerated: their laws summed on the lattice;
//   - large sigma: continuous Gaussian noise a little smaller dominates, and a
//     little larger is dominated.
//
// The rest is bounded by its Renyi divergences.

// discrete is what is certified of a discrete Gaussian event: one of the three
// fields is set, or none.
type discrete struct {
	single *lossdist.DiscreteGaussian
	shifts [][]int
	square Bracket // mu^2 of continuous Gaussian noise

	lattices []*lossdist.Lattice
}

const (
	// mostShifts bounds the number of worst-case differences that are enumerated, mostTried the
	// number of differences examined for that, and mostSums the work for their distributions.
	mostShifts = 256
	mostTried  = 20000
	mostSums   = 1e8
	// mostSquare bounds the squared norm of what is enumerated.
	mostSquare = 256
	// mostDiscreteSquare bounds mu^2 where laws are enumerated: beyond it losses exceed
	// what their exponentials hold.
	mostDiscreteSquare = 400
)

func discreteGaussian(adj dp.Adjacency, e dp.DiscreteGaussian) *discrete {
	// A norm that was rounded down from a square root still admits what it is the
	// norm of.
	square := math.Floor(xmath.Up(e.Norm*e.Norm, 4))
	if e.Dimension == 1 || square <= 1 && (adj == dp.AddRemoveOne || square == 0) {
		gap := adj.SumSensitivity(math.Floor(e.Norm))
		if e.Dimension != 1 {
			gap = square
		}
		law := lossdist.DiscreteGaussian{Sigma: e.Sigma, Gap: gap}
		if gap == 0 || law.Points() <= mostPoints && law.Gap/law.Sigma <= mostRatio && law.Sigma >= leastSigma {
			return &discrete{single: &law}
		}
		return &discrete{square: nearlyGaussian(gap*gap, gap*gap, 1, e.Sigma)}
	}
	if square <= mostSquare && e.Sigma >= leastSigma {
		if shifts := enumerable(adj, int(square), e); shifts != nil {
			return &discrete{shifts: shifts}
		}
	}
	most, least := square, greedySquare(square, e.Dimension)
	if adj == dp.ReplaceOne {
		most, least = 4*square, 4*least
	}
	return &discrete{square: nearlyGaussian(least, most, e.Dimension, e.Sigma)}
}

// enumerable returns the worst differences, or nil where they or their laws are
// too many.
func enumerable(adj dp.Adjacency, square int, e dp.DiscreteGaussian) [][]int {
	s := shiftSearch{replace: adj == dp.ReplaceOne, square: square, most: e.Dimension}
	if !s.extend(nil, math.MaxInt) {
		return nil
	}
	work, width := 0.0, 2*lossdist.Radius(e.Sigma)
	for _, v := range s.worst {
		size := 0
		for _, a := range v {
			size += a * a
		}
		if float64(size) > mostDiscreteSquare*e.Sigma*e.Sigma {
			return nil
		}
		// Short steps first: shifts that begin alike share all but a few of their
		// convolutions.
		width := width + float64(v[0])
		work += (40*e.Sigma*math.Sqrt(float64(size)) + float64(v[0])*width) * width
		slices.Reverse(v)
	}
	if work > mostSums {
		return nil
	}
	return s.worst
}

// shiftSearch lists the differences of two integer vectors of a squared norm of at
// most square (or of one and 0) that cannot be made longer in any coordinate, as
// their coordinates in falling order, without signs and zeros.
type shiftSearch struct {
	replace bool
	square  int
	most    int // coordinates, 0 for any number
	tried   int
	worst   [][]int
}

// extend tries all ways to go on from a difference with coordinates of at most
// the given length; it reports false when it has given up.
func (s *shiftSearch) extend(v []int, longest int) bool {
	if s.tried++; s.tried > mostTried {
		return false
	}
	if s.isWorst(v) {
		s.worst = append(s.worst, slices.Clone(v))
		if len(s.worst) > mostShifts {
			return false
		}
	}
	if s.most > 0 && len(v) == s.most {
		return true
	}
	top := int(math.Sqrt(float64(s.square)))
	if s.replace {
		top *= 2
	}
	for a := min(longest, top); a > 0; a-- {
		if next := append(slices.Clip(v), a); s.possible(next) && !s.extend(next, a) {
			return false
		}
	}
	return true
}

// isWorst reports that no coordinate can be longer.
func (s *shiftSearch) isWorst(v []int) bool {
	if s.most == 0 || len(v) < s.most {
		if s.possible(append(slices.Clip(v), 1)) {
			return false
		}
	}
	for i := range v {
		if i > 0 && v[i] == v[i-1] {
			continue
		}
		longer := slices.Clone(v)
		longer[i]++
		if s.possible(longer) {
			return false
		}
	}
	return true
}

// possible reports that neighbours can differ so: that the lengths are sums
// a_i + b_i with the squared norms of both a and b in range. least[n] is the
// smallest squared norm of b where that of a is n.
func (s *shiftSearch) possible(v []int) bool {
	if !s.replace {
		sum := 0
		for _, a := range v {
			sum += a * a
		}
		return sum <= s.square
	}
	least := make([]int, s.square+1)
	for n := range least {
		least[n] = s.square + 1
	}
	least[0] = 0
	for _, length := range v {
		next := make([]int, len(least))
		for n := range next {
			next[n] = s.square + 1
			for a := 0; a <= length && a*a <= n; a++ {
				b := length - a
				next[n] = min(next[n], least[n-a*a]+b*b)
			}
		}
		least = next
	}
	return slices.Min(least) <= s.square
}

// greedySquare is a squared norm up to square that an integer vector of the
// dimension has, the largest that taking the longest step first finds. Beyond 2^53
// it is one to a few roundings, which the slack of nearlyGaussian exceeds.
func greedySquare(square float64, dimension int) float64 {
	left := square
	coordinates := 4
	if dimension > 0 {
		coordinates = min(dimension, 4)
	}
	for range coordinates {
		step := math.Floor(math.Sqrt(left))
		left -= step * step
		if left < 0 { // the root was rounded up
			left = max(left+2*step-1, 0)
		}
	}
	return square - left
}

// nearlyGaussian brackets mu^2 of continuous Gaussian noise: noise of variance
// sigma^2 - b^2 dominates the discrete noise, and noise of variance
// sigma^4/(sigma^2 - b^2) is dominated by it, up to a factor 1 + 2^-50 of mu, for
// squared differences from least to most. It is empty where b is not well below
// sigma.
func nearlyGaussian(least, most float64, dimension int, sigma float64) Bracket {
	// Coordinates in which nothing differs do not count.
	coordinates := most
	if dimension > 0 {
		coordinates = min(most, float64(dimension))
	}
	if coordinates == 0 {
		return Bracket{}
	}
	margin := math.Log(32*coordinates) + 52*math.Ln2 + max(math.Log(sigma)-math.Log(most)/2, 0)
	square := xmath.Up(margin/(2*math.Pi*math.Pi), 16)
	if !(square <= sigma*sigma/2) || math.IsInf(most, 1) {
		return Bracket{}
	}
	share := xmath.DivUp(square, xmath.MulDown(sigma, sigma)) // of the variance
	ratio := Bracket{
		xmath.DivDown(least, xmath.MulUp(sigma, sigma)),
		xmath.DivUp(most, xmath.MulDown(sigma, sigma)),
	}
	kept := xmath.AddDown(1, -share)
	const slack = 0x1p-48
	return Bracket{
		max(xmath.MulDown(xmath.MulDown(ratio.Lower, kept), 1-slack), 0),
		xmath.MulUp(xmath.DivUp(ratio.Upper, kept), 1+slack),
	}
}

// discreteCache keeps what is certified about an event, and the distributions of its enumerated
// differences once they are needed, as long as the accountant exists.
type discreteCache map[dp.DiscreteGaussian]*discrete

func (c discreteCache) of(adj dp.Adjacency, e dp.DiscreteGaussian) *discrete {
	d, ok := c[e]
	if !ok {
		d = discreteGaussian(adj, e)
		c[e] = d
	}
	return d
}

// laws returns the laws of the enumerated differences.
func (d *discrete) laws(ctx context.Context, e dp.DiscreteGaussian) ([]*lossdist.Lattice, error) {
	if d.lattices == nil {
		if d.lattices = lossdist.Lattices(ctx, e.Sigma, d.shifts); d.lattices == nil {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			return nil, uncertified(e, "sigma", e.Sigma)
		}
	}
	return d.lattices, nil
}

// profile is the largest of the profiles of the enumerated differences, in one run
// of the event.
func (d *discrete) profile(ctx context.Context, adj dp.Adjacency, e dp.DiscreteGaussian) (*eventProfile, error) {
	renyi := NewRDP(adj)
	if err := renyi.Compose(ctx, e, 1); err != nil {
		return nil, err
	}
	laws, err := d.laws(ctx, e)
	if err != nil {
		return nil, err
	}
	curves := make([]*lossdist.Curve, len(laws))
	for i, l := range laws {
		curves[i] = l.Curve()
	}
	// From most on the Renyi bound e^(-(epsilon-rho)^2/(4 rho)) is below floor.
	const floor = 1e-300
	most := renyi.rho + 2*math.Sqrt(renyi.rho*700)
	return &eventProfile{event: e, most: most, floor: floor, delta: func(epsilon float64) Bracket {
		var b Bracket
		for _, c := range curves {
			lower, upper := c.Delta(epsilon)
			b = Bracket{max(b.Lower, lower), max(b.Upper, upper)}
		}
		if b.Upper < 1e-30 { // what was left out weighs
			if r, err := renyi.Delta(context.Background(), epsilon); err == nil {
				b.Upper = max(b.Lower, min(b.Upper, r.Upper))
			}
		}
		return b
	}}, nil
}

// gaussian is the distance, in standard deviations, of the continuous noise that bounds the event
// on the side that a view requires.
func (d *discrete) gaussian(v view) float64 {
	mu := squareRoot(d.square)
	if v.dominates {
		return mu.Upper
	}
	return mu.Lower
}
