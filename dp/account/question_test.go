// Questions that no one would ask, drawn at random, and what every answer must keep: it comes in time, it is ordered,
// and no single set of outcomes refutes it.

package account_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"pgregory.net/rapid"
)

// patience is how long one question may take. Answers to most of these take a few
// milliseconds, to smooth Gaussians in 10^5 dimensions up to a minute; a loop that
// does not end takes for ever.
const patience = 4 * time.Minute

// question is one event put to one accountant.
type question struct {
	name           string
	adj            dp.Adjacency
	event          dp.Event
	count          int64
	epsilon, delta float64
}

func (q question) String() string {
	return fmt.Sprintf("%s, %v: %d of %#v at epsilon %g, delta %g", q.name, q.adj, q.count, q.event, q.epsilon, q.delta)
}

// answer is what came back; an error stands for a refusal.
type answer struct {
	delta, epsilon       account.Bracket
	deltaErr, epsilonErr error
	panicked             any
}

var everyAccountant = []string{"new", "closed", "pld", "rdp"}

func fresh(name string, adj dp.Adjacency) account.Accountant {
	switch name {
	case "group":
		return account.ForGroup(account.New(adj), 3)
	case "closed":
		return account.NewClosedForm(adj)
	case "pld":
		return account.NewPLD(adj)
	case "rdp":
		return account.NewRDP(adj)
	}
	return account.New(adj)
}

// inTime returns ok = false where no answer came in time.
func inTime(q question) (a answer, ok bool) {
	done := make(chan answer, 1)
	go func() {
		var a answer
		defer func() { a.panicked = recover(); done <- a }()
		acc := fresh(q.name, q.adj)
		if err := acc.Compose(context.Background(), q.event, q.count); err != nil {
			a.deltaErr, a.epsilonErr = err, err
			return
		}
		a.delta, a.deltaErr = acc.Delta(context.Background(), q.epsilon)
		a.epsilon, a.epsilonErr = acc.Epsilon(context.Background(), q.delta)
	}()
	select {
	case a = <-done:
		return a, true
	case <-time.After(patience):
		return answer{}, false
	}
}

// fault says what is wrong with the answer to q, "" where nothing is.
func (q question) fault() string {
	a, ok := inTime(q)
	switch {
	case !ok:
		return "no answer in time"
	case a.panicked != nil:
		return fmt.Sprintf("panic: %v", a.panicked)
	}
	for _, err := range []error{a.deltaErr, a.epsilonErr} {
		if err != nil && !errors.Is(err, account.ErrUncertified) && !errors.Is(err, account.ErrUnsupported) && !errors.Is(err, dp.ErrBudget) && !errors.Is(err, dp.ErrEvent) {
			return fmt.Sprintf("error %v wraps no sentinel", err)
		}
	}
	const tolerance = 1e-9 // of the floor's own arithmetic
	if a.deltaErr == nil {
		if b := a.delta; !(0 <= b.Lower && b.Lower <= b.Upper && b.Upper <= 1+1e-12) {
			return fmt.Sprintf("delta %.17g; want ordered bounds in [0, 1]", b)
		}
		if least := floor(q.adj, q.event, q.epsilon*(1+tolerance)); a.delta.Upper < least*(1-tolerance) {
			return fmt.Sprintf("delta %v; one set of outcomes already has %v", a.delta, least)
		}
	}
	if a.epsilonErr == nil {
		if b := a.epsilon; !(0 <= b.Lower && b.Lower <= b.Upper && !math.IsInf(b.Upper, 1)) {
			return fmt.Sprintf("epsilon %v; want ordered, finite bounds", b)
		}
		if least := floor(q.adj, q.event, a.epsilon.Upper*(1+tolerance)+tolerance); least > q.delta*(1+tolerance)+tolerance {
			return fmt.Sprintf("epsilon %v; one set of outcomes already has delta %v there", a.epsilon, least)
		}
	}
	return ""
}

