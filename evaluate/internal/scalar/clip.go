package scalar

import (
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
)

// ClipRanges is a public family of clip ranges around an anchor, each narrower than
// the last by the factor 1/sqrt 2:
//
//	range k = [Anchor - Below 2^(-k/2), Anchor + Above 2^(-k/2)], 0 <= k <= Steps.
//
// With Top, range 0 reaches to that, and the others follow.
type ClipRanges struct {
	Anchor, Below, Above, Top float64
	Steps                     int
}

// At is range k.
func (n ClipRanges) At(k int) facts.Range {
	if n.Top > 0 {
		if k == 0 {
			return facts.Range{Min: n.Anchor, Max: n.Anchor + n.Top}
		}
		k--
	}
	f := math.Exp2(-float64(k) / 2)
	return facts.Range{Min: n.Anchor - n.Below*f, Max: n.Anchor + n.Above*f}
}

// Beyond are the same with a wider one outside.
func (n ClipRanges) Beyond(top float64) ClipRanges {
	if top > n.Above {
		n.Top, n.Steps = top, n.Steps+1
	}
	return n
}

// ranges are those within the widest one, in order.
func (n ClipRanges) ranges() []facts.Range {
	out := make([]facts.Range, n.Steps)
	for k := range out {
		out[k] = n.At(k + 1)
	}
	return out
}

// innermost is the number of the narrowest range that holds x, 0 where only the
// widest does or none, and for what is not a number.
func innermost(ranges []facts.Range, x float64) int {
	for k, r := range ranges {
		if !(x >= r.Min && x <= r.Max) {
			return k
		}
	}
	return len(ranges)
}

// clipper chooses one range of ClipRanges from a paid histogram of how many persons
// have their number in which shell. What it sees is noisy counts alone, so the
// choice is post-processing of the histogram.
//
// A wide clip makes the noise large, a narrow one cuts persons. The histogram
// shows where many persons begin to be cut; how many lie farther out it cannot
// tell from noise, and a far person weighs much. So the number of persons beyond
// each wider range is extrapolated: from range to range it falls by the factor
// that the last two ranges show, the outer one counted generously (see [Tail]). The choice
// minimises the sum of squares of noise and of what would then be cut.
type clipper struct {
	multiplier float64
	adjacency  dp.Adjacency
	kind       mechanism.Noise
	persons    int64 // public under ReplaceOne
	tail       Tail
	price      float64 // noise in the sum, for each unit of the range's longer side
}

// choice is a clip and what the histogram says of the persons beyond it.
type choice struct {
	clip facts.Range
	// bias estimates, generously, the sum over persons of what the clip cuts off.
	bias float64
}

// choose pays for the histogram and picks the range.
func (c clipper) choose(of func(x, z float64) float64, x, z Numbers, n ClipRanges, src *noise.Source) (choice, error) {
	counts, sd, err := c.count(of, x, z, n, src)
	if err != nil {
		return choice{}, err
	}
	return c.pick(c.tails(counts), func(k int) float64 { return c.tailSD(sd, k, len(counts)) }, n), nil
}

// count releases how many persons have their number in which shell, and the
// standard deviation of the noise in each count. Nothing else of x and z is looked at.
func (c clipper) count(of func(x, z float64) float64, x, z Numbers, n ClipRanges, src *noise.Source) (counts []float64, sd float64, err error) {
	ranges := n.ranges()
	h, err := sum(func() (*mechanism.Histogram, error) {
		return mechanism.NewHistogram(n.Steps+1, c.multiplier, c.adjacency, c.kind)
	}, x, func(h *mechanism.Histogram, part, i int) error {
		return h.Add(innermost(ranges, of(x[part][i], z[part][i])))
	})
	if err != nil {
		return nil, 0, err
	}
	counts, _, err = h.Release(src)
	return counts, h.SD(), err
}

// tails turns noisy counts by shell into the numbers of persons beyond each
// range. Under ReplaceOne all shells together hold a public number of persons,
// and what the noise adds to it is taken out of every shell alike.
func (c clipper) tails(counts []float64) []float64 {
	excess := 0.0
	if c.adjacency == dp.ReplaceOne {
		excess = -float64(c.persons)
		for _, x := range counts {
			excess += x
		}
	}
	tails := make([]float64, len(counts))
	for k := 1; k < len(counts); k++ {
		tails[k] = tails[k-1] + counts[k-1] - excess/float64(len(counts))
	}
	return tails
}

// tailSD is the standard deviation of the noise in tail k of n shells.
func (c clipper) tailSD(sd float64, k, n int) float64 {
	v := float64(k)
	if c.adjacency == dp.ReplaceOne {
		v *= float64(n-k) / float64(n)
	}
	return sd * math.Sqrt(v)
}

// Tail says how the number of persons beyond a range is thought to fall from
// range to range outward.
type Tail struct {
	// caution is how many standard deviations are added to the outermost count in
	// use.
	caution float64
	// thin tells that it falls exponentially with the range, as it does for sums
	// of many small terms; otherwise by the same factor from range to range, like
	// a power, as weights do.
	thin bool
}

// ThinTail is that of sums of many small terms.
func ThinTail() Tail { return Tail{caution: 0.25, thin: true} }

// HeavyTail is that of importance weights.
func HeavyTail() Tail { return Tail{caution: 0.5} }

// steps is how many times the factor between two ranges is applied i ranges
// farther out, where each is sqrt 2 times the last.
func (t Tail) steps(i int) float64 {
	if t.thin {
		return (math.Exp2(float64(i)/2) - 1) / (math.Sqrt2 - 1)
	}
	return float64(i)
}

// Limits of the factor by which tails are thought to fall from range to range.
const (
	steepest   = 0.1
	shallowest = 0.9
)

// pick chooses a range by the tails, noisy numbers of persons beyond each.
func (c clipper) pick(tails []float64, sd func(k int) float64, n ClipRanges) choice {
	longer := max(n.Below, n.Above)
	// The first range beyond which there are persons without doubt.
	seen := 1
	for seen < n.Steps && tails[seen] <= 2*sd(seen) {
		seen++
	}
	many := max(tails[seen], 2*sd(seen))
	fall := (max(tails[seen-1], 0) + c.tail.caution*sd(seen-1)) / many
	fall = min(max(fall, steepest), shallowest)
	best, bestIndex, bestBias := math.Inf(1), 0, 0.0
	bias := 0.0
	for k := range tails {
		if k > 0 {
			beyond := max(tails[k], many)
			if k < seen {
				beyond = many * math.Pow(fall, c.tail.steps(seen-k))
			}
			outer, inner := n.At(k-1), n.At(k)
			bias += beyond * max(outer.Max-inner.Max, inner.Min-outer.Min)
		}
		noise := c.price * longer * math.Exp2(-float64(k)/2)
		if cost := math.Hypot(noise, bias); cost < best {
			best, bestIndex, bestBias = cost, k, bias
		}
	}
	return choice{clip: n.At(bestIndex), bias: bestBias}
}
