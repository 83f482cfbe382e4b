package evaluate

import (
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

// constants chooses alpha and beta of the smooth-sensitivity mechanism.
type constants string

const (
	// exactConstants takes the pair with the least expected noise, alpha being the
	// smallest that is certified for the budget at its beta. This is the default.
	exactConstants constants = "exact"
	// balle16Constants takes the closed forms of Balle et al. 2016, Lemma 1, which hold for
	// epsilon <= 20 and ask for several times the noise that is needed.
	balle16Constants constants = "balle16"
)

// certified is the pair of alpha and beta that the budget allows, from public
// facts: the budget, the dimension and the bound at public guesses of the counts.
func (c constants) certified(p Public, dim, states int, m smooth.Method) (alpha, beta float64, err error) {
	guess := smooth.GuessedVisits(p.Persons, states)
	if c == "" {
		c = defaultConstants
	}
	switch c {
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

func (r smoothRelease) plan(c constants) (*Plan, error) {
	if err := r.public.cutStart(r.method); err != nil {
		return nil, err
	}
	dim, states := r.features.Dim(), r.features.States()
	alpha, beta, err := c.certified(r.public, dim, states, r.numerics)
	if err != nil {
		return nil, err
	}
	release, err := smooth.Lattice(alpha, beta, r.public.numbers(), states, r.numerics)
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(r.method, r.public.byStates(), release.Event(dim), func(_ context.Context, d *trajectory.Dataset) (draw, error) {
		return r.prepare(release, d)
	})
	if err != nil {
		return nil, err
	}
	plan.outcome = functionAgain(r.features, nil)
	noise := alpha * r.numerics.Bound(smooth.GuessedVisits(r.public.Persons, states), smooth.InnerBeta(beta, states))
	plan.Expected.RMSE = math.Hypot(noise, r.numerics.Bias())
	plan.Expected.Constant = r.public.Returns().Width() / 2
	plan.Facts["clip"] = r.public.Returns()
	plan.Facts["alpha"] = alpha
	plan.Facts["beta"] = beta
	plan.Facts["states"] = states
	plan.Facts["dimension"] = dim
	plan.Notes = append(plan.Notes,
		plan.words("The noise is scaled to the number of persons who visit each state. That scale is private and is not released, so the release has no error bar; the expected error assumes that the shares of persons who visit a state are spread evenly up to 1."),
		"Values are not clipped to the public range: noise may take them outside.",
	)
	plan.describeAbsent(false)
	if r.public.Episodes != 1 {
		plan.Notes = append(plan.Notes, plan.words("If a person has several trajectories, only the first counts."))
	}
	if plan.Expected.RMSE > plan.Expected.Constant {
		plan.Notes = append(plan.Notes, "The expected error exceeds the worst-case error of answering with the middle of the public range: at this budget the release will say almost nothing. dp-refine needs far less noise.")
	}
	return plan, nil
}

// prepare binds a release to data.
func (r smoothRelease) prepare(release mechanism.Smooth, d *trajectory.Dataset) (draw, error) {
	if d.Persons() > smooth.MaxPersons {
		return nil, fmt.Errorf("%w: %s: at most %d persons", ErrData, r.method, smooth.MaxPersons)
	}
	d = firstOfEach(d)
	if err := feature.Check(r.features, d); err != nil {
		return nil, err
	}
	s, err := sampleFor(d, r.public)
	if err != nil {
		return nil, err
	}
	visits, err := smooth.VisitsOf(s, facts.Range(r.public.Returns()))
	if err != nil {
		return nil, err
	}
	return func(_ context.Context, src *noise.Source) (*Release, error) {
		noisy, err := smooth.Release(release, r.numerics, visits, r.features.Dim(), src)
		if err != nil {
			return nil, err
		}
		return &Release{Theta: noisy, Values: statesOf(r.features, noisy)}, nil
	}, nil
}

// finiteProblem checks the public side of a method that is based on first
// visits, and returns the features.
func finiteProblem(method string, p Public) (feature.Finite, error) {
	if err := needPrivacy(method, p); err != nil {
		return nil, err
	}
	finite, ok := p.Features.(feature.Finite)
	if !ok {
		return nil, fmt.Errorf("%w: %s averages returns by state: features must be of kind tabular or aggregate", ErrMethod, method)
	}
	if !policy.OnPolicy(p.Target) {
		return nil, fmt.Errorf("%w: %s evaluates the logged policy alone (target {kind: logged}); off-policy use dp-is, dp-pdis or dp-wis", ErrMethod, method)
	}
	if !(smooth.Spread(facts.Range(p.Returns())) > 0) {
		return nil, fmt.Errorf("%w: %s: the public range of a return is [0, 0]; give problem.reward or problem.return a width", ErrPublic, method)
	}
	if p.Persons > smooth.MaxPersons {
		return nil, fmt.Errorf("%w: %s: at most %d persons", ErrPublic, method, smooth.MaxPersons)
	}
	return finite, nil
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

// weightsByState fills in and checks public weights by state.
func weightsByState(method, name string, given []float64, states int) ([]float64, error) {
	if given == nil {
		given = make([]float64, states)
		for i := range given {
			given[i] = 1
		}
		return given, nil
	}
	if len(given) != states {
		return nil, fmt.Errorf("%w: %s: %d %s for %d states", ErrMethod, method, len(given), name, states)
	}
	given = slices.Clone(given)
	for state, w := range given {
		if !(w > 0) || math.IsInf(w, 0) {
			return nil, fmt.Errorf("%w: %s: %s of state %d is %v; want a finite number above 0", ErrMethod, method, name, state, w)
		}
	}
	return given, nil
}
