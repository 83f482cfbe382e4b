package mechanism

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

// Transition is one decision of a person.
type Transition struct {
	// Cell says where the decision was made, such as a state with an action, and
	// Outcome what followed. A number outside the table counts nowhere.
	Cell, Outcome int
	// Other is a second outcome, and Split, clipped to [0, 1], the part of the weight
	// that counts there.
	Other int
	Split float64
	// Weight is clipped to [0, 1].
	Weight float64
	// Mark, such as a reward about the middle of its range, is clipped to [-1, 1].
	Mark float64
}

// Transitions releases a table of weighted counts by cell and outcome, and by cell the
// sum of weights and that of weighted marks, in one Gaussian release.
//
// A person's weights are taken in order until the l2 norm of their sums by cell
// reaches most; the decision that would pass it counts with what is left. What a
// decision weighs so depends on the cells up to it, never on what followed: shares of
// outcomes within a cell are not biased by the clip.
//
// Counts are not negative, so two persons' are at most sqrt 2 most apart. Marks are far
// apart only where the sums of weights are near, so that both, at height h, add at most
// 2 h most: up to h = sqrt(1/2) the diameter is 2 most. Under AddRemoveOne the norm of
// the longest point counts. docs/proofs/fqe.md has the proof, rounding included.
//
// Unit: a person. The event is dp.Gaussian, its multiplier relative to half the
// diameter (ReplaceOne) or to the longest norm (AddRemoveOne).
type Transitions struct {
	cells, outcomes int
	most            float64
	multiplier      float64
	adjacency       dp.Adjacency
	total           accumulator
	slack           float64

	taken []float64 // by coordinate, of the person who is being added; else 0
	sum   []float64 // by cell, likewise
	at    []int     // coordinates of taken that are in use
}

// cellHeight is the weight of the sums by cell beside the counts, below sqrt(1/2).
const cellHeight = 0.7

// NewTransitions makes an empty table. All arguments are public: most bounds the l2
// norm of a person's sums of weights by cell.
func NewTransitions(cells, outcomes int, most, noiseMultiplier float64, adjacency dp.Adjacency, kind Noise) (*Transitions, error) {
	if !adjacency.Valid() {
		return nil, fmt.Errorf("%w: %v", dp.ErrAdjacency, adjacency)
	}
	if cells < 1 || outcomes < 1 || cells > math.MaxInt32/(outcomes+2) {
		return nil, fmt.Errorf("%w: a table of %d cells and %d outcomes", ErrParameter, cells, outcomes)
	}
	dim := cells * (outcomes + 2)
	longest := math.Nextafter(math.Sqrt(1+2*cellHeight*cellHeight), 2)
	sd := math.Nextafter(most*halfWidth(adjacency, 2, longest), math.Inf(1)) * noiseMultiplier
	grid, err := newLattice(most, sd, dim)
	if err != nil {
		return nil, err
	}
	// Truncation changes the difference of two persons by less than a step in each
	// coordinate, and so their distance by less than sqrt(dim).
	slack := math.Ceil(math.Sqrt(float64(dim))/2) + 1
	if float64(grid.radius) <= 2*slack {
		return nil, fmt.Errorf("%w: a norm of %v under noise of standard deviation %v leaves no resolution", ErrParameter, most, sd)
	}
	return &Transitions{cells: cells, outcomes: outcomes, most: most, multiplier: noiseMultiplier, adjacency: adjacency,
		total: newAccumulator(grid, dim, kind), slack: slack, taken: make([]float64, dim), sum: make([]float64, cells)}, nil
}

// Capacity is the number of persons that can be added at most.
func (t *Transitions) Capacity() int64 { return t.total.grid.capacity() }

// Event describes the release.
func (t *Transitions) Event() dp.Event { return dp.Gaussian{NoiseMultiplier: t.multiplier} }

