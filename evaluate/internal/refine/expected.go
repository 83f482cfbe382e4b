package refine

import "math"

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
