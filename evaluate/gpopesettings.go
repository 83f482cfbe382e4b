package evaluate

import (
	"cmp"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/evaluate/internal/gpope"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
)

// paper reports whether the defaults are those of the paper's Algorithm 1.
func (m GPOPE) paper() bool { return m.Batch == 1 }

// resolve checks the parameters and fills in the public defaults.
func (m GPOPE) resolve(p Public) (*gpopePlan, error) {
	if p.Features == nil {
		return nil, fmt.Errorf("%w: %s needs features", ErrPublic, gpopeName)
	}
	if p.Persons > math.MaxInt32 {
		return nil, fmt.Errorf("%w: %s: at most %d persons", ErrPublic, gpopeName, math.MaxInt32)
	}
	width := p.Returns().Width()
	if !(width > 0) {
		return nil, fmt.Errorf("%w: %s: the public range of a return is a single point; give problem.reward or problem.return a width", ErrPublic, gpopeName)
	}
	if err := m.ranges(); err != nil {
		return nil, err
	}
	_, oneHot := p.Features.(feature.Finite)
	out := &gpopePlan{public: p, asked: p.Privacy.Budget, xie19: m.Accountant == "xie19",
		walk: gpope.Walk{Public: p.numbers(), N: p.Features.Dim(), OneHot: oneHot, Momentum: m.Momentum}}
	r := &out.walk
	// The paper gives no sizes that survive sound noise: one pass over as many persons as there are.
	sizes := preset{1, p.Persons, 0.02, 0.1, 0.1}
	if !m.paper() {
		var err error
		if sizes, err = presetFor(p, r.N); err != nil {
			return nil, err
		}
	}
	if err := m.sampling(p, r, sizes); err != nil {
		return nil, err
	}
	if err := m.sizes(p, r, sizes); err != nil {
		return nil, err
	}
	if err := m.iterate(p, r); err != nil {
		return nil, err
	}
	return out, m.scaling(p, r)
}

// ranges refuses parameters that no problem allows.
func (m GPOPE) ranges() error {
	for _, c := range []struct {
		name string
		x    float64
	}{{"clip", m.Clip}, {"step_theta", m.StepTheta}, {"step_w", m.StepW}, {"exponent", m.Exponent}, {"lambda_min", m.LambdaMin}, {"length", m.Length}} {
		if !(c.x >= 0) || math.IsInf(c.x, 0) {
			return fmt.Errorf("%w: %s: %s is %v; want a finite number above 0, or nothing for the default", ErrMethod, gpopeName, c.name, c.x)
		}
	}
	switch {
	case m.Batch < 0 || m.Iterations < 0:
		return fmt.Errorf("%w: %s: batch is %d and iterations %d; want neither below 0", ErrMethod, gpopeName, m.Batch, m.Iterations)
	case !(m.Momentum >= 0 && m.Momentum < 1):
		return fmt.Errorf("%w: %s: momentum is %v; want 0 <= momentum < 1", ErrMethod, gpopeName, m.Momentum)
	case m.Accountant != "" && m.Accountant != "xie19":
		return fmt.Errorf("%w: %s: accountant is %q; leave it out, or say xie19 to reproduce the paper", ErrMethod, gpopeName, m.Accountant)
	case m.Accountant == "xie19" && !m.paper():
		return fmt.Errorf("%w: %s: accountant xie19 is that of Algorithm 1; set batch to 1", ErrMethod, gpopeName)
	case m.Start != nil && (math.IsNaN(*m.Start) || math.IsInf(*m.Start, 0)):
		return fmt.Errorf("%w: %s: start is %v; want a finite number", ErrMethod, gpopeName, *m.Start)
	}
	return nil
}

// sampling fixes who is picked, and how often.
func (m GPOPE) sampling(p Public, r *gpope.Walk, given preset) error {
	replace := p.Privacy.Adjacency == dp.ReplaceOne
	s := gpope.Sampling(m.Sampling)
	switch {
	case s == "" && m.paper() && replace:
		s = gpope.Uniform
	case s == "":
		s = gpope.Poisson
	case s != gpope.Uniform && s != gpope.Poisson && s != gpope.Everyone:
		return fmt.Errorf("%w: %s: sampling is %q; want poisson, uniform or everyone", ErrMethod, gpopeName, string(s))
	case s == gpope.Everyone && m.Batch > 0 && m.Batch < p.Persons:
		return fmt.Errorf("%w: %s: sampling everyone leaves no choice of batch, which is %d; leave one of them out", ErrMethod, gpopeName, m.Batch)
	case s == gpope.Uniform && !replace:
		return fmt.Errorf("%w: %s: sampling uniform needs a public number of persons, which add_remove_one does not have; use poisson", ErrMethod, gpopeName)
	}
	batch := cmp.Or(m.Batch, given.batch)
	if s == gpope.Everyone {
		batch = p.Persons
	}
	r.Scheme = gpope.NewScheme(s, p.Persons, batch)
	r.Iterations = cmp.Or(m.Iterations, given.iterations)
	return nil
}

