package evaluate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/value"
)

// DPRefine estimates a value function in a few private rounds, each of which
// asks only for what the rounds before got wrong: first the overall level, then
// how many persons visit each state and how their returns differ from the
// level, then residuals under the estimate so far, clipped ever more tightly.
// Every release is a noisy sum over persons of a clipped vector whose noise
// multiplier was fixed beforehand, so that clips, weights and queries may depend
// on earlier releases and the whole composes as one Gaussian.
//
// With tabular or aggregated features the residuals are those of first-visit
// Monte Carlo, doubly robust off-policy. With other features, or Form "lstd", the
// second release holds a matrix instead of the counts: see [DPRefine.Form].
//
// Released: the weight vector of a value function, projected on the public range
// of returns where features are of numbered states. Unit: a person. Adjacency:
// either. Clip: residuals first to the public range of returns, then each
// person's weighted vector to an l2 norm that the mechanism enforces. Event:
// composed dp.Gaussian. Proof: docs/proofs/dp-refine.md.
type DPRefine struct {
	// Form is what the rounds are about:
	//
	//	monte_carlo  first-visit residuals by state; needs tabular or aggregated
	//	             features, and is the default with these
	//	regression   residuals of all decisions on linear features, with the
	//	             matrix phi phi'; the default otherwise
	//	lstd         temporal differences, with the matrix phi (phi - gamma phi')';
	//	             take it off-policy over long episodes
	Form string `json:"form,omitempty"`
	// Rounds is the number of rounds after the counts, 1 to 20. 0 means 3. Take 10
	// where many episodes are cut off before they end.
	Rounds int `json:"rounds,omitempty"`
	// MaxWeight is the public cap, off-policy, on a residual in units of the range
	// of returns. 0 means 10; on-policy it is 1.
	MaxWeight float64 `json:"max_weight,omitempty"`
	// Spread is a public guess of the standard deviation of a return about its
	// state's value, in units of the range of returns. The expected error depends
	// on it; the release does not. 0 means 0.04.
	Spread float64 `json:"spread,omitempty"`
	// Deviation is a public guess of the standard deviation of values about a line
	// in the share of persons who visit their state, likewise. 0 means 0.03.
	Deviation float64 `json:"deviation,omitempty"`

	workers int         // for tests; 0 stands for GOMAXPROCS
	instead releaser    // for audits
	rule    *refineRule // for experiments; nil stands for standardRule
}

// The forms of dp-refine.
const (
	formMonteCarlo = "monte_carlo"
	formRegression = "regression"
	formLSTD       = "lstd"
)

// refine is a DPRefine with its defaults filled in.
type refine struct {
	public    Public
	rule      refineRule
	schedule  refineSchedule
	limits    residualLimits
	returns   Range
	maxWeight float64
	spread    float64
	deviation float64
	workers   int
	instead   releaser
}

// Plan implements [Estimator].
func (m DPRefine) Plan(p Public) (*Plan, error) {
	p = p.clone()
	const method = "dp-refine"
	if err := needPrivacy(method, p); err != nil {
		return nil, err
	}
	if p.Features == nil {
		return nil, fmt.Errorf("%w: %s needs features", ErrPublic, method)
	}
	if !(p.Returns().Width() > 0) {
		return nil, fmt.Errorf("%w: %s: the public range of a return is a single point; give problem.reward or problem.return a width", ErrPublic, method)
	}
	r, err := m.fill(method, p)
	if err != nil {
		return nil, err
	}
	finite, ok := p.Features.(feature.Finite)
	switch {
	case m.Form == formMonteCarlo && !ok:
		return nil, fmt.Errorf("%w: %s: form monte_carlo averages returns by state and needs features of kind tabular or aggregate; use form regression or lstd", ErrMethod, method)
	case m.Form == formMonteCarlo, m.Form == "" && ok:
		return refineByState{r, finite}.plan()
	case m.Form == "", m.Form == formRegression:
		return r.planLinear(formRegression)
	case m.Form == formLSTD:
		return r.planLinear(formLSTD)
	}
	return nil, fmt.Errorf("%w: %s: form is %q; want monte_carlo, regression or lstd", ErrMethod, method, m.Form)
}

func (r refine) planLinear(form string) (*Plan, error) {
	l, err := r.linear(form)
	if err != nil {
		return nil, err
	}
	return l.plan()
}

func (m DPRefine) fill(method string, p Public) (refine, error) {
	cap, err := weightCap(method, p, m.MaxWeight)
	if err != nil {
		return refine{}, err
	}
	spread, err := refineGuess(method, "spread", m.Spread, 0.04)
	if err != nil {
		return refine{}, err
	}
	deviation, err := refineGuess(method, "deviation", m.Deviation, 0.03)
	if err != nil {
		return refine{}, err
	}
	rule := standardRule()
	if m.rule != nil {
		rule = *m.rule
	}
	schedule, err := newRefineSchedule(p, rule, m.Rounds)
	if err != nil {
		return refine{}, err
	}
	return refine{public: p, rule: rule, schedule: schedule, limits: limitsFor(p, cap), returns: p.Returns(),
		maxWeight: cap, spread: spread, deviation: deviation, workers: m.workers, instead: m.instead}, nil
}

