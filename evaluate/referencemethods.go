package evaluate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/survival"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// IS is importance sampling of whole trajectories, without privacy ([value.IS]).
type IS struct{}

// Plan implements [Estimator].
func (IS) Plan(p Public) (*Plan, error) {
	return scalarReference("is", IS{}, p, func(s *value.Sample) (*Release, error) {
		num, den := make([]float64, s.Data.Persons()), make([]float64, s.Data.Persons())
		value.ISContributions(num, den, s)
		return average(num), nil
	})
}

// PDIS is per-decision importance sampling, without privacy ([value.PDIS]).
type PDIS struct{}

// Plan implements [Estimator].
func (PDIS) Plan(p Public) (*Plan, error) {
	return scalarReference("pdis", PDIS{}, p, func(s *value.Sample) (*Release, error) {
		x := make([]float64, s.Data.Persons())
		value.PDISContributions(x, s)
		return average(x), nil
	})
}

// WIS is weighted importance sampling, without privacy ([value.WIS]). Its
// standard error is that of the linearised ratio.
type WIS struct{}

// Plan implements [Estimator].
func (WIS) Plan(p Public) (*Plan, error) {
	return scalarReference("wis", WIS{}, p, func(s *value.Sample) (*Release, error) {
		v, err := value.WIS(s)
		if err != nil {
			return nil, err
		}
		num, den := make([]float64, s.Data.Persons()), make([]float64, s.Data.Persons())
		value.ISContributions(num, den, s)
		squares, total := 0.0, 0.0
		for i := range num {
			e := num[i] - v*den[i]
			squares += e * e
			total += den[i]
		}
		return number(v, math.Sqrt(squares)/total), nil
	})
}

// DR is the doubly robust estimate, without privacy ([value.DR]). Its model of
// action values is fitted to the same data: for logs of one-row episodes the
// action's mean reward, drawn to the overall mean; otherwise the value function
// of LSTD, whatever the action.
type DR struct {
	// Prior is the weight, in rows, of the overall mean in an action's mean. 0
	// means 100.
	Prior float64 `json:"prior,omitempty"`
}

// Plan implements [Estimator].
func (m DR) Plan(p Public) (*Plan, error) {
	if m.Prior < 0 {
		return nil, fmt.Errorf("%w: dr: prior is %v; want 0 or above", ErrMethod, m.Prior)
	}
	return scalarReference("dr", m, p, func(s *value.Sample) (*Release, error) {
		q, err := m.model(s)
		if err != nil {
			return nil, err
		}
		x := make([]float64, s.Data.Persons())
		if err := value.DRContributions(x, s, q); err != nil {
			return nil, err
		}
		return average(x), nil
	})
}

func (m DR) model(s *value.Sample) (value.QModel, error) {
	if s.Data.Rows() > s.Data.Episodes() {
		if s.Data.Terminated == nil {
			return nil, errEnds("dr", "every last decision would be left out with its reward")
		}
		theta, err := value.LSTD{Weighting: value.ByTransition}.Solve(s)
		if err != nil {
			return nil, err
		}
		return &stateBaseline{theta: theta, actions: s.Policy.Actions(), phi: make([]float64, s.Dim)}, nil
	}
	return value.ShrunkenActionMeans(s, s.Policy.Actions(), cmp.Or(m.Prior, defaultPrior))
}

// stateBaseline is a value function that stands for every action's value.
type stateBaseline struct {
	theta   []float64
	actions int
	phi     []float64
}

// Actions implements [value.QModel].
func (b *stateBaseline) Actions() int { return b.actions }

// Q implements [value.QModel].
func (b *stateBaseline) Q(dst []float64, s *value.Sample, row int) {
	v := 0.0
	for i, x := range s.Feature(b.phi, row) {
		v += x * b.theta[i]
	}
	for a := range dst {
		dst[a] = v
	}
}

// LSW is least squares on first-visit returns, without privacy ([value.LSW]).
type LSW struct {
	// Weights holds w_s >= 0 by state; nil means 1 everywhere.
	Weights []float64 `json:"weights,omitempty"`
}

// Plan implements [Estimator].
func (m LSW) Plan(p Public) (*Plan, error) {
	return reference("lsw", m, p, false, value.LSW{Weights: m.Weights}.Solve)
}

// LSL is visit-weighted, penalised least squares on first-visit returns, without
// privacy ([value.LSL]).
type LSL struct {
	// Weights holds rho_s >= 0 by state; nil means 1 everywhere.
	Weights []float64 `json:"weights,omitempty"`
	// Lambda is the penalty. 0 means 1.
	Lambda float64 `json:"lambda,omitempty"`
}

