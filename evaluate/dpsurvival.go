package evaluate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/survival"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// DPSurvival estimates survival under censoring in each arm of a study: the survival curve, the
// cumulative incidence of competing causes, restricted mean times, medians, and the differences
// of arms from a control. [Public.Outcome] says what is observed, and [Public.By] which
// observation tells the arms apart; without it there is one arm.
//
// Of target policies a person adds to one cell of each, with the share that their weight, the product of
// the importance ratios of all their decisions, is of the largest weight that the design allows. Where a
// design bounds weights and supports the policies, and censoring is independent under them, these
// are curves; elsewhere limits that hold for any weights up to these and, by Outcome.Censoring,
// for any censoring.
//
// Released: [Survival], and the restricted mean of each arm, or with Control their differences,
// as answers with 95% intervals. Assumes: censoring is independent of the time to the event
// within each arm. Unit: a person. Adjacency: either. Clip: none is needed, since a person
// adds 1 to one cell. Event: dp.Gaussian or dp.DiscreteLaplace, see [NoiseFamily]. Proof:
// docs/proofs/survival.md.
type DPSurvival struct {
	// Until restricts times: 0 means the end of the last bin; otherwise it is the end of a bin.
	Until float64 `json:"until,omitempty"`
	// Control is the name of the arm that the others are compared with; "" for no comparison.
	Control string `json:"control,omitempty"`
	// MaxWeight is the public cap on a person's weight under a target policy; below the largest that the
	// design allows it asks for limits. 0 means that largest or, of limits, a public rule.
	MaxWeight float64 `json:"max_weight,omitempty"`
	// Guess is what is publicly supposed of the outcome. The forecast depends on it, and the
	// release does not; nil means a half for each.
	Guess *OutcomeGuess `json:"guess,omitempty"`
}

// OutcomeGuess is a public guess about an outcome, for forecasts.
type OutcomeGuess struct {
	// Events is the share of persons who would have an event within the bins, were nobody
	// censored, and Dropout the share who would be censored within them, were there no events.
	Events  float64 `json:"events"`
	Dropout float64 `json:"dropout,omitempty"`
}

// NoiseFamily is the law of the noise of counts.
type NoiseFamily string

// The families. "" means the one with the narrowest expected answer for the budget of this release alone: discrete
// Laplace noise, whose cost adds up by epsilon, where delta is 0 or that noise is smaller, and
// otherwise Gaussian noise, which is the cheaper one in a ledger that adds up squares.
const (
	GaussianNoise NoiseFamily = "gaussian"
	LaplaceNoise  NoiseFamily = "laplace"
)

// The forms of Gaussian noise, of which GaussianNoise takes the one with the narrower expected
// answer: of every cell by itself, or of running sums ([mechanism.RunningSums]).
const (
	gaussianCells NoiseFamily = "gaussian_cells"
	gaussianSums  NoiseFamily = "gaussian_sums"
)

// Survival is what dp-survival releases beside its answers. All of it follows from the noisy
// cells in the diagnostics.
type Survival struct {
	// Time says what the time is, and Ends are the ends of its bins.
	Time string    `json:"time"`
	Ends []float64 `json:"ends"`
	// Until is the time to which means are restricted.
	Until       float64              `json:"until"`
	Arms        []SurvivalArm        `json:"arms"`
	Differences []SurvivalDifference `json:"differences,omitempty"`
}

// SurvivalArm is what is estimated of one arm.
type SurvivalArm struct {
	Name string `json:"name"`
	// AtRisk are the noisy numbers at risk at the start of each bin.
	AtRisk   []float64 `json:"at_risk"`
	Survival Curve     `json:"survival"`
	// Incidence is the cumulative incidence of each of several causes.
	Incidence []CauseIncidence `json:"incidence,omitempty"`
	// Median is the time by which half of the persons had an event, where the band shows it.
	Median *Median `json:"median,omitempty"`
	// RestrictedMean is the mean of the time cut at Until; its interval holds by itself.
	RestrictedMean Estimate `json:"restricted_mean"`
	// MissingShare is the noisy share of persons whose outcome cannot be used; 0 where the
	// curator states that there is none.
	MissingShare float64 `json:"missing_share"`
}

