package train_test

import (
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp/local"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/train"
)

// TestInfluenceIsBounded sends reports larger than the bound, and one within it.
func TestInfluenceIsBounded(t *testing.T) {
	terms := train.Terms{Dim: 2, Randomizer: train.Randomizer{Mechanism: train.NotPrivate}, Submissions: 10,
		Optimizer: train.Optimizer{Kind: "sgd", Step: 1}, Buffer: 1, Staleness: -1, Influence: train.Influence{Norm: 2}}
	agg := aggregator(t, terms, train.Options{})
	theta, last := make([]float64, 2), make([]float64, 2)
	for _, c := range []struct{ report, step [2]float64 }{
		{[2]float64{-30, 40}, [2]float64{1.2, -1.6}}, {[2]float64{1e200, 0}, [2]float64{-2, 0}}, {[2]float64{.6, .8}, [2]float64{-.6, -.8}},
	} {
		submit(t, agg, plain(t, agg.Issue(0), c.report[:]), train.Accepted)
		agg.Theta(theta)
		for i := range theta {
			if got := theta[i] - last[i]; math.Abs(got-c.step[i]) > 1e-12 {
				t.Errorf("report %v moves weight %d by %v; want %v", c.report, i, got, c.step[i])
			}
		}
		copy(last, theta)
	}
}

// TestInfluenceAlongTheMeanIsBounded sends one report as large as the format admits.
func TestInfluenceAlongTheMeanIsBounded(t *testing.T) {
	const step, along = 1.0, 1.5
	terms := train.Terms{Dim: 4, Randomizer: train.Randomizer{Mechanism: train.NotPrivate}, Submissions: 10,
		Optimizer: train.Optimizer{Kind: "momentum", Step: step, Momentum: .5}, Buffer: 1, Staleness: -1,
		Influence: train.Influence{Norm: 2, Along: along}}
	agg := aggregator(t, terms, train.Options{})
	submit(t, agg, plain(t, agg.Issue(0), []float64{1, 0, 0, 0}), train.Accepted) // the mean is e_1
	theta, before := make([]float64, 4), make([]float64, 4)
	agg.Theta(before)
	// Against the mean, of norm 50: cut to norm 2, and along e_1 to 1.5 * 2/sqrt 4.
	submit(t, agg, plain(t, agg.Issue(0), []float64{-40, 30, 0, 0}), train.Accepted)
	agg.Theta(theta)
	m := []float64{.5 - along*2/2, 2 * 30. / 50, 0, 0}
	norm := math.Hypot(m[0], m[1])
	for i := range theta {
		if want := before[i] - step*m[i]/norm; math.Abs(theta[i]-want) > 1e-12 {
			t.Errorf("weight %d is %v; want %v", i, theta[i], want)
		}
	}
}

// TestHonestNormIsThatOfReports compares with 400 reports on a unit vector.
func TestHonestNormIsThatOfReports(t *testing.T) {
	src := noise.NewSeeded(3)
	for _, r := range []train.Randomizer{{Mechanism: train.PrivUnit, Epsilon: 2}, {Mechanism: train.Laplace, Epsilon: 1, Clip: .5}} {
		const dim = 100
		var v local.Vector = must(local.NewPrivUnitG(dim, r.Epsilon))(t)
		if r.Mechanism == train.Laplace {
			v = must(local.NewLaplace(dim, r.Clip, r.Epsilon))(t)
		}
		x, estimate := make([]float64, dim), make([]float64, dim)
		x[0] = 1
		mean := 0.0
		for range 400 {
			if err := v.Estimate(estimate, v.Randomize(nil, x, src)); err != nil {
				t.Fatal(err)
			}
			for _, y := range estimate {
				mean += y * y / 400
			}
		}
		want := must(train.NewCodec(r, dim))(t).HonestNorm()
		// The square of 100 coordinates varies by at most sqrt(5/100) relative, and the mean
		// of 400 by .011. Nine standard deviations.
		if ratio := mean / (want * want); math.Abs(ratio-1) > .1 {
			t.Errorf("%s: mean square %v; want %v", r.Mechanism, mean, want*want)
		}
	}
}