// Plan implements [Estimator].
func (m LSL) Plan(p Public) (*Plan, error) {
	return reference("lsl", m, p, false, value.LSL{Weights: m.Weights, Lambda: cmp.Or(m.Lambda, defaultLambda)}.Solve)
}

// LSTD is least-squares temporal differences, without privacy ([value.LSTD]).
type LSTD struct {
	// Weighting is "transition" (the default) or "trajectory".
	Weighting string `json:"weighting,omitempty"`
}

// Plan implements [Estimator].
func (m LSTD) Plan(p Public) (*Plan, error) {
	weighting, err := weightingNamed("lstd", m.Weighting)
	if err != nil {
		return nil, err
	}
	return reference("lstd", m, p, true, value.LSTD{Weighting: weighting}.Solve)
}

// GTD2 is gradient temporal-difference learning, without privacy ([value.GTD2]):
// what [GPOPE] does with noise. Its iterates are averaged over the second half.
type GTD2 struct {
	// Steps is the number of steps, one person each. 0 means 1000000.
	Steps int `json:"steps,omitempty"`
	// StepTheta and StepW are the step sizes. 0 means a tenth of the number of
	// features over the square of their norm bound.
	StepTheta float64 `json:"step_theta,omitempty"`
	StepW     float64 `json:"step_w,omitempty"`
	// Weighting is "transition" (the default) or "trajectory".
	Weighting string `json:"weighting,omitempty"`
	// Length is the number of transitions of a typical trajectory, by which the
	// default steps of weighting "transition" are divided. 0 means 1/(1-gamma).
	Length float64 `json:"length,omitempty"`
	// Seed chooses the persons of the steps.
	Seed uint64 `json:"seed,omitempty"`
}

// Plan implements [Estimator].
func (m GTD2) Plan(p Public) (*Plan, error) {
	weighting, err := weightingNamed("gtd2", m.Weighting)
	if err != nil {
		return nil, err
	}
	if p.Features == nil {
		return nil, fmt.Errorf("%w: gtd2 needs features", ErrPublic)
	}
	if m.Steps < 0 || !(m.StepTheta >= 0 && m.StepW >= 0 && m.Length >= 0) {
		return nil, fmt.Errorf("%w: gtd2: steps, step sizes and length must not be negative", ErrMethod)
	}
	scale := evenScale(p.Features)
	step := 0.1 * scale * scale
	if weighting == value.ByTransition {
		length := 100.0
		if p.Gamma < 1 {
			length = 1 / (1 - p.Gamma)
		}
		step /= cmp.Or(m.Length, length)
	}
	solver := value.GTD2{
		Steps: cmp.Or(m.Steps, defaultSteps), StepTheta: cmp.Or(m.StepTheta, step), StepW: cmp.Or(m.StepW, step),
		Weighting: weighting, Average: true,
	}
	return reference("gtd2", m, p, true, func(s *value.Sample) ([]float64, error) { return solver.SolveSeeded(s, m.Seed) })
}

// WISLSTD is off-policy LSTD(lambda) with weighted importance sampling, without
// privacy ([value.WISLSTD]).
type WISLSTD struct {
	// Lambda is the trace parameter, in [0, 1].
	Lambda float64 `json:"lambda,omitempty"`
	// Weighting is "transition" (the default) or "trajectory".
	Weighting string `json:"weighting,omitempty"`
	// Ridge is added to the diagonal of A, 0 or above.
	Ridge float64 `json:"ridge,omitempty"`
}

// Plan implements [Estimator].
func (m WISLSTD) Plan(p Public) (*Plan, error) {
	weighting, err := weightingNamed("wis-lstd", m.Weighting)
	if err != nil {
		return nil, err
	}
	return reference("wis-lstd", m, p, true, value.WISLSTD{Lambda: m.Lambda, Weighting: weighting, Ridge: m.Ridge}.Solve)
}

// weightingNamed reads a weighting that is by transition where nothing is said.
func weightingNamed(method, name string) (value.Weighting, error) {
	if name == "" {
		return value.ByTransition, nil
	}
	w, err := value.ParseWeighting(name)
	if err != nil {
		return 0, fmt.Errorf("%w: %s: %w", ErrMethod, method, err)
	}
	return w, nil
}

// KaplanMeier is [DPSurvival] without privacy.
type KaplanMeier struct {
	// Until and Control are as in [DPSurvival].
	Until   float64 `json:"until,omitempty"`
	Control string  `json:"control,omitempty"`
	// MaxWeight is that of [DPSurvival].
	MaxWeight float64 `json:"max_weight,omitempty"`
	// Guess is that of [DPSurvival], so that its parameters serve for both; nothing is forecast.
	Guess *OutcomeGuess `json:"guess,omitempty"`
}

