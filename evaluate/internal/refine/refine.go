// Package refine estimates a value function in a few noisy rounds, each of which
// asks only for what the rounds before got wrong. It works on public facts, on
// noise multipliers that were fixed beforehand and on a sample; whoever calls it
// has accounted for the multipliers.
//
// Start with [ByState] (first-visit residuals by numbered state) or [NewLinear]
// (any features of bounded norm, with a matrix). Unit: a person. Proof:
// docs/proofs/dp-refine.md.
package refine

import (
	"cmp"
	"context"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// What the rounds are about.
const (
	MonteCarlo = "monte_carlo"
	Regression = "regression"
	LSTD       = "lstd"
)

// Rounds holds what the forms share, all of it from public facts.
type Rounds struct {
	Public    facts.Public
	Rule      Rule
	Schedule  Schedule
	MaxWeight float64 // off-policy, on a residual in units of the range of returns; 1 on-policy
	// Spread and Deviation are public guesses that the expected error rests on, in
	// units of the range of returns.
	Spread, Deviation float64

	Workers int      // 0 stands for GOMAXPROCS
	Instead Releaser // in audits; nil otherwise
}

// Form is a way to run the rounds.
type Form interface {
	// Name is MonteCarlo, Regression or LSTD.
	Name() string
	// Coordinates is the number of coordinates of the largest sum.
	Coordinates() int
	// Expected is the root mean square error that is known beforehand, 0 where none
	// is.
	Expected() float64
	// On binds the rounds to data; what it returns draws every release in turn.
	On(s value.Persons) func(ctx context.Context, src *noise.Source) (*Estimate, error)
}

// Estimate is what the rounds found; all of it is post-processing of releases.
type Estimate struct {
	Theta []float64
	// SD is by coordinate the standard deviation of Theta: of the form by state about
	// the truth on-policy, else that of the belief alone.
	SD []float64
	// Persons who visit each coordinate, and the standard deviation of their returns
	// about its value; of the form by state alone.
	Persons []float64
	Scatter float64
	// Failed is the number of rounds whose equations could not be solved and that
	// changed nothing; of the forms with a matrix alone.
	Failed int
}

// Capacity is the number of persons whose integer sums of dim coordinates fit.
func (r Rounds) Capacity(dim int) (int64, error) {
	v, err := r.sum(0, dim, 1).fresh()
	if err != nil {
		return 0, err
	}
	return v.Capacity(), nil
}

// sum is the k-th release of the schedule.
func (r Rounds) sum(k, dim int, clip float64) Sum {
	return Sum{Dim: dim, Clip: clip, Multiplier: r.Schedule.Multipliers[k], Kind: r.Public.Noise, workers: r.Workers, instead: r.Instead}
}

// persons is the number of persons that rules count on once the level is out:
// exact under ReplaceOne, and otherwise noisy, but never below the public bound.
func (r Rounds) persons(noisy float64) float64 {
	if r.Public.Adjacency == dp.ReplaceOne {
		return float64(r.Public.Persons)
	}
	return max(noisy, float64(r.Public.Persons))
}

// inRange projects values on the public range of returns.
func (r Rounds) inRange(v []float64) {
	for i := range v {
		v[i] = min(max(v[i], r.Public.Returns.Min), r.Public.Returns.Max)
	}
}

// level is the first release: by person, the mean residual about the middle of
// the range, with its square, and under AddRemoveOne the number of persons.
type level struct {
	centre   float64 // the level found, within the range
	sd       float64 // of its error
	variance float64 // of persons' means about it, on the safe side
	persons  float64
}

// levelSum is the release of the level: u clipped to half the range, u^2/half -
// half, and under AddRemoveOne a constant half.
func (r Rounds) levelSum() Sum {
	half := r.Public.Returns.Width() / 2
	if r.Public.Adjacency == dp.AddRemoveOne {
		return r.sum(0, 3, half*math.Sqrt2)
	}
	return r.sum(0, 2, half)
}

func (r Rounds) newLevel(noisy []float64) level {
	half, sd := r.Public.Returns.Width()/2, r.levelSum().SD()
	m := r.persons(noisy[len(noisy)-1] / half)
	mean := noisy[0] / m
	square := half * (noisy[1]/m + half)
	keep := r.levelKept(sd / m)
	return level{
		centre:   min(max(r.Public.Returns.Mid()+keep*mean, r.Public.Returns.Min), r.Public.Returns.Max),
		sd:       sd / m * math.Sqrt(keep),
		variance: max(square-mean*mean, 0) + half*sd/m,
		persons:  m,
	}
}

// levelKept is the part of a noisy level that is kept: the rest of it is drawn to the middle
// of the range, as far as a level anywhere in the range varies less than noise of that
// standard deviation.
func (r Rounds) levelKept(sd float64) float64 {
	width := r.Public.Returns.Width()
	return 1 / (1 + 12*sd*sd/(width*width))
}

func (r Rounds) releaseLevel(ctx context.Context, persons int, means func() func(person int) float64, src *noise.Source) (level, error) {
	half := r.Public.Returns.Width() / 2
	sum := r.levelSum()
	noisy, err := sum.release(ctx, persons, func() Contribution {
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

// chunk is the number of persons after which a worker looks whether it is to go on.
const chunk = 2048

// Contribution writes what one person adds to dst, which is all zero.
type Contribution func(dst []float64, person int)

// Sum releases the noisy sum over persons of vectors of dim coordinates,
// clipped to l2 norm clip by the mechanism. Each worker has its own
// contribution. The sums are integers, so the release does not depend on the
// number of workers.
type Sum struct {
	Dim        int
	Clip       float64
	Multiplier float64
	Kind       mechanism.Noise
	workers    int // 0 stands for GOMAXPROCS

	instead Releaser // takes the place of release in audits; nil otherwise
}

// Releaser makes a release in the place of Sum.release.
type Releaser func(q Sum, each func() Contribution, src *noise.Source) ([]float64, error)

// SD is the standard deviation of the noise in each coordinate, public.
func (q Sum) SD() float64 { return q.Clip * q.Multiplier }

func (q Sum) fresh() (*mechanism.VectorSum, error) {
	return mechanism.NewVectorSum(q.Dim, q.Clip, q.Multiplier, q.Kind)
}

func (q Sum) release(ctx context.Context, persons int, each func() Contribution, src *noise.Source) ([]float64, error) {
	if q.instead != nil {
		return q.instead(q, each, src)
	}
	return mechanism.Spread(q.fresh, cmp.Or(q.workers, mechanism.Workers(q.Dim)), persons, func(sum *mechanism.VectorSum) func(int) error {
		add, x := each(), make([]float64, q.Dim)
		return func(p int) error {
			if p%chunk == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			clear(x)
			add(x, p)
			return sum.Add(x)
		}
	}, src)
}

// clipWithSquare scales x[:n] into the ball of radius clip and writes
// |x|^2/clip - clip to x[n]. The longer vector then lies in the ball as well: with
// u = |x|/clip its squared norm is clip^2 (u^2 + (u^2-1)^2) = clip^2 (1 - u^2 +
// u^4) <= clip^2. So the sum of squared norms is released at no cost, and a
// later clip can follow it. What is not finite becomes x = 0.
func clipWithSquare(x []float64, n int, clip float64) {
	square := xmath.SquareNorm(x[:n])
	switch {
	case math.IsNaN(square) || math.IsInf(square, 0):
		clear(x[:n])
		square = 0
	case square > clip*clip:
		scale := clip / math.Sqrt(square)
		for i := range x[:n] {
			x[i] *= scale
		}
		square = clip * clip
	}
	x[n] = square/clip - clip
}
