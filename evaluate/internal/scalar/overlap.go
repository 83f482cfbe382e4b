package scalar

import (
	"fmt"
	"iter"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
)

// Overlap tells how well the logged decisions cover the target policy. Package evaluate
// says what the fields are, and releases them as they are.
type Overlap struct {
	EffectiveSampleSize float64 `json:"effective_sample_size"`
	EffectiveSD         float64 `json:"effective_sample_size_std"`
	MeanWeight          float64 `json:"mean_weight"`
	MeanWeightSD        float64 `json:"mean_weight_std"`
	ClippedShare        float64 `json:"clipped_share"`
	ClippedShareSD      float64 `json:"clipped_share_std"`
}

// overlap pays for diagnostics.
type overlap struct {
	public facts.Public
	cap    float64 // of weights
	noise  Stages
}

// release draws the noise: persons are their weights, and whether the clip cuts them.
func (o overlap) release(persons iter.Seq2[float64, bool], src *noise.Source) (*Overlap, error) {
	m, err := o.moments()
	if err != nil {
		return nil, err
	}
	count, unit, err := o.counter()
	if err != nil {
		return nil, err
	}
	for weight, cut := range persons {
		if err := m.Add(weight); err != nil {
			return nil, err
		}
		if err := count.Add([]float64{unit(cut)}); err != nil {
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

// about are the standard deviations of the noise in the sums of weights and of their squares,
// of those in moments about c.
func (o overlap) about(c, count, sum, squares float64) (sumSD, squaresSD float64) {
	return math.Hypot(sum, c*count), math.Hypot(squares+c*c*count, 2*c*sum)
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
	sum, squares := n.Sum+c*n.Count, n.Squares+2*c*n.Sum+c*c*n.Count
	sumSD, squaresSD := o.about(c, n.CountSD, n.SumSD, n.SquaresSD)
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

// again computes diagnostics from the noisy numbers in them.
func (o overlap) again(d *Overlap) (*Overlap, error) {
	sumSD, squaresSD, persons, err := o.noises(d)
	if err != nil {
		return nil, err
	}
	out := *d
	out.MeanWeightSD, out.ClippedShareSD = sumSD/persons, o.countSD()/persons
	switch {
	case !(d.MeanWeight >= 0 && d.MeanWeight <= o.cap):
		return nil, fmt.Errorf("diagnostics.overlap.mean_weight is %v, outside [0, %v]", d.MeanWeight, o.cap)
	case !(d.ClippedShare >= 0 && d.ClippedShare <= 1):
		return nil, fmt.Errorf("diagnostics.overlap.clipped_share is %v, outside [0, 1]", d.ClippedShare)
	case !(d.EffectiveSampleSize >= 0 && d.EffectiveSampleSize <= persons*(1+1e-9)):
		return nil, fmt.Errorf("diagnostics.overlap.effective_sample_size is %v, above the number of persons", d.EffectiveSampleSize)
	case d.EffectiveSampleSize == 0:
		out.EffectiveSD = 0
	case d.MeanWeight > 0 && d.MeanWeight < o.cap && d.EffectiveSampleSize < persons*(1-1e-9):
		sum := d.MeanWeight * persons
		squares := sum * sum / d.EffectiveSampleSize
		if !(sum > 2*sumSD*(1-1e-9) && squares > 2*squaresSD*(1-1e-9)) {
			return nil, fmt.Errorf("diagnostics.overlap.effective_sample_size is %v, which the noise hides", d.EffectiveSampleSize)
		}
		out.EffectiveSD = d.EffectiveSampleSize * math.Hypot(2*sumSD/sum, squaresSD/squares)
	}
	return &out, nil
}

// noises are the standard deviations of the sums of weights and of their squares,
// and the number of persons that they were divided by.
func (o overlap) noises(d *Overlap) (sum, squares, persons float64, err error) {
	m, err := o.moments()
	if err != nil {
		return 0, 0, 0, err
	}
	count, first, second := m.SD()
	sum, squares = o.about(o.cap/2, count, first, second)
	persons = float64(o.public.Persons)
	if o.public.Adjacency == dp.ReplaceOne {
		return sum, squares, persons, nil
	}
	// Their noisy number, which is at least the public bound, shows in both.
	found := sum / d.MeanWeightSD
	if !(found >= persons*(1-1e-9)) || math.IsInf(found, 0) {
		return 0, 0, 0, fmt.Errorf("diagnostics.overlap.mean_weight_std is %v; the noise makes at most %v", d.MeanWeightSD, sum/persons)
	}
	return sum, squares, found, nil
}
