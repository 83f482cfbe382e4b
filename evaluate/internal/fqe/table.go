// Package fqe makes a model of what follows a decision from noisy sums, and values of
// the target policy from the model, by backward induction: the direct method (fitted-Q
// evaluation). It works on public facts, on noise multipliers that were fixed
// beforehand and on a sample; whoever calls it has accounted for the multipliers.
//
// Start with [Table] (numbered states). Unit: a person. Proof: docs/proofs/fqe.md.
package fqe

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// The forms of a table.
const (
	// ByAction counts what follows each action in each cell, without weights. It needs
	// the target policy's probability of every action.
	ByAction = "action"
	// ByState counts what follows each cell, weighted by the ratio of the decision.
	ByState = "state"
	// Pooled takes all cells for one, weighted likewise.
	Pooled = "pooled"
)

// Table asks for the tabular model: noisy counts of what followed, and sums of
// rewards, pooled over the decisions of an episode. All of it is public.
type Table struct {
	Public facts.Public
	Form   string
	// Cells is the number of cells of the features, Actions that of actions of the
	// target policy, of form ByAction alone.
	Cells, Actions int
	// Decisions is the largest number of decisions of an episode.
	Decisions int64
	// Discounts tells that the data hold a discount for each decision, which counts as the
	// probability that anything that follows counts. Public.Gamma is then 1.
	Discounts bool
	// MaxWeight caps the ratio of one decision; 1 in form ByAction and on-policy.
	MaxWeight float64
	// Multiplier is the noise multiplier.
	Multiplier float64
}

// rows is the number of kinds of decisions that are told apart.
func (t Table) rows() int {
	switch t.Form {
	case ByAction:
		return t.Cells * t.Actions
	case ByState:
		return t.Cells
	}
	return 1
}

// places is the number of cells that are told apart.
func (t Table) places() int {
	if t.Form == Pooled {
		return 1
	}
	return t.Cells
}

// Size is the number of cells that the model has values for, and that of actions; 0
// where values are by state alone.
func (t Table) Size() (places, actions int) {
	if actions = t.rows() / t.places(); actions == 1 {
		actions = 0
	}
	return t.places(), actions
}

// outcomes is the number of outcomes: cells, then that nothing follows, then that the
// record was cut off, so that something follows, but nobody knows where, then that the
// decision was the last that an episode can have, so that nobody asks what followed.
func (t Table) outcomes() int { return t.places() + 3 }

// Coordinates is the number of noisy numbers.
func (t Table) Coordinates() int { return t.rows() * (t.outcomes() + 2) }

// uneven is by how much a person's sums by row are thought to exceed, in squared norm,
// those of somebody who visits all rows alike.
const uneven = 1.5

// Most bounds the l2 norm of a person's weights by row. Somebody who makes H decisions
// in K rows alike has a norm of about H + H (H-1)/K, squared. Weights are in units of
// their cap and 1 on average before.
func (t Table) Most() float64 {
	h, k := float64(t.Public.Horizon), float64(t.rows())
	most := math.Sqrt(min(uneven*(h+h*(h-1)/k), h*h))
	return max(1, min(most, 2*most/t.MaxWeight))
}

func (t Table) sums() (*mechanism.Transitions, error) {
	return mechanism.NewTransitions(t.rows(), t.outcomes(), t.Most(), t.Multiplier, t.Public.Adjacency, t.Public.Noise)
}

// Blur is how large the noise is expected to be in the value of what follows a
// decision, in standard deviations of that value: where it is far above 1 the rows
// cannot be told apart. Nobody's data are looked at. A decision is thought to have
// few outcomes.
func (t Table) Blur() (float64, error) {
	s, err := t.sums()
	if err != nil {
		return 0, err
	}
	sd, mark := s.SD()
	if t.Decisions <= 1 {
		return mark / t.each(), nil
	}
	return sd * math.Sqrt(float64(min(t.places(), 4))) / t.each(), nil
}

// Scarcity is how large the standard error of the mean of what follows a decision is expected to be, in the same
// unit, without noise.
func (t Table) Scarcity() float64 { return 1 / math.Sqrt(t.each()) }

// each is how many decisions of a row there are if all rows are visited alike, in units of the cap.
func (t Table) each() float64 {
	return float64(t.Public.Persons) * float64(t.Public.Horizon) / float64(t.rows()) / t.MaxWeight
}

// Release pays for the table.
func (t Table) Release(s value.Persons, src *noise.Source) (*Model, error) {
	noisy, err := t.noisy(s, s.Persons(), func(p int) int { return p }, src)
	if err != nil {
		return nil, err
	}
	return newModel(t, noisy), nil
}

