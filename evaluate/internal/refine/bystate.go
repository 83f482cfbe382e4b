package refine

import (
	"context"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
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
func (r ByState) On(s value.Persons) func(ctx context.Context, src *noise.Source) (*Estimate, error) {
	var cache returnsByCell
	if r.Public.OnPolicy() {
		cache = newReturnsByCell(s, r.Features, limitsFor(r.Public, r.MaxWeight))
	}
	return func(ctx context.Context, src *noise.Source) (*Estimate, error) { return r.run(ctx, s, cache, src) }
}

// Built is the most bytes that On keeps of so many persons and rows, with room to grow.
func (r ByState) Built(persons, rows int64) int64 {
	if !r.Public.OnPolicy() {
		return 0
	}
	return 15*min(rows, persons*int64(r.Features.Dim())) + 6*persons
}

// state is what has been released so far, with what follows from it.
type state struct {
	persons float64
	share   []float64 // by cell: the share of persons who visit it
	shareSD float64
	belief  *belief
	spread  float64 // variance of a residual about its cell's value
	factor  float64 // clip of the last round, in root mean squares of norms
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
func (r ByState) run(ctx context.Context, s value.Persons, cache returnsByCell, src *noise.Source) (*Estimate, error) {
	n := r.Features.Dim()
	values := slices.Repeat([]float64{r.Public.Returns.Mid()}, n)
	walker := func() *residuals {
		w := newResiduals(s, r.Features, values, r.Public.Returns.Mid(), limitsFor(r.Public, r.MaxWeight))
		w.cache = cache
		return w
	}
	persons := s.Persons()
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
	state.absorb(noisy[:n+1], slices.Repeat([]float64{l.centre}, n), make([]float64, n), slices.Repeat([]float64{1}, n), clip, sum.SD())
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

// absorb takes in a noisy sum of residuals about values, weighted by weight and
// clipped to norm clip, with the sum of their squares last. Of values, offset is what
// is not meant to be right. What the clip is supposed to move counts as noise, so that
// a release that was clipped hard has little say beside later ones.
func (s *state) absorb(noisy, values, offset, weight []float64, clip, sd float64) {
	n, m := len(values), s.persons
	clipped := max(clip*(noisy[n]/m+clip), 0)
	square := unclipped(clipped, clip)
	squareSD := clip * sd / m
	scale := 0.0
	for i := range values {
		scale += s.share[i] * weight[i] * weight[i]
	}
	moved := tailBias(clip / math.Sqrt(square+squareSD))
	moved *= moved * (square + squareSD) / scale
	explained, unsure := 0.0, 0.0
	for i, v := range values {
		gain := s.share[i] * weight[i]
		variance := s.noiseIn(i, weight[i], offset[i], sd)
		step := noisy[i] / m / gain
		noise := sd * sd / (m * m * gain * gain)
		signal := step*step - noise
		explained += gain * weight[i] * signal
		unsure += gain * gain * weight[i] * weight[i] * noise * (4*max(signal, 0) + 2*noise)
		s.belief.observe(i, v+step, variance/(gain*gain)+moved)
	}
	s.belief.update()
	s.spread = min(s.spread, (unexplained(clipped, square, explained-math.Sqrt(unsure))+squareSD)/scale)
}

// mostRestored bounds how much of the explained part is restored with the whole: where the
// clip cut much, what it cut is a guess, and to rely on it leaves clips too narrow and
// standard deviations too small (docs/results/estimators.md).
const mostRestored = 1.25

// unexplained is what remains of the mean square of norms when a part of it is explained by
// what values were off by. That part is of clipped residuals, and so it is taken from the
// clipped mean square, made larger as the whole was, by mostRestored at most. To take it from
// the larger whole would leave what the clip is guessed to have cut of the explained part,
// and the next clip would be far too wide where values differ much and returns little.
func unexplained(clipped, square, explained float64) float64 {
	if !(clipped > 0) {
		return 0
	}
	return max(square-max(explained, 0)*min(square/clipped, mostRestored), 0)
}

// noiseIn is the variance of the weighted mean residual of a cell: the noise, and
// the error of the cell's share times what there is left to correct.
func (s *state) noiseIn(i int, weight, offset, sd float64) float64 {
	noise, share := sd/s.persons, weight*s.shareSD
	return noise*noise + share*share*(s.belief.variance[i]+offset*offset)
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
// residual. The noise per cell that it weighs against the bias of clipping is what
// the rounds, averaged, leave in a value.
func (r ByState) roundClip(s *state, weight []float64) float64 {
	norm, noise := 0.0, 0.0
	for i, v := range s.belief.variance {
		norm += s.share[i] * weight[i] * weight[i] * (v + s.spread)
		gain := s.share[i] * weight[i]
		noise += 1 / (gain * gain)
	}
	rounds := r.Schedule.Multipliers[2:]
	noise = rounds[0] / s.persons * math.Sqrt(noise/float64(len(rounds)))
	s.factor = tailClip(noise, 1, 12)
	return s.factor * math.Sqrt(norm)
}

// offsets move what a round measures residuals from: no return lies outside of the
// public range, so that the room a clip would have there is better used on the side
// where returns may lie far off. Off-policy residuals are not bounded by the range.
//
// Visits are known up to shareSD, and so is what offsets add up to: that error stays
// below a third of the noise that the rounds leave.
func (r ByState) offsets(s *state, values []float64, clip float64) []float64 {
	out := make([]float64, len(values))
	if !r.Public.OnPolicy() {
		return out
	}
	margin, returns := clip/math.Sqrt(float64(len(values))), r.Public.Returns
	low, high := returns.Min+margin, returns.Max-margin
	if low > high {
		low, high = returns.Mid(), returns.Mid()
	}
	rounds := r.Schedule.Multipliers[2:]
	noise := clip * rounds[0] / s.persons / math.Sqrt(float64(len(rounds)))
	for i, v := range values {
		most := min(r.Rule.Offset*math.Sqrt(s.spread), noise*math.Sqrt(s.share[i])/s.shareSD/3)
		out[i] = min(max(min(max(v, low), high)-v, -most), most)
	}
	return out
}

func (r ByState) round(ctx context.Context, k, persons int, s *state, values []float64, walker func() *residuals, src *noise.Source) error {
	n := len(values)
	weight := r.weights(s)
	clip := r.roundClip(s, weight)
	offset := r.offsets(s, values, clip)
	sum := r.sum(k, n+1, clip)
	noisy, err := sum.release(ctx, persons, func() Contribution {
		w := walker()
		return func(dst []float64, p int) {
			w.person(p)
			for i, c := range w.cells {
				dst[c] = weight[c] * (w.mean[i] - offset[c])
			}
			clipWithSquare(dst, n, clip)
		}
	}, src)
	if err != nil {
		return err
	}
	about := make([]float64, n)
	for i, v := range values {
		about[i] = v + offset[i]
	}
	s.absorb(noisy, about, offset, weight, clip, sum.SD())
	return nil
}

// report is post-processing.
func (r ByState) report(s *state) *Estimate {
	out := &Estimate{
		Theta:   slices.Clone(s.belief.mean),
		SD:      make([]float64, len(s.belief.mean)),
		Persons: make([]float64, len(s.belief.mean)),
		Scatter: math.Sqrt(s.spread),
	}
	r.inRange(out.Theta)
	for i := range out.SD {
		out.Persons[i] = s.share[i] * s.persons
		out.SD[i] = math.Sqrt(s.belief.variance[i])
		if r.Public.OnPolicy() {
			out.SD[i] = r.sd(s, i)
		}
	}
	return out
}

// sd is the standard deviation of a value about the truth: the belief's, what
// finitely many persons make, as far as the value follows them, and what the clip is
// supposed to move it by. That counts in full beside what the belief holds of it:
// clips of all rounds err to the same side, and do not average out.
func (r ByState) sd(s *state, i int) float64 {
	follows := 1 - 1/(1+s.belief.precision[i]*s.belief.state)
	sampling := s.spread / (s.share[i] * s.persons) * follows * follows
	moved := tailBias(s.factor) * tailBias(s.factor) * s.spread
	return math.Sqrt(s.belief.variance[i] + sampling + moved)
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
	levelSD *= math.Sqrt(r.levelKept(levelSD))
	l := level{centre: r.Public.Returns.Mid(), sd: levelSD, persons: m,
		variance: (r.Rule.State*width)*(r.Rule.State*width) + width/2*levelSD}
	clip := r.firstClip(l.variance + l.sd*l.sd)
	sum, _, weight := r.countsSum(clip)
	shares := make([]float64, n)
	for i := range shares {
		shares[i] = (float64(i) + 0.5) / float64(n) * float64(r.most()) / float64(n)
	}
	s := r.newState(l, shares, sum.SD()/weight/m)
	// A share that is off by shareSD puts its state that far along the line.
	deviation := math.Hypot(r.Deviation*width, guessedSlope*width*s.shareSD)
	e := expectation{s, scatter * scatter, deviation, make([]float64, n), make([]float64, n)}
	e.expect(slices.Repeat([]float64{1}, n), clip, sum.SD())
	for k := 2; k < len(r.Schedule.Multipliers); k++ {
		weight := r.weights(s)
		clip := r.roundClip(s, weight)
		e.expect(weight, clip, r.sum(k, n+1, clip).SD())
	}
	total := 0.0
	for _, variance := range e.errors() {
		total += variance
	}
	return min(math.Sqrt(total/float64(n)), width/2)
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
		supposed := e.noiseIn(i, weight[i], 0, sd) / (gain * gain)
		noise, share := sd/e.persons, weight[i]*e.shareSD
		really := noise*noise + share*share*wrong[i] + gain*weight[i]*e.scatter/e.persons
		e.belief.observe(i, v, supposed)
		e.squares[i] += really / (gain * gain) / (supposed * supposed)
		e.observed[i] = e.squares[i] / (e.belief.precision[i] * e.belief.precision[i])
	}
	e.belief.update()
	e.spread = min(e.spread, e.scatter+clip*sd/e.persons/scale)
}
