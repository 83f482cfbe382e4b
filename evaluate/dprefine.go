package evaluate

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/refine"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
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
// of returns where features are of numbered states; with form monte_carlo on-policy
// also [Bands]. Off-policy no interval is claimed: a value of the state alone cannot
// hold what depends on the number of decisions left. Unit: a person. Adjacency:
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
	// on it; the release does not. 0 means 0.15.
	Spread float64 `json:"spread,omitempty"`
	// Deviation is a public guess of the standard deviation of values about a line
	// in the share of persons who visit their state, likewise. 0 means 0.03.
	Deviation float64 `json:"deviation,omitempty"`

	workers int             // for tests; 0 stands for GOMAXPROCS
	instead refine.Releaser // for audits
	rule    *refine.Rule    // for experiments; nil stands for refine.StandardRule
}

// Plan implements [Estimator].
func (m DPRefine) Plan(p Public) (*Plan, error) {
	p = p.asking(m)
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
	form, err := m.form(method, r)
	if err != nil {
		return nil, err
	}
	if most, err := r.Capacity(form.Coordinates()); err != nil {
		return nil, err
	} else if most < p.Persons {
		return nil, fmt.Errorf("%w: %s: at most %d persons fit %d coordinates", ErrPublic, method, most, form.Coordinates())
	}
	return planRefine(method, p, r, form)
}

// form chooses what the rounds are about.
func (m DPRefine) form(method string, r refine.Rounds) (refine.Form, error) {
	finite, ok := r.Public.Features.(feature.Finite)
	switch {
	case m.Form == refine.MonteCarlo && !ok:
		return nil, fmt.Errorf("%w: %s: form monte_carlo averages returns by state and needs features of kind tabular or aggregate; use form regression or lstd", ErrMethod, method)
	case m.Form == refine.MonteCarlo, m.Form == "" && ok:
		return refine.ByState{Rounds: r, Features: finite}, nil
	case m.Form == "", m.Form == refine.Regression:
		return linearForm(method, r, refine.Regression)
	case m.Form == refine.LSTD:
		return linearForm(method, r, refine.LSTD)
	}
	return nil, fmt.Errorf("%w: %s: form is %q; want monte_carlo, regression or lstd", ErrMethod, method, m.Form)
}

func linearForm(method string, r refine.Rounds, form string) (refine.Form, error) {
	phi := r.Public.Features
	if norm := phi.NormBound(); math.IsInf(norm, 0) || !(norm > 0) {
		return nil, fmt.Errorf("%w: %s: form %s needs features with a public bound on their norm; scale the columns, or use tabular, aggregated or other bounded features", ErrMethod, method, form)
	}
	if phi.Dim() > refine.MaxDim {
		return nil, fmt.Errorf("%w: %s: form %s takes at most %d features, and the map has %d: its noise grows with their number", ErrMethod, method, form, refine.MaxDim, phi.Dim())
	}
	return refine.NewLinear(r, form), nil
}

// fill checks the parameters and fixes the schedule.
func (m DPRefine) fill(method string, p Public) (refine.Rounds, error) {
	r := refine.Rounds{Public: p.numbers(), Rule: refine.StandardRule(), Workers: m.workers, Instead: m.instead}
	var err error
	if r.MaxWeight, err = weightCap(method, p, m.MaxWeight); err != nil {
		return r, err
	}
	if r.Spread, err = refineGuess(method, "spread", m.Spread, defaultSpread); err != nil {
		return r, err
	}
	if r.Deviation, err = refineGuess(method, "deviation", m.Deviation, defaultDeviation); err != nil {
		return r, err
	}
	if m.rule != nil {
		r.Rule = *m.rule
	}
	rounds := m.Rounds
	if rounds == 0 {
		rounds = defaultRounds
	}
	if rounds < 1 || rounds > maxRounds {
		return r, fmt.Errorf("%w: dp-refine: rounds is %d; want 1 to %d", ErrMethod, rounds, maxRounds)
	}
	found, err := multipliers(*p.Privacy, r.Rule.Shares(m.matrix(p), rounds)...)
	if err != nil {
		return r, err
	}
	r.Schedule = r.Rule.Schedule(p.Persons, found)
	return r, nil
}

// matrix tells whether the form has a matrix in place of counts.
func (m DPRefine) matrix(p Public) bool {
	_, finite := p.Features.(feature.Finite)
	return !finite || m.Form == refine.Regression || m.Form == refine.LSTD
}

