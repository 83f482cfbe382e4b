package scalar

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// logistic is a regression that spends mu in all under ReplaceOne.
func logistic(dim, actions, decisions int, mu float64) Logistic {
	l := Logistic{Dim: dim, Actions: actions, Decisions: decisions, Floor: 0.02, Adjacency: dp.ReplaceOne}
	for k, s := range LogisticShares() {
		l.Noise[k] = 2 / mu / math.Sqrt(s)
	}
	return l
}

// choicesOf draws persons whose choices follow the model, with an intercept and
// coordinates that are uniform.
func choicesOf(rng *rand.Rand, l Logistic, theta []float64, persons int) (*value.Sample, Choices) {
	d := &trajectory.Dataset{PersonStart: []int{0}, EpisodeStart: []int{0}}
	var c Choices
	p := make([]float64, l.Actions)
	for range persons {
		for range l.Decisions {
			x := make([]float64, l.Dim)
			x[0] = 1 / math.Sqrt(float64(l.Dim))
			for i := 1; i < l.Dim; i++ {
				x[i] = (2*rng.Float64() - 1) / math.Sqrt(float64(l.Dim))
			}
			l.probabilities(p, theta, x)
			u, a := rng.Float64(), 0
			for ; a < l.Actions-1 && u >= p[a]; a++ {
				u -= p[a]
			}
			c.Action, c.X = append(c.Action, a), append(c.X, x...)
			d.Reward, d.TargetProb, d.BehaviorProb = append(d.Reward, 0), append(d.TargetProb, 1), append(d.BehaviorProb, 1)
		}
		d.EpisodeStart, d.PersonStart = append(d.EpisodeStart, len(d.Reward)), append(d.PersonStart, len(d.EpisodeStart))
	}
	s, err := value.NewSample(d, value.Options{Gamma: 1, Policy: policy.ProbColumn{}})
	if err != nil {
		panic(err)
	}
	return s, c
}

// normal draws coefficients.
func normal(rng *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1.5 * rng.NormFloat64()
	}
	return out
}

// TestLimitsOfARegressionHoldTogether: the limits hold for everybody at once in all but
// 1% of 60 logs, whether they say much or little. Of 1% more than 6 are a chance of
// less than 1e-5. Where much is known they say much.
func TestLimitsOfARegressionHoldTogether(t *testing.T) {
	const logs = 60
	for _, c := range []struct {
		dim, actions, decisions, persons int
		mu, wide                         float64
	}{{3, 2, 1, 300, 0.2, 10}, {3, 2, 1, 1500, 2, 1.3}, {2, 3, 1, 1500, 2, 1.5}, {2, 2, 4, 500, 1, 1.3}} {
		l := logistic(c.dim, c.actions, c.decisions, c.mu)
		rng, src := rand.New(rand.NewPCG(1, 7)), noise.NewSeeded(1)
		missed, ratio, rows := 0, 0.0, 0.0
		p := make([]float64, l.Actions)
		for range logs {
			theta := normal(rng, l.Coefficients())
			s, choices := choicesOf(rng, l, theta, c.persons)
			sums, err := l.Release(s, chose(choices), src)
			if err != nil {
				t.Fatal(err)
			}
			f, miss := l.Fit(sums), false
			for row := 0; row < len(choices.Action); row += 37 {
				x := choices.X[row*l.Dim : (row+1)*l.Dim]
				l.probabilities(p, theta, x)
				for a, right := range p {
					miss = miss || f.Upper(x, a) < right
				}
				a := choices.Action[row]
				ratio += max(f.Upper(x, a), p[a]) / p[a]
				rows++
			}
			if miss {
				missed++
			}
		}
		t.Logf("%+v: %d of %d missed; a limit is %.3f times what it limits", c, missed, logs, ratio/rows)
		if missed > 6 {
			t.Errorf("%+v: limits miss in %d of %d logs", c, missed, logs)
		}
		if ratio/rows > c.wide {
			t.Errorf("%+v: a limit is %.3f times what it limits", c, ratio/rows)
		}
	}
}

