package refine

import (
	"context"
	"math"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/value"
)

// ByState is the Monte Carlo form of dp-refine, for features of numbered states.
type ByState struct {
	Rounds
	Features feature.Finite
}

// Name implements [Form].
func (r ByState) Name() string { return MonteCarlo }

// Coordinates implements [Form].
func (r ByState) Coordinates() int { return 2*r.Features.Dim() + 1 }

// On implements [Form].
func (r ByState) On(s *value.Sample) func(ctx context.Context, src *noise.Source) (*Estimate, error) {
	cache := newReturnsByCell(s, limitsFor(r.Public, r.MaxWeight))
	return func(ctx context.Context, src *noise.Source) (*Estimate, error) { return r.run(ctx, s, cache, src) }
}

// state is what has been released so far, with what follows from it.
type state struct {
	persons float64
	share   []float64 // by cell: the share of persons who visit it
	shareSD float64
	belief  *belief
	spread  float64 // variance of a residual about its cell's value
}

// firstClip is the norm to which first residuals are clipped: a typical residual,
// from the spread of persons' means and a public floor, in half of the cells that
// a person can visit.
func (r ByState) firstClip(variance float64) float64 {
	width := r.Public.Returns.Width()
	each := min(width/2, max(r.Rule.FirstFloor*width, r.Rule.FirstClip*math.Sqrt(variance)))
	return each * math.Sqrt(max(float64(r.most())/2, 1))
}

// most is the largest number of cells that a person visits.
func (r ByState) most() int { return int(min(int64(r.Features.Dim()), r.Public.Horizon)) }

// countsSum is the release of counts and first residuals: residuals of norm at
// most clip with their square, and visits scaled by weight to the same norm.
func (r ByState) countsSum(clip float64) (sum Sum, centre, weight float64) {
	centre, norm := visitNorm(r.Public.Adjacency, r.Features.Dim(), r.most())
	return r.sum(1, 2*r.Features.Dim()+1, clip*math.Sqrt2), centre, clip / norm
}

// run draws every release in turn.
func (r ByState) run(ctx context.Context, s *value.Sample, cache *returnsByCell, src *noise.Source) (*Estimate, error) {
	n := r.Features.Dim()
	values := make([]float64, n)
	for i := range values {
		values[i] = r.Public.Returns.Mid()
	}
	walker := func() *residuals {
		w := newResiduals(s, values, r.Public.Returns.Mid(), limitsFor(r.Public, r.MaxWeight))
		w.cache = cache
		return w
	}
	persons := s.Data.Persons()
	level, err := r.releaseLevel(ctx, persons, func() func(int) float64 {
		w := walker()
		return func(p int) float64 { w.person(p); return w.average() }
	}, src)
	if err != nil {
		return nil, err
	}
	for i := range values {
		values[i] = level.centre
	}
	state, err := r.releaseCounts(ctx, persons, level, walker, src)
	if err != nil {
		return nil, err
	}
	for k := 2; k < len(r.Schedule.Multipliers); k++ {
		copy(values, state.belief.mean)
		r.inRange(values)
		if err := r.round(ctx, k, persons, state, values, walker, src); err != nil {
			return nil, err
		}
	}
	return r.report(state), nil
}

func (r ByState) releaseCounts(ctx context.Context, persons int, l level, walker func() *residuals, src *noise.Source) (*state, error) {
	n := r.Features.Dim()
	clip := r.firstClip(l.variance + l.sd*l.sd)
	sum, centre, weight := r.countsSum(clip)
	noisy, err := sum.release(ctx, persons, func() Contribution {
		w := walker()
		return func(dst []float64, p int) {
			w.person(p)
			visits := dst[n+1:]
			for i := range visits {
				visits[i] = -centre * weight
			}
			for i, c := range w.cells {
				dst[c] = w.mean[i]
				visits[c] += weight
			}
			clipWithSquare(dst[:n+1], n, clip)
		}
	}, src)
	if err != nil {
		return nil, err
	}
	shares := make([]float64, n)
	for i := range shares {
		shares[i] = noisy[n+1+i]/weight/l.persons + centre
	}
	state := r.newState(l, shares, sum.SD()/weight/l.persons)
	unit := make([]float64, n)
	for i := range unit {
		unit[i] = 1
	}
	values := make([]float64, n)
	for i := range values {
		values[i] = l.centre
	}
	state.absorb(noisy[:n+1], values, unit, clip, sum.SD())
	return state, nil
}

