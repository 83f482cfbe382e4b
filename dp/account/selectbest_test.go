package account_test

import (
	"errors"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"pgregory.net/rapid"
)

// generating is the generating function of the number of runs.
func generating(e dp.SelectBest) func(x float64) float64 {
	g := e.Gamma
	switch e.Runs {
	case "geometric":
		return func(x float64) float64 { return g * x / (1 - (1-g)*x) }
	case "logarithmic":
		return func(x float64) float64 { return math.Log1p(-(1-g)*x) / math.Log(g) }
	}
	return func(x float64) float64 { return math.Exp(e.Mean * (x - 1)) }
}

// bestOf is the law of the best of a random number of draws from p, whose outcomes are
// in rising order, with that of no draw first.
func bestOf(e dp.SelectBest, p []float64) []float64 {
	f := generating(e)
	out, sum := []float64{f(0)}, 0.0
	for _, x := range p {
		out = append(out, f(min(sum+x, 1))-f(sum))
		sum += x
	}
	return out
}

func divergence(p, q []float64, order float64) float64 {
	sum := 0.0
	for i := range p {
		if p[i] > 0 {
			sum += p[i] * math.Pow(p[i]/q[i], order-1)
		}
	}
	return math.Log(sum) / (order - 1)
}

// TestSelectBestCoversEnumeration enumerates the law of the best of a random number of
// runs of a mechanism with four outputs: its divergence is below the bound from the
// mechanism's own, and below that from its epsilon.
func TestSelectBestCoversEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := dp.SelectBest{Runs: rapid.SampledFrom([]string{"geometric", "logarithmic", "poisson"}).Draw(t, "runs")}
		if e.Runs == "poisson" {
			e.Mean = math.Exp(rapid.Float64Range(-3, 4).Draw(t, "ln mean"))
		} else {
			e.Gamma = math.Exp(rapid.Float64Range(-6, -.01).Draw(t, "ln gamma"))
		}
		p, q := make([]float64, 4), make([]float64, 4)
		sp, sq, worst := 0.0, 0.0, 0.0
		for i := range p {
			p[i] = math.Exp(rapid.Float64Range(-7, 0).Draw(t, "ln p"))
			q[i] = p[i] * math.Exp(rapid.Float64Range(-1, 1).Draw(t, "loss"))
			sp, sq = sp+p[i], sq+q[i]
		}
		for i := range p {
			p[i], q[i] = p[i]/sp, q[i]/sq
			worst = max(worst, math.Abs(math.Log(p[i]/q[i])))
		}
		if worst == 0 {
			return
		}
		curve := dp.RenyiCurve{}
		for order := 1.05; order < 300; order *= 1.15 {
			v := max(divergence(p, q, order), divergence(q, p, order), 0)
			if n := len(curve.Values); n > 0 {
				v = max(v, curve.Values[n-1])
			}
			curve.Orders, curve.Values = append(curve.Orders, order), append(curve.Values, v*(1+1e-9)+1e-12)
		}
		order := curve.Orders[rapid.IntRange(0, 25).Draw(t, "order")]
		truth := max(divergence(bestOf(e, p), bestOf(e, q), order), divergence(bestOf(e, q), bestOf(e, p), order))
		for _, one := range []dp.Event{curve, dp.PureDP{Epsilon: worst}} {
			e.Event = one
			r := account.NewRDP(dp.ReplaceOne)
			if err := r.Compose(t.Context(), e, 1); err != nil {
				t.Fatal(err)
			}
			if got := r.Renyi(order); !(got >= truth*(1-1e-6)-1e-9) {
				t.Fatalf("%s, gamma %v, mean %v, %T, order %v: bound %v; the best has %v", e.Runs, e.Gamma, e.Mean, one, order, got, truth)
			}
		}
	})
}

// TestSelectBestOfAPureMechanism: the best of a geometric number of runs of an epsilon
// is 3 epsilon-private (Liu and Talwar 2019), of a logarithmic one 2 epsilon (Papernot
// and Steinke 2022, Corollary 3), however many runs are expected. No less holds: take a common
// output, a rarer and better one, and between them one far rarer still, which
// is shown when the better one never came.
func TestSelectBestOfAPureMechanism(t *testing.T) {
	const epsilon, better, rare = .5, 1e-3, 1e-9
	for runs, factor := range map[string]float64{"geometric": 3, "logarithmic": 2} {
		for _, gamma := range []float64{1e-2, 1e-4} {
			r := account.NewRDP(dp.ReplaceOne)
			compose(t, r, dp.SelectBest{Runs: runs, Gamma: gamma, Event: dp.PureDP{Epsilon: epsilon}}, 1)
			if got := r.Renyi(1e6); math.Abs(got-factor*epsilon) > 1e-3 {
				t.Errorf("%s, gamma %v: divergence %v; want %v", runs, gamma, got, factor*epsilon)
			}
		}
		e, up := dp.SelectBest{Runs: runs, Gamma: 1e-10}, math.Exp(epsilon)
		p := bestOf(e, []float64{1 - better - rare*up, rare * up, better})
		q := bestOf(e, []float64{1 - better*up - rare, rare, better * up})
		if loss := math.Log(p[2] / q[2]); math.Abs(loss/(factor*epsilon)-1) > 1e-4 {
			t.Errorf("%s: an enumerated loss of %v; want nearly %v", runs, loss, factor*epsilon)
		}
	}
}