// TestSteepLogsAreNotLimitedByCoefficientsOnTheirWay: log-odds of 40 z, z in [-1, 1], are
// farther away than five steps go. No limit may be below what it limits because the steps
// ended too soon, and the fit says that they did. Of 1% more than 4 of 20 are a chance of
// less than 2e-6. Log-odds of 2 z are reached, but for the test's own miss of 0.1%.
func TestSteepLogsAreNotLimitedByCoefficientsOnTheirWay(t *testing.T) {
	const logs = 20
	for _, slope := range []float64{2, 40} {
		l := logistic(2, 2, 1, 1)
		rng, src := rand.New(rand.NewPCG(4, 7)), noise.NewSeeded(3)
		// choicesOf has (1, z)/sqrt 2.
		theta := []float64{0, slope * math.Sqrt2}
		missed, settled := 0, 0
		p := make([]float64, l.Actions)
		for range logs {
			s, choices := choicesOf(rng, l, theta, 4000)
			sums, err := l.Release(s, chose(choices), src)
			if err != nil {
				t.Fatal(err)
			}
			f, miss := l.Fit(sums), false
			for row := 0; row < len(choices.Action); row += 37 {
				x := choices.X[row*l.Dim : (row+1)*l.Dim]
				l.probabilities(p, theta, x)
				for a, right := range p {
					miss = miss || f.Upper(x, a) < right
				}
			}
			if miss {
				missed++
			}
			if f.Settled {
				settled++
			}
		}
		if missed > 4 {
			t.Errorf("slope %v: limits miss in %d of %d logs", slope, missed, logs)
		}
		if reached := settled > logs/2; reached != (slope == 2) {
			t.Errorf("slope %v: %d of %d fits settled", slope, settled, logs)
		}
	}
}

// TestLimitsOfSteepLogsThatNoiseHides: log-odds of 12 (u - 1/2) over u in [-.4, .6], with so
// much noise that five rounds seem to have settled far from them. No limit may be too low
// because the region is longer than an expansion vouches for. Of 1% more than 4 of 40 are a
// chance of less than 1e-4. Log-odds of 4 (u - 1/2) over u
// in [-1, 1], with more persons and less noise, keep their limits.
func TestLimitsOfSteepLogsThatNoiseHides(t *testing.T) {
	for _, c := range []struct {
		slope, low, high float64
		persons, most    int // logs that may be limited
		least            int
		mu               float64
	}{{12, -0.4, 0.6, 3000, 4, 0, 0.12}, {4, -1, 1, 4000, 40, 36, 0.5}} {
		const logs = 40
		l := logistic(2, 2, 1, c.mu)
		rng, src := rand.New(rand.NewPCG(11, 7)), noise.NewSeeded(5)
		// choicesOf draws z in [-1, 1]; log-odds in terms of u = middle + half z.
		middle, half := (c.low+c.high)/2, (c.high-c.low)/2
		theta := []float64{-c.slope / 2 * math.Sqrt2, c.slope * math.Sqrt2}
		at := []float64{theta[0] + theta[1]*middle, theta[1] * half}
		missed, limited := 0, 0
		p := make([]float64, l.Actions)
		for range logs {
			s, choices := choicesOf(rng, l, at, c.persons)
			for row := range c.persons {
				choices.X[2*row+1] = middle/math.Sqrt2 + half*choices.X[2*row+1]
			}
			sums, err := l.Release(s, chose(choices), src)
			if err != nil {
				t.Fatal(err)
			}
			f, miss := l.Fit(sums), false
			for row := 0; row < c.persons; row += 37 {
				x := choices.X[2*row : 2*row+2]
				l.probabilities(p, theta, x)
				for a, right := range p {
					miss = miss || f.Upper(x, a) < right
				}
			}
			if miss {
				missed++
			}
			if f.Settled {
				limited++
			}
		}
		if missed > 4 {
			t.Errorf("slope %v: limits miss in %d of %d logs", c.slope, missed, logs)
		}
		if limited < c.least || limited > c.most {
			t.Errorf("slope %v: %d of %d fits give limits; want %d to %d", c.slope, limited, logs, c.least, c.most)
		}
	}
}

// TestContributionsKeepTheClip: whatever is chosen and believed, the norm of what a
// person adds is at most the clip, and a single decision counts in full.
func TestContributionsKeepTheClip(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for range 4000 {
		l := logistic(1+rng.IntN(4), 2+rng.IntN(4), 1+rng.IntN(6), 1)
		rows := 1 + rng.IntN(2*l.Decisions)
		c := Choices{Action: make([]int, rows), X: make([]float64, rows*l.Dim)}
		for row := range rows {
			c.Action[row] = rng.IntN(l.Actions)
			x, norm := c.X[row*l.Dim:(row+1)*l.Dim], 0.0
			for i := range x {
				x[i] = rng.NormFloat64()
				norm += x[i] * x[i]
			}
			for i := range x {
				x[i] /= math.Sqrt(norm)
			}
		}
		theta := normal(rng, l.Coefficients())
		for i := range theta {
			theta[i] *= 4
		}
		y := make([]float64, l.Size())
		l.contribution(y, theta, c, 0, rows)
		norm := 0.0
		for _, v := range y {
			norm += v * v
		}
		if math.Sqrt(norm) > l.Clip()*(1+1e-12) {
			t.Fatalf("%+v: norm %v, clip %v", l, math.Sqrt(norm), l.Clip())
		}
		one, whole := l, make([]float64, l.Size())
		one.Decisions = 1
		one.contribution(y, theta, c, 0, 1)
		p := make([]float64, l.Actions)
		l.probabilities(p, theta, c.X[:l.Dim])
		l.add(whole, p, c.X[:l.Dim], c.Action[0], 1)
		for i := range y {
			if math.Abs(y[i]-whole[i]) > 1e-9 {
				t.Fatalf("%+v at %v: a single decision counts in part: %v of %v", l, theta, y, whole)
			}
		}
	}
}