// Plan implements [Estimator].
func (m KaplanMeier) Plan(p Public) (*Plan, error) { return planned("survival", m, p, m.draft) }

func (m KaplanMeier) draft(method string, p Public) (draft, error) {
	q, err := DPSurvival{Until: m.Until, Control: m.Control, MaxWeight: m.MaxWeight}.question(method, p)
	if err != nil {
		return draft{}, err
	}
	q.capWeights(m.MaxWeight)
	prepare := func(_ context.Context, d *trajectory.Dataset) (draw, error) {
		at, unusable, err := q.cells(d)
		if err == nil && unusable > 0 && p.Labels["on_violation"] == nil {
			err = fmt.Errorf("%w: %s; mend the data, or set data.on_violation to repair, which leaves these out", ErrData, p.unusableWords(unusable))
		}
		if err != nil {
			return nil, err
		}
		counts := make([]float64, q.Cells())
		w := weightedPersons{at: at, shares: slices.Repeat([]float64{1}, len(at))}
		if q.policies != nil {
			if n := int64(d.Persons()); q.Form != survival.Curves && n != p.Persons {
				return nil, fmt.Errorf("%w: limits divide by the number of persons, which is %d, and problem.persons is %d; give it", ErrData, n, p.Persons)
			}
			if w, err = q.shares(d, at); err != nil {
				return nil, err
			}
		}
		for i, cell := range w.at {
			if cell >= 0 {
				counts[cell] += w.shares[i]
			}
		}
		return func(context.Context, *noise.Source) (*Release, error) { return q.reference(counts, unusable) }, nil
	}
	again := func(r *Release) (*Release, error) {
		unusable := 0
		if _, ok := r.Diagnostics[unusableName]; ok {
			if err := diagnostic(r, unusableName, &unusable); err != nil {
				return nil, err
			}
		}
		counts, err := q.countsOf(r)
		if err != nil {
			return nil, err
		}
		return q.reference(counts, unusable)
	}
	return draft{method: method, public: p, outcomes: true, needsEnds: p.Outcome.Event == "", prepare: whole(prepare), outcome: again,
		summary: summary{facts: q.facts(), heading: []string{q.independence()}, notes: append([]string{referenceNote}, q.meaning()...)}}, nil
}

// unusableName is the diagnostic that counts persons whom a reference leaves out.
const unusableName = "unusable"

// reference is the release of exact counts, without the persons whose outcome cannot be used.
func (q survivalQuestion) reference(counts []float64, unusable int) (*Release, error) {
	r, err := q.release(counts)
	if err == nil && unusable > 0 {
		r.Diagnostics[unusableName] = unusable
		r.Notes = append(r.Notes, fmt.Sprintf("%d persons whose outcome cannot be used are left out.", unusable))
	}
	return r, err
}

// ReturnDistribution is [DPDistribution] without privacy.
type ReturnDistribution DPDistribution

// Plan implements [Estimator].
func (m ReturnDistribution) Plan(p Public) (*Plan, error) {
	return planned("distribution", m, p, m.draft)
}

func (m ReturnDistribution) draft(method string, p Public) (draft, error) {
	q, err := DPDistribution(m).question(method, p)
	if err != nil {
		return draft{}, err
	}
	prepare := func(_ context.Context, d *trajectory.Dataset) (draw, error) {
		s, err := sampleFor(d, p)
		if err != nil {
			return nil, err
		}
		return func(context.Context, *noise.Source) (*Release, error) { return q.release(q.exactly(s)) }, nil
	}
	return draft{method: method, public: p, prepare: whole(prepare), outcome: q.again, needsEnds: p.decisions() > 1,
		summary: summary{facts: map[string]any{"ends": q.Ends}, notes: q.meaning()}}, nil
}

// exactly is the sum of masses without noise.
func (q *distributionQuestion) exactly(s *value.Sample) (sum mechanism.NoisyMasses) {
	in, squares := make([]float64, len(q.Ends)), make([]float64, len(q.Ends))
	sum.In, sum.Squares = make([]float64, len(q.Ends)), make([]float64, len(q.Ends))
	for person := range s.Data.Persons() {
		q.person(in, squares, s, person)
		for j := range in {
			sum.In[j] += in[j]
			sum.Squares[j] += squares[j]
			sum.Back -= in[j]
		}
	}
	sum.Back += q.Most * float64(s.Data.Persons())
	return sum
}
