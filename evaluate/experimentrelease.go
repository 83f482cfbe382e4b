package evaluate

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/experiment"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Experiment is what dp-experiment releases beside its answers.
type Experiment struct {
	// Persons is the noisy number of persons of each arm, by name; exact where it is public.
	Persons map[string]float64 `json:"persons"`
	// Unassigned is the noisy number of persons whose arm cannot be told; nil where all have one.
	Unassigned *float64 `json:"unassigned,omitempty"`
	// AllocationP is how likely numbers of persons as far from the allocation are where arms
	// were drawn by it; nil where none was given. Mismatch says that this is below 0.001.
	AllocationP *float64 `json:"allocation_p_value,omitempty"`
	Mismatch    bool     `json:"sample_ratio_mismatch,omitempty"`
	// Slope is what was taken off outcomes times the covariate; nil without one.
	Slope *float64 `json:"slope,omitempty"`
	// Lifts are the differences over the mean of the control.
	Lifts []Lift `json:"lifts,omitempty"`
}

// Lift is a difference over the mean of the control. Its limits hold together with all
// intervals, from which they follow. Value is nil where the control's mean is estimated to be 0, and Upper, which
// means without limit, where it may be.
type Lift struct {
	Name  string   `json:"name"`
	Value *float64 `json:"value,omitempty"`
	Lower float64  `json:"lower"`
	Upper *float64 `json:"upper,omitempty"`
}

// mismatchAlarm is how often arms that were drawn by their allocation look as if they were not.
const mismatchAlarm = 0.001

// Names of the diagnostics.
const (
	outcomesName   = "outcomes"
	adjustedName   = "adjusted"
	momentsName    = "covariate"
	unassignedName = "unassigned"
)

// armSums are the noisy sums of an arm, in shares of the range of an outcome, or of an adjusted one.
type armSums struct {
	Reached float64 `json:"reached"`
	Missed  float64 `json:"missed"`
	Missing float64 `json:"missing"`
	Product float64 `json:"product"`
}

// experimentSums are all that a release is made of. What is not paid for is nil.
type experimentSums struct {
	moments            []float64
	unassigned         []float64
	outcomes, adjusted []armSums
}

// arms are what persons add, arm by arm: their outcomes, what of their episodes is there, and
// their covariates.
type arms struct {
	x, z, there, c []float64
	of             [][]int // -1 is a person without a row
	none           int
}

// preparation binds the plan to data, of which it keeps what persons add.
func (q experimentQuestion) preparation() preparation {
	return keeping[arms]{
		func(d *trajectory.Dataset, _ [][]float64, _ bool) (arms, error) { return q.read(d) },
		arms.and,
		func(a arms) int64 { return 5 * 8 * int64(len(a.x)) },
		func(a arms) (draw, error) {
			if err := checkCapacity(len(a.x), experiment.Coordinates); err != nil {
				return nil, err
			}
			a = q.filled(a)
			return func(_ context.Context, src *noise.Source) (*Release, error) {
				sums, err := q.sum(a, src)
				if err != nil {
					return nil, err
				}
				return q.release(sums)
			}, nil
		},
	}
}

// and adds what other persons add.
func (a arms) and(next arms) arms {
	for arm, persons := range next.of {
		for _, person := range persons {
			a.of[arm] = append(a.of[arm], len(a.x)+person)
		}
	}
	a.x, a.z, a.there, a.c = append(a.x, next.x...), append(a.z, next.z...), append(a.there, next.there...), append(a.c, next.c...)
	a.none += next.none
	return a
}

// read finds out what everybody adds.
func (q experimentQuestion) read(d *trajectory.Dataset) (arms, error) {
	p, n := q.public, d.Persons()
	a := arms{x: make([]float64, n), z: make([]float64, n), there: make([]float64, n), c: make([]float64, n), of: make([][]int, len(p.By.Of))}
	s, err := sampleFor(d, p.featureless()) // the covariate is read as it is
	if err != nil {
		return a, err
	}
	scalar.WholeOf(p.perEpisode(), p.Discounts).Contributions(a.x, a.z, s)
	members, err := p.By.Members(d)
	if err != nil {
		return a, err
	}
	column := d.Column(q.covariate)
	if q.covariate != "" && column < 0 {
		return a, fmt.Errorf("%w: features: the data were read without %s", ErrData, q.covariate)
	}
	for person, arm := range members {
		if arm < 0 {
			a.none++
			continue
		}
		a.of[arm] = append(a.of[arm], person)
		from, to := s.Episodes(person)
		if from == to || column < 0 {
			continue
		}
		a.there[person] = float64(to-from) / float64(d.Counted(person))
		lo, _ := s.Rows(from)
		a.c[person] = min(max((d.Observation(lo)[column]-q.within.Min)/q.within.Width(), 0), 1)
		if math.IsNaN(a.c[person]) {
			a.c[person] = 0
		}
	}
	if a.none > 0 && p.Complete {
		return a, fmt.Errorf("%w: problem.records is complete, and the rows of %d %ss name no arm, two, or one that by does not list; mend the data, list the arm, or leave records out", ErrData, a.none, p.unit())
	}
	return a, nil
}

