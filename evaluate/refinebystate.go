package evaluate

import (
	"context"
	"math"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/value"
)

// refineByState is the Monte Carlo form of dp-refine.
type refineByState struct {
	refine
	features feature.Finite
}

func (r refineByState) plan() (*Plan, error) {
	if err := r.capacity(2*r.features.Dim() + 1); err != nil {
		return nil, err
	}
	plan, err := r.newPlan(formMonteCarlo, func(_ context.Context, _ *trajectory.Dataset, s *value.Sample) (draw, error) {
		if err := roomFor(s.Data, 2*r.features.Dim()+2); err != nil {
			return nil, err
		}
		cache := newReturnsByCell(s, r.limits)
		return func(ctx context.Context, src *noise.Source) (*Release, error) { return r.run(ctx, s, cache, src) }, nil
	})
	if err != nil {
		return nil, err
	}
	plan.Expected.RMSE = r.predict()
	plan.Facts["states"] = r.features.States()
	if r.limits.largest > 0 {
		plan.Notes = append(plan.Notes, plan.words("The expected error leaves out what importance weights add to the sampling error: off-policy, with many persons, the error is larger."))
	}
	plan.Notes = append(plan.Notes, plan.words(
		"Values of states that few persons visit lean on a prior: values of states scatter about a line in the share of persons who visit them. The diagnostics give each state's standard deviation under that prior, without the bias of clipping."))
	return plan, nil
}

// refineState is what has been released so far, with what follows from it.
type refineState struct {
	persons float64
	share   []float64 // by cell: the share of persons who visit it
	shareSD float64
	belief  *belief
	spread  float64 // variance of a residual about its cell's value
}

// firstClip is the norm to which first residuals are clipped: a typical residual,
// from the spread of persons' means and a public floor, in half of the cells that
// a person can visit.
func (r refineByState) firstClip(variance float64) float64 {
	width := r.returns.Width()
	each := min(width/2, max(r.rule.firstFloor*width, r.rule.firstClip*math.Sqrt(variance)))
	return each * math.Sqrt(max(float64(r.most())/2, 1))
}

// most is the largest number of cells that a person visits.
func (r refineByState) most() int { return int(min(int64(r.features.Dim()), r.public.Horizon)) }

// countsSum is the release of counts and first residuals: residuals of norm at
// most clip with their square, and visits scaled by weight to the same norm.
func (r refineByState) countsSum(clip float64) (sum privateSum, centre, weight float64) {
	centre, norm := visitNorm(r.public.Privacy.Adjacency, r.features.Dim(), r.most())
	return r.sum(1, 2*r.features.Dim()+1, clip*math.Sqrt2), centre, clip / norm
}

