package account_test

import (
	"errors"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

// interaction follows every transcript of an analyst who charges one question after the other,
// with an odometer of its own for each, and stops when it likes.
type interaction struct {
	t      *testing.T
	fresh  func() *account.Odometer
	next   func(transcript []bool) (event dp.Event, p, q float64, stop bool) // chances of "true" under both neighbours
	excess [2]float64                                                        // sum of (P - e^r Q)+, and with P and Q exchanged
	less   float64                                                           // divides readings for small
	small  float64                                                           // the same for P, with readings so divided
	ends   int
}

func (a *interaction) follow(transcript []bool, events []dp.Event, p, q float64) {
	event, up, uq, stop := a.next(transcript)
	if stop {
		o := a.fresh()
		for _, e := range events {
			if err := o.Charge(a.t.Context(), e); err != nil {
				a.t.Fatal(err)
			}
		}
		r := o.Reading().Epsilon
		a.excess[0] += max(0, p-math.Exp(r)*q)
		a.excess[1] += max(0, q-math.Exp(r)*p)
		a.small += max(0, p-math.Exp(r/a.less)*q)
		a.ends++
		return
	}
	events = append(events[:len(events):len(events)], event)
	a.follow(append(transcript[:len(transcript):len(transcript)], true), events, p*up, q*uq)
	a.follow(append(transcript[:len(transcript):len(transcript)], false), events, p*(1-up), q*(1-uq))
}

// TestOdometerHolds checks the claim on all sets of outcomes at once, the worst one being where
// P exceeds e^reading Q, for analysts who ask the more the more they have learnt, and stop when it pays.
func TestOdometerHolds(t *testing.T) {
	const delta = 1e-3
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	learnt := func(transcript []bool) (n int) {
		for _, x := range transcript {
			if x {
				n++
			} else {
				n--
			}
		}
		return n
	}
	for name, c := range map[string]struct {
		rule account.Rule
		less float64
		ask  func(lead int) (event dp.Event, p, q float64)
	}{
		"noisy sums, by mu": {account.GaussianDP, 4, func(lead int) (dp.Event, float64, float64) {
			mu := .3 + .2*max(float64(lead), 0)
			return dp.GaussianDP{Mu: mu}, phi(mu / 2), phi(-mu / 2)
		}},
		"noisy sums, by Renyi divergences": {account.Renyi, 16, func(lead int) (dp.Event, float64, float64) {
			mu := .3 + .2*max(float64(lead), 0)
			return dp.GaussianDP{Mu: mu}, phi(mu / 2), phi(-mu / 2)
		}},
		"answers at random": {account.Basic, 4, func(lead int) (dp.Event, float64, float64) {
			e := .2 + .1*max(float64(lead), 0)
			return dp.PureDP{Epsilon: e}, 1 / (1 + math.Exp(-e)), 1 / (1 + math.Exp(e))
		}},
	} {
		a := interaction{t: t, less: c.less, fresh: func() *account.Odometer {
			o, err := account.NewOdometer(dp.AddRemoveOne, c.rule, delta, .25, account.FilterOptions{Order: 8})
			if err != nil {
				t.Fatal(err)
			}
			return o
		}}
		a.next = func(transcript []bool) (dp.Event, float64, float64, bool) {
			lead := learnt(transcript)
			if lead >= 4 || lead <= -4 || len(transcript) == 7 {
				return nil, 0, 0, true
			}
			event, p, q := c.ask(lead)
			return event, p, q, false
		}
		a.follow(nil, nil, 1, 1)
		if a.excess[0] > delta || a.excess[1] > delta {
			t.Errorf("%s: %v above e^reading of the other law; want at most %v", name, a.excess, delta)
		}
		if a.small <= delta || a.ends < 30 {
			t.Errorf("%s: readings %v times as small would hold too (%v); the test says nothing", name, c.less, a.small)
		}
	}
}

// Readings start at 0, never fall, and come within the growth of a level of what a filter
// says that the same charges spend at that level's part of delta.
func TestOdometerReads(t *testing.T) {
	o, err := account.NewOdometer(dp.ReplaceOne, account.GaussianDP, 1e-6, .1, account.FilterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r := o.Reading(); r != (dp.Budget{}) {
		t.Fatal(r)
	}
	last, square := 0.0, 0.0
	for n := 1; n <= 60; n++ {
		noise := 400 / float64(n)
		if err := o.Charge(t.Context(), dp.Gaussian{NoiseMultiplier: noise}); err != nil {
			t.Fatal(err)
		}
		square += 4 / (noise * noise)
		r := o.Reading()
		level := math.Round(math.Log(r.Epsilon/.1) / math.Log(1.25))
		at := func(level float64) float64 {
			b, err := account.GaussianEpsilon(math.Sqrt(square), 1e-6/((level+1)*(level+2)))
			if err != nil {
				t.Fatal(err)
			}
			return b.Upper
		}
		if r.Delta != 1e-6 || r.Epsilon < last || r.Epsilon < at(level)*(1-1e-9) || level > 0 && at(level-1)*(1+1e-9) < r.Epsilon/1.25 {
			t.Errorf("after %d charges: %v; the filter of that level says %v", n, r, at(level))
		}
		last = r.Epsilon
	}
	before := o.Reading()
	if err := o.Charge(t.Context(), dp.Laplace{NoiseMultiplier: 10}); !errors.Is(err, account.ErrUnsupported) {
		t.Errorf("Laplace noise under the Gaussian rule: %v", err)
	}
	if err := o.Charge(t.Context(), dp.Gaussian{NoiseMultiplier: 1e-6}); !errors.Is(err, account.ErrExhausted) {
		t.Errorf("a charge past the last level: %v", err)
	}
	if o.Reading() != before {
		t.Errorf("refused charges moved it to %v", o.Reading())
	}
	for _, bad := range []account.FilterOptions{{Reserve: dp.Budget{Epsilon: .01}}, {Order: .5}} {
		if _, err := account.NewOdometer(dp.ReplaceOne, account.Renyi, 1e-6, .1, bad); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

// What an event costs is the same at every level: charging the first level's filter takes as
// much of its sum as the odometer adds.
func TestOdometerChargesAsAFilter(t *testing.T) {
	event := dp.SelfComposed{Count: 10, Event: dp.PoissonSampled{Rate: .01, Event: dp.Gaussian{NoiseMultiplier: 2}}}
	options := account.FilterOptions{ChargeDelta: 1e-9}
	o, err := account.NewOdometer(dp.AddRemoveOne, account.Basic, 1e-6, .1, options)
	if err != nil {
		t.Fatal(err)
	}
	f, err := account.NewFilter(dp.AddRemoveOne, dp.Budget{Epsilon: 100, Delta: 1e-6}, account.Basic, options)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if err := errors.Join(o.Charge(t.Context(), event), f.Charge(t.Context(), event)); err != nil {
			t.Fatal(err)
		}
	}
	spent, err := f.Spent()
	if got := o.Reading().Epsilon; err != nil || got < spent.Epsilon || got > 1.25*spent.Epsilon {
		t.Errorf("the odometer reads %v; a filter was charged %v, %v", got, spent, err)
	}
}
