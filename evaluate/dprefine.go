package evaluate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/refine"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/rl/value"
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
func (m DPRefine) Plan(p Public) (*Plan, error) { return planned("dp-refine", m, p, m.draft) }

func (m DPRefine) draft(method string, p Public) (draft, error) {
	if p.Features == nil {
		return draft{}, fmt.Errorf("%w: %s needs features", ErrPublic, method)
	}
	if !(p.Returns().Width() > 0) {
		return draft{}, fmt.Errorf("%w: %s: the public range of a return is a single point; give problem.reward or problem.return a width", ErrPublic, method)
	}
	r, err := m.fill(method, p)
	if err != nil {
		return draft{}, err
	}
	form, err := m.form(method, r)
	if err != nil {
		return draft{}, err
	}
	if most, err := r.Capacity(form.Coordinates()); err != nil {
		return draft{}, err
	} else if most < p.Persons {
		return draft{}, fmt.Errorf("%w: %s: at most %d persons fit %d coordinates", ErrPublic, method, most, form.Coordinates())
	}
	if form.Name() != refine.LSTD {
		if err := p.cutStart(method); err != nil {
			return draft{}, err
		}
	}
	return draftOf(method, p, r, form), nil
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
	r.Spread, r.Deviation = cmp.Or(m.Spread, defaultSpread), cmp.Or(m.Deviation, defaultDeviation)
	for _, guess := range []struct {
		name  string
		given float64
	}{{"spread", r.Spread}, {"deviation", r.Deviation}} {
		if !(guess.given > 0 && guess.given <= 1) {
			return r, fmt.Errorf("%w: %s: %s is %v; want above 0 and at most 1", ErrMethod, method, guess.name, guess.given)
		}
	}
	if m.rule != nil {
		r.Rule = *m.rule
	}
	rounds := cmp.Or(m.Rounds, defaultRounds)
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

// draftOf is that of the rounds of a form.
func draftOf(method string, p Public, r refine.Rounds, form refine.Form) draft {
	prepare := byPerson{
		public: p, rows: true, coordinates: form.Coordinates() + 1,
		check: func(d *trajectory.Dataset) error { return feature.Check(p.Features, d) },
		run: func(_ []scalar.Numbers, rows *value.Samples) (draw, error) {
			run := form.On(rows)
			return func(ctx context.Context, src *noise.Source) (*Release, error) {
				e, err := run(ctx, src)
				if err != nil {
					return nil, err
				}
				return refined(p, e), nil
			}, nil
		},
	}
	if s, ok := form.(refine.ByState); ok {
		prepare.built = s.Built
	}
	facts := map[string]any{
		"form": form.Name(), "shares": r.Rule.Shares(form.Name() != refine.MonteCarlo, len(r.Schedule.Multipliers)-2),
		"clip": p.Returns(), "dimension": p.Features.Dim(),
	}
	if s, ok := form.(refine.ByState); ok {
		facts["states"] = s.Features.States()
	} else {
		facts["clip_factor"] = r.Schedule.ClipFactor
	}
	if !p.onPolicy() {
		facts["max_weight"] = r.MaxWeight
	}
	return draft{
		method: method, public: p, event: gaussians(r.Schedule.Multipliers...), prepare: prepare.preparation(), outcome: refinedAgain(p, form),
		bootstraps: true, perState: true,
		summary: summary{
			facts: facts, expected: Expected{RMSE: form.Expected(), Constant: p.Returns().Width() / 2}, heading: meaning(p, form.Name()),
			notes: slices.Concat(refineNotes(p, form.Name()), p.absentNotes(true), p.episodesNote()),
		},
	}
}

// meaning says what the value of a state is, and what is claimed of it.
func meaning(p Public, form string) []string {
	switch {
	case !p.onPolicy():
		return []string{"No interval is claimed: off-policy the values come without bands, and their standard deviations include only the noise and the prior. The value of a state is assumed not to depend on the number of decisions left. With a fixed horizon it does depend on it, and values may then be wrong by far more than the standard deviations. For the value of the policy with an interval use dp-pdis, dp-wis, dp-dr or dp-fqe."}
	case form == refine.MonteCarlo:
		return []string{p.words(fmt.Sprintf("No confidence interval is claimed. The value of a state is the mean return after the first visit to it in an episode; with a fixed horizon, that mixes visits with different numbers of decisions left. Bands extend 1.96 standard deviations to either side. They assume %s. In simulations of seven processes (300 and 3000 persons, epsilon 1 and 10), 83 to 99%% of the values lay in their bands; where every outcome was rare (1 in 100; 5000 persons), none did; for a single state unlike nine others, 0 to 78%% did.", supposed))}
	}
	return nil
}

func refineNotes(p Public, form string) []string {
	var notes []string
	if form == refine.Regression && !p.onPolicy() {
		notes = append(notes, "Off-policy, form regression weights a residual by the product of the ratios of the rest of its episode, and max_weight caps that product, which biases the values over long episodes. Form lstd uses one ratio per step.")
	}
	if form != refine.MonteCarlo {
		return append(notes, "Weights about which the data say little are mostly determined by a prior around a constant function; the diagnostics give their standard deviation under that prior, without the bias of clipping.")
	}
	lean := "Values of states that few persons visit are mostly determined by a prior: that values of states scatter about a linear function of the share of persons that visit them."
	if !p.onPolicy() {
		return append(notes, p.words("The expected error includes only the noise. It leaves out the sampling error that importance weights add and the bias from clipping weighted returns: off-policy the error is larger, and with many persons far larger."), p.words(lean))
	}
	return append(notes, p.words(lean+" The standard deviations include the noise, the prior, the sampling of persons, and the bias of clipping as the bands assume it."))
}

// The diagnostics of dp-refine.
const (
	stdByCoordinate     = "std_by_coordinate"         // on-policy, of values by state about the truth
	privacyByCoordinate = "std_privacy_by_coordinate" // off-policy or of linear features, by noise and prior
	spreadOfReturns     = "spread_of_returns"
	roundsFailed        = "rounds_failed"
)

// refined is the release of what the rounds found.
func refined(p Public, e *refine.Estimate) *Release {
	out := functionReleased(p.Features, e.Theta)
	out.Diagnostics = map[string]any{}
	if e.Persons == nil {
		out.Diagnostics[privacyByCoordinate] = e.SD
		out.Diagnostics[roundsFailed] = e.Failed
		if e.Failed > 0 {
			out.Notes = append(out.Notes, fmt.Sprintf("The equations of %d of the rounds could not be solved (their matrix was not positive definite). These rounds changed nothing, so the estimate is worse than its budget allows. Fewer features would help, or form monte_carlo if states are numbered.", e.Failed))
		}
		return out
	}
	out.Diagnostics[stdOf(p)] = e.SD
	out.Diagnostics[p.unit().Words("persons")+"_by_coordinate"] = e.Persons
	out.Diagnostics[spreadOfReturns] = e.Scatter
	if policy.OnPolicy(p.Target) {
		out.Bands = bandsOf(p.Features.(feature.Finite), e, p)
	}
	return out
}

// stdOf names the standard deviations of values by state. Off-policy nothing released
// tells how far weights, and what clips cut of them, move a value.
func stdOf(p Public) string {
	if policy.OnPolicy(p.Target) {
		return stdByCoordinate
	}
	return privacyByCoordinate
}

// supposed is what the bands rest on: the law of tails by which clips are supposed to
// move values, which rare outcomes break, and the prior.
const supposed = "returns that are no more skewed about the value of their state than an exponential distribution (no outcome is rare), and values that scatter evenly about a linear function of the share of persons that visit a state (no state is unlike the rest)"

// bandsOf puts 1.96 standard deviations about the value of every state. They are no
// confidence intervals: what is supposed cannot be told from what is released.
func bandsOf(f feature.Finite, e *refine.Estimate, p Public) *Bands {
	returns := p.Returns()
	b := &Bands{Deviations: scalar.Z95, Condition: p.unit().Words(supposed)}
	for s := range f.States() {
		c := f.Cell(s)
		half := scalar.Z95 * e.SD[c]
		b.Lower = append(b.Lower, max(e.Theta[c]-half, returns.Min))
		b.Upper = append(b.Upper, min(e.Theta[c]+half, returns.Max))
	}
	return b
}

// refinedAgain makes the release of what rounds of a form found again.
func refinedAgain(p Public, form refine.Form) outcome {
	_, finite := p.Features.(feature.Finite)
	again := functionAgain(p, finite)
	return func(r *Release) (*Release, error) {
		if _, err := again(r); err != nil {
			return nil, err
		}
		e, err := refinedFrom(p, form, r)
		if err != nil {
			return nil, err
		}
		return refined(p, e), nil
	}
}

// refinedFrom reads what the rounds found back.
func refinedFrom(p Public, form refine.Form, r *Release) (*refine.Estimate, error) {
	e := &refine.Estimate{Theta: r.Theta}
	_, byState := form.(refine.ByState)
	for _, d := range []struct {
		name string
		into any
		have bool
	}{
		{stdOf(p), &e.SD, byState},
		{p.unit().Words("persons") + "_by_coordinate", &e.Persons, byState},
		{spreadOfReturns, &e.Scatter, byState},
		{privacyByCoordinate, &e.SD, !byState},
		{roundsFailed, &e.Failed, !byState},
	} {
		if !d.have {
			continue
		}
		if err := diagnostic(r, d.name, d.into); err != nil {
			return nil, err
		}
	}
	if len(e.SD) != len(r.Theta) || byState && len(e.Persons) != len(r.Theta) {
		return nil, fmt.Errorf("diagnostics hold %d and %d numbers for %d features", len(e.SD), len(e.Persons), len(r.Theta))
	}
	for _, x := range append(append(slices.Clone(e.SD), e.Scatter), e.Persons...) {
		if !(x >= 0) {
			return nil, fmt.Errorf("diagnostics hold %v; want 0 or above", x)
		}
	}
	return e, nil
}

// diagnostic reads one diagnostic of a release.
func diagnostic(r *Release, name string, into any) error {
	v, ok := r.Diagnostics[name]
	if !ok {
		return fmt.Errorf("diagnostics.%s is missing", name)
	}
	if err := fill(into, v); err != nil {
		return fmt.Errorf("diagnostics.%s: %w", name, err)
	}
	return nil
}
