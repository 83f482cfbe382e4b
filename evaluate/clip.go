package evaluate

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/mechanism"
	"github.com/discreet-rl/discreet/dp/noise"
)

// defaultClipShare is the share of mu^2 that the choice of a clip costs.
const defaultClipShare = 0.15

// Values of the parameter clip.
const (
	clipPublic = "public"
	clipAuto   = "auto"
)

// nest is a public family of clip ranges around an anchor, each narrower than
// the last by the factor 1/sqrt 2:
//
//	range k = [anchor - below 2^(-k/2), anchor + above 2^(-k/2)], 0 <= k <= steps.
type nest struct {
	anchor, below, above float64
	steps                int
}

// at is range k of the nest.
func (n nest) at(k int) Range {
	f := math.Exp2(-float64(k) / 2)
	return Range{Min: n.anchor - n.below*f, Max: n.anchor + n.above*f}
}

// innermost is the number of the narrowest range that holds x, 0 where only the
// widest does or none, and for what is not a number.
func (n nest) innermost(x float64) int {
	k := 0
	for k < n.steps {
		r := n.at(k + 1)
		if !(x >= r.Min && x <= r.Max) {
			return k
		}
		k++
	}
	return k
}

// clipper chooses one range of a nest from a paid histogram of how many persons
// have their number in which shell.
//
// The rule: a clip of half-width C puts noise of standard deviation in
// proportion to C on the sum, and cutting the number of one person less short
// moves the sum by as much as C moves. So the clip is worth narrowing while
// fewer persons are cut than the noise grows by per unit of C. That number is
// the tolerance. The noise of the count itself is added to it, for tails that
// cannot be told from nothing.
type clipper struct {
	multiplier float64
	adjacency  dp.Adjacency
	kind       mechanism.Noise
	tolerance  float64 // persons
}

// choice is a clip and what the histogram says of the persons beyond it.
type choice struct {
	index int
	clip  Range
	// bias bounds, up to noise, the sum over persons of what the clip cuts off.
	bias float64
}

// choose draws the noise of the histogram and picks the range.
func (c clipper) choose(x []float64, n nest, src *noise.Source) (choice, error) {
	h, err := mechanism.NewHistogram(n.steps+1, c.multiplier, c.adjacency, c.kind)
	if err != nil {
		return choice{}, err
	}
	for _, v := range x {
		if err := h.Add(n.innermost(v)); err != nil {
			return choice{}, err
		}
	}
	sd := h.SD()
	counts, _, err := h.Release(src)
	if err != nil {
		return choice{}, err
	}
	return c.pick(counts, sd, n), nil
}

// pick narrows the range while the persons beyond it are few. It sees noisy
// counts alone.
func (c clipper) pick(counts []float64, sd float64, n nest) choice {
	k, beyond := 0, 0.0
	tails := []float64{0} // tails[j]: persons beyond range j
	for k < n.steps {
		beyond += counts[k]
		if beyond > c.tolerance+sd*math.Sqrt(float64(k+1)) {
			break
		}
		k++
		tails = append(tails, beyond)
	}
	// What is cut is the area under the number of persons beyond, from the chosen
	// range outward; of a count, only what noise does not explain is believed.
	bias := 0.0
	for j := 1; j <= k; j++ {
		outer, inner := n.at(j-1), n.at(j)
		width := max(outer.Max-inner.Max, inner.Min-outer.Min)
		bias += max(0, tails[j]-sd*math.Sqrt(float64(j))/2) * width
	}
	return choice{index: k, clip: n.at(k), bias: bias}
}

// clipShare turns the parameters clip and clip_share into a share of the budget:
// 0 where the public clip is kept. A histogram that cannot tell a tenth of the
// persons from nobody is not paid for.
func clipShare(method string, p Public, clip string, share float64, steps int) (float64, error) {
	if !(share >= 0 && share < 1) {
		return 0, fmt.Errorf("%w: %s: clip_share is %v; want between 0 and 1", ErrMethod, method, share)
	}
	switch clip {
	case clipPublic:
		return 0, nil
	case clipAuto:
	default:
		return 0, fmt.Errorf("%w: %s: clip is %q; want public or auto", ErrMethod, method, clip)
	}
	if share == 0 {
		share = defaultClipShare
	}
	mu, err := account.GaussianMu(p.Privacy.Budget)
	if err != nil {
		return 0, err
	}
	sd := math.Sqrt2 * math.Sqrt(float64(steps)/share) / mu.Lower
	if sd > float64(p.Persons)/10 {
		return 0, nil
	}
	return share, nil
}