// noisy pays for the table of so many of the persons, as at tells.
func (t Table) noisy(s value.Persons, persons int, at func(i int) int, src *noise.Source) (mechanism.NoisyTransitions, error) {
	return mechanism.Spread(t.sums, mechanism.Workers(t.Coordinates()), persons, func(sum *mechanism.Transitions) func(int) error {
		w := walker{t: t, of: s.Walk()}
		return func(i int) error { return sum.Add(w.person(at(i))) }
	}, src)
}

// walker lists the decisions of persons.
type walker struct {
	t    Table
	of   *value.Walk
	s    *value.Sample // of the person at hand
	list []mechanism.Transition
}

// person lists the decisions of a person, in order. Decisions in no cell, or of an
// action that the policy does not know of, are left out.
func (w *walker) person(p int) []mechanism.Transition {
	w.list = w.list[:0]
	w.s, p = w.of.At(p)
	from, to := w.s.Episodes(p)
	reward := w.t.Public.Reward
	for e := from; e < to; e++ {
		lo, hi := w.s.Rows(e)
		for row := lo; row < hi; row++ {
			cell := w.row(row)
			if cell < 0 {
				continue
			}
			weight := 1.0
			if w.t.Form != ByAction {
				weight = min(w.s.Ratio(row), w.t.MaxWeight) / w.t.MaxWeight
			}
			mark := (w.s.Data.Reward[row] - reward.Mid()) / (reward.Width() / 2)
			next := mechanism.Transition{Cell: cell, Outcome: w.outcome(row, row-lo), Weight: weight, Mark: mark}
			if w.t.Discounts && next.Outcome != w.t.places()+2 {
				next.Other, next.Split = w.t.places(), 1-w.s.Gamma(row)
			}
			w.list = append(w.list, next)
		}
	}
	return w.list
}

// row is the row of the table that a decision belongs to, or -1.
func (w *walker) row(row int) int {
	cell := w.cell(row)
	if cell < 0 || w.t.Form != ByAction {
		return cell
	}
	a := int(w.s.Data.Action[row])
	if a < 0 || a >= w.t.Actions {
		return -1
	}
	return cell*w.t.Actions + a
}

// cell is that of a point, or -1.
func (w *walker) cell(point int) int {
	switch {
	case w.t.Form == Pooled:
		return 0
	case w.s.Cell[point] == value.NoCell:
		return -1
	}
	return int(w.s.Cell[point])
}

// outcome is what followed a decision that so many came before in its episode. Where an
// episode has one decision nothing that follows counts. Where it has more, what followed
// the last of them is not asked: an end there may be that of the horizon, which says
// nothing of the state, and to leave out ends alone would make them too rare.
func (w *walker) outcome(row, before int) int {
	next := value.Terminal
	if w.t.Decisions > 1 {
		if int64(before) >= w.t.Decisions-1 {
			return w.t.places() + 2
		}
		next = w.s.Next[row]
	}
	cell := -1
	if next >= 0 {
		cell = w.cell(int(next))
	}
	switch {
	case next == value.Terminal:
		return w.t.places()
	case cell < 0:
		return w.t.places() + 1
	}
	return cell
}

// start is the cell in which an episode begins, or -1.
func (w *walker) start(e int) int {
	lo, _ := w.s.Rows(e)
	return w.cell(lo)
}

// Start asks for the mean of a value over the first states of persons.
type Start struct {
	Public     facts.Public
	Multiplier float64
}

// Mean is a noisy mean with its errors.
type Mean struct {
	Value       float64 `json:"value"`
	StdSampling float64 `json:"std_sampling"`
	StdPrivacy  float64 `json:"std_privacy"`
}

// Release pays for the mean over persons of the mean over their episodes of value by
// cell, the largest difference of which bounds a person's part. Whoever begins in no
// cell, or has no episode, counts as the middle.
func (q Start) Release(t Table, s value.Persons, values []float64, src *noise.Source) (Mean, error) {
	within := facts.Range{Min: values[0], Max: values[0]}
	for _, v := range values {
		within = facts.Range{Min: min(within.Min, v), Max: max(within.Max, v)}
	}
	return q.over(s, within, func() appraisal {
		walk := walker{t: t}
		bind := func(s *value.Sample) error { walk.s = s; return nil }
		return appraisal{bind, func(e int) (float64, bool) {
			c := walk.start(e)
			if c < 0 {
				return 0, false
			}
			return values[c], true
		}}
	}, src)
}

