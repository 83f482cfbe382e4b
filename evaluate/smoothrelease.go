package evaluate

import (
	"context"
	"fmt"

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

// betaSlack keeps the rounding of psi, some 1e-13 relative, inside the
// smoothness that beta promises.
const betaSlack = 1 - 1e-9

// smoothBound is the smooth upper bound on the local sensitivity of a method at
// given counts by state.
type smoothBound func(counts []int64, beta float64) float64

// mechanism fixes alpha, beta and the lattice from public facts: the budget, the
// dimension, and the bound at public guesses and extremes of the counts.
func (c Constants) mechanism(p Public, dim int, states int, bound smoothBound) (mechanism.Smooth, error) {
	guess := halfVisited(p, states)
	var alpha, beta float64
	var err error
	switch c {
	case Balle16:
		alpha, beta, err = account.Balle16Constants(p.Privacy.Budget, dim)
	case Exact, "":
		alpha, beta, err = account.SmoothGaussianPair(p.Privacy.Budget, dim, func(alpha, beta float64) float64 {
			return alpha * bound(guess, beta*betaSlack)
		})
	default:
		err = fmt.Errorf("%w: constants is %q; want exact or balle16", ErrMethod, string(c))
	}
	if err != nil {
		return mechanism.Smooth{}, err
	}
	none, all := make([]int64, states), make([]int64, states)
	for s := range all {
		all[s] = maxCount(p)
	}
	a, b := bound(none, beta*betaSlack), bound(all, beta*betaSlack)
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
	// solve computes theta from the visits.
	solve func(v *firstVisits) (theta []float64)
}

func (r smoothRelease) plan() (*Plan, error) {
	plan, err := newPlan(r.method, r.public, r.release.Event(r.features.Dim()), r.prepare)
	if err != nil {
		return nil, err
	}
	plan.Expected.RMSE = r.release.Alpha * r.bound(halfVisited(r.public, r.features.States()), r.release.Beta*betaSlack)
	plan.Expected.Constant = r.public.Returns().Width() / 2
	plan.Facts["clip"] = r.public.Returns()
	plan.Facts["alpha"] = r.release.Alpha
	plan.Facts["beta"] = r.release.Beta
	plan.Facts["states"] = r.features.States()
	plan.Facts["dimension"] = r.features.Dim()
	plan.Notes = []string{
		"The noise is scaled to how many persons visit each state. That scale is private and is not released, so the release has no error bar; the expected error beforehand supposes that every state is visited by half of the persons.",
		"Values are not clipped to the public range: noise may take them outside.",
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
		noisy, _, err := r.release.Release(r.solve(v), r.bound(v.counts, r.release.Beta*betaSlack), src)
		if err != nil {
			return nil, err
		}
		return &Release{Theta: noisy, Values: statesOf(r.features, noisy)}, nil
	}
}
