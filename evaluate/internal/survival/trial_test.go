package survival

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// trial is a made-up study of two arms over visits 1, 2, ...: by arm and visit, the probability
// of the event among those at risk, and of being censored among those without it.
type trial struct {
	name        string
	event, drop [2][]float64
	// grouped trials have times anywhere in a bin: an event and a dropout each at a uniform time.
	grouped bool
}

const visits = 16

// constant is the same number at every visit, or one number for the first few.
func hazards(first float64, until int, then float64) []float64 {
	out := make([]float64, visits)
	for j := range out {
		if out[j] = then; j < until {
			out[j] = first
		}
	}
	return out
}

func trials() []trial {
	flat := func(x float64) []float64 { return hazards(x, 0, x) }
	return []trial{
		{name: "proportional", event: [2][]float64{flat(0.04), flat(0.07)}, drop: [2][]float64{flat(0.03), flat(0.03)}},
		{name: "crossing", event: [2][]float64{hazards(0.09, 6, 0.02), flat(0.05)}, drop: [2][]float64{flat(0.03), flat(0.03)}},
		{name: "delayed", event: [2][]float64{hazards(0.05, 6, 0.02), hazards(0.05, 6, 0.08)}, drop: [2][]float64{flat(0.02), flat(0.04)}},
		{name: "heavy dropout", event: [2][]float64{flat(0.04), flat(0.06)}, drop: [2][]float64{flat(0.10), flat(0.10)}},
		{name: "grouped", grouped: true, event: [2][]float64{flat(0.04), flat(0.07)}, drop: [2][]float64{flat(0.03), flat(0.05)}},
	}
}

// question is what is asked of the trial.
func (x trial) question(sd float64) Question {
	q := Question{Layout: Layout{Arms: 2, Bins: visits, Causes: 1}, Until: visits, Control: 1, SD: sd, Grouped: x.grouped}
	for j := range visits {
		q.Ends = append(q.Ends, float64(j+1))
	}
	return q
}

// survival is the truth of an arm, by the end of each visit, and its restricted mean.
func (x trial) truth(arm int) (curve []float64, mean float64) {
	s := 1.0
	for _, h := range x.event[arm] {
		next := s * (1 - h)
		if x.grouped {
			mean += (s + next) / 2
		} else {
			mean += s
		}
		s = next
		curve = append(curve, s)
	}
	return curve, mean
}

// draw fills in the exact counts of n persons.
func (x trial) draw(q Question, n int, r *rand.Rand) []float64 {
	cells := make([]float64, q.Cells())
	first := binomial(n, 0.5, r)
	for arm, left := range []int{first, n - first} {
		for j := range visits {
			h, c := x.event[arm][j], x.drop[arm][j]
			var died, gone int
			if x.grouped {
				// Both at times uniform within the visit: of those who would do both, half are seen to die.
				both := binomial(left, h*c, r)
				seen := binomial(both, 0.5, r)
				diedOnly := binomial(left-both, h*(1-c)/(1-h*c), r)
				goneOnly := binomial(left-both-diedOnly, (1-h)*c/(1-h*c-h*(1-c)), r)
				died, gone = seen+diedOnly, both-seen+goneOnly
			} else {
				died = binomial(left, h, r)
				gone = binomial(left-died, c, r)
			}
			cells[q.Exit(arm, 0, j, 1)], cells[q.Exit(arm, 0, j, 0)] = float64(died), float64(gone)
			left -= died + gone
		}
		cells[q.End(arm, 0)] = float64(left)
	}
	return cells
}

func binomial(n int, p float64, r *rand.Rand) int {
	if n == 0 || p <= 0 {
		return 0
	}
	return int(distuv.Binomial{N: float64(n), P: min(p, 1), Src: r}.Rand())
}

// law is the noise of one count or, with sums, of the square root of running sums.
type law struct {
	name   string
	sd     float64
	sample func(src *noise.Source) float64
	sums   bool
}

// disturb adds the noise to cells.
func (l law) disturb(q Question, cells []float64, src *noise.Source) {
	z := make([]float64, len(cells))
	for k := range z {
		z[k] = l.sample(src)
	}
	if l.sums {
		differences := xmath.RootDifferences(q.Bins + 1)
		for _, series := range q.Series() {
			for i := len(series) - 1; i >= 0; i-- {
				sum := 0.0
				for k := range i + 1 {
					sum += differences[i-k] * z[series[k]]
				}
				z[series[i]] = sum
			}
		}
	}
	for k := range cells {
		cells[k] += z[k]
	}
}