// TestSelectBestOfGaussianNoise: of rho-zCDP the second order of Theorem 2 (Papernot and Steinke 2022) is
// best at sqrt(ln(1/gamma)/rho), which gives, at order a,
// a rho + (1+eta)(2 sqrt(rho ln(1/gamma)) - rho) + ln(mean)/(a-1).
func TestSelectBestOfGaussianNoise(t *testing.T) {
	for _, rho := range []float64{.001, .1, .5} {
		for _, gamma := range []float64{.1, 1e-3} {
			inverse := math.Log(1 / gamma)
			for _, c := range []struct {
				runs      string
				eta, mean float64
			}{{"geometric", 1, 1 / gamma}, {"logarithmic", 0, (1/gamma - 1) / inverse}} {
				r := account.NewRDP(dp.AddRemoveOne)
				compose(t, r, dp.SelectBest{Runs: c.runs, Gamma: gamma, Event: dp.ZeroConcentratedDP{Rho: rho}}, 1)
				for _, order := range []float64{1.5, 4, 30} {
					want := order*rho + (1+c.eta)*(2*math.Sqrt(rho*inverse)-rho) + math.Log(c.mean)/(order-1)
					if got := r.Renyi(order); got < want*(1-1e-12) || got > want*(1+1e-4) {
						t.Errorf("%s, rho %v, gamma %v, order %v: %v; want %v", c.runs, rho, gamma, order, got, want)
					}
				}
			}
		}
	}
	// Poisson: below the order 1 + 1/(e^epsilon - 1) a pure mechanism adds ln(mean)/(order-1)
	// and no more (Theorem 6), but for the chance of no run.
	const epsilon, mean = .1, 12.
	r := account.NewRDP(dp.AddRemoveOne)
	compose(t, r, dp.SelectBest{Runs: "poisson", Mean: mean, Event: dp.PureDP{Epsilon: epsilon}}, 1)
	one := account.NewRDP(dp.AddRemoveOne)
	compose(t, one, dp.PureDP{Epsilon: epsilon}, 1)
	for _, order := range []float64{2, 5, 9} {
		want := one.Renyi(order) + math.Log(mean)/(order-1)
		if got := r.Renyi(order); got < want || got > want*(1+1e-5) {
			t.Errorf("poisson, order %v: %v; want %v", order, got, want)
		}
	}
}

func TestSelectBestIsOneEventByRenyi(t *testing.T) {
	best := func(e dp.Event) dp.Event { return dp.SelectBest{Runs: "logarithmic", Gamma: .02, Event: e} }
	train := dp.SelfComposed{Count: 500, Event: sgd(.01, 1)}
	a := account.New(dp.AddRemoveOne)
	compose(t, a, best(train), 1)
	one, b := ask(t, dp.AddRemoveOne, train, 1, "epsilon", 0, 1e-6), account.Bracket{}
	b, err := a.Epsilon(t.Context(), 1e-6)
	if err != nil || a.String() != "rdp" || b.Lower != 0 || b.Upper < one.Lower || b.Upper > 3*one.Upper {
		t.Errorf("best of some trainings: %v by %v, %v; one has %v", b, a, err, one)
	}
	for _, e := range []dp.Event{
		best(dp.ApproximateDP{Epsilon: 1, Delta: 1e-9}),
		best(dp.SmoothGaussian{Alpha: 9, Beta: .01, Dimension: 3}),
		dp.PoissonSampled{Rate: .1, Event: best(dp.Gaussian{NoiseMultiplier: 1})},
		best(without(10, 5, 1)), // not defined under add_remove_one
	} {
		if err := account.New(dp.AddRemoveOne).Compose(t.Context(), e, 1); !errors.Is(err, account.ErrUnsupported) {
			t.Errorf("%+v: %v; want ErrUnsupported", e, err)
		}
	}
}