// refineGuess fills in and checks a public guess in units of the range of returns.
func refineGuess(method, name string, given, standard float64) (float64, error) {
	if given == 0 {
		given = standard
	}
	if !(given > 0 && given <= 1) {
		return 0, fmt.Errorf("%w: %s: %s is %v; want above 0 and at most 1", ErrMethod, method, name, given)
	}
	return given, nil
}

// sum is the k-th release of the schedule.
func (r refine) sum(k, dim int, clip float64) privateSum {
	return privateSum{dim: dim, clip: clip, multiplier: r.schedule.multipliers[k], kind: r.public.Privacy.Noise, workers: r.workers, instead: r.instead}
}

// capacity makes sure beforehand that the integer sums hold the persons.
func (r refine) capacity(dim int) error {
	v, err := r.sum(0, dim, 1).fresh()
	if err != nil {
		return err
	}
	if v.Capacity() < r.public.Persons {
		return fmt.Errorf("%w: dp-refine: at most %d persons fit %d coordinates", ErrPublic, v.Capacity(), dim)
	}
	return nil
}

// newPlan has everything but the form's own predictions.
func (r refine) newPlan(form string, prepare func(ctx context.Context, d *trajectory.Dataset, s *value.Sample) (draw, error)) (*Plan, error) {
	plan, err := bootstrapping(newPlan("dp-refine", r.public, gaussians(r.schedule.multipliers...), func(ctx context.Context, d *trajectory.Dataset) (draw, error) {
		if err := feature.Check(r.public.Features, d); err != nil {
			return nil, err
		}
		s, err := sampleFor(d, r.public)
		if err != nil {
			return nil, err
		}
		return prepare(ctx, d, s)
	}))
	if err != nil {
		return nil, err
	}
	plan.Expected.Constant = r.returns.Width() / 2
	plan.Facts["form"] = form
	if form == formRegression && r.limits.largest > 0 {
		plan.Notes = append(plan.Notes, "Off-policy, form regression weighs a residual by the ratios of the rest of its episode, and max_weight cuts their product: over long episodes that biases the values. Form lstd takes one ratio a step.")
	}
	plan.Facts["shares"] = slices.Clone(r.schedule.shares)
	plan.Facts["clip_factor"] = r.schedule.clipFactor
	plan.Facts["clip"] = r.returns
	plan.Facts["dimension"] = r.public.Features.Dim()
	if r.limits.largest > 0 {
		plan.Facts["max_weight"] = r.maxWeight
	}
	return plan, nil
}

// persons is the number of persons that rules count on once the level is out:
// exact under ReplaceOne, and otherwise noisy, but never below the public bound.
func (r refine) persons(noisy float64) float64 {
	if r.public.Privacy.Adjacency == dp.ReplaceOne {
		return float64(r.public.Persons)
	}
	return max(noisy, float64(r.public.Persons))
}

// inRange projects values on the public range of returns.
func (r refine) inRange(v []float64) {
	for i := range v {
		v[i] = min(max(v[i], r.returns.Min), r.returns.Max)
	}
}

// rms is the root mean square of variances' roots.
func rms(variances []float64) float64 {
	sum := 0.0
	for _, v := range variances {
		sum += v
	}
	return math.Sqrt(sum / float64(len(variances)))
}

// level is the first release: by person, the mean residual about the middle of
// the range, with its square, and under AddRemoveOne the number of persons.
type level struct {
	centre   float64 // the level found, within the range
	sd       float64 // of the noise in it
	variance float64 // of persons' means about it, on the safe side
	persons  float64
}

// levelSum is the release of the level: u clipped to half the range, u^2/half -
// half, and under AddRemoveOne a constant half.
func (r refine) levelSum() privateSum {
	half := r.returns.Width() / 2
	if r.public.Privacy.Adjacency == dp.AddRemoveOne {
		return r.sum(0, 3, half*math.Sqrt2)
	}
	return r.sum(0, 2, half)
}

func (r refine) newLevel(noisy []float64) level {
	half, sd := r.returns.Width()/2, r.levelSum().sd()
	m := r.persons(noisy[len(noisy)-1] / half)
	mean := noisy[0] / m
	square := half * (noisy[1]/m + half)
	return level{
		centre:   min(max(r.returns.Mid()+mean, r.returns.Min), r.returns.Max),
		sd:       sd / m,
		variance: max(square-mean*mean, 0) + half*sd/m,
		persons:  m,
	}
}

func (r refine) releaseLevel(ctx context.Context, persons int, means func() func(person int) float64, src *noise.Source) (level, error) {
	half := r.returns.Width() / 2
	sum := r.levelSum()
	noisy, err := sum.release(ctx, persons, func() contribution {
		mean := means()
		return func(dst []float64, p int) {
			dst[0] = mean(p)
			clipWithSquare(dst[:2], 1, half)
			if len(dst) == 3 {
				dst[2] = half
			}
		}
	}, src)
	if err != nil {
		return level{}, err
	}
	return r.newLevel(noisy), nil
}
