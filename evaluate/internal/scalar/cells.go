package scalar

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/rl/value"
)

// Cells answers about policies from what persons gained by cell and action, where nobody wrote
// down with which probabilities actions were taken, each person has one decision, and the cell
// tells all that decided it. A person puts the outcome, as a share of its range, and the rest of
// a unit into two bins of their cell and action. Every policy that is a function of the cell is
// worth a function of these masses: docs/proofs/propensities.md.
//
// Released: the masses ([mechanism.Masses]). Unit: a person. Adjacency: either.
type Cells struct {
	Public         facts.Public
	Range          facts.Range // what the shares 0 and 1 stand for
	Cells, Actions int
	Noise          float64 // multiplier
	Laplace        bool    // the noise is discrete Laplace
	// Answers is how many intervals hold together; 0 means 1.
	Answers int
	// SelfNormalised makes a value what it would be if what is missing were like the rest.
	SelfNormalised bool
	// Complete tells that nobody is missing: who is in no cell is noise.
	Complete bool
}

// Asked is one answer: the sum over cells and actions of Weights times what the action is worth
// in the cell, plus Logged times what persons gained.
type Asked struct {
	Weights []float64 // by bin; nil for none
	Logged  float64
	// Difference tells that the answer is one of two values, so that it may be below 0.
	Difference bool
}

// CellSums are the noisy masses, by cell and action, and that of persons who are in no cell.
type CellSums struct {
	Gained  [][]float64 `json:"gained"`
	Missed  [][]float64 `json:"missed"`
	Nowhere float64     `json:"nowhere"`
}

func (c Cells) masses() (*mechanism.Masses, error) {
	if c.Laplace {
		return mechanism.NewLaplaceMasses(2*c.bins(), 1, c.Noise, c.Public.Adjacency)
	}
	return mechanism.NewMasses(2*c.bins(), 1, 0, c.Noise, c.Public.Adjacency, c.Public.Noise)
}

// SD is the standard deviation of the noise of a count of a bin.
func (c Cells) SD() float64 {
	m, err := c.masses()
	if err != nil {
		return math.Inf(1)
	}
	sd, _ := m.SD()
	return sd * math.Sqrt2
}

// Event is that of the masses.
func (c Cells) Event() (dp.Event, error) {
	m, err := c.masses()
	if err != nil {
		return nil, err
	}
	return m.Event(), nil
}

func (c Cells) bins() int { return c.Cells * c.Actions }

// Coordinates is how many numbers are released.
func (c Cells) Coordinates() int { return 2*c.bins() + 1 }

// Contributions writes the bin of every person, -1 where there is none, and what they gained and
// missed there, as shares of the mean over their episodes.
func (c Cells) Contributions(bin, gained, missed []float64, s *value.Sample, visits Visits) {
	for person := range bin {
		bin[person] = -1
		from, to := s.Episodes(person)
		for e := from; e < to; e++ {
			if row, _ := s.Rows(e); visits[row] >= 0 {
				share, all := (c.Range.Clamp(s.Return(e))-c.Range.Min)/c.Range.Width(), float64(s.Data.Counted(person))
				bin[person], gained[person], missed[person] = float64(visits[row]), share/all, (1-share)/all
			}
		}
	}
}

// Release adds up the masses of all persons.
func (c Cells) Release(bin, gained, missed []float64, src *noise.Source) (*CellSums, error) {
	m, err := c.masses()
	if err != nil {
		return nil, err
	}
	in, none := make([]float64, 2*c.bins()), make([]float64, 2*c.bins())
	noisy, err := mechanism.Total(m, len(bin), func(person int) error {
		clear(in)
		if k := int(bin[person]); k >= 0 {
			in[k], in[c.bins()+k] = gained[person], missed[person]
		}
		return m.Add(in, none)
	}, src)
	if err != nil {
		return nil, err
	}
	out := &CellSums{Nowhere: noisy.Back}
	for cell := range c.Cells {
		from, to := cell*c.Actions, (cell+1)*c.Actions
		out.Gained = append(out.Gained, noisy.In[from:to])
		out.Missed = append(out.Missed, noisy.In[c.bins()+from:c.bins()+to])
	}
	return out, nil
}

// Check holds sums of a release against the cells.
func (c Cells) Check(s *CellSums) error {
	fits := s != nil && len(s.Gained) == c.Cells && len(s.Missed) == c.Cells
	for cell := 0; fits && cell < c.Cells; cell++ {
		fits = len(s.Gained[cell]) == c.Actions && len(s.Missed[cell]) == c.Actions
	}
	if !fits {
		return fmt.Errorf("diagnostics.masses_by_cell are not those of the cells and actions")
	}
	return nil
}

// Resolves tells whether so many persons, spread evenly, would be in every bin so many times as many as noise
// makes.
func (c Cells) Resolves(times float64) (bool, error) {
	m, err := c.masses()
	if err != nil {
		return false, err
	}
	sd, _ := m.SD()
	return float64(c.Public.Persons)/float64(c.bins()) >= times*c.far()*sd*math.Sqrt2, nil
}

// Expected is the estimate that is expected where as many persons are in each cell, half of them
// drawn evenly and half the less likely an action the more the answer rests on it, and a share of the range
// is gained.
func (c Cells) Expected(of Asked, share float64) (*Estimate, error) {
	each := float64(c.Public.Persons) / float64(2*c.Cells)
	s := &CellSums{}
	for cell := range c.Cells {
		row, left := make([]float64, c.Actions), 0.0
		for a := range row {
			row[a] = 1
			if of.Weights != nil {
				row[a] = max(1-math.Abs(of.Weights[cell*c.Actions+a]), 0)
			}
			left += row[a]
		}
		gained, missed := slices.Clone(row), slices.Clone(row)
		for a := range row {
			if left > 0 {
				row[a] /= left
			}
			here := each * (row[a] + 1/float64(c.Actions))
			gained[a], missed[a] = share*here, (1-share)*here
		}
		s.Gained, s.Missed = append(s.Gained, gained), append(s.Missed, missed)
	}
	return c.Estimate(s, of)
}

// Z is how many standard deviations each end allows for.
func (c Cells) Z() float64 { return c.like().Z() }

// Confidence is that of one interval alone.
func (c Cells) Confidence() float64 {
	if c.Answers <= 1 {
		return Confidence(1)
	}
	return c.like().AloneConfidence()
}

func (c Cells) like() Bounds { return Bounds{Answers: c.Answers, Estimated: true} }