// newState draws noisy shares to their prior, evenly spread over what is
// possible, and sets up the belief about values.
func (r ByState) newState(l level, shares []float64, sd float64) *state {
	most := float64(r.most()) / float64(r.Features.Dim())
	prior := most * most / 12
	keep := prior / (prior + sd*sd)
	s := &state{persons: l.persons, share: shares, shareSD: sd * math.Sqrt(keep), spread: math.Inf(1)}
	mean := 0.0
	for i, p := range shares {
		p = most/2 + keep*(p-most/2)
		// The floor is public: it keeps the Newton step finite.
		shares[i] = min(max(p, sd/2, 5/l.persons), 1)
		mean += shares[i] / float64(len(shares))
	}
	covariate := make([]float64, len(shares))
	for i, p := range shares {
		covariate[i] = p - mean
	}
	width := r.Public.Returns.Width()
	square := width * width
	s.belief = newBelief(l.centre, r.Rule.Level*r.Rule.Level*square+l.sd*l.sd, r.Rule.Slope*r.Rule.Slope*square, r.Rule.State*r.Rule.State*square, covariate)
	return s
}

// absorb takes in a noisy sum of residuals under values, weighted by weight and
// clipped to norm clip, with the sum of their squares last.
func (s *state) absorb(noisy, values, weight []float64, clip, sd float64) {
	n, m := len(values), s.persons
	square := clip * (noisy[n]/m + clip)
	squareSD := clip * sd / m
	explained, scale := 0.0, 0.0
	for i, v := range values {
		gain := s.share[i] * weight[i]
		variance := s.noiseIn(i, weight[i], sd)
		step := noisy[i] / m / gain
		explained += gain * weight[i] * (step*step - sd*sd/(m*m*gain*gain))
		scale += gain * weight[i]
		s.belief.observe(i, v+step, variance/(gain*gain))
	}
	s.belief.update()
	s.spread = min(s.spread, (max(square-max(explained, 0), 0)+squareSD)/scale)
}

// noiseIn is the variance of the weighted mean residual of a cell: the noise, and
// the error of the cell's share times what there is left to correct.
func (s *state) noiseIn(i int, weight, sd float64) float64 {
	noise, share := sd/s.persons, weight*s.shareSD
	return noise*noise + share*share*s.belief.variance[i]
}

// weights scale the residuals of a round: by the root of the share, rare states
// up, so that the error of all states together is small.
func (r Rounds) weights(s *state) []float64 {
	w := make([]float64, len(s.share))
	for i, p := range s.share {
		w[i] = math.Pow(p, -r.Rule.Weight)
	}
	return w
}

// roundClip follows the predicted root mean square norm of a person's weighted
// residual.
func (r Rounds) roundClip(s *state, weight []float64) float64 {
	sum := 0.0
	for i, v := range s.belief.variance {
		sum += s.share[i] * weight[i] * weight[i] * (v + s.spread)
	}
	return r.Schedule.ClipFactor * math.Sqrt(sum)
}

func (r ByState) round(ctx context.Context, k, persons int, s *state, values []float64, walker func() *residuals, src *noise.Source) error {
	n := len(values)
	weight := r.weights(s)
	clip := r.roundClip(s, weight)
	sum := r.sum(k, n+1, clip)
	noisy, err := sum.release(ctx, persons, func() Contribution {
		w := walker()
		return func(dst []float64, p int) {
			w.person(p)
			for i, c := range w.cells {
				dst[c] = weight[c] * w.mean[i]
			}
			clipWithSquare(dst, n, clip)
		}
	}, src)
	if err != nil {
		return err
	}
	s.absorb(noisy, values, weight, clip, sum.SD())
	return nil
}

