package scalar

import (
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
)

// RunTogether is [Bounds.Run] of several values of which an episode has a weight above 0 in one at most,
// as those of policies that always take one action, and another one each. Their pairs are one release, of
// mechanism.Pairs, whose noise multiplier is Main in all of them. xz are x and z of
// everybody in every value, in turn.
//
// Weights of a person's episodes are means over them, so that in units of the largest they add up to 1 at most, unless a
// cap cuts them; where they do not, all are cut alike, which is missing mass.
func RunTogether(all []Bounds, xz []Numbers, src *noise.Source) ([]*Estimate, error) {
	caps, chosen := make([]float64, len(all)), make([]*float64, len(all))
	for i, b := range all {
		var err error
		if caps[i], chosen[i], err = b.capped(xz[2*i], xz[2*i+1], src); err != nil {
			return nil, err
		}
	}
	m, err := sum(func() (*persons, error) {
		m, err := all[0].pairs(caps)
		return &persons{m, make([]float64, len(xz))}, err
	}, xz[0], func(m *persons, part, i int) error {
		for j, n := range xz {
			m.adds[j] = n[part][i]
		}
		return m.Add(m.adds)
	})
	if err != nil {
		return nil, err
	}
	sums, err := m.Release(src)
	if err != nil {
		return nil, err
	}
	out := make([]*Estimate, len(all))
	for i, b := range all {
		told, err := b.pair(caps[i])
		if err != nil {
			return nil, err
		}
		sums[i].SD = b.sd(told)
		out[i] = b.estimate(sums[i], caps[i])
		out[i].MaxWeight = chosen[i]
	}
	return out, nil
}

// persons are added to several pairs; adds is what one of them adds.
type persons struct {
	*mechanism.Pairs
	adds []float64
}

// Merge adds the persons of o.
func (p *persons) Merge(o *persons) error { return p.Pairs.Merge(o.Pairs) }

// member is a pair that is released with others.
type member struct{ *mechanism.Pairs }

// SD is that of the noise in it, whatever the others are.
func (m member) SD() mechanism.PairSD { return m.Pairs.SD(0) }

// pairs are several that are one release, of which this is one.
func (b Bounds) pairs(caps []float64) (*mechanism.Pairs, error) {
	if b.Laplace {
		return mechanism.NewLaplacePairs(caps, b.Noise.Main, b.Public.Adjacency)
	}
	return mechanism.NewPairs(caps, b.Noise.Main, b.Public.Adjacency, b.Public.Noise)
}

// EventTogether is that of the one release, at the largest caps.
func EventTogether(all []Bounds) (dp.Event, error) {
	caps := make([]float64, len(all))
	for i, b := range all {
		caps[i] = b.Caps.At(0).Max
	}
	m, err := all[0].pairs(caps)
	if err != nil {
		return nil, err
	}
	return m.Event(), nil
}
