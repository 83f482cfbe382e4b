package evaluate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/evaluate/internal/smooth"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// constants chooses alpha and beta of the smooth-sensitivity mechanism: see [DPLSW].
type constants string

const (
	exactConstants   constants = "exact" // alpha is the smallest that is certified at its beta
	balle16Constants constants = "balle16"
)

// certified is the pair of alpha and beta that the budget allows, from public
// facts: the budget, the dimension and the bound at public guesses of the counts.
func (c constants) certified(p Public, dim, states int, m smooth.Method) (alpha, beta float64, err error) {
	guess := smooth.GuessedVisits(p.Persons, states)
	switch cmp.Or(c, defaultConstants) {
	case balle16Constants:
		alpha, beta, err = account.Balle16Constants(context.Background(), p.Privacy.Budget, dim)
	case exactConstants:
		alpha, beta, err = account.SmoothGaussianPair(context.Background(), p.Privacy.Budget, dim, func(alpha, beta float64) float64 {
			return alpha * m.Bound(guess, smooth.InnerBeta(beta, states))
		})
	default:
		err = fmt.Errorf("%w: constants is %q; want exact or balle16", ErrMethod, string(c))
	}
	if err == nil && !(smooth.InnerBeta(beta, states) > 0) {
		err = fmt.Errorf("%w: a budget of epsilon %v over %d states makes beta = %.3g, too small for the rounding of psi; use dp-refine", ErrMethod, p.Privacy.Budget.Epsilon, states, beta)
	}
	return alpha, beta, err
}

// rough returns constants to choose a penalty with: the beta of Balle et al. and
// an alpha that fits it.
func (c constants) rough(p Public, dim int) (alpha, beta float64, err error) {
	alpha, beta, err = account.Balle16Constants(context.Background(), p.Privacy.Budget, dim)
	if err != nil || c == balle16Constants {
		return alpha, beta, err
	}
	smallest, err := account.SmoothGaussianAlpha(context.Background(), p.Privacy.Budget, beta, dim)
	return smallest.Upper, beta, err
}

// smoothRelease is what DP-LSW and DP-LSL share: a value function with
// smooth-sensitivity noise.
type smoothRelease struct {
	method   string
	public   Public
	features feature.Finite
	numerics smooth.Method
}

// draft fixes the plan; more is what the method says beside what both say.
func (r smoothRelease) draft(c constants, more summary) (draft, error) {
	p := r.public
	if err := p.cutStart(r.method); err != nil {
		return draft{}, err
	}
	dim, states := r.features.Dim(), r.features.States()
	alpha, beta, err := c.certified(p, dim, states, r.numerics)
	if err != nil {
		return draft{}, err
	}
	release, err := smooth.Lattice(alpha, beta, p.numbers(), states, r.numerics)
	if err != nil {
		return draft{}, err
	}
	noise := alpha * r.numerics.Bound(smooth.GuessedVisits(p.Persons, states), smooth.InnerBeta(beta, states))
	expected := Expected{RMSE: math.Hypot(noise, r.numerics.Bias()), Constant: p.Returns().Width() / 2}
	notes := []string{
		p.words("The noise is scaled to the number of persons who visit each state. That scale is private and is not released, so the release has no error bar; the expected error assumes that the shares of persons who visit a state are spread evenly up to 1."),
		"Values are not clipped to the public range: noise may take them outside.",
	}
	notes = append(notes, p.absentNotes(false)...)
	if p.Episodes != 1 {
		notes = append(notes, p.words("If a person has several trajectories, only the first counts."))
	}
	if expected.RMSE > expected.Constant {
		notes = append(notes, "The expected error exceeds the worst-case error of answering with the middle of the public range: at this budget the release will say almost nothing. dp-refine needs far less noise.")
	}
	facts := map[string]any{"clip": p.Returns(), "alpha": alpha, "beta": beta, "states": states, "dimension": dim}
	return draft{
		method: r.method, public: p, event: release.Event(dim), outcome: functionAgain(p, false), perState: true,
		prepare: r.preparation(release),
		summary: summary{facts: facts, expected: expected, notes: notes}.and(more),
	}, nil
}

// preparation binds a release to data, of which it keeps the sums.
func (r smoothRelease) preparation(release mechanism.Smooth) preparation {
	return keeping[*smooth.Visits]{
		func(d *trajectory.Dataset, _ [][]float64, _ bool) (*smooth.Visits, error) {
			d = firstOfEach(d)
			if err := feature.Check(r.features, d); err != nil {
				return nil, err
			}
			s, err := sampleFor(d, r.public)
			if err != nil {
				return nil, err
			}
			return smooth.VisitsOf(s, facts.Range(r.public.Returns()))
		},
		func(all, next *smooth.Visits) *smooth.Visits { all.Add(next); return all },
		func(*smooth.Visits) int64 { return 16 * int64(r.features.States()) },
		func(visits *smooth.Visits) (draw, error) {
			if visits.Persons() > smooth.MaxPersons {
				return nil, fmt.Errorf("%w: %s: at most %d persons", ErrData, r.method, smooth.MaxPersons)
			}
			return func(_ context.Context, src *noise.Source) (*Release, error) {
				noisy, err := smooth.Release(release, r.numerics, visits, r.features.Dim(), src)
				if err != nil {
					return nil, err
				}
				return functionReleased(r.features, noisy), nil
			}, nil
		},
	}
}

