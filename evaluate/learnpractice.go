package evaluate

import (
	"errors"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/rl/value"
)

const (
	// practiceShare is the part of their budget for which those who judge tell how often a learned policy does
	// otherwise than was done.
	practiceShare = 0.02
	practiceName  = "practice"
)

// practiceAt is how often the first policy of several does otherwise than was done, a number in [0, 1] a person, at a
// noise multiplier; nil where that is 0.
func (p Public) practiceAt(multiplier float64) *scalar.Bounds {
	if multiplier == 0 {
		return nil
	}
	share := facts.Range{Min: 0, Max: 1}
	b := scalar.Bounds{Public: p.numbers(), Range: share, Caps: scalar.ClipRanges{Above: 1}, Usable: true, OneSided: true, Noise: scalar.Stages{Main: multiplier}}
	b.Public.Returns = share
	return &b
}

// practised draws the noise of how often the first policy does otherwise; nil where nobody asks.
func (c contributions) practised(b *scalar.Bounds, src *noise.Source) (*scalar.Estimate, error) {
	if b == nil {
		return nil, nil
	}
	if at := c.practice; at > 0 {
		return b.Run(c.xz[at], c.xz[at+1], src)
	}
	x, z := eachPart(c.rows, func(x, z []float64, part []*value.Sample) { scalar.Unlike(x, z, part[0]) })
	return b.Run(x, z, src)
}

// tellPractice adds to a release what was paid for.
func (r *Release) tellPractice(e *scalar.Estimate) {
	if e == nil {
		return
	}
	one := estimated(e)
	one.estimate.Confidence = 0.9
	r.Learned = &Learned{Differs: one.estimate}
	if r.Diagnostics == nil {
		r.Diagnostics = map[string]any{}
	}
	r.Diagnostics[practiceName] = one.Diagnostics
}

// practiceAgain makes it again from its noisy sums; nil where it is not told.
func practiceAgain(b *scalar.Bounds, r *Release) (*scalar.Estimate, error) {
	if b == nil {
		return nil, nil
	}
	if r.Learned == nil {
		return nil, errors.New("learned is missing")
	}
	one := &Release{estimate: r.Learned.Differs}
	if err := diagnostic(r, practiceName, &one.Diagnostics); err != nil {
		return nil, err
	}
	e, err := paid(one)
	if err == nil {
		e, err = b.Again(e)
	}
	if err != nil {
		return nil, fmt.Errorf("learned.differs_from_logged: %w", err)
	}
	return e, nil
}

// practiceByCell is the same of the noisy numbers of persons by cell and action that certificates follow from.
func (q *learnQuestion) practiceByCell(sums [][]float64, c *scalar.CellSums) *Estimate {
	otherwise, all, numbers := 0.0, c.Nowhere, 0.0
	for state, taken := range q.cellTable(sums[0]) {
		for a := range q.grid.Actions {
			n := c.Gained[state][a] + c.Missed[state][a]
			if all += n; a != taken {
				otherwise, numbers = otherwise+n, numbers+1
			}
		}
	}
	p := q.judge.public
	persons := float64(p.Persons)
	if p.Privacy.Adjacency == dp.AddRemoveOne {
		persons = max(all, 1)
	}
	within := func(x float64) float64 { return min(max(x/persons, 0), 1) }
	sampling := func(share float64) float64 { return math.Sqrt(max(share*(1-share), 1/persons) / persons) }
	sd := q.masses.judge.cells.SD() / persons
	e := &Estimate{Value: within(otherwise), Confidence: 0.9, Sampling: Paid, StdPrivacy: sd * math.Sqrt(numbers)}
	e.StdSampling = sampling(e.Value)
	half := oneSidedZ * math.Hypot(e.StdPrivacy, e.StdSampling)
	// All who are nowhere may have done otherwise; a single number, of half the variance, counts them.
	most := within(otherwise + max(c.Nowhere, 0))
	high := most + oneSidedZ*math.Hypot(sd*math.Sqrt(numbers+0.5), sampling(most))
	e.Interval = [2]float64{max(e.Value-half, 0), min(max(high, e.Value+half), 1)}
	e.Clipping[1] = max(e.Interval[1]-e.Value-half, 0)
	return e
}
