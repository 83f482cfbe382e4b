package evaluate

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/mechanism"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Constants chooses alpha and beta of the smooth-sensitivity mechanism.
type Constants string

const (
	// Exact takes the pair with the least expected noise, alpha being the
	// smallest that is certified for the budget at its beta. This is the default.
	Exact Constants = "exact"
	// Balle16 takes the closed forms of Balle et al. 2016, Lemma 1, which hold for
	// epsilon <= 20 and ask for several times the noise that is needed.
	Balle16 Constants = "balle16"
)

// innerBeta is the smoothness that psi is computed with: a little below the beta
// that the noise promises, so that the rounding of psi, at most 2^-46 relative a
// state, stays inside the promise (docs/proofs/smooth-release.md). It is not
// positive where that leaves no room.
func innerBeta(beta float64, states int) float64 {
	inner := beta*(1-1e-9) - float64(states)*0x1p-46
	if inner < 0.9*beta {
		return 0
	}
	return inner
}

// smoothBound is the smooth upper bound on the local sensitivity of a method at
// given counts by state.
type smoothBound func(counts []int64, beta float64) float64

// mechanism fixes alpha, beta and the lattice from public facts: the budget, the
// dimension, and the bound at public guesses and extremes of the counts.
func (c Constants) mechanism(p Public, dim int, states int, bound smoothBound) (mechanism.Smooth, error) {
	guess := guessedVisits(p, states)
	var alpha, beta float64
	var err error
	switch c {
	case Balle16:
		alpha, beta, err = account.Balle16Constants(p.Privacy.Budget, dim)
	case Exact, "":
		alpha, beta, err = account.SmoothGaussianPair(p.Privacy.Budget, dim, func(alpha, beta float64) float64 {
			return alpha * bound(guess, innerBeta(beta, states))
		})
	default:
		err = fmt.Errorf("%w: constants is %q; want exact or balle16", ErrMethod, string(c))
	}
	if err != nil {
		return mechanism.Smooth{}, err
	}
	inner := innerBeta(beta, states)
	if !(inner > 0) {
		return mechanism.Smooth{}, fmt.Errorf("%w: a budget of epsilon %v over %d states makes beta = %.3g, too small for the rounding of psi; use dp-refine", ErrMethod, p.Privacy.Budget.Epsilon, states, beta)
	}
	none, all := make([]int64, states), make([]int64, states)
	for s := range all {
		all[s] = maxCount(p)
	}
	a, b := bound(none, inner), bound(all, inner)
	step, err := mechanism.SmoothStep(alpha*min(a, b), 2*alpha*max(a, b))
	return mechanism.Smooth{Alpha: alpha, Beta: beta, Step: step}, err
}

// rough returns constants to choose a penalty with: the beta of Balle et al. and
// an alpha that fits it.
func (c Constants) rough(p Public, dim int) (alpha, beta float64, err error) {
	alpha, beta, err = account.Balle16Constants(p.Privacy.Budget, dim)
	if err != nil || c == Balle16 {
		return alpha, beta, err
	}
	smallest, err := account.SmoothGaussianAlpha(p.Privacy.Budget, beta, dim)
	return smallest.Upper, beta, err
}

// maxCount is the largest number of persons that may visit a state.
func maxCount(p Public) int64 {
	if p.Privacy.Adjacency == dp.ReplaceOne {
		return p.Persons
	}
	return maxPersons
}

// smoothRelease is the common end of DP-LSW and DP-LSL: a value function with
// smooth-sensitivity noise.
type smoothRelease struct {
	method   string
	public   Public
	features feature.Finite
	release  mechanism.Smooth
	bound    smoothBound
	// bias is the expected root mean square of what a penalty takes off the values.
	bias float64
	// solve computes theta from the visits.
	solve func(v *firstVisits) (theta []float64)
}

func (r smoothRelease) plan() (*Plan, error) {
	plan, err := newPlan(r.method, r.public, r.release.Event(r.features.Dim()), r.prepare)
	if err != nil {
		return nil, err
	}
	guess := guessedVisits(r.public, r.features.States())
	noise := r.release.Alpha * r.bound(guess, innerBeta(r.release.Beta, r.features.States()))
	plan.Expected.RMSE = math.Hypot(noise, r.bias)
	plan.Expected.Constant = r.public.Returns().Width() / 2
	plan.Facts["clip"] = r.public.Returns()
	plan.Facts["alpha"] = r.release.Alpha
	plan.Facts["beta"] = r.release.Beta
	plan.Facts["states"] = r.features.States()
	plan.Facts["dimension"] = r.features.Dim()
	plan.Notes = append(plan.Notes,
		"The noise is scaled to how many persons visit each state. That scale is private and is not released, so the release has no error bar; the expected error beforehand supposes that the shares of persons who visit a state are spread evenly up to 1.",
		"Values are not clipped to the public range: noise may take them outside.",
	)
	if plan.Expected.RMSE > plan.Expected.Constant {
		plan.Notes = append(plan.Notes, "The expected error is above the worst error of answering with the middle of the public range: at this budget the release will tell next to nothing. dp-refine needs far less noise.")
	}
	return plan, nil
}

func (r smoothRelease) prepare(_ context.Context, d *trajectory.Dataset) (draw, error) {
	if err := oneEpisodeEach(r.method, d); err != nil {
		return nil, err
	}
	if err := feature.Check(r.features, d); err != nil {
		return nil, err
	}
	s, err := sampleFor(d, r.public)
	if err != nil {
		return nil, err
	}
	visits, err := visitsOf(s, r.public.Returns())
	if err != nil {
		return nil, err
	}
	return r.draw(visits), nil
}

func (r smoothRelease) draw(v *firstVisits) draw {
	return func(_ context.Context, src *noise.Source) (*Release, error) {
		noisy, _, err := r.release.Release(r.solve(v), r.bound(v.counts, innerBeta(r.release.Beta, r.features.States())), src)
		if err != nil {
			return nil, err
		}
		return &Release{Theta: noisy, Values: statesOf(r.features, noisy)}, nil
	}
}