// Merge adds the persons of o, which must be made alike and is used up.
func (t *Transitions) Merge(o *Transitions) error {
	if t.cells != o.cells || t.most != o.most || t.multiplier != o.multiplier || t.adjacency != o.adjacency {
		return ErrMismatch
	}
	return t.total.merge(&o.total)
}

// Add adds one person by all their decisions, in order. A decision of which a
// number is not finite counts nowhere.
func (t *Transitions) Add(decisions []Transition) error {
	t.at = t.at[:0]
	left := t.most * t.most
	for _, d := range decisions {
		if !t.counts(d) {
			continue
		}
		w, before := min(max(d.Weight, 0), 1), t.sum[d.Cell]
		if w == 0 {
			continue
		}
		if w*(2*before+w) > left {
			w = math.Sqrt(before*before+left) - before
		}
		left = max(left-w*(2*before+w), 0)
		t.sum[d.Cell] += w
		other := w * min(max(d.Split, 0), 1)
		t.put(d.Cell*t.outcomes+d.Outcome, w-other)
		t.put(d.Cell*t.outcomes+d.Other, other)
		sums := t.cells*t.outcomes + 2*d.Cell
		t.put(sums, cellHeight*w)
		t.put(sums+1, cellHeight*w*min(max(d.Mark, -1), 1))
	}
	for _, d := range decisions {
		if d.Cell >= 0 && d.Cell < t.cells {
			t.sum[d.Cell] = 0
		}
	}
	return t.flush()
}

// counts tells whether a decision is in the table and its numbers are finite.
func (t *Transitions) counts(d Transition) bool {
	numbers := d.Weight + d.Mark + d.Split
	return d.Cell >= 0 && d.Cell < t.cells && d.Outcome >= 0 && d.Outcome < t.outcomes && d.Other >= 0 && d.Other < t.outcomes &&
		!math.IsNaN(numbers) && !math.IsInf(numbers, 0)
}

// put adds to a coordinate of the person.
func (t *Transitions) put(i int, x float64) {
	if t.taken[i] == 0 {
		t.at = append(t.at, i)
	}
	t.taken[i] += x
}

// flush adds the person, in lattice steps truncated toward zero, and forgets them.
func (t *Transitions) flush() error {
	scale := t.radius() / t.most
	point := make([]int64, len(t.at))
	for k, i := range t.at {
		// A coordinate that came back to zero is listed twice; the second finds nothing.
		point[k] = int64(t.taken[i] * scale)
		t.taken[i] = 0
	}
	return t.total.addAt(t.at, point)
}

// radius is most in lattice steps, less the slack.
func (t *Transitions) radius() float64 { return float64(t.total.grid.radius) - t.slack }

// SD returns the standard deviations of the noise in a count and in a sum by cell. They
// are public.
func (t *Transitions) SD() (count, sum float64) {
	count = t.total.grid.sigma / t.radius() * t.most
	return count, count / cellHeight
}

// NoisyTransitions holds the released table.
type NoisyTransitions struct {
	Counts         []float64 // cell by cell, a number for each outcome
	Weights, Marks []float64 // by cell: the sums
	CountSD, SumSD float64
}

// Release draws the noise. It can be called once.
func (t *Transitions) Release(src *noise.Source) (NoisyTransitions, dp.Event, error) {
	noisy, err := t.total.release(src)
	if err != nil {
		return NoisyTransitions{}, nil, err
	}
	unit := t.most / (t.radius() * t.total.grid.step)
	for i := range noisy {
		noisy[i] *= unit
	}
	n := t.cells * t.outcomes
	out := NoisyTransitions{Counts: noisy[:n:n], Weights: make([]float64, t.cells), Marks: make([]float64, t.cells)}
	for c := range t.cells {
		out.Weights[c], out.Marks[c] = noisy[n+2*c]/cellHeight, noisy[n+2*c+1]/cellHeight
	}
	out.CountSD, out.SumSD = t.SD()
	return out, t.Event(), nil
}