// floor is a lower bound on delta at epsilon from a single set of outcomes that
// needs no numerics: P(S) - e^epsilon Q(S), in the simplest formula there is.
func floor(adj dp.Adjacency, event dp.Event, epsilon float64) float64 {
	gap := adj.SumSensitivity(1)
	// 1-Phi(mu) <= e^(-mu^2/2)/2.
	half := func(mu float64) float64 { return -math.Expm1(epsilon-mu*mu/2) / 2 }
	least := 0.0
	switch e := event.(type) {
	case dp.Gaussian:
		least = half(min(gap/e.NoiseMultiplier, 50))
	case dp.SmoothGaussian:
		least = half(min(1/e.Alpha, 50))
	case dp.DiscreteGaussian:
		// Half of the mass is at or above the centre, and at sigma's 50 times
		// there is none (Canonne, Kamath, Steinke 2020, Proposition 25).
		if k := math.Floor(e.Norm); k >= 1 && adj.SumSensitivity(k)/e.Sigma > 50 {
			least = 0.5 - math.Exp(min(epsilon-1250, 0))
		}
	case dp.Laplace:
		least = -math.Expm1((epsilon - gap/e.NoiseMultiplier) / 2)
	case dp.DiscreteLaplace:
		if k := adj.SumSensitivity(math.Floor(e.Norm)); k >= 1 {
			least = -math.Expm1(epsilon-min(k/e.Scale, 1e300)) / (1 + math.Exp(-1/e.Scale))
		}
	case dp.RandomizedResponse:
		least = 1 - e.NoiseParameter - math.Exp(epsilon+math.Log(e.NoiseParameter)-math.Log(float64(e.Buckets)))
	case dp.ApproximateDP:
		least = e.Delta
	case dp.PureDP:
		least = -math.Expm1(epsilon-e.Epsilon) / (1 + math.Exp(-e.Epsilon))
	case dp.Exponential: // its losses half of epsilon either way
		least = -math.Expm1(epsilon-e.Epsilon/2) / (1 + math.Exp(-e.Epsilon/2))
	case dp.PrivacyLoss:
		last := len(e.Losses) - 1
		least = e.Infinity - e.Masses[last]*min(math.Expm1(epsilon-e.Losses[last]), 0)
	case dp.PoissonSampled:
		// On the sample as without it, at an epsilon that is amplified.
		return e.Rate * floor(dp.AddRemoveOne, e.Event, amplified(epsilon, e.Rate))
	case dp.SampledWithoutReplacement:
		rate := float64(e.Sample) / float64(e.Population)
		return rate * floor(adj, e.Event, amplified(epsilon, rate))
	}
	return max(least, 0)
}

// amplified is the base's epsilon at which the sampled event has epsilon.
func amplified(epsilon, rate float64) float64 {
	if epsilon > 30 {
		return epsilon - math.Log(rate)
	}
	return math.Log1p(math.Expm1(epsilon) / rate)
}

// size draws a positive number: any that float64 holds, or a usual one.
func size(t *rapid.T, name string) float64 {
	if rapid.Bool().Draw(t, name+" extreme") {
		return math.Exp(rapid.Float64Range(math.Log(1e-320), math.Log(1e308)).Draw(t, "ln "+name))
	}
	return math.Exp(rapid.Float64Range(math.Log(1e-3), math.Log(1e3)).Draw(t, "ln "+name))
}

func number(t *rapid.T, name string) int64 {
	return int64(math.Exp2(rapid.Float64Range(0, 40).Draw(t, "log2 "+name)))
}