// report is post-processing.
func (r ByState) report(s *state) *Estimate {
	out := &Estimate{
		Theta:   append([]float64(nil), s.belief.mean...),
		SD:      make([]float64, len(s.belief.mean)),
		Persons: make([]float64, len(s.belief.mean)),
		Scatter: math.Sqrt(s.spread),
	}
	r.inRange(out.Theta)
	for i := range out.SD {
		out.SD[i] = math.Sqrt(s.belief.variance[i])
		out.Persons[i] = s.share[i] * s.persons
	}
	return out
}

// Expected runs the variances of the schedule through on public guesses: visit
// shares spread evenly over (0, 1), returns that scatter about their state's
// value by spread, and values that scatter by deviation about a line in the
// shares. It returns the root mean square error over cells that noise and
// sampling make; the bias of clipping is left out.
func (r ByState) Expected() float64 {
	width, m := r.Public.Returns.Width(), float64(r.Public.Persons)
	n := r.Features.Dim()
	scatter := r.Spread * width
	levelSD := r.levelSum().SD() / m
	l := level{centre: r.Public.Returns.Mid(), sd: levelSD, persons: m,
		variance: (r.Rule.State*width)*(r.Rule.State*width) + width/2*levelSD}
	clip := r.firstClip(l.variance + l.sd*l.sd)
	sum, _, weight := r.countsSum(clip)
	shares := make([]float64, n)
	unit := make([]float64, n)
	for i := range shares {
		shares[i] = (float64(i) + 0.5) / float64(n) * float64(r.most()) / float64(n)
		unit[i] = 1
	}
	s := r.newState(l, shares, sum.SD()/weight/m)
	// A share that is off by shareSD puts its state that far along the line.
	deviation := math.Hypot(r.Deviation*width, guessedSlope*width*s.shareSD)
	e := expectation{s, scatter * scatter, deviation, make([]float64, n), make([]float64, n)}
	e.expect(unit, clip, sum.SD())
	for k := 2; k < len(r.Schedule.Multipliers); k++ {
		weight := r.weights(s)
		clip := r.roundClip(s, weight)
		e.expect(weight, clip, r.sum(k, n+1, clip).SD())
	}
	return min(rms(e.errors()), width/2)
}

// guessedSlope is the guess of the line's slope, in units of the range of returns.
const guessedSlope = 0.5

// expectation runs a state on public guesses. The belief's weights follow
// its prior; how far off it is follows the guesses.
type expectation struct {
	*state
	scatter   float64 // guessed variance of a return about its state's value
	deviation float64 // guessed standard deviation of values about a line
	squares   []float64
	observed  []float64 // by cell: true variance of the weighted observations
}

func (e *expectation) errors() []float64 { return e.belief.errors(e.deviation, e.observed) }

// expect is absorb with the variances alone.
func (e *expectation) expect(weight []float64, clip, sd float64) {
	scale := 0.0
	wrong := e.errors()
	for i, v := range e.belief.mean {
		gain := e.share[i] * weight[i]
		scale += gain * weight[i]
		supposed := e.noiseIn(i, weight[i], sd) / (gain * gain)
		noise, share := sd/e.persons, weight[i]*e.shareSD
		really := noise*noise + share*share*wrong[i] + gain*weight[i]*e.scatter/e.persons
		e.belief.observe(i, v, supposed)
		e.squares[i] += really / (gain * gain) / (supposed * supposed)
		e.observed[i] = e.squares[i] / (e.belief.precision[i] * e.belief.precision[i])
	}
	e.belief.update()
	e.spread = min(e.spread, e.scatter+clip*sd/e.persons/scale)
}