// filled is a with those who name no arm in the arms whose public sizes count them.
func (q experimentQuestion) filled(a arms) arms {
	by := q.public.By
	for i, of := range by.Of {
		for k := min(of.Persons-int64(len(a.of[i])), int64(a.none)); by.Fixed && k > 0; k-- {
			a.of[i] = append(a.of[i], -1)
			a.none--
		}
	}
	return a
}

// sum draws the noise of every stage.
func (q *experimentQuestion) sum(a arms, src *noise.Source) (out experimentSums, err error) {
	if q.unassigned != 0 {
		h, err := mechanism.NewHistogram(1, q.unassigned, dp.AddRemoveOne, q.public.Privacy.noise())
		if err != nil {
			return out, err
		}
		if out.unassigned, err = mechanism.Total(h, a.none, func(int) error { return h.Add(0) }, src); err != nil {
			return out, err
		}
	}
	by := experiment.Adjustment{}
	if q.moments != 0 {
		if out.moments, err = q.pooled(a, src); err != nil {
			return out, err
		}
		if by, err = q.adjustment(out.moments); err != nil {
			return out, err
		}
	}
	if out.outcomes, err = q.stage(q.outcomes, a, experiment.Adjustment{}, src); err != nil {
		return out, err
	}
	out.adjusted, err = q.stage(q.adjusted, a, by, src)
	return out, err
}

// pooled are the noisy moments of covariate and outcome over all arms.
func (q *experimentQuestion) pooled(a arms, src *noise.Source) ([]float64, error) {
	sum, err := mechanism.NewVectorSum(experiment.Coordinates, 1, q.moments, q.public.Privacy.noise())
	if err != nil {
		return nil, err
	}
	var all []int
	for _, persons := range a.of {
		all = append(all, persons...)
	}
	v := make([]float64, experiment.Coordinates)
	return mechanism.Total(sum, len(all), func(i int) error {
		clear(v)
		if person := all[i]; person >= 0 {
			there, c, y := a.there[person], a.c[person], a.x[person]
			experiment.Moments{Count: there, C: there * c, Y: y, CC: there * c * c, CY: c * y}.Add(v)
		}
		return sum.Add(v)
	}, src)
}

// stage are the noisy sums of every arm; nil where the stage is left out.
func (q *experimentQuestion) stage(multiplier float64, a arms, by experiment.Adjustment, src *noise.Source) ([]armSums, error) {
	if multiplier == 0 {
		return nil, nil
	}
	var out []armSums
	for _, persons := range a.of {
		sum, err := q.split(multiplier)
		if err != nil {
			return nil, err
		}
		noisy, err := mechanism.Total(sum, len(persons), func(i int) error {
			person := persons[i]
			if person < 0 {
				return sum.Add(0, 0)
			}
			return sum.Add(by.Apply(a.x[person], a.z[person], a.c[person], a.there[person]))
		}, src)
		if err != nil {
			return nil, err
		}
		out = append(out, armSums{noisy.X, noisy.Z, noisy.Rest, noisy.Product})
	}
	return out, nil
}

// release is all that follows from the noisy sums.
func (q *experimentQuestion) release(sums experimentSums) (*Release, error) {
	found, err := q.results(sums)
	if err != nil {
		return nil, err
	}
	r := &Release{JointConfidence: scalar.Confidence(1), Answers: found.answers, Diagnostics: map[string]any{}, Experiment: &found.experiment}
	if found.experiment.Mismatch {
		r.first = fmt.Sprintf("SAMPLE-RATIO MISMATCH: the arms do not have the shares that allocation states (p-value %.2g, and a false alarm has probability %v). Something besides chance decided who is in which arm, or whose records are there, and no number below can be trusted until it is found.", *found.experiment.AllocationP, mismatchAlarm)
	}
	for name, list := range map[string]any{outcomesName: sums.outcomes, adjustedName: sums.adjusted} {
		if of, _ := list.([]armSums); of != nil {
			r.Diagnostics[name] = of
		}
	}
	if sums.moments != nil {
		r.Diagnostics[momentsName] = sums.moments
	}
	if sums.unassigned != nil {
		r.Diagnostics[unassignedName] = sums.unassigned[0]
	}
	return r, nil
}

// again makes the release of its noisy sums.
func (q *experimentQuestion) again(r *Release) (*Release, error) {
	var sums experimentSums
	for _, stage := range []struct {
		name string
		paid float64
		into *[]armSums
	}{{outcomesName, q.outcomes, &sums.outcomes}, {adjustedName, q.adjusted, &sums.adjusted}} {
		if stage.paid == 0 {
			continue
		}
		if err := diagnostic(r, stage.name, stage.into); err != nil {
			return nil, err
		}
		if len(*stage.into) != len(q.public.By.Of) {
			return nil, fmt.Errorf("diagnostics.%s holds %d arms; want %d", stage.name, len(*stage.into), len(q.public.By.Of))
		}
	}
	if q.moments != 0 {
		var err error
		if sums.moments, err = numbers(r, momentsName, experiment.Coordinates); err != nil {
			return nil, err
		}
	}
	if q.unassigned != 0 {
		sums.unassigned = []float64{0}
		if err := diagnostic(r, unassignedName, &sums.unassigned[0]); err != nil {
			return nil, err
		}
	}
	return q.release(sums)
}