// ReleaseLinear is Release for the value of a linear model.
func (q Start) ReleaseLinear(l Linear, s value.Persons, v LinearValue, src *noise.Source) (Mean, error) {
	within := l.Within(v)
	return q.over(s, within, func() appraisal {
		read := l.reader()
		return appraisal{read.bind, func(e int) (float64, bool) {
			lo, _ := read.s.Rows(e)
			return read.at(v, lo, within)
		}}
	}, src)
}

// appraisal tells what an episode of the sample at hand is worth, where that is known.
type appraisal struct {
	bind func(*value.Sample) error
	of   func(e int) (float64, bool)
}

// over pays for the mean over persons of the mean over their episodes of values within
// a range.
func (q Start) over(s value.Persons, within facts.Range, appraise func() appraisal, src *noise.Source) (Mean, error) {
	// Where all values are one the mean is known, but a release needs a width.
	pad := narrowest * q.Public.Returns.Width()
	fresh := func() (*mechanism.Moments, error) {
		return mechanism.NewMoments(within.Min-pad, within.Max+pad, q.Multiplier, q.Public.Adjacency, q.Public.Noise)
	}
	n, err := mechanism.Spread(fresh, mechanism.Workers(1), s.Persons(), func(m *mechanism.Moments) func(int) error {
		walk, worth := s.Walk(), appraise()
		return func(p int) error {
			s, p, err := walk.Bound(p, worth.bind)
			if err != nil {
				return err
			}
			from, to := s.Episodes(p)
			mean, known := 0.0, 0
			for e := from; e < to; e++ {
				if v, ok := worth.of(e); ok {
					mean += v
					known++
				}
			}
			// 0/0 is no number, and counts as the middle of the range.
			return m.Add(mean / float64(known))
		}
	}, src)
	if err != nil {
		return Mean{}, err
	}
	return q.mean(n, within), nil
}

// narrowest is half the least width of the range of first values, in units of the
// range of returns.
const narrowest = 1e-3

func (q Start) mean(n mechanism.NoisyMoments, within facts.Range) Mean {
	persons := n.Count
	if q.Public.Adjacency == dp.AddRemoveOne {
		persons = max(persons, float64(q.Public.Persons))
	}
	offset := n.Sum / persons
	variance := min(max(n.Squares/persons-offset*offset, n.SquaresSD/persons), within.Width()*within.Width()/4)
	return Mean{
		Value:       within.Clamp(n.Centre + offset),
		StdSampling: math.Sqrt(variance / persons),
		StdPrivacy:  math.Hypot(n.SumSD, offset*n.CountSD) / persons,
	}
}

// ErrTarget marks a target policy whose probabilities do not follow from the cell of
// an observation.
var ErrTarget = fault.Input("the target policy's probabilities do not follow from the numbered states")

// ReadsStep tells whether what a policy does depends on how many decisions an episode had before.
func ReadsStep(p policy.Policy) bool {
	reader, ok := p.(interface{ ReadsStep() bool })
	return ok && reader.ReadsStep()
}

// Target is the target policy's probability of every action in every cell, the mean
// over its states; it is public. The policy must not read more than the state's
// column.
func Target(p policy.Policy, f feature.Finite) ([]float64, error) {
	k, n := p.Actions(), f.States()
	if ReadsStep(p) {
		return nil, fmt.Errorf("%w: it asks for the number of the decision", ErrTarget)
	}
	if k == 0 {
		return nil, fmt.Errorf("%w: it does not tell the probability of every action", ErrTarget)
	}
	// A log with one row for each state.
	d := &trajectory.Dataset{Columns: f.Columns(), PersonStart: []int{0}, EpisodeStart: []int{0}}
	if len(d.Columns) != 1 {
		return nil, fmt.Errorf("%w: a state is read from %d columns", ErrTarget, len(d.Columns))
	}
	for s := range n {
		d.Obs = append(d.Obs, float64(s))
		d.EpisodeStart, d.PersonStart = append(d.EpisodeStart, s+1), append(d.PersonStart, s+1)
	}
	d.Action, d.Reward = make([]int32, n), make([]float64, n)
	bound, err := p.Bind(d)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTarget, err)
	}
	if bound.Actions() == 0 {
		return nil, fmt.Errorf("%w: it does not tell the probability of every action", ErrTarget)
	}
	out, states := make([]float64, f.Dim()*k), make([]float64, f.Dim())
	row := make([]float64, max(k, bound.Actions()))
	for s := range n {
		if !bound.Distribution(row, s) {
			return nil, fmt.Errorf("%w: it cannot judge state %d", ErrTarget, s)
		}
		c := f.Cell(s)
		states[c]++
		for a := range k {
			out[c*k+a] += row[a]
		}
	}
	for c, count := range states {
		for a := range k {
			if count > 0 {
				out[c*k+a] /= count
			}
		}
	}
	return out, nil
}