// TestGradientAndInformationOfTheLikelihood against differences of the log-likelihood.
func TestGradientAndInformationOfTheLikelihood(t *testing.T) {
	l := logistic(2, 3, 1, 1)
	theta, x, action := []float64{0.3, -1, 0.5, 2}, []float64{0.6, -0.5}, 2
	likelihood := func(theta []float64) float64 {
		p := make([]float64, l.Actions)
		l.probabilities(p, theta, x)
		return math.Log(p[action])
	}
	at := func(i, j int, di, dj float64) float64 {
		moved := append([]float64(nil), theta...)
		moved[i] += di
		moved[j] += dj
		return likelihood(moved)
	}
	y := make([]float64, l.Size())
	l.contribution(y, theta, Choices{Action: []int{action}, X: x}, 0, 1)
	information := l.information(y)
	const h = 1e-4
	for i := range theta {
		if want := (at(i, i, h, 0) - at(i, i, -h, 0)) / (2 * h); math.Abs(y[i]-want) > 1e-6 {
			t.Errorf("gradient[%d] %v; want %v", i, y[i], want)
		}
		for j := range theta {
			want := -(at(i, j, h, h) - at(i, j, h, -h) - at(i, j, -h, h) + at(i, j, -h, -h)) / (4 * h * h)
			if got := information.At(i, j); math.Abs(got-want) > 1e-6 {
				t.Errorf("information[%d, %d] %v; want %v", i, j, got, want)
			}
		}
	}
}

// TestWhatCountsDoesNotDependOnTheAction: with which weight a decision counts is known
// before it is made, so that at the truth the gradient has mean 0. Two persons who differ
// in their last action differ by that decision at one and the same weight.
func TestWhatCountsDoesNotDependOnTheAction(t *testing.T) {
	l := logistic(1, 2, 4, 1)
	theta := []float64{-2}
	c := Choices{X: []float64{1, 1, 1, 1, 1}}
	of := func(actions ...int) []float64 {
		c.Action = actions
		y := make([]float64, l.Size())
		l.contribution(y, theta, c, 0, 5)
		return y
	}
	p := make([]float64, 2)
	l.probabilities(p, theta, c.X[:1])
	for _, before := range [][]int{{1, 1}, {1, 0}, {0, 0}} {
		up, down := of(append(before, 1, -1, -1)...), of(append(before, 0, -1, -1)...)
		without := of(append(before, -1, -1, -1)...)
		w := up[0] - down[0]
		if !(w > 0 && w <= 1+1e-12) || math.Abs(up[0]-without[0]-w*(1-p[1])) > 1e-12 || math.Abs(up[1]-down[1]) > 1e-12 {
			t.Errorf("after %v: %v, %v and %v without", before, up, down, without)
		}
	}
}

// TestAuditOfARegression bounds mu from below by the first gradient of two neighbours whose
// one person chooses one way and the other, with the longest vector: the bound is below
// what is claimed, and not once the noise is halved.
func TestAuditOfARegression(t *testing.T) {
	const multiplier = 1
	score := func(l Logistic) func(bool, *noise.Source) float64 {
		return func(neighbour bool, src *noise.Source) float64 {
			d := &trajectory.Dataset{PersonStart: []int{0, 1}, EpisodeStart: []int{0, 1}, Reward: []float64{0}, BehaviorProb: []float64{1}, TargetProb: []float64{1}}
			s, err := value.NewSample(d, value.Options{Gamma: 1, Policy: policy.ProbColumn{}})
			if err != nil {
				t.Fatal(err)
			}
			c := Choices{Action: []int{1}, X: []float64{1}}
			if neighbour {
				c.Action[0] = 0
			}
			sums, err := l.Release(s, chose(c), src)
			if err != nil {
				t.Fatal(err)
			}
			return sums[0][0]
		}
	}
	l := Logistic{Dim: 1, Actions: 2, Decisions: 1, Adjacency: dp.ReplaceOne}
	for k := range l.Noise {
		l.Noise[k] = multiplier
	}
	// At coefficients of 0 the two gradients are 1/2 and -1/2, half as far apart as the
	// clip allows for.
	const apart = 2.0 / multiplier / 2
	if got := lowerMu(t, score(l), noise.NewSeeded(41), runsWhole); got > apart || got < 0.8*apart {
		t.Errorf("mu is at least %.4f; these neighbours should show 0.8 of %.4f and no more than that", got, apart)
	}
	for k := range l.Noise {
		l.Noise[k] /= 2
	}
	if got := lowerMu(t, score(l), noise.NewSeeded(42), runsWhole); got < apart {
		t.Errorf("halved noise passes: mu at least %.4f", got)
	}
}
