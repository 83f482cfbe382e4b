package account

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account/internal/lossdist"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// A Poisson sample that is cut to a largest size (docs/proofs/pld.md, section 1). Let K of the other persons be
// in the sample. With K below the batch nothing is cut, and the person is in with the rate. With K at least the batch
// the person is in with probability rate batch/(K+1), and then has the place of another.

// cutting is what is known of K.
type cutting struct {
	below, above float64 // probability of K < batch, of K >= batch, rounded up
	rate         float64 // mean of rate batch/(K+1) where K >= batch, rounded up
	inclusion    float64 // probability that the person is in the batch, rounded down
	// each has the probabilities of every K below the batch that was asked for, and before that of all
	// smaller ones, in units of all.
	each        map[float64]float64
	before, all float64
}

// mostPopulation bounds the number of persons that a sample is drawn from, and so the work of
// summing over their number in it.
const mostPopulation = 1 << 32

// checkTruncated refuses what has no answer here.
func checkTruncated(e dp.TruncatedPoissonSampled) error {
	if _, ok := gaussianTree(dp.AddRemoveOne, e.Event, 1); !ok {
		return unsupported(e, "of an event other than Gaussian noise has no answer here; state its distribution of the loss as privacy_loss")
	}
	if e.Population > mostPopulation {
		return fmt.Errorf("%w: %s: population is %d; at most 2^32 are summed up", ErrUncertified, e.Kind(), e.Population)
	}
	return nil
}

// cuttingOf sums the binomial distribution of K outward from its mode, in units of its largest
// mass: all terms are positive, and each step costs at most 8 roundings. It assumes batch <
// population. The masses from a number on and below the batch are kept.
func cuttingOf(e dp.TruncatedPoissonSampled, from float64) cutting {
	others, batch := float64(e.Population-1), float64(e.Batch)
	if e.Rate == 1 {
		all := batch / (others + 1)
		return cutting{above: 1, rate: xmath.Up(all, 1), inclusion: xmath.Down(all, 1)}
	}
	odds := e.Rate / (1 - e.Rate)
	mode := min(math.Floor((others+1)*e.Rate), others)
	var below, before, above, in, rest, steps float64
	each := map[float64]float64{}
	add := func(k, w float64) {
		steps++
		if k < batch {
			below += w
			if k >= from {
				each[k] = w
			} else {
				before += w
			}
			return
		}
		above += w
		in += w * batch / (k + 1)
	}
	// negligible is the mass that either walk leaves out, relative to the largest.
	const negligible = 1e-90
	walk := func(k, step float64, ratio func(k float64) float64) {
		for w := 1.0; ; {
			r := ratio(k)
			if left := w * r / (1 - r); r < 1 && left < negligible {
				rest += left * (1 + 1e-6)
				return
			}
			w *= r
			k += step
			add(k, w)
		}
	}
	add(mode, 1)
	walk(mode, 1, func(k float64) float64 { return (others - k) / (k + 1) * odds })
	walk(mode, -1, func(k float64) float64 { return k / ((others - k + 1) * odds) })
	all := below + above
	off := (16*steps + 64) * 0x1p-53
	t := cutting{
		each: each, before: before + rest, all: all + rest,
		below:     min((below+rest)/all*(1+off), 1),
		above:     min((above+rest)/all*(1+off), 1),
		rate:      xmath.Up(e.Rate*(batch/(batch+1)), 4),
		inclusion: e.Rate * (below + in) / (all + rest) * (1 - off),
	}
	if above > 0 {
		t.rate = min(t.rate, e.Rate*(in+rest)/above*(1+off))
	}
	return t
}

// truncated is the privacy loss of one run. For an upper bound the observer is told which of the
// branches K < batch and K >= batch occurred. For a lower bound, which neighbours must realise,
// everybody else adds zero, so that truncation is only a smaller rate, or everybody else is opposed
// (crowd).
func (p *lossAccountant) truncated(ctx context.Context, e dp.TruncatedPoissonSampled, v view) (lossdist.Part, error) {
	t := cuttingOf(e, math.Inf(1))
	if !v.dominates {
		if law := p.crowd(e); v.pick > 0 && law != nil {
			part := lossdist.Part{Law: law, Rate: 1}
			if v.reversed && p.adj == dp.AddRemoveOne {
				part.Shape = (*lossdist.Bins).Reverse
			}
			return part, nil
		}
		_, fixed := e.Event.(dp.Gaussian) // of one sum the pair that dominates is realised too
		return p.part(ctx, dp.PoissonSampled{Rate: t.inclusion, Event: e.Event}, view{realised: true, dominates: fixed, reversed: v.reversed})
	}
	whole, err := p.part(ctx, dp.PoissonSampled{Rate: e.Rate, Event: e.Event}, v)
	if err != nil {
		return whole, err
	}
	cut, err := p.sampled(ctx, dp.ReplaceOne, e.Event, t.rate, v)
	if p.adj == dp.ReplaceOne {
		cut, err = p.symmetrical(ctx, e.Event, t.rate, v)
	}
	var law lossdist.Either
	for _, b := range []lossdist.Branch{
		{Law: whole.Law, Shape: whole.Shape, Rate: whole.Rate, Weight: t.below},
		{Law: cut.Law, Shape: cut.Shape, Rate: cut.Rate, Weight: t.above},
	} {
		if b.Weight > 0 {
			law = append(law, b)
		}
	}
	return lossdist.Part{Law: law, Rate: 1}, err
}