// maxRounds is the largest number of rounds of dp-refine.
const maxRounds = 20

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

// planRefine plans the rounds of a form.
func planRefine(method string, p Public, r refine.Rounds, form refine.Form) (*Plan, error) {
	if form.Name() != refine.LSTD {
		if err := p.cutStart(method); err != nil {
			return nil, err
		}
	}
	plan, err := bootstrapping(newPlan(method, p.byStates(), gaussians(r.Schedule.Multipliers...), func(_ context.Context, d *trajectory.Dataset) (draw, error) {
		if err := feature.Check(p.Features, d); err != nil {
			return nil, err
		}
		s, err := sampleFor(d, p)
		if err != nil {
			return nil, err
		}
		if err := checkCapacity(d.Persons(), form.Coordinates()+1); err != nil {
			return nil, err
		}
		run := form.On(s)
		return func(ctx context.Context, src *noise.Source) (*Release, error) {
			e, err := run(ctx, src)
			if err != nil {
				return nil, err
			}
			return refined(p, e), nil
		}, nil
	}))
	if err != nil {
		return nil, err
	}
	plan.outcome = refinedAgain(p, form)
	plan.Expected.Constant = p.Returns().Width() / 2
	plan.Expected.RMSE = form.Expected()
	plan.Facts["form"] = form.Name()
	plan.Facts["shares"] = r.Rule.Shares(form.Name() != refine.MonteCarlo, len(r.Schedule.Multipliers)-2)
	plan.Facts["clip"] = p.Returns()
	plan.Facts["dimension"] = p.Features.Dim()
	if s, ok := form.(refine.ByState); ok {
		plan.Facts["states"] = s.Features.States()
	} else {
		plan.Facts["clip_factor"] = r.Schedule.ClipFactor
	}
	if !policy.OnPolicy(p.Target) {
		plan.Facts["max_weight"] = r.MaxWeight
	}
	onPolicy := policy.OnPolicy(p.Target)
	plan.Notes = append(meaning(plan, form.Name(), onPolicy), plan.Notes...)
	plan.Notes = append(plan.Notes, refineNotes(plan, form.Name(), onPolicy)...)
	plan.describeAbsent(form.Name() == refine.LSTD)
	plan.describeEpisodes()
	return plan, nil
}

// meaning says what the value of a state is, and what is claimed of it.
func meaning(plan *Plan, form string, onPolicy bool) []string {
	switch {
	case !onPolicy:
		return []string{"No interval is claimed: off-policy the values come without bands, and their standard deviations include only the noise and the prior. The value of a state is assumed not to depend on the number of decisions left. With a fixed horizon it does depend on it, and values may then be wrong by far more than the standard deviations. For the value of the policy with an interval use dp-pdis, dp-wis, dp-dr or dp-fqe."}
	case form == refine.MonteCarlo:
		return []string{plan.words(fmt.Sprintf("No confidence interval is claimed. The value of a state is the mean return after the first visit to it in an episode; with a fixed horizon, that mixes visits with different numbers of decisions left. Bands extend 1.96 standard deviations to either side. They assume %s. In simulations of seven processes (300 and 3000 persons, epsilon 1 and 10), 83 to 99%% of the values lay in their bands; where every outcome was rare (1 in 100; 5000 persons), none did; for a single state unlike nine others, 0 to 78%% did.", supposed))}
	}
	return nil
}

func refineNotes(plan *Plan, form string, onPolicy bool) []string {
	var notes []string
	if form == refine.Regression && !onPolicy {
		notes = append(notes, "Off-policy, form regression weights a residual by the product of the ratios of the rest of its episode, and max_weight caps that product, which biases the values over long episodes. Form lstd uses one ratio per step.")
	}
	if form != refine.MonteCarlo {
		return append(notes, "Weights about which the data say little are mostly determined by a prior around a constant function; the diagnostics give their standard deviation under that prior, without the bias of clipping.")
	}
	lean := "Values of states that few persons visit are mostly determined by a prior: that values of states scatter about a linear function of the share of persons that visit them."
	if !onPolicy {
		return append(notes, plan.words("The expected error includes only the noise. It leaves out the sampling error that importance weights add and the bias from clipping weighted returns: off-policy the error is larger, and with many persons far larger."), plan.words(lean))
	}
	return append(notes, plan.words(lean+" The standard deviations include the noise, the prior, the sampling of persons, and the bias of clipping as the bands assume it."))
}
