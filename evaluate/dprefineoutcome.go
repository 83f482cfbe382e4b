package evaluate

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/evaluate/internal/refine"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
)

// The diagnostics of dp-refine.
const (
	stdByCoordinate     = "std_by_coordinate"         // on-policy, of values by state about the truth
	privacyByCoordinate = "std_privacy_by_coordinate" // off-policy or of linear features, by noise and prior
	spreadOfReturns     = "spread_of_returns"
	roundsFailed        = "rounds_failed"
)

// refined is the release of what the rounds found.
func refined(p Public, e *refine.Estimate) *Release {
	out := &Release{Theta: e.Theta, Diagnostics: map[string]any{}}
	f, finite := p.Features.(feature.Finite)
	if finite {
		out.Values = statesOf(f, e.Theta)
	}
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
		out.Bands = bandsOf(f, e, p)
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
	var within *Range
	if _, finite := p.Features.(feature.Finite); finite {
		values := p.Returns()
		within = &values
	}
	again := functionAgain(p.Features, within)
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
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("diagnostics.%s: %w", name, err)
	}
	return nil
}