func noiseEvent(t *rapid.T) dp.Event {
	switch rapid.IntRange(0, 12).Draw(t, "kind") {
	case 0:
		return dp.Gaussian{NoiseMultiplier: size(t, "multiplier")}
	case 1:
		return dp.Laplace{NoiseMultiplier: size(t, "multiplier")}
	case 2:
		return dp.DiscreteGaussian{Sigma: size(t, "sigma"), Norm: math.Ceil(size(t, "norm"))}
	case 3:
		return dp.DiscreteLaplace{Scale: size(t, "scale"), Norm: size(t, "norm")}
	case 4:
		return dp.RandomizedResponse{Buckets: int(1 + number(t, "buckets")), NoiseParameter: min(size(t, "noise"), 1)}
	case 5:
		return dp.ApproximateDP{Epsilon: size(t, "epsilon"), Delta: min(size(t, "delta"), 1)}
	case 6:
		return dp.PureDP{Epsilon: size(t, "epsilon")}
	case 7:
		return dp.Exponential{Epsilon: size(t, "epsilon")}
	case 8:
		return dp.PermuteAndFlip{Epsilon: size(t, "epsilon")}
	case 9:
		return dp.ReportNoisyMax{Noise: "laplace", Scale: size(t, "scale"), Sensitivity: size(t, "sensitivity"), Monotone: rapid.Bool().Draw(t, "monotone")}
	case 10:
		return renyiCurve(t)
	case 11:
		return privacyLoss(t)
	}
	return dp.SmoothGaussian{Alpha: size(t, "alpha"), Beta: size(t, "beta"), Dimension: int(number(t, "dimension"))}
}

// renyiCurve draws up to four orders, and bounds at them.
func renyiCurve(t *rapid.T) dp.Event {
	var e dp.RenyiCurve
	order, value := 1.0, 0.0
	for range rapid.IntRange(1, 4).Draw(t, "orders") {
		order = max(order+size(t, "order"), math.Nextafter(order, 2*order))
		value += size(t, "value")
		e.Orders, e.Values = append(e.Orders, min(order, 1e308)), append(e.Values, min(value, 1e308))
	}
	if e.Validate() != nil { // two orders beyond 1e308
		return dp.RenyiCurve{Orders: e.Orders[:1], Values: e.Values[:1]}
	}
	return e
}

// privacyLoss draws a loss and its negative, or one that is infinite.
func privacyLoss(t *rapid.T) dp.Event {
	loss := size(t, "loss")
	e := dp.PrivacyLoss{Losses: []float64{loss}, Infinity: min(size(t, "infinity"), .5)}
	if rapid.Bool().Draw(t, "one loss") {
		e.Masses = []float64{1 - e.Infinity}
		return e
	}
	least := (1 - e.Infinity) * math.Exp(-loss) / (1 + math.Exp(-loss))
	if least == 0 {
		e.Masses = []float64{1 - e.Infinity}
		return e
	}
	e.Losses, e.Masses = []float64{-loss, loss}, []float64{least, 1 - e.Infinity - least}
	return e
}

func anyQuestion(t *rapid.T) question {
	q := question{
		name:    rapid.SampledFrom(append([]string{"group"}, everyAccountant...)).Draw(t, "accountant"),
		adj:     rapid.SampledFrom([]dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne}).Draw(t, "adjacency"),
		event:   noiseEvent(t),
		count:   1,
		epsilon: size(t, "epsilon"),
		delta:   min(size(t, "delta"), 0.5),
	}
	if q.name == "group" {
		// One answer for a group asks for a table of deltas, which takes minutes where a
		// single one takes seconds: groups are asked for what is quick alone.
		if _, slow := q.event.(dp.DiscreteGaussian); slow {
			q.name = "new"
		}
		return q
	}
	switch rapid.IntRange(0, 4).Draw(t, "sampling") {
	case 2:
		if rapid.Bool().Draw(t, "poisson runs") {
			q.event = dp.SelectBest{Runs: "poisson", Mean: size(t, "mean"), Event: q.event}
		} else {
			runs := rapid.SampledFrom([]string{"geometric", "logarithmic"}).Draw(t, "runs")
			q.event = dp.SelectBest{Runs: runs, Gamma: min(size(t, "gamma"), math.Nextafter(1, 0)), Event: q.event}
		}
	case 0:
		q.event = dp.PoissonSampled{Rate: min(size(t, "rate"), 1), Event: q.event}
	case 1:
		n := number(t, "population")
		q.event = dp.SampledWithoutReplacement{Population: n, Sample: min(n, number(t, "sample")), Event: q.event}
	}
	if rapid.Bool().Draw(t, "repeated") {
		q.count = number(t, "count")
	}
	return q
}