// Curve is one probability for each bin's end, with limits that hold together for all bins
// with 95%. Values end where too few persons are at risk for one.
type Curve struct {
	Values []float64 `json:"values"`
	Lower  []float64 `json:"lower"`
	Upper  []float64 `json:"upper"`
}

// CauseIncidence is the probability of an event of a cause by the end of each bin.
type CauseIncidence struct {
	Cause string `json:"cause"`
	Curve
}

// Median is a median time with the times between which the band of its curve holds it. Value
// and Upper are nil where the curve, or the band, stays above one half.
type Median struct {
	Value *float64 `json:"value,omitempty"`
	Lower float64  `json:"lower"`
	Upper *float64 `json:"upper,omitempty"`
}

// SurvivalDifference is the difference of an arm's survival from the control's, by bin.
type SurvivalDifference struct {
	Name string `json:"name"`
	Curve
}

// survivalQuestion is all that is fixed before data are seen.
type survivalQuestion struct {
	survival.Question
	public Public
	arms   []string
	// scale is that of Laplace noise, multiplier that of Gaussian noise; 0 for the other.
	scale, multiplier float64
	family            NoiseFamily
	// policies are the arms where target policies are asked for; nil without.
	policies *policyTables
}

// Plan implements [Estimator].
func (m DPSurvival) Plan(p Public) (*Plan, error) { return planned("dp-survival", m, p, m.draft) }

func (m DPSurvival) draft(method string, p Public) (draft, error) {
	q, err := m.question(method, p)
	if err != nil {
		return draft{}, err
	}
	if q, err = q.quietest(m); err != nil {
		return draft{}, err
	}
	h, err := q.histogram()
	if err != nil {
		return draft{}, err
	}
	event := h.Event()
	s, err := m.about(q)
	if err != nil {
		return draft{}, err
	}
	if s.facts["noise_family"], s.facts["noise_std"] = q.family, q.SD; q.family == gaussianCells {
		s.facts["noise_family"] = GaussianNoise // as it always was called
	}
	return draft{method: method, public: p, event: event, outcomes: true, needsEnds: p.Outcome.Event == "",
		prepare: q.preparation(), outcome: q.again, summary: s, uncut: q.Form == survival.Curves}, nil
}

// question checks the parameters.
func (m DPSurvival) question(method string, p Public) (survivalQuestion, error) {
	q := survivalQuestion{public: p}
	o := p.Outcome
	if o == nil {
		return q, fmt.Errorf("%w: %s needs data.outcome, which says what is the time to which event", ErrPublic, method)
	}
	q.Layout = survival.Layout{Bins: len(o.Ends), Causes: len(o.Causes), Missing: !p.Complete && p.private()} // persons without a usable outcome are counted
	q.Ends, q.Grouped, q.Control, q.Until = o.Ends, o.Grouped, -1, len(o.Ends)
	if q.arms = p.groups().labels(); q.arms == nil {
		q.arms = []string{p.unit().Words("all persons")}
	}
	q.Arms = len(q.arms)
	if o.Strata != nil {
		q.Strata = len(o.Strata.Values)
	}
	if err := q.askPolicies(method, m); err != nil {
		return q, err
	}
	if n := q.Cells(); n > mostCells {
		return q, fmt.Errorf("%w: %s: arms, strata, bins and causes make %d cells; want at most %d: take fewer bins or strata", ErrPublic, method, n, mostCells)
	}
	if m.Control != "" {
		if q.Control = slices.Index(p.groups().labels(), m.Control); q.Control < 0 {
			return q, fmt.Errorf("%w: %s: control is %q, which is no group of by; want one of %q, or of policies the pair as contrasts", ErrMethod, method, m.Control, q.arms)
		}
	}
	if m.Until != 0 {
		i := slices.Index(o.Ends, m.Until)
		if i < 0 {
			return q, fmt.Errorf("%w: %s: until is %v; want the end of a bin, %v to %v", ErrMethod, method, m.Until, o.Ends[0], o.until())
		}
		q.Until = i + 1
	}
	if g := m.Guess; g != nil && !(g.Events > 0 && g.Events < 1 && g.Dropout >= 0 && g.Dropout < 1) {
		return q, fmt.Errorf("%w: %s: guess is %+v; want events above 0 and below 1, and dropout from 0 to below 1", ErrMethod, method, *g)
	}
	return q, nil
}