// finiteProblem checks the public side of a method that is based on first visits, and the
// public weights by state, which it fills in. The numerics are still to be set.
func finiteProblem(method string, p Public, given []float64) (r smoothRelease, weights []float64, err error) {
	finite, ok := p.Features.(feature.Finite)
	if !ok {
		return r, nil, fmt.Errorf("%w: %s averages returns by state: features must be of kind tabular or aggregate", ErrMethod, method)
	}
	if !policy.OnPolicy(p.Target) {
		return r, nil, fmt.Errorf("%w: %s evaluates the logged policy alone (target {kind: logged}); off-policy use dp-is, dp-pdis or dp-wis", ErrMethod, method)
	}
	if !(smooth.Spread(facts.Range(p.Returns())) > 0) {
		return r, nil, fmt.Errorf("%w: %s: the public range of a return is [0, 0]; give problem.reward or problem.return a width", ErrPublic, method)
	}
	if p.Persons > smooth.MaxPersons {
		return r, nil, fmt.Errorf("%w: %s: at most %d persons", ErrPublic, method, smooth.MaxPersons)
	}
	weights = slices.Clone(given)
	if given == nil {
		weights = slices.Repeat([]float64{1}, finite.States())
	}
	if len(weights) != finite.States() {
		return r, nil, fmt.Errorf("%w: %s: %d weights for %d states", ErrMethod, method, len(weights), finite.States())
	}
	for state, w := range weights {
		if !(w > 0) || math.IsInf(w, 0) {
			return r, nil, fmt.Errorf("%w: %s: weights of state %d is %v; want a finite number above 0", ErrMethod, method, state, w)
		}
	}
	return smoothRelease{method: method, public: p, features: finite}, weights, nil
}

// firstOfEach keeps each person's first trajectory: the smooth bounds rest on counts
// that move by one a person.
func firstOfEach(d *trajectory.Dataset) *trajectory.Dataset {
	later := make([]bool, d.Rows())
	for p := range d.Persons() {
		for e := d.PersonStart[p] + 1; e < d.PersonStart[p+1]; e++ {
			for row := d.EpisodeStart[e]; row < d.EpisodeStart[e+1]; row++ {
				later[row] = true
			}
		}
	}
	d, _ = d.LeaveOut(func(row int) bool { return later[row] })
	return d
}

// DPLSW is least squares on first-visit Monte Carlo returns with public weights
// by state, released with noise scaled to a smooth bound on the local
// sensitivity (Balle, Gomrokchi and Precup 2016, Algorithm 1).
//
// Released: the weight vector theta of a value function. On-policy, one
// trajectory a person, tabular or aggregated features. Unit: a person.
// Adjacency: either. Clip: each first-visit return to the public range. Event:
// dp.SmoothGaussian. Proof: docs/proofs/smooth-release.md.
type DPLSW struct {
	// Weights holds w_s > 0 by state; nil means 1 everywhere.
	Weights []float64 `json:"weights,omitempty"`
	// Constants chooses alpha and beta of the smooth-sensitivity mechanism: "exact", the
	// default, is the pair with the least expected noise that is certified for the budget;
	// "balle16" the closed forms of Balle et al. 2016, Lemma 1, which hold for epsilon <= 20
	// and ask for several times the noise that is needed.
	Constants string `json:"constants,omitempty"`
}

// Plan implements [Estimator].
func (m DPLSW) Plan(p Public) (*Plan, error) { return planned("dp-lsw", m, p, m.draft) }

func (m DPLSW) draft(method string, p Public) (draft, error) {
	r, weights, err := finiteProblem(method, p, m.Weights)
	if err != nil {
		return draft{}, err
	}
	r.numerics = smooth.NewLSW(r.public.numbers(), r.features, weights)
	return r.draft(constants(m.Constants), summary{})
}

// DPLSL is least squares on first-visit Monte Carlo returns, weighted by visits
// and with an l2 penalty, released with noise scaled to a smooth bound on the
// local sensitivity (Balle, Gomrokchi and Precup 2016, Algorithm 2).
//
// Released: the weight vector theta of a value function. On-policy, one
// trajectory a person, tabular or aggregated features. Unit: a person.
// Adjacency: either. Clip: each first-visit return to the public range. Event:
// dp.SmoothGaussian. Proof: docs/proofs/smooth-release.md.
type DPLSL struct {
	// Weights holds rho_s > 0 by state; nil means 1 everywhere.
	Weights []float64 `json:"weights,omitempty"`
	// Lambda is the penalty. It must exceed ||Phi||^2 max rho. 0 chooses it by a
	// public rule: the least expected error at the guessed visits, for values
	// anywhere in their range.
	Lambda float64 `json:"lambda,omitempty"`
	// Constants is as in [DPLSW].
	Constants string `json:"constants,omitempty"`
}

// Plan implements [Estimator].
func (m DPLSL) Plan(p Public) (*Plan, error) { return planned("dp-lsl", m, p, m.draft) }

func (m DPLSL) draft(method string, p Public) (draft, error) {
	r, weights, err := finiteProblem(method, p, m.Weights)
	if err != nil {
		return draft{}, err
	}
	l := smooth.NewLSL(r.public.numbers(), r.features, weights)
	l.Lambda = m.Lambda
	if l.Lambda == 0 {
		alpha, beta, err := constants(m.Constants).rough(r.public, r.features.Dim())
		if err != nil {
			return draft{}, err
		}
		l.Lambda = l.Rule(alpha, beta)
	}
	if !(l.Lambda > l.Floor()) || math.IsInf(l.Lambda, 0) {
		return draft{}, fmt.Errorf("%w: %s: lambda is %v; want a finite number above ||Phi||^2 max rho = %v", ErrMethod, method, l.Lambda, l.Floor())
	}
	r.numerics = l
	return r.draft(constants(m.Constants), summary{
		facts: map[string]any{"lambda": l.Lambda},
		notes: []string{"The penalty lambda shrinks the values of rarely visited states towards 0; the expected error includes that bias, for values anywhere in the public range."},
	})
}