// run draws every release in turn.
func (r refineByState) run(ctx context.Context, s *value.Sample, cache *returnsByCell, src *noise.Source) (*Release, error) {
	n := r.features.Dim()
	values := make([]float64, n)
	for i := range values {
		values[i] = r.returns.Mid()
	}
	walker := func() *residuals {
		w := newResiduals(s, values, r.returns.Mid(), r.limits)
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
	for k := 2; k < len(r.schedule.multipliers); k++ {
		copy(values, state.belief.mean)
		r.inRange(values)
		if err := r.round(ctx, k, persons, state, values, walker, src); err != nil {
			return nil, err
		}
	}
	return r.report(state), nil
}

func (r refineByState) releaseCounts(ctx context.Context, persons int, l level, walker func() *residuals, src *noise.Source) (*refineState, error) {
	n := r.features.Dim()
	clip := r.firstClip(l.variance + l.sd*l.sd)
	sum, centre, weight := r.countsSum(clip)
	noisy, err := sum.release(ctx, persons, func() contribution {
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
	state := r.newState(l, shares, sum.sd()/weight/l.persons)
	unit := make([]float64, n)
	for i := range unit {
		unit[i] = 1
	}
	values := make([]float64, n)
	for i := range values {
		values[i] = l.centre
	}
	state.absorb(noisy[:n+1], values, unit, clip, sum.sd())
	return state, nil
}

// newState draws noisy shares to their prior, evenly spread over what is
// possible, and sets up the belief about values.
func (r refineByState) newState(l level, shares []float64, sd float64) *refineState {
	most := float64(r.most()) / float64(r.features.Dim())
	prior := most * most / 12
	keep := prior / (prior + sd*sd)
	s := &refineState{persons: l.persons, share: shares, shareSD: sd * math.Sqrt(keep), spread: math.Inf(1)}
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
	width := r.returns.Width()
	square := width * width
	s.belief = newBelief(l.centre, r.rule.level*r.rule.level*square+l.sd*l.sd, r.rule.slope*r.rule.slope*square, r.rule.state*r.rule.state*square, covariate)
	return s
}

// absorb takes in a noisy sum of residuals under values, weighted by weight and
// clipped to norm clip, with the sum of their squares last.
func (s *refineState) absorb(noisy, values, weight []float64, clip, sd float64) {
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
func (s *refineState) noiseIn(i int, weight, sd float64) float64 {
	noise, share := sd/s.persons, weight*s.shareSD
	return noise*noise + share*share*s.belief.variance[i]
}

// weights scale the residuals of a round: by the root of the share, rare states
// up, so that the error of all states together is small.
func (r refine) weights(s *refineState) []float64 {
	w := make([]float64, len(s.share))
	for i, p := range s.share {
		w[i] = math.Pow(p, -r.rule.weight)
	}
	return w
}

// roundClip follows the predicted root mean square norm of a person's weighted
// residual.
func (r refine) roundClip(s *refineState, weight []float64) float64 {
	sum := 0.0
	for i, v := range s.belief.variance {
		sum += s.share[i] * weight[i] * weight[i] * (v + s.spread)
	}
	return r.schedule.clipFactor * math.Sqrt(sum)
}

func (r refineByState) round(ctx context.Context, k, persons int, s *refineState, values []float64, walker func() *residuals, src *noise.Source) error {
	n := len(values)
	weight := r.weights(s)
	clip := r.roundClip(s, weight)
	sum := r.sum(k, n+1, clip)
	noisy, err := sum.release(ctx, persons, func() contribution {
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
	s.absorb(noisy, values, weight, clip, sum.sd())
	return nil
}

// report is the release; all of it is post-processing.
func (r refineByState) report(s *refineState) *Release {
	theta := append([]float64(nil), s.belief.mean...)
	r.inRange(theta)
	sd := make([]float64, len(theta))
	visits := make([]float64, len(theta))
	for i := range sd {
		sd[i] = math.Sqrt(s.belief.variance[i])
		visits[i] = s.share[i] * s.persons
	}
	return &Release{
		Theta:  theta,
		Values: statesOf(r.features, theta),
		Diagnostics: map[string]any{
			"std_privacy_by_coordinate":                         sd,
			"spread_of_returns":                                 math.Sqrt(s.spread),
			r.public.unit().Words("persons") + "_by_coordinate": visits,
		},
	}
}

// predict runs the variances of the schedule through on public guesses: visit
// shares spread evenly over (0, 1), returns that scatter about their state's
// value by spread, and values that scatter by deviation about a line in the
// shares. It returns the root mean square error over cells that noise and
// sampling make; the bias of clipping is left out.
func (r refineByState) predict() float64 {
	width, m := r.returns.Width(), float64(r.public.Persons)
	n := r.features.Dim()
	scatter := r.spread * width
	levelSD := r.levelSum().sd() / m
	l := level{centre: r.returns.Mid(), sd: levelSD, persons: m,
		variance: (r.rule.state*width)*(r.rule.state*width) + width/2*levelSD}
	clip := r.firstClip(l.variance + l.sd*l.sd)
	sum, _, weight := r.countsSum(clip)
	shares := make([]float64, n)
	unit := make([]float64, n)
	for i := range shares {
		shares[i] = (float64(i) + 0.5) / float64(n) * float64(r.most()) / float64(n)
		unit[i] = 1
	}
	s := r.newState(l, shares, sum.sd()/weight/m)
	// A share that is off by shareSD puts its state that far along the line.
	deviation := math.Hypot(r.deviation*width, guessedSlope*width*s.shareSD)
	e := expectation{s, scatter * scatter, deviation, make([]float64, n), make([]float64, n)}
	e.expect(unit, clip, sum.sd())
	for k := 2; k < len(r.schedule.multipliers); k++ {
		weight := r.weights(s)
		clip := r.roundClip(s, weight)
		e.expect(weight, clip, r.sum(k, n+1, clip).sd())
	}
	return min(rms(e.errors()), width/2)
}

// guessedSlope is the guess of the line's slope, in units of the range of returns.
const guessedSlope = 0.5

// expectation runs a refineState on public guesses. The belief's weights follow
// its prior; how far off it is follows the guesses.
type expectation struct {
	*refineState
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