// noises are those that the family allows.
func (q survivalQuestion) noises() (all []survivalQuestion, err error) {
	g := q.public.Privacy
	switch {
	case g.NoiseFamily == LaplaceNoise && g.Fast:
		return nil, fmt.Errorf("%w: privacy.noise is fast and privacy.noise_family is laplace, whose noise is exact; leave one of them out", ErrPublic)
	case g.Fast && g.Budget.Delta == 0:
		return nil, fmt.Errorf("%w: delta is 0, which Gaussian noise cannot give, and Laplace noise is exact; leave privacy.noise out, or set delta above 0", dp.ErrBudget)
	case g.Budget.Delta == 0 && g.NoiseFamily != "" && g.NoiseFamily != LaplaceNoise:
		return nil, fmt.Errorf("%w: delta is 0, which Gaussian noise cannot give; set privacy.noise_family to laplace, or delta above 0", dp.ErrBudget)
	}
	add := func(family NoiseFamily, one survivalQuestion) error {
		one.family = family
		h, err := one.histogram()
		if err == nil {
			one.SD = h.SD()
			all = append(all, one)
		}
		return err
	}
	if g.NoiseFamily != LaplaceNoise && g.Budget.Delta > 0 {
		found, err := multipliers(*g, 1)
		if err != nil {
			return nil, err
		}
		for _, family := range []NoiseFamily{gaussianCells, gaussianSums} {
			if family == gaussianSums && float64(q.Arms*max(q.Strata, 1))*math.Pow(float64(q.Bins), 3) > mostSums {
				if g.NoiseFamily == family {
					return nil, fmt.Errorf("%w: privacy.noise_family is %s, and running sums over %d bins of all arms and strata take too long; take fewer bins, or another family", ErrPublic, family, q.Bins)
				}
				continue
			}
			if named := g.NoiseFamily; named == family || named == GaussianNoise || named == "" {
				one := q
				one.multiplier, one.Sums = found[0], family == gaussianSums
				if err := add(family, one); err != nil {
					return nil, err
				}
			}
		}
	}
	if g.NoiseFamily == LaplaceNoise || g.NoiseFamily == "" && !g.Fast {
		one := q
		one.scale = replaced(g) * float64(q.tables()) / g.Budget.Epsilon * (1 + 0x1p-44)
		one.scale = max(one.scale, leastScale)
		if err := add(LaplaceNoise, one); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// quietest is the question with the noise that is expected to make the narrowest answer, of those that
// the family allows; the first of several alike.
func (q survivalQuestion) quietest(m DPSurvival) (survivalQuestion, error) {
	all, err := q.noises()
	if err != nil {
		return q, err
	}
	least, width := 0, math.Inf(1)
	for i := range all {
		all[i].capWeights(m.MaxWeight)
		if len(all) == 1 {
			break
		}
		mean := all[i].first(all[i].Estimate(all[i].guessed(m.Guess)))
		// Where every interval is the whole range, the noise decides.
		if w := (mean.Upper - mean.Lower) * (1 + 1e-6*all[i].SD); w < width {
			least, width = i, w
		}
	}
	return all[least], nil
}

// leastScale is the least that can be sampled.
const leastScale = 0.001

// tally is a noisy sum over persons.
type tally interface {
	AddShares(cells []int, shares []float64) error
	Capacity() int64
	SD() float64
	Event() dp.Event
	Release(src *noise.Source) ([]float64, dp.Event, error)
}

// histogram makes the empty cells.
func (q *survivalQuestion) histogram() (tally, error) {
	g := q.public.Privacy
	switch {
	case q.Sums:
		return mechanism.NewRunningSums(q.Cells(), q.Series(), q.tables(), q.multiplier, g.Adjacency, g.noise())
	case q.scale > 0 && q.policies != nil:
		return mechanism.NewLaplaceShares(q.Cells(), q.tables(), q.scale)
	case q.scale > 0:
		return mechanism.NewLaplaceHistogram(q.Cells(), q.scale)
	}
	return mechanism.NewSetHistogram(q.Cells(), q.tables(), q.multiplier, g.Adjacency, g.noise())
}

// cells finds the cell of every person, -1 for one who is in none, and counts those whose
// outcome cannot be used.
func (q *survivalQuestion) cells(d *trajectory.Dataset) (at []int, unusable int, err error) {
	p, column := q.public, -1
	if e := p.Outcome.Event; e != "" {
		if column = d.Column(e); column < 0 {
			return nil, 0, fmt.Errorf("%w: data.outcome.event: the data were read without %s", ErrData, e)
		}
	}
	members, err := p.groups().places(d)
	if err != nil {
		return nil, 0, err
	}
	strata, err := p.Outcome.Strata.groups().places(d)
	if err != nil {
		return nil, 0, err
	}
	for person, arm := range members {
		from, to := d.PersonStart[person], d.PersonStart[person+1]
		lost := to-from != 1 || d.LeftOut != nil && d.LeftOut[person] > 0
		switch {
		case arm < 0 && !lost && p.By.names(d, person):
			continue // another group
		case arm < 0 || lost && q.policies != nil: // no weight is known either
			members[person] = q.Unknown()
			unusable++
			continue
		}
		x, stratum := exit{}, strata[person]
		if !lost && stratum >= 0 {
			x = p.Outcome.exitOf(d, from, column)
		}
		switch {
		case !x.usable:
			unusable++
			members[person] = q.Unusable(arm)
		case x.end:
			members[person] = q.End(arm, stratum)
		default:
			members[person] = q.Exit(arm, stratum, x.bin, x.cause)
		}
	}
	if unusable > 0 && p.Complete {
		return nil, 0, fmt.Errorf("%w: problem.records is complete, and %s; mend the data, or leave problem.records out", ErrData, p.unusableWords(unusable))
	}
	return members, unusable, nil
}

// unusableWords say of how many persons the outcome cannot be used, and why it may be so.
func (p Public) unusableWords(n int) string {
	return fmt.Sprintf("the outcome of %d %ss cannot be used: a time below 0, an event or a stratum that data.outcome does not list, a record that was left out, or several of them", n, p.unit())
}

// preparation binds the plan to data, of which it keeps the cells of persons.
func (q survivalQuestion) preparation() preparation {
	return keeping[weightedPersons]{
		func(d *trajectory.Dataset, _ [][]float64, _ bool) (weightedPersons, error) {
			at, _, err := q.cells(d)
			if err != nil || q.policies == nil {
				return weightedPersons{each: 1, at: at}, err
			}
			return q.shares(d, at)
		},
		func(all, next weightedPersons) weightedPersons {
			all.at, all.shares = append(all.at, next.at...), append(all.shares, next.shares...)
			return all
		},
		func(w weightedPersons) int64 { return 8 * int64(len(w.at)+len(w.shares)) },
		func(w weightedPersons) (draw, error) {
			h, err := q.histogram()
			if err != nil {
				return nil, err
			}
			persons := len(w.at) / w.each
			if int64(persons) > h.Capacity() {
				return nil, fmt.Errorf("%w: at most %d persons fit", ErrData, h.Capacity())
			}
			return func(_ context.Context, src *noise.Source) (*Release, error) {
				h, err := q.histogram()
				if err != nil {
					return nil, err
				}
				noisy, err := mechanism.Total(h, persons, w.add(h), src)
				if err != nil {
					return nil, err
				}
				return q.release(noisy)
			}, nil
		},
	}
}

// cellsName is the diagnostic that holds the noisy cells.
const cellsName = "cells"

// again makes the release of its noisy cells.
func (q survivalQuestion) again(r *Release) (*Release, error) {
	noisy, err := q.countsOf(r)
	if err != nil {
		return nil, err
	}
	return q.release(noisy)
}

// countsOf reads the cells of a release.
func (q survivalQuestion) countsOf(r *Release) ([]float64, error) {
	noisy, err := numbers(r, cellsName, q.Cells())
	if err == nil && slices.ContainsFunc(noisy, func(v float64) bool { return math.Abs(v) > 0x1p53 }) {
		err = errors.New("diagnostics.cells holds what is no count")
	}
	return noisy, err
}

// intervals is how many answers there are, which hold together.
func (q survivalQuestion) intervals() int {
	if q.Together > 0 {
		return q.Together
	}
	if q.Control >= 0 {
		return q.Arms - 1
	}
	return q.Arms
}
