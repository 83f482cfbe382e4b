package scalar

import (
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
)

// Overlap tells how well the logged decisions cover the target policy. It is
// released when a share of the budget was set aside for it.
type Overlap struct {
	// EffectiveSampleSize is (sum d)^2 / sum d^2 over the persons' weights d,
	// clipped: the number of persons whose plain mean would vary as much (Kish
	// 1965). 0 where noise hides it.
	EffectiveSampleSize float64
	// EffectiveSD is the standard deviation, to first order, of its noise.
	EffectiveSD float64
	// MeanWeight is the mean of the clipped weights. It is 1 where the logged
	// probabilities are right and nothing is clipped; what is missing to 1 was
	// clipped or never logged.
	MeanWeight   float64
	MeanWeightSD float64
	// ClippedShare is the share of persons whose contribution the clip cuts.
	ClippedShare   float64
	ClippedShareSD float64
}

// overlap pays for diagnostics.
type overlap struct {
	public facts.Public
	cap    float64 // of weights
	noise  Stages
}

// release draws the noise: cut tells whether the clip cuts a person.
func (o overlap) release(weight []float64, cut func(person int) bool, src *noise.Source) (*Overlap, error) {
	m, err := o.moments()
	if err != nil {
		return nil, err
	}
	count, unit, err := o.counter()
	if err != nil {
		return nil, err
	}
	for i, d := range weight {
		if err := m.Add(d); err != nil {
			return nil, err
		}
		if err := count.Add([]float64{unit(cut(i))}); err != nil {
			return nil, err
		}
	}
	moments, _, err := m.Release(src)
	if err != nil {
		return nil, err
	}
	cuts, _, err := count.Release(src)
	if err != nil {
		return nil, err
	}
	return o.combine(moments, cuts[0]), nil
}

// moments are those of the weights.
func (o overlap) moments() (*mechanism.Moments, error) {
	return mechanism.NewMoments(0, o.cap, o.noise.Weights, o.public.Adjacency, o.public.Noise)
}

// countSD is the standard deviation of the noise in the number of clipped persons.
func (o overlap) countSD() float64 {
	if o.public.Adjacency == dp.ReplaceOne {
		return o.noise.Clipped / 2
	}
	return o.noise.Clipped
}

// counter counts persons. Under ReplaceOne, where their number is public, a
// person adds one half or minus one half, which halves the norm.
func (o overlap) counter() (*mechanism.VectorSum, func(bool) float64, error) {
	yes, no := 1.0, 0.0
	if o.public.Adjacency == dp.ReplaceOne {
		yes, no = 0.5, -0.5
	}
	s, err := mechanism.NewVectorSum(1, yes, o.noise.Clipped, o.public.Noise)
	return s, func(cut bool) float64 {
		if cut {
			return yes
		}
		return no
	}, err
}

// combine is post-processing.
func (o overlap) combine(n mechanism.NoisyMoments, cuts float64) *Overlap {
	persons := n.Count
	if o.public.Adjacency == dp.ReplaceOne {
		cuts += persons / 2
	} else {
		persons = max(persons, float64(o.public.Persons))
	}
	c := n.Centre
	sum := n.Sum + c*n.Count
	sumSD := math.Hypot(n.SumSD, c*n.CountSD)
	squares := n.Squares + 2*c*n.Sum + c*c*n.Count
	squaresSD := math.Hypot(n.SquaresSD+c*c*n.CountSD, 2*c*n.SumSD)
	out := &Overlap{
		MeanWeight:     min(max(sum/persons, 0), o.cap),
		MeanWeightSD:   sumSD / persons,
		ClippedShare:   min(max(cuts/persons, 0), 1),
		ClippedShareSD: o.countSD() / persons,
	}
	if sum > 2*sumSD && squares > 2*squaresSD {
		out.EffectiveSampleSize = min(sum*sum/squares, persons)
		out.EffectiveSD = out.EffectiveSampleSize * math.Hypot(2*sumSD/sum, squaresSD/squares)
	}
	return out
}