// crowd is the privacy loss for neighbours in which everybody else adds the opposite of one person,
// so that replacing somebody in a truncated sample counts double: without the person the sum is -K
// or -batch. An observer sees in which of a few hundred cells the sum falls. It is nil if the noise
// is so large that this would take long, or so small that other neighbours have a larger loss.
func (p *lossAccountant) crowd(e dp.TruncatedPoissonSampled) lossdist.Law {
	square, _ := gaussianTree(dp.AddRemoveOne, e.Event, 1)
	s, batch := 1/squareRoot(square).Upper, float64(e.Batch)
	if !(s <= 30 && s >= 0.05) || batch > 1<<30 {
		return nil
	}
	from := math.Floor(batch - 2 - 40*s)
	t := cuttingOf(e, from)
	if e.Rate == 1 {
		t.all = 1
	}
	if t.above < 1e-60 {
		return nil
	}
	rate, double := e.Rate, t.rate
	// The distribution in each world is a mixture of normals: weight and mean of each component,
	// relative to -batch.
	type normal struct{ weight, mean float64 }
	var worlds [2][]normal
	for k := max(from, 0); k < batch; k++ {
		w := t.each[k] / t.all
		if w == 0 {
			continue
		}
		worlds[0] = append(worlds[0], normal{w * (1 - rate), batch - k}, normal{w * rate, batch - k + 1})
		if p.adj == dp.ReplaceOne {
			worlds[1] = append(worlds[1], normal{w * (1 - rate), batch - k}, normal{w * rate, batch - k - 1})
		} else {
			worlds[1] = append(worlds[1], normal{w, batch - k})
		}
	}
	worlds[0] = append(worlds[0], normal{t.above * (1 - double), 0}, normal{t.above * double, 2})
	worlds[1] = append(worlds[1], normal{t.above, 0})
	// What is farther below the batch, and all that was left out, lies in the last cell under both laws.
	far := t.before / t.all
	mass := func(world int, lo, hi float64) float64 {
		sum := 0.0
		for _, n := range worlds[world] {
			a, b := (lo-n.mean)/s, (hi-n.mean)/s
			if a < 0 && b <= 0 {
				a, b = -b, -a
			}
			sum += n.weight * (xmath.NormSF(a) - xmath.NormSF(b))
		}
		return sum
	}
	const cells, deviations = 240, 9
	lo, step := -deviations*s, (2*deviations*s+2)/cells
	var law lossdist.Atoms
	for i := -1; i <= cells; i++ {
		a, b := lo+float64(i)*step, lo+float64(i+1)*step
		x := lossdist.Atom{}
		switch i {
		case -1:
			x.P, x.Q = mass(0, math.Inf(-1), b), mass(1, math.Inf(-1), b)
		case cells:
			x.P, x.Q = mass(0, a, math.Inf(1))+far, mass(1, a, math.Inf(1))+far
		default:
			x.P, x.Q = mass(0, a, b), mass(1, a, b)
		}
		if x.P > 0 && x.Q > 1e-250 {
			x.P *= 1 - crowdError/10
			x.Loss = lossdist.Loss{Value: math.Log(x.P / x.Q), Error: crowdError}
			law = append(law, x)
		}
	}
	return law
}

// crowdError bounds the rounding error in the loss of a cell of crowd: sums of a few thousand
// positive terms, each a difference of two tails, neither of which exceeds 20 times the difference.
// The masses are lowered by a tenth of it.
const crowdError = 1e-8

// truncatedCurve bounds the Renyi divergences: e^((a-1) D) is the mean of those of the branches.
func truncatedCurve(adj dp.Adjacency, e dp.TruncatedPoissonSampled) (func(order float64) float64, error) {
	if err := checkTruncated(e); err != nil {
		return nil, err
	}
	square, _ := gaussianTree(adj, e.Event, 1)
	t := cuttingOf(e, math.Inf(1))
	mu := squareRoot(square).Upper
	if adj == dp.AddRemoveOne {
		return func(order float64) float64 {
			return mixedRenyi(order, t, poissonRenyi(order, e.Rate, mu), poissonRenyi(order, t.rate, 2*mu))
		}, nil
	}
	return func(order float64) float64 {
		return mixedRenyi(order, t, exchangeRenyi(order, e.Rate, mu), exchangeRenyi(order, t.rate, mu))
	}, nil
}

// mixedRenyi is ln(1 + below (e^((a-1) whole) - 1) + above (e^((a-1) cut) - 1))/(a-1), rounded up.
func mixedRenyi(order float64, t cutting, whole, cut float64) float64 {
	x, y := (order-1)*whole, (order-1)*cut
	if max(x, y) < 700 {
		return xmath.Up(math.Log1p(t.below*math.Expm1(x)+t.above*math.Expm1(y))*(1+0x1p-46)/(order-1), 4)
	}
	return max(whole, cut) // the larger of two divergences bounds their mixture's
}

// sized reports that an event's price holds for one number of persons alone.
func sized(event dp.Event) bool {
	found := false
	_ = leaves(event, 1, func(leaf dp.Event, _ int64) error {
		switch e := leaf.(type) {
		case dp.TruncatedPoissonSampled:
			found = true
		case dp.SelectBest:
			found = found || sized(e.Event)
		}
		return nil
	})
	return found
}