// rootsLaw is Gaussian noise of running sums, where that of single cells would have a standard deviation sd.
func rootsLaw(t testing.TB, bins int, sd float64) law {
	square := 0.0
	for _, f := range xmath.RootSums(bins + 1) {
		square += f * f
	}
	l := gaussianLaw(t, sd*math.Sqrt(square))
	l.name, l.sums = "gaussian, running sums", true
	return l
}

// laplaceLaw is discrete Laplace noise of a scale, and gaussianLaw Gaussian noise.
func laplaceLaw(t testing.TB, scale float64) law {
	d, err := noise.NewDiscreteLaplace(scale)
	if err != nil {
		t.Fatal(err)
	}
	sd := math.Sqrt2 * math.Exp(-1/(2*scale)) / -math.Expm1(-1/scale)
	return law{name: "laplace", sd: sd, sample: func(src *noise.Source) float64 { return float64(d.Sample(src)) }}
}

func gaussianLaw(t testing.TB, sd float64) law {
	const steps = 1 << 20
	d, err := noise.NewGaussian(sd * steps)
	if err != nil {
		t.Fatal(err)
	}
	return law{name: "gaussian", sd: sd, sample: func(src *noise.Source) float64 { return float64(d.Sample(src)) / steps }}
}

// seen is what many logs showed of a cell of the table.
type seen struct {
	logs             int
	mean, band, diff int // how often the interval of the difference of means, both curves' bands, and the band of the difference held
	tooHigh, tooLow  int // intervals of the difference of means above, and below, the truth
	shown            int // intervals of the difference that leave 0 out
	width, bandWidth float64
	bare             float64 // width of the interval without noise
}

func (x trial) look(n, logs int, l law, seed uint64) seen {
	q, bare := x.question(l.sd), x.question(0)
	q.Sums = l.sums
	r, src := rand.New(rand.NewPCG(seed, 1)), noise.NewSeeded(seed)
	s := seen{logs: logs}
	treated, treatedMean := x.truth(0)
	control, controlMean := x.truth(1)
	truth := treatedMean - controlMean
	within := func(b Band, want []float64) bool {
		for j, v := range want {
			if v < b.Lower[j]-1e-12 || v > b.Upper[j]+1e-12 {
				return false
			}
		}
		return true
	}
	apart := make([]float64, visits)
	for j := range apart {
		apart[j] = treated[j] - control[j]
	}
	for range logs {
		cells := x.draw(q, n, r)
		m := bare.Estimate(cells).Differences[0].Mean
		s.bare += (m.Upper - m.Lower) / float64(logs)
		l.disturb(q, cells, src)
		found := q.Estimate(cells)
		d := found.Differences[0]
		switch {
		case d.Mean.Lower > truth:
			s.tooHigh++
		case d.Mean.Upper < truth:
			s.tooLow++
		default:
			s.mean++
		}
		if d.Mean.Lower > 0 || d.Mean.Upper < 0 {
			s.shown++
		}
		if within(found.Arms[0].Curve, treated) {
			s.band++
		}
		if within(d.Curve, apart) {
			s.diff++
		}
		s.width += (d.Mean.Upper - d.Mean.Lower) / float64(logs)
		for j := range visits {
			s.bandWidth += (found.Arms[0].Curve.Upper[j] - found.Arms[0].Curve.Lower[j]) / visits / float64(logs)
		}
	}
	return s
}

// Intervals and bands hold the truth: over 4 x 5 cells of 200 logs a cell of 95% is below 89%
// with a probability of 1 in 5,000 each.
func TestIntervalsHoldTheTruth(t *testing.T) {
	for i, x := range trials() {
		for k, n := range []int{300, 2000} {
			for _, l := range []law{laplaceLaw(t, 2), rootsLaw(t, visits, 5.28)} {
				s := x.look(n, 200, l, uint64(100*i+k))
				t.Logf("%s, n = %d, %s: mean %d, band %d, difference %d of %d; width %.3g, without noise %.3g, band %.3g",
					x.name, n, l.name, s.mean, s.band, s.diff, s.logs, s.width, s.bare, s.bandWidth)
				for _, held := range []int{s.mean, s.band, s.diff} {
					if float64(held) < 0.89*float64(s.logs) {
						t.Errorf("%s, n = %d, %s: held %d of %d", x.name, n, l.name, held, s.logs)
					}
				}
			}
		}
	}
}