// sizes fixes the clip, the steps and their schedule.
func (m GPOPE) sizes(p Public, r *gpope.Walk, given preset) error {
	width := p.Returns().Width()
	r.Clip = cmp.Or(m.Clip, given.clip*width)
	r.StepTheta = cmp.Or(m.StepTheta, given.theta)
	r.StepW = cmp.Or(m.StepW, given.w)
	r.Schedule = gpope.Schedule{Name: "constant", Constant: 1}
	switch m.Schedule {
	case "", "constant":
	case "polynomial":
		r.Schedule = gpope.Schedule{Name: "polynomial", Constant: math.Pow(float64(r.Iterations), -m.Exponent)}
	case "diminishing":
		if m.LambdaMin == 0 {
			return fmt.Errorf("%w: %s: schedule diminishing needs lambda_min, a public lower bound on the least eigenvalue", ErrMethod, gpopeName)
		}
		r.Schedule = gpope.Schedule{Name: "diminishing", LambdaMin: m.LambdaMin}
	default:
		return fmt.Errorf("%w: %s: schedule is %q; want constant, polynomial or diminishing", ErrMethod, gpopeName, m.Schedule)
	}
	return nil
}

// iterate fixes where the walk starts and what becomes of its positions.
func (m GPOPE) iterate(p Public, r *gpope.Walk) error {
	better := !m.paper()
	r.Average, r.Project = better, better && r.OneHot
	if m.Average != nil {
		r.Average = *m.Average
	}
	if m.Project != nil {
		if *m.Project && !r.OneHot {
			return fmt.Errorf("%w: %s: project bounds the values of states and needs tabular or aggregated features", ErrMethod, gpopeName)
		}
		r.Project = *m.Project
	}
	if r.OneHot && better {
		r.Start = p.Returns().Mid()
	}
	if m.Start != nil {
		r.Start = *m.Start
	}
	return nil
}

// scaling fixes the scale of the coordinates and of the gradients.
func (m GPOPE) scaling(p Public, r *gpope.Walk) error {
	r.Weighting, r.Shrink = value.ByTrajectory, 1
	if m.Weighting != "" {
		var err error
		if r.Weighting, err = value.ParseWeighting(m.Weighting); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrMethod, gpopeName, err)
		}
	}
	if r.Weighting == value.ByTransition {
		length := float64(p.decisions())
		if p.Gamma < 1 {
			length = min(length, 1/(1-p.Gamma))
		}
		r.Shrink = 1 / cmp.Or(m.Length, length)
	}
	r.Scale = make([]float64, r.N)
	if m.Visits != nil && len(m.Visits) != r.N {
		return fmt.Errorf("%w: %s: %d visits for %d features", ErrMethod, gpopeName, len(m.Visits), r.N)
	}
	for i := range r.Scale {
		switch {
		case m.Visits != nil:
			v := m.Visits[i]
			if !(v > 0 && v <= 1) {
				return fmt.Errorf("%w: %s: visits of feature %d is %v; want a probability above 0", ErrMethod, gpopeName, i, v)
			}
			r.Scale[i] = 1 / math.Sqrt(v)
		case m.paper():
			r.Scale[i] = 1
		default:
			r.Scale[i] = evenScale(p.Features)
		}
	}
	return nil
}

// evenScale makes C about the identity when all features are used alike: their
// squares add up to at most the squared norm bound.
func evenScale(f feature.Map) float64 {
	bound := f.NormBound()
	if math.IsInf(bound, 1) || !(bound > 0) {
		return 1
	}
	return math.Sqrt(float64(f.Dim())) / bound
}

// preset holds the sizes that are not given. Clip is a multiple of the width of
// the public range of a return.
type preset struct {
	batch, iterations int64
	clip, theta, w    float64
}

// presetFor is the public rule: the less the budget, the persons and the
// dimension allow, the fewer and the more cautious the steps. It depends on the
// persons times the Gaussian-DP mu of the budget, over the dimension. The sizes
// were found on the 40-state chain.
func presetFor(p Public, n int) (preset, error) {
	mu, err := account.GaussianMu(p.Privacy.Budget)
	if err != nil {
		return preset{}, err
	}
	switch signal := float64(p.Persons) * mu.Lower / float64(n); {
	case signal < 25:
		return preset{200, 1000, 0.01, 0.3, 0.2}, nil
	case signal < 300:
		return preset{200, 3000, 0.01, 1, 0.1}, nil
	case signal < 1000:
		return preset{400, 4000, 0.05, 1, 0.02}, nil
	}
	return preset{400, 8000, 0.05, 1, 0.02}, nil
}
